"""Sense usage shift: how much of each usage finds no partner in the other period, by unbalanced optimal transport.

After Kishino et al. (2025). The usages of both periods have the same total mass, a_i = 1/n for each old and b_j = 1/m
for each new one. C_ij is the cosine distance of the old usage i and the new usage j, and T_ij the mass that is moved
between them::

    T  =  argmin  sum_ij T_ij C_ij  +  lambda sum_i (r_i - a_i)^2  +  lambda sum_j (c_j - b_j)^2        T_ij >= 0

with the row sums r and the column sums c of T. The shift of an old usage is -(a_i - r_i) / a_i and that of a new one
(b_j - c_j) / b_j: the share of its mass without a partner, negative in the old period and positive in the new one. The
sign is reversed for a usage that attracts more than its own mass, because its sense has a surplus in the other period.
If senses are far apart, a usage of a sense with the shares s and t in two equally large samples has the shift
(t - s) / (t + s).

Mass moves between i and j only if C_ij < 2 lambda (1/n + 1/m). This *reach* is the parameter here, because it does not
depend on the number of usages.

**The solver** is majorisation-minimisation (Chapel et al. 2021). The squares are bounded by separable ones, and each
step minimises the bound, so that no step increases the objective::

    T_ij  <-  T_ij (1/n + 1/m) max(1 - C_ij / reach, 0) / (r_i + c_j)
"""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Floats
from lexshift.utils.kernels import kernel

REACH = 2.0
"""The largest cosine distance. Smaller values order sense-labelled usages less well, larger ones equally well."""
ITERATIONS, TOLERANCE = 1000, 1e-5
"""Maximum number of steps, and the change of every shift in a step below which the solver stops."""
_NEGLIGIBLE = 1e-30  # masses below this become 0, because arithmetic with even smaller numbers is slow


def usage_shift(
    distances: Floats, reach: float = REACH, iterations: int = ITERATIONS, tolerance: float = TOLERANCE
) -> tuple[Floats, Floats]:
    """Compute the shift of each usage.

    Parameters
    ----------
    distances : ndarray of shape (n_old, n_new)
        Distances between the usages of the old and the new period, at least 0; neither period is empty.
    reach : float
        Distance from which no mass is moved.
    iterations, tolerance
        Limits of the solver.

    Returns
    -------
    shift_old, shift_new : ndarray of shape (n_old,) and (n_new,)
        At least -1 in the old and at most 1 in the new period.

    Examples
    --------
    One of four old usages and three of four new ones have the second sense; distances are 0 within a sense.

    >>> old_senses, new_senses = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])
    >>> shift_old, shift_new = usage_shift(1.0 * (old_senses[:, None] != new_senses), reach=0.5)
    >>> shift_old.round(3).tolist(), shift_new.round(3).tolist()
    ([-0.5, -0.5, -0.5, 0.5], [-0.5, 0.5, 0.5, 0.5])
    """
    n_old, n_new = distances.shape
    gains = (1 / n_old + 1 / n_new) * np.maximum(1 - np.asarray(distances, float) / reach, 0)
    rows, columns = _transport(gains, iterations, tolerance)
    return n_old * rows - 1, 1 - n_new * columns


@kernel
def _transport(gains: Floats, iterations: int, tolerance: float) -> tuple[Floats, Floats]:
    """Return the row sums and column sums of the plan for gains of shape (n_old, n_new): (n_old,), (n_new,)."""
    n_old, n_new = gains.shape
    plan = np.full((n_old, n_new), 1 / (n_old * n_new))
    rows, columns = np.full(n_old, 1 / n_old), np.full(n_new, 1 / n_new)
    for _ in range(iterations):
        change = 0.0
        sums = np.zeros(n_new)
        for i in range(n_old):
            row, total = rows[i], 0.0
            for j in range(n_new):
                mass = plan[i, j] * gains[i, j] / max(row + columns[j], _NEGLIGIBLE)
                mass = mass if mass > _NEGLIGIBLE else 0.0
                plan[i, j] = mass
                total += mass
                sums[j] += mass
            rows[i] = total
            change = max(change, abs(total - row) * n_old)
        for j in range(n_new):
            change = max(change, abs(sums[j] - columns[j]) * n_new)
        columns = sums
        if change < tolerance:
            break
    return rows, columns
