"""The divergences of appendix A, between two Gaussians with diagonal covariance, in closed form.

Each function takes two Gaussians whose fields have shape (b, d) and returns b values. A variance below VARIANCE_FLOOR
times the pooled variance of both sets is raised to that floor. A dimension that is constant over both sets carries no
information and contributes 0.
"""

from __future__ import annotations

import numpy as np

from lexshift.scoring.gaussian import VARIANCE_FLOOR, Gaussian
from lexshift.utils.arrays import Floats
from lexshift.utils.kernels import kernel


def kl(old: Gaussian, new: Gaussian) -> Floats:
    """Compute KL(old || new) = 1/2 sum( v1/v2 - 1 - log(v1/v2) + (m2 - m1)^2 / v2 )."""
    return _kl(old.mean, old.variance, old.count, new.mean, new.variance, new.count)


def kl_reverse(old: Gaussian, new: Gaussian) -> Floats:
    """Compute KL(new || old)."""
    return kl(new, old)


def jeffreys(old: Gaussian, new: Gaussian) -> Floats:
    """Compute the mean of the two KL divergences; the logarithms cancel."""
    return _jeffreys(old.mean, old.variance, old.count, new.mean, new.variance, new.count)


@kernel
def _kl(m1: Floats, v1: Floats, n1: int, m2: Floats, v2: Floats, n2: int) -> Floats:
    """Compute the divergence from means and variances, (b, d), and numbers of rows: (b,)."""
    floor_weight, between_weight = VARIANCE_FLOOR / (n1 + n2 - 1), n1 * n2 / (n1 + n2)
    d = m1.shape[1]
    out = np.empty(m1.shape[0])
    for b in range(m1.shape[0]):
        total = 0.0
        for start in range(0, d, 8):  # one logarithm for eight ratios: the floor bounds their product
            product = 1.0
            for j in range(start, min(start + 8, d)):
                shift2 = (m2[b, j] - m1[b, j]) ** 2
                floor = floor_weight * ((n1 - 1) * v1[b, j] + (n2 - 1) * v2[b, j] + between_weight * shift2)
                if floor > 0:
                    denominator = max(v2[b, j], floor)
                    ratio = max(v1[b, j], floor) / denominator
                    product *= ratio
                    total += ratio - 1.0 + shift2 / denominator
            total -= np.log(product)
        out[b] = max(0.5 * total, 0.0)  # rounding may have made it negative
    return out


@kernel
def _jeffreys(m1: Floats, v1: Floats, n1: int, m2: Floats, v2: Floats, n2: int) -> Floats:
    """Compute the mean of both divergences from means and variances, (b, d), and numbers of rows: (b,)."""
    floor_weight, between_weight = VARIANCE_FLOOR / (n1 + n2 - 1), n1 * n2 / (n1 + n2)
    out = np.empty(m1.shape[0])
    for b in range(m1.shape[0]):
        total = 0.0
        for j in range(m1.shape[1]):
            shift2 = (m2[b, j] - m1[b, j]) ** 2
            floor = floor_weight * ((n1 - 1) * v1[b, j] + (n2 - 1) * v2[b, j] + between_weight * shift2)
            if floor > 0:
                a, c = max(v1[b, j], floor), max(v2[b, j], floor)
                # (a/c + c/a - 2) + (1/a + 1/c) shift^2, over one denominator
                total += ((a - c) ** 2 + (a + c) * shift2) / (a * c)
        out[b] = 0.25 * total
    return out
