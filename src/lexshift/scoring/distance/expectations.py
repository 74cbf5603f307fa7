"""DSCD without sampling: the expected distance between a vector x of one Gaussian and a vector y of the other.

With x_j ~ N(a_j, p_j^2) and y_j ~ N(b_j, q_j^2), all independent, the expectation of each distance reduces to at most
one-dimensional integrals:

============  ======================================================================================================
City block    closed form: x_j - y_j is normal, and so |x_j - y_j| has a folded normal mean
Canberra      a sum over dimensions; |x - y| / (|x| + |y|) depends on the angle of (x, y) only, whose density is known
Chebyshev     the integral of 1 - P(all |x_j - y_j| <= t) over t
Euclidean     E sqrt(Q) = 2/sqrt(pi) times the integral of E[Q exp(-s^2 Q)] over s > 0, Q = |x - y|^2
Cosine        1 - E[x/|x|] . E[y/|y|], with 1/|x| = 2/sqrt(pi) times the integral of exp(-s^2 |x|^2) over s > 0
Correlation   as for cosine, after each vector's own average is subtracted
Bray-Curtis   an APPROXIMATION: the ratio of two sums is expanded to second order in their fluctuations
============  ======================================================================================================

The quadrature is adaptive. Integrals over s use the trapezoidal rule in v, s = sinh(v) / sqrt(E Q): the step is halved
until the result no longer changes, and the range ends where the integrand vanishes. The others use Gauss-Kronrod panels
that are bisected until their error is negligible. Relative errors are at most 1e-7. That of Bray-Curtis is at most one
over the square of the effective number of dimensions, (sum s)^2 / sum s^2 for dimensions of sizes s: 1e-6 for 768 equal
dimensions, 1e-4 if a few of them are 100 times larger than the rest. For very few dimensions use the sampled mode (in
one dimension the expectation does not exist).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lexshift.scoring.distance.quadrature import ANGLE, CONSTANT, LARGEST, PRODUCT, folded_normal_mean, integrate
from lexshift.scoring.gaussian import Gaussian
from lexshift.utils.arrays import Floats
from lexshift.utils.kernels import kernel

_TOLERANCE = 1e-9


def for_batches(distance: Callable[[Floats, Floats, Floats, Floats], float]) -> Callable[[Gaussian, Gaussian], Floats]:
    """Return a function that computes one of the distances below for two batches of Gaussians, (b, d) to (b,)."""

    def batch_distance(old: Gaussian, new: Gaussian) -> Floats:
        pairs = zip(old.mean, np.sqrt(old.variance), new.mean, np.sqrt(new.variance), strict=True)
        return np.array([distance(a, p, b, q) for a, p, b, q in pairs])

    return batch_distance


# Each of the following functions takes the means and standard deviations of the first Gaussian, a and p, and of the
# second one, b and q, all of shape (d,).


@kernel
def cityblock(a: Floats, p: Floats, b: Floats, q: Floats) -> float:
    """Compute the expected city block distance, in closed form."""
    total = 0.0
    for j in range(len(a)):
        total += folded_normal_mean(a[j] - b[j], math.sqrt(p[j] ** 2 + q[j] ** 2))
    return total


@kernel
def _canberra_to_constant(constant: float, mean: float, sd: float, parameters: Floats) -> float:
    """Compute E[|c - y| / (|c| + |y|)] for a constant c and a normal y.

    parameters : (5, 1), working memory
    """
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
            total += integrate(CONSTANT, left, right, parameters, _TOLERANCE)
            left = right
    return total


@kernel
def canberra(a: Floats, p: Floats, b: Floats, q: Floats) -> float:
    """Compute the expected Canberra distance, by one integral over the angle for each dimension."""
    total = 0.0
    parameters = np.empty((5, 1))
    for j in range(len(a)):
        if p[j] == 0.0:  # a constant, for which there is no angle
            total += _canberra_to_constant(a[j], b[j], q[j], parameters)
            continue
        if q[j] == 0.0:
            total += _canberra_to_constant(b[j], a[j], p[j], parameters)
            continue
        u, v = a[j] / p[j], b[j] / q[j]
        radius, centre = math.hypot(u, v), math.atan2(v, u)
        parameters[0, 0], parameters[1, 0], parameters[2, 0], parameters[3, 0] = p[j], q[j], u, v
        parameters[4, 0] = math.exp(-0.5 * radius * radius) / (2.0 * math.pi)
        reach = math.asin(7.5 / radius) if radius > 7.5 else math.pi  # beyond this, the density is below 1e-12
        # Panels end where the ratio has a corner: on the axes and where x = y. Elsewhere it is smooth.
        diagonal = math.atan2(p[j], q[j])
        left = centre - reach
        turn = math.floor(left / math.pi) * math.pi
        for step in range(1, 9):
            half_turn = turn + (step // 3) * math.pi
            corner = half_turn + (0.0, diagonal, 0.5 * math.pi)[step % 3]
            right = min(corner, centre + reach)
            if right > left:
                total += integrate(ANGLE, left, right, parameters, _TOLERANCE)
                left = right
        if centre + reach > left:
            total += integrate(ANGLE, left, centre + reach, parameters, _TOLERANCE)
    return total


@kernel
def chebyshev(a: Floats, p: Floats, b: Floats, q: Floats) -> float:
    """Compute the expected Chebyshev distance, by one integral over the size of the largest difference."""
    parameters = np.empty((2, len(a)))
    low = high = 0.0
    for j in range(len(a)):
        mean, sd = abs(a[j] - b[j]), math.sqrt(p[j] ** 2 + q[j] ** 2)
        parameters[0, j], parameters[1, j] = mean, sd
        low = max(low, mean - 6.0 * sd)  # the largest difference is not below this
        high = max(high, mean + 7.0 * sd)
    return low + integrate(LARGEST, low, high, parameters, _TOLERANCE * high) if high > low else low


@kernel
def euclidean(a: Floats, p: Floats, b: Floats, q: Floats) -> float:
    """Compute the expected Euclidean distance, by one integral over s."""
    d = len(a)
    variance, squared = np.empty(d), np.empty(d)
    size = 0.0  # E Q
    for j in range(d):
        variance[j], squared[j] = p[j] ** 2 + q[j] ** 2, (a[j] - b[j]) ** 2
        size += variance[j] + squared[j]
    if size == 0.0:
        return 0.0
    unit, step, total, value, last = 1.0 / math.sqrt(size), 0.5, 0.5 * size, 0.0, -1.0
    i, stride = 1, 1
    for _ in range(8):
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
        last, step, i, stride = value, 0.5 * step, 1, 2  # add the nodes halfway between those used so far
    return value


@kernel
def _tilted_mean(t: float, mean: Floats, sd: Floats, average: float, subtract_average: bool, out: Floats) -> float:
    """Compute E[x exp(-t |x|^2)] of a Gaussian, or of its vectors minus their own average, as a vector and a logarithm.

    The expectation is E[exp(-t |x|^2)], whose logarithm is returned, times the mean of the tilted Gaussian, mean /
    (1 + 2 t var), which is written to ``out``. If the average of each vector is subtracted, |x|^2 decreases by
    (sum x)^2 / d, a term of rank one. By the Sherman-Morrison formula it multiplies the determinant by ``determinant``
    and shifts the tilted mean along the tilted variances; the average of the result is subtracted last.

    mean, sd, out : (d,); average : that of the mean if ``subtract_average``, else 0
    """
    d = len(mean)
    exponent, product, sum_tilted, sum_spread, sum_shrink = 0.0, 1.0, 0.0, 0.0, 0.0
    for j in range(d):
        shrink = 1.0 / (1.0 + 2.0 * t * sd[j] * sd[j])
        product *= shrink
        if product < 1e-200:
            exponent += 0.5 * math.log(product)
            product = 1.0
        deviation = mean[j] - average
        exponent -= t * deviation * deviation * shrink
        out[j] = deviation * shrink
        sum_tilted += out[j]
        sum_spread += sd[j] * sd[j] * shrink
        sum_shrink += shrink
    exponent += 0.5 * math.log(product)
    if subtract_average:
        determinant = sum_shrink / d  # 1 - 2 t / d * sum_spread
        exponent += t / d * sum_tilted * sum_tilted / determinant - 0.5 * math.log(determinant)
        pull = 2.0 * t / d * sum_tilted / determinant
        shift = (sum_tilted + pull * sum_spread) / d
        for j in range(d):
            shrink = 1.0 / (1.0 + 2.0 * t * sd[j] * sd[j])
            out[j] += pull * sd[j] * sd[j] * shrink - shift
    return exponent


@kernel
def _mean_direction(mean: Floats, sd: Floats, subtract_average: bool) -> Floats:
    """Compute E[x / |x|] of a Gaussian, or of its vectors minus their own average: mean and sd, (d,), to (d,)."""
    d = len(mean)
    average = mean.sum() / d if subtract_average else 0.0
    size = 0.0  # E|x|^2
    for j in range(d):
        size += (mean[j] - average) ** 2 + sd[j] ** 2 * ((d - 1.0) / d if subtract_average else 1.0)
    if size == 0.0:
        return np.full(d, math.nan)
    unit, step = 1.0 / math.sqrt(size), 0.5
    total, tilted, direction = 0.5 * (mean - average), np.empty(d), np.zeros(d)
    i, stride = 1, 1
    for _ in range(8):
        while True:
            v = i * step
            exponent = _tilted_mean((unit * math.sinh(v)) ** 2, mean, sd, average, subtract_average, tilted)
            weight = math.exp(exponent) * math.cosh(v)
            largest = 0.0
            for j in range(d):
                total[j] += weight * tilted[j]
                largest = max(largest, abs(tilted[j]))
            if weight * largest * unit < 1e-16 or v > 40.0:
                break
            i += stride
        change = 0.0
        for j in range(d):
            value = total[j] * step * unit * 2.0 / math.sqrt(math.pi)
            change += (value - direction[j]) ** 2
            direction[j] = value
        if change <= 1e-24:
            break
        step, i, stride = 0.5 * step, 1, 2  # add the nodes halfway between those used so far
    return direction


@kernel
def cosine(a: Floats, p: Floats, b: Floats, q: Floats) -> float:
    """Compute the expected cosine distance, by two integrals over s, one for each Gaussian."""
    return 1.0 - (_mean_direction(a, p, False) * _mean_direction(b, q, False)).sum()


@kernel
def correlation(a: Floats, p: Floats, b: Floats, q: Floats) -> float:
    """Compute the expected correlation distance: the cosine distance of vectors minus their own average."""
    return 1.0 - (_mean_direction(a, p, True) * _mean_direction(b, q, True)).sum()


@kernel
def braycurtis(a: Floats, p: Floats, b: Floats, q: Floats) -> float:
    """Approximate the expected Bray-Curtis distance to second order.

    E[N/D] ~ (E N / E D) (1 + Var D / (E D)^2) - Cov(N, D) / (E D)^2, N = sum |x - y|, D = sum |x + y|
    """
    parameters = np.empty((5, 1))
    numerator = denominator = variance = covariance = 0.0
    for j in range(len(a)):
        difference, total = a[j] - b[j], a[j] + b[j]
        squares = p[j] ** 2 + q[j] ** 2
        sd = math.sqrt(squares)
        size_difference, size_total = folded_normal_mean(difference, sd), folded_normal_mean(total, sd)
        numerator += size_difference
        denominator += size_total
        variance += squares + total * total - size_total * size_total
        slope = (p[j] ** 2 - q[j] ** 2) / squares if squares > 0.0 else 0.0
        if slope != 0.0:  # x - y and x + y are independent if x and y have equal variances
            parameters[0, 0], parameters[1, 0], parameters[2, 0] = total, sd, difference
            parameters[3, 0], parameters[4, 0] = slope, sd * math.sqrt(max(1.0 - slope * slope, 0.0))
            corner = min(max(-total / sd, -7.5), 7.5)
            scale = 1e-6 * size_difference * size_total  # a small correction needs few digits
            product = integrate(PRODUCT, -7.5, corner, parameters, scale) if corner > -7.5 else 0.0
            product += integrate(PRODUCT, corner, 7.5, parameters, scale) if corner < 7.5 else 0.0
            covariance += product - size_difference * size_total
    return numerator / denominator * (1.0 + variance / denominator**2) - covariance / denominator**2
