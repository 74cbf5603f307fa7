"""DSCD without sampling: the expected distance between a vector x of one Gaussian and a vector y of the other.

With x_j ~ N(a_j, p_j^2) and y_j ~ N(b_j, q_j^2), all independent, the expectation of each distance reduces to at most
one-dimensional integrals:

============  ======================================================================================================
City block    closed form: x_j - y_j is normal, and so |x_j - y_j| has a folded normal mean
Canberra      a sum over dimensions; |x - y| / (|x| + |y|) depends on the angle of (x, y) only, whose density is known
Chebyshev     the integral of 1 - P(all |x_j - y_j| <= t) over t
Euclidean     E sqrt(Q) = 2/sqrt(pi) times the integral of E[Q exp(-s^2 Q)] over s > 0, Q = |x - y|^2
Cosine        1 - E[x/|x|] . E[y/|y|], with 1/|x| = 2/sqrt(pi) times the integral of exp(-s^2 |x|^2) over s > 0
Correlation   the same with each vector's own average taken off it
Bray-Curtis   an APPROXIMATION: the ratio of two sums is expanded to second order in their fluctuations
============  ======================================================================================================

Nodes adapt: integrals over s use the trapezoidal rule in v, s = sinh(v) / sqrt(E Q), whose step is halved until the
result stands still, and whose range ends where the integrand does; the others use Gauss-Kronrod panels that are
bisected until their error is negligible. Relative errors are at most 1e-7. That of Bray-Curtis is at most one over the
square of the number of dimensions that matter, (sum s)^2 / sum s^2 for dimensions of sizes s: 1e-6 for 768 alike, 1e-4
if a few of them are 100 times larger than the rest. For very few dimensions the sampled mode is better (with one
dimension the expectation does not even exist).
"""

from __future__ import annotations

import math

import numpy as np

from lexshift.scoring.distance.quadrature import ANGLE, CONSTANT, LARGEST, PRODUCT, RULE, folded, integrate
from lexshift.scoring.gaussian import Gaussian
from lexshift.utils.arrays import Floats
from lexshift.utils.kernels import kernel

_TOLERANCE = 1e-9


def cityblock(old: Gaussian, new: Gaussian) -> Floats:
    """Closed form. (b,)"""
    return _cityblock(*_fields(old, new))


def canberra(old: Gaussian, new: Gaussian) -> Floats:
    """One integral over the angle for each dimension. (b,)"""
    return _canberra(*_fields(old, new), RULE)


def chebyshev(old: Gaussian, new: Gaussian) -> Floats:
    """One integral over the size of the largest difference. (b,)"""
    return _chebyshev(*_fields(old, new), RULE)


def euclidean(old: Gaussian, new: Gaussian) -> Floats:
    """One integral over s. (b,)"""
    return _euclidean(*_fields(old, new))


def cosine(old: Gaussian, new: Gaussian) -> Floats:
    """Two integrals over s, one for each Gaussian. (b,)"""
    return _cosine(*_fields(old, new), False)


def correlation(old: Gaussian, new: Gaussian) -> Floats:
    """The same for vectors that have their own average taken off. (b,)"""
    return _cosine(*_fields(old, new), True)


def braycurtis(old: Gaussian, new: Gaussian) -> Floats:
    """E[N/D] ~ (E N / E D) (1 + Var D / (E D)^2) - Cov(N, D) / (E D)^2, N = sum |x - y|, D = sum |x + y|. (b,)"""
    return _braycurtis(*_fields(old, new), RULE)


def _fields(old: Gaussian, new: Gaussian) -> tuple[Floats, Floats, Floats, Floats]:
    """Means and standard deviations: a, p, b, q, each (b, d)."""
    return old.mean, np.sqrt(old.variance), new.mean, np.sqrt(new.variance)


@kernel
def _cityblock(a: Floats, p: Floats, b: Floats, q: Floats) -> Floats:
    out = np.zeros(a.shape[0])
    for k in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[k] += folded(a[k, j] - b[k, j], math.sqrt(p[k, j] ** 2 + q[k, j] ** 2))
    return out


@kernel
def _to_constant(constant: float, mean: float, sd: float, parameters: Floats, rule: Floats) -> float:
    """E[|c - y| / (|c| + |y|)] for a constant c and a normal y."""
    if sd == 0.0:
        size = abs(constant) + abs(mean)
        return abs(constant - mean) / size if size > 0.0 else 0.0
    if constant == 0.0:
        return 1.0
    parameters[0, 0], parameters[1, 0], parameters[2, 0] = constant, mean, sd
    total, left = 0.0, -7.5
    for corner in (min(0.0, constant), max(0.0, constant), math.inf):
        right = min((corner - mean) / sd, 7.5)
        if right > left:
            total += integrate(CONSTANT, left, right, parameters, _TOLERANCE, rule)
            left = right
    return total


