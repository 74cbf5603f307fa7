"""Adaptive quadrature for the expected distances: the integrands and the integration rule."""

from __future__ import annotations

import math

import numpy as np

from lexshift.utils.arrays import Floats
from lexshift.utils.kernels import kernel

_HALF = np.array(  # node, its Kronrod weight, its Gauss weight
    [
        (0.991455371120812639206854697526329, 0.022935322010529224963732008058970, 0.0),
        (0.949107912342758524526189684047851, 0.063092092629978553290700663189204, 0.129484966168869693270611432679082),
        (0.864864423359769072789712788640926, 0.104790010322250183839876322541518, 0.0),
        (0.741531185599394439863864773280788, 0.140653259715525918745189590510238, 0.279705391489276667901467771423780),
        (0.586087235467691130294144838258730, 0.169004726639267902826583426598550, 0.0),
        (0.405845151377397166906606412076961, 0.190350578064785409913256402421014, 0.381830050505118944950369775488975),
        (0.207784955007898467600689403773245, 0.204432940075298892414161999234649, 0.0),
        (0.0, 0.209482141084727828012999174891714, 0.417959183673469387755102040816327),
    ]
)
RULE = np.concatenate([_HALF, _HALF[:-1] * [-1, 1, 1]])
"""Gauss-Kronrod (7, 15): nodes from -1 to 1 with both weights, (15, 3)."""
ANGLE, PRODUCT, LARGEST, CONSTANT = 0, 1, 2, 3
"""The integrands."""


@kernel
def folded_normal_mean(mean: float, sd: float) -> float:
    """Compute E|z| of a normal variable z."""
    if sd == 0.0:
        return abs(mean)
    u = mean / (sd * math.sqrt(2.0))
    return sd * math.sqrt(2.0 / math.pi) * math.exp(-u * u) + mean * math.erf(u)


@kernel
def _integrand(kind: int, t: float, parameters: Floats) -> float:
    """Compute an integrand at t; its parameters have shape (2, d) for LARGEST and (5, 1) for the others."""
    if kind == LARGEST:  # 1 - P(all |z_j| <= t); parameters: |mean| and sd of z, each (d,)
        below = 1.0
        for j in range(parameters.shape[1]):
            mean, sd = parameters[0, j], parameters[1, j] * math.sqrt(2.0)
            if t - mean < 4.5 * sd:  # beyond this, erf is 1 to ten digits
                below *= 0.5 * (math.erf((t - mean) / sd) + math.erf((t + mean) / sd))
                if below < 1e-14:
                    return 1.0
        return 1.0 - below
    if kind == ANGLE:  # |x - y| / (|x| + |y|) at the angle t of (x/p, y/q), times the density of the angle
        p, q, u, v, rest = parameters[0, 0], parameters[1, 0], parameters[2, 0], parameters[3, 0], parameters[4, 0]
        cos, sin = math.cos(t), math.sin(t)
        along, across = u * cos + v * sin, u * sin - v * cos
        density = (
            along * math.exp(-0.5 * across * across) * math.erfc(-along / math.sqrt(2.0)) / math.sqrt(8.0 * math.pi)
        )
        return abs(p * cos - q * sin) / (p * abs(cos) + q * abs(sin)) * (rest + density)
    if kind == CONSTANT:  # |c - y| / (|c| + |y|) times the density of y, standardised
        y = parameters[1, 0] + parameters[2, 0] * t
        ratio = abs(parameters[0, 0] - y) / (abs(parameters[0, 0]) + abs(y))
        return ratio * math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
    # PRODUCT: |u| E[|v| given u] times the density of u, for u standardised
    mean, sd, v_mean = parameters[0, 0], parameters[1, 0], parameters[2, 0]
    slope, v_sd = parameters[3, 0], parameters[4, 0]
    u = mean + sd * t
    return (
        abs(u) * folded_normal_mean(v_mean + slope * sd * t, v_sd) * math.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
    )


@kernel
def integrate(kind: int, low: float, high: float, parameters: Floats, tolerance: float) -> float:
    """Integrate by adaptive Gauss-Kronrod (7, 15): bisect panels until each meets its share of the tolerance.

    kind : ANGLE, PRODUCT, LARGEST or CONSTANT; parameters : those of the integrand, see :func:`_integrand`
    """
    lows, highs = np.empty(64), np.empty(64)  # a stack of panels to integrate
    lows[0], highs[0], pending = low, high, 1
    total = 0.0
    while pending > 0:
        pending -= 1
        left, right = lows[pending], highs[pending]
        half, middle = 0.5 * (right - left), 0.5 * (right + left)
        kronrod = gauss = 0.0
        for i in range(len(RULE)):
            value = _integrand(kind, middle + half * RULE[i, 0], parameters)
            kronrod += RULE[i, 1] * value
            gauss += RULE[i, 2] * value
        size, gap = abs(kronrod) * half, abs(kronrod - gauss) * half
        error = size * min(1.0, (200.0 * gap / size) ** 1.5) if size > 0.0 else gap  # the error estimate of QUADPACK
        # False for NaN, which bisecting would not remove.
        is_inaccurate = error > tolerance * (right - left) / (high - low)
        if not is_inaccurate or pending > 60 or half < 1e-12 * (high - low):
            total += kronrod * half
        else:
            lows[pending], highs[pending] = left, middle
            lows[pending + 1], highs[pending + 1] = middle, right
            pending += 2
    return total
