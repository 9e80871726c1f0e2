"""The log-space twin of `treebp.kernels.grandparent`, for scores that plain floats cannot hold.

Arrays are laid out as there, and scores of impossible pairs are -inf. Insides are logarithms. The way down needs no
outsides: it hands each half-tree's probability on to its parts by their shares, which are at most one. Everything is
carried together with its slope, the derivative when the scores move in the direction of `slopes`.
"""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel

Chart = tuple[FloatArray, FloatArray]


@kernel
def _raise_top(top: FloatArray, source: FloatArray, other: float) -> None:
    for g in range(len(top)):
        top[g] = max(top[g], source[g] + other)


@kernel
def _add(total: Chart, top: FloatArray, source: Chart, other: float, other_slope: float) -> None:
    """Add exp(source + other - top) to the total."""
    for g in range(len(top)):
        if top[g] > -np.inf:
            term = math.exp(source[0][g] + other - top[g])
            total[0][g] += term
            total[1][g] += term * (source[1][g] + other_slope)


@kernel
def _close(row: Chart, top: FloatArray, total: Chart) -> None:
    """Write the logarithm of the total, or the top if nothing was added, and make both ready for the next sum."""
    for g in range(len(top)):
        row[0][g] = top[g]
        if total[0][g] > 0.0:
            row[0][g] += math.log(total[0][g])
            row[1][g] = total[1][g] / total[0][g]
    top[:] = -np.inf
    total[0][:] = 0.0
    total[1][:] = 0.0


@kernel
def _hand_down(
    given: Chart, whole: Chart, source: Chart, other: float, other_slope: float, out: Chart
) -> tuple[float, float]:
    """Hand the share exp(source + other - whole) of what is `given` down to `out`; returns the sum handed down."""
    total, total_slope = 0.0, 0.0
    for g in range(len(given[0])):
        if given[0][g] > 0.0:
            share = math.exp(source[0][g] + other - whole[0][g])
            part = given[0][g] * share
            slope = given[1][g] * share + part * (source[1][g] + other_slope - whole[1][g])
            out[0][g] += part
            out[1][g] += slope
            total += part
            total_slope += slope
    return total, total_slope


@kernel
def log_inside(scores: FloatArray, slopes: FloatArray, single_root: bool, best: bool) -> tuple[Chart, Chart, Chart]:
    """Sum over half-trees, or take the best of each: complete ones, what an arc spans, and that with the arc."""
    size = len(scores)
    complete, complete_slope = np.full(scores.shape, -np.inf), np.zeros(scores.shape)
    between, between_slope = np.full(scores.shape, -np.inf), np.zeros(scores.shape)
    arc, arc_slope = np.full(scores.shape, -np.inf), np.zeros(scores.shape)
    top, total = np.full(size, -np.inf), (np.zeros(size), np.zeros(size))
    for h in range(size):
        complete[h, h] = 0.0
    for width in range(1, size):
        for i in range(size - width):
            for h, m, step in ((i, i + width, 1), (i + width, i, -1)):
                # The root has no head, and a single arc from it starts from the bare root, ends with the sentence.
                if m == 0:
                    continue
                only = single_root and h == 0
                last = h + step if only else m
                for r in range(h, last, step):
                    _raise_top(top, complete[h, r], complete[m, r + step, h])
                for r in range(h, h if best else last, step):
                    source = (complete[h, r], complete_slope[h, r])
                    _add(total, top, source, complete[m, r + step, h], complete_slope[m, r + step, h])
                _close((between[h, m], between_slope[h, m]), top, total)
                arc[h, m] = between[h, m] + scores[h, m]
                arc_slope[h, m] = between_slope[h, m] + slopes[h, m]
                if only and width < size - 1:
                    continue
                for k in range(h + step, m + step, step):
                    _raise_top(top, arc[h, k], complete[k, m, h])
                for k in range(h + step, h + step if best else m + step, step):
                    _add(total, top, (arc[h, k], arc_slope[h, k]), complete[k, m, h], complete_slope[k, m, h])
                _close((complete[h, m], complete_slope[h, m]), top, total)
    return (complete, complete_slope), (between, between_slope), (arc, arc_slope)


@kernel
def log_marginals(scores: FloatArray, slopes: FloatArray, single_root: bool) -> tuple[FloatArray, FloatArray, float]:
    """Return the marginals, their slopes and the log-partition, -inf if there is no tree."""
    size = len(scores)
    charts = log_inside(scores, slopes, single_root, False)
    (complete, complete_slope), (between, between_slope), (arc, arc_slope) = charts
    log_partition = complete[0, size - 1, 0]
    given, given_slope = np.zeros(scores.shape), np.zeros(scores.shape)
    marginals, marginal_slopes = np.zeros(scores.shape), np.zeros(scores.shape)
    if log_partition > -np.inf:
        given[0, size - 1, 0] = 1.0
    for width in range(size - 1, 0, -1):
        for i in range(size - width):
            for h, m, step in ((i, i + width, 1), (i + width, i, -1)):
                if m == 0:
                    continue
                for k in range(h + step, m + step, step):
                    part, slope = _hand_down(
                        (given[h, m], given_slope[h, m]),
                        (complete[h, m], complete_slope[h, m]),
                        (arc[h, k], arc_slope[h, k]),
                        complete[k, m, h],
                        complete_slope[k, m, h],
                        (marginals[h, k], marginal_slopes[h, k]),
                    )
                    given[k, m, h] += part
                    given_slope[k, m, h] += slope
                for r in range(h, h + step if single_root and h == 0 else m, step):
                    part, slope = _hand_down(
                        (marginals[h, m], marginal_slopes[h, m]),
                        (between[h, m], between_slope[h, m]),
                        (complete[h, r], complete_slope[h, r]),
                        complete[m, r + step, h],
                        complete_slope[m, r + step, h],
                        (given[h, r], given_slope[h, r]),
                    )
                    given[m, r + step, h] += part
                    given_slope[m, r + step, h] += slope
    return marginals, marginal_slopes, log_partition


@kernel
def descend(
    complete: FloatArray, arc: FloatArray, single_root: bool, at_random: bool, rng: np.random.Generator, heads: IntArray
) -> None:
    """Write the heads of the best tree, or of a random one, given the charts of the best half-trees or of all.

    Each step down takes the largest term. At random, each term x first has a Gumbel variable added to it, and is then
    the largest with probability proportional to exp(x).
    """
    size = len(complete)
    waiting = np.empty((2 * size, 3), np.int64)
    waiting[0] = (0, size - 1, 0)
    depth = 1
    while depth > 0:
        depth -= 1
        h, e, g = waiting[depth]
        if h == e:
            continue
        step = 1 if h < e else -1
        m, largest = e, -np.inf
        for k in range(h + step, e + step, step):
            term = arc[h, k, g] + complete[k, e, h]
            if at_random:
                term -= math.log(rng.standard_exponential())
            if term > largest:
                m, largest = k, term
        heads[m - 1] = h
        split, largest = h, -np.inf
        for r in range(h, h + step if single_root and h == 0 else m, step):
            term = complete[h, r, g] + complete[m, r + step, h]
            if at_random:
                term -= math.log(rng.standard_exponential())
            if term > largest:
                split, largest = r, term
        waiting[depth] = (h, split, g)
        waiting[depth + 1] = (m, split + step, h)
        waiting[depth + 2] = (m, e, h)
        depth += 3