@kernel
def _canberra(a: Floats, p: Floats, b: Floats, q: Floats, rule: Floats) -> Floats:
    out = np.zeros(a.shape[0])
    parameters = np.empty((5, 1))
    for k in range(a.shape[0]):
        for j in range(a.shape[1]):
            if p[k, j] == 0.0 or q[k, j] == 0.0:  # a variable that does not vary: there is no angle
                if p[k, j] == 0.0:
                    out[k] += _to_constant(a[k, j], b[k, j], q[k, j], parameters, rule)
                else:
                    out[k] += _to_constant(b[k, j], a[k, j], p[k, j], parameters, rule)
                continue
            sp, sq = p[k, j], q[k, j]
            u, v = a[k, j] / sp, b[k, j] / sq
            radius, centre = math.hypot(u, v), math.atan2(v, u)
            parameters[0, 0], parameters[1, 0], parameters[2, 0], parameters[3, 0] = sp, sq, u, v
            parameters[4, 0] = math.exp(-0.5 * radius * radius) / (2.0 * math.pi)
            reach = math.asin(7.5 / radius) if radius > 7.5 else math.pi  # beyond, the density is below 1e-12
            # Panels end where the ratio has a corner: on the axes and where x = y. Elsewhere it is smooth.
            diagonal = math.atan2(sp, sq)
            left = centre - reach
            turn = math.floor(left / math.pi) * math.pi
            for step in range(1, 9):
                half_turn = turn + (step // 3) * math.pi
                corner = half_turn + (0.0, diagonal, 0.5 * math.pi)[step % 3]
                right = min(corner, centre + reach)
                if right > left:
                    out[k] += integrate(ANGLE, left, right, parameters, _TOLERANCE, rule)
                    left = right
            if centre + reach > left:
                out[k] += integrate(ANGLE, left, centre + reach, parameters, _TOLERANCE, rule)
    return out


@kernel
def _chebyshev(a: Floats, p: Floats, b: Floats, q: Floats, rule: Floats) -> Floats:
    out = np.empty(a.shape[0])
    parameters = np.empty((2, a.shape[1]))
    for k in range(a.shape[0]):
        low = high = 0.0
        for j in range(a.shape[1]):
            mean, sd = abs(a[k, j] - b[k, j]), math.sqrt(p[k, j] ** 2 + q[k, j] ** 2)
            parameters[0, j], parameters[1, j] = mean, sd
            low = max(low, mean - 6.0 * sd)  # the largest is not below this
            high = max(high, mean + 7.0 * sd)
        out[k] = low
        if high > low:
            out[k] += integrate(LARGEST, low, high, parameters, _TOLERANCE * high, rule)
    return out


@kernel
def _euclidean(a: Floats, p: Floats, b: Floats, q: Floats) -> Floats:
    n, d = a.shape
    out = np.empty(n)
    variance, squared = np.empty(d), np.empty(d)
    for k in range(n):
        size = 0.0  # E Q
        for j in range(d):
            variance[j], squared[j] = p[k, j] ** 2 + q[k, j] ** 2, (a[k, j] - b[k, j]) ** 2
            size += variance[j] + squared[j]
        if size == 0.0:
            out[k] = 0.0
            continue
        unit, step, total, last = 1.0 / math.sqrt(size), 0.5, 0.5 * size, -1.0
        start, stride = 1, 1
        for _ in range(8):
            i = start
            while True:
                v = i * step
                t = (unit * math.sinh(v)) ** 2
                exponent, slope = 0.0, 0.0  # log E exp(-tQ), and minus its derivative in t
                product = 1.0
                for j in range(d):
                    shrink = 1.0 / (1.0 + 2.0 * t * variance[j])
                    product *= shrink
                    if product < 1e-200:
                        exponent += 0.5 * math.log(product)
                        product = 1.0
                    exponent -= t * squared[j] * shrink
                    slope += variance[j] * shrink + squared[j] * shrink * shrink
                exponent += 0.5 * math.log(product)
                term = math.exp(exponent) * slope * math.cosh(v)
                total += term
                if term < 1e-14 * total:
                    break
                i += stride
            value = total * step * unit * 2.0 / math.sqrt(math.pi)
            if abs(value - last) <= _TOLERANCE * value:
                break
            last, step, start, stride = value, 0.5 * step, 1, 2  # halve: the nodes between are the new ones
        out[k] = value
    return out


@kernel
def _mean_direction(mean: Floats, sd: Floats, centred: bool) -> Floats:
    """E[x / |x|] of a Gaussian, or of its vectors less their own average. (d,)"""
    d = len(mean)
    total, direction, last = np.zeros(d), np.empty(d), np.zeros(d)
    average = 0.0
    if centred:
        for j in range(d):
            average += mean[j] / d
    size = 0.0  # E|x|^2
    for j in range(d):
        size += (mean[j] - average) ** 2 + sd[j] ** 2 * ((d - 1.0) / d if centred else 1.0)
    if size == 0.0:
        direction[:] = math.nan
        return direction
    unit, step = 1.0 / math.sqrt(size), 0.5
    for j in range(d):
        total[j] = 0.5 * (mean[j] - average)
    node = np.empty(d)
    start, stride = 1, 1
    for _ in range(8):
        i = start
        while True:
            v = i * step
            t = (unit * math.sinh(v)) ** 2
            # E[x exp(-t |x|^2)] = E[exp(-t |x|^2)] times the mean under the tilted Gaussian, mean_j / (1 + 2 t var_j)
            exponent, product, sum_tilted, sum_spread, sum_shrink = 0.0, 1.0, 0.0, 0.0, 0.0
            for j in range(d):
                shrink = 1.0 / (1.0 + 2.0 * t * sd[j] * sd[j])
                product *= shrink
                if product < 1e-200:
                    exponent += 0.5 * math.log(product)
                    product = 1.0
                deviation = mean[j] - average
                exponent -= t * deviation * deviation * shrink
                node[j] = deviation * shrink
                sum_tilted += node[j]
                sum_spread += sd[j] * sd[j] * shrink
                sum_shrink += shrink
            exponent += 0.5 * math.log(product)
            if centred:  # the rank-one correction for |x|^2 - (sum x)^2 / d
                kept = sum_shrink / d  # 1 - 2 t / d * sum_spread
                exponent += t / d * sum_tilted * sum_tilted / kept - 0.5 * math.log(kept)
                pull = 2.0 * t / d * sum_tilted / kept
                shift = (sum_tilted + pull * sum_spread) / d
                for j in range(d):
                    shrink = 1.0 / (1.0 + 2.0 * t * sd[j] * sd[j])
                    node[j] += pull * sd[j] * sd[j] * shrink - shift
            weight = math.exp(exponent) * math.cosh(v)
            largest = 0.0
            for j in range(d):
                total[j] += weight * node[j]
                largest = max(largest, abs(node[j]))
            if weight * largest * unit < 1e-16 or v > 40.0:
                break
            i += stride
        change = 0.0
        for j in range(d):
            direction[j] = total[j] * step * unit * 2.0 / math.sqrt(math.pi)
            change += (direction[j] - last[j]) ** 2
            last[j] = direction[j]
        if change <= 1e-24:
            break
        step, start, stride = 0.5 * step, 1, 2
    return direction


@kernel
def _cosine(a: Floats, p: Floats, b: Floats, q: Floats, centred: bool) -> Floats:
    out = np.empty(a.shape[0])
    for k in range(a.shape[0]):
        x, y = _mean_direction(a[k], p[k], centred), _mean_direction(b[k], q[k], centred)
        dot = 0.0
        for j in range(len(x)):
            dot += x[j] * y[j]
        out[k] = 1.0 - dot
    return out


@kernel
def _braycurtis(a: Floats, p: Floats, b: Floats, q: Floats, rule: Floats) -> Floats:
    out = np.empty(a.shape[0])
    parameters = np.empty((5, 1))
    for k in range(a.shape[0]):
        apart = together = variance = covariance = 0.0
        for j in range(a.shape[1]):
            difference, total = a[k, j] - b[k, j], a[k, j] + b[k, j]
            squares = p[k, j] ** 2 + q[k, j] ** 2
            sd = math.sqrt(squares)
            size_difference, size_total = folded(difference, sd), folded(total, sd)
            apart += size_difference
            together += size_total
            variance += squares + total * total - size_total * size_total
            slope = (p[k, j] ** 2 - q[k, j] ** 2) / squares if squares > 0.0 else 0.0
            if slope != 0.0:  # x - y and x + y are independent if both vary alike
                parameters[0, 0], parameters[1, 0], parameters[2, 0] = total, sd, difference
                parameters[3, 0], parameters[4, 0] = slope, sd * math.sqrt(max(1.0 - slope * slope, 0.0))
                corner = min(max(-total / sd, -7.5), 7.5)
                scale = 1e-6 * size_difference * size_total  # a small correction needs few digits
                product = integrate(PRODUCT, -7.5, corner, parameters, scale, rule) if corner > -7.5 else 0.0
                product += integrate(PRODUCT, corner, 7.5, parameters, scale, rule) if corner < 7.5 else 0.0
                covariance += product - size_difference * size_total
        out[k] = apart / together * (1.0 + variance / together**2) - covariance / together**2
    return out
