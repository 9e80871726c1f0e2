"""Inside-outside over projective dependency trees in log arithmetic: slower than `eisner`, and always in range.

Each quantity is a pair of arrays: its logarithm, and the derivative of that logarithm in one given direction. A sum's
derivative is then the average of its terms' derivatives, weighted by their shares, so nothing here can overflow.
The charts are those of `eisner`, symmetric in the ends of a span.
"""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel, summing_kernel
from treebp.kernels.draw import draw
from treebp.kernels.eisner import (
    ARC_LEFT,
    ARC_RIGHT,
    CHARTS,
    LEFT,
    OUT_LEFT,
    OUT_PAIR,
    OUT_RIGHT,
    PAIR,
    RIGHT,
)
from treebp.kernels.intrinsics import exp


@kernel
def add(top: float, total: float, slope: float, term: float, term_slope: float) -> tuple[float, float, float]:
    """Add exp(term) to the running sum `exp(top) * total`, whose slope-weighted sum is `exp(top) * slope`."""
    if term == -math.inf:
        return top, total, slope
    if term <= top:
        share = math.exp(term - top)
        return top, total + share, slope + share * term_slope
    share = math.exp(top - term)
    return term, total * share + 1.0, slope * share + term_slope


@kernel
def finish(top: float, total: float, slope: float) -> tuple[float, float]:
    """Logarithm and slope of a running sum."""
    if total == 0.0:
        return -math.inf, 0.0
    return top + math.log(total), slope / total


@summing_kernel
def _add_row(
    running: tuple[float, float, float],
    values: FloatArray,
    slopes: FloatArray,
    a: int,
    row_a: int,
    b: int,
    row_b: int,
    start: int,
    stop: int,
    shift: int,
) -> tuple[float, float, float]:
    """Add the products of chart a's row and chart b's row, the second `shift` to the right.

    The largest one comes first, so that the sum vectorises. A term of -inf counts as e^-700 beside it: as nothing.
    """
    one, two, d_one, d_two = values[a, row_a], values[b, row_b], slopes[a, row_a], slopes[b, row_b]
    first, end, beyond = np.uint64(start), np.uint64(stop), np.uint64(shift)
    top = running[0]
    for k in range(first, end):
        top = max(top, one[k] + two[k + beyond])
    if top == -math.inf:
        return running
    share = exp(running[0] - top)
    total, slope = share * running[1], share * running[2]
    for k in range(first, end):
        share = exp(one[k] + two[k + beyond] - top)
        total += share
        slope += share * (d_one[k] + d_two[k + beyond])
    return top, total, slope


@kernel
def _store(charts: FloatArray, slopes: FloatArray, c: int, i: int, j: int, pair: tuple[float, float]) -> None:
    charts[c, i, j] = pair[0]
    charts[c, j, i] = pair[0]
    slopes[c, i, j] = pair[1]
    slopes[c, j, i] = pair[1]


@kernel
def log_inside(
    scores: FloatArray,
    direction: FloatArray,
    size: int,
    single_root: bool,
    charts: FloatArray,
    slopes: FloatArray,
) -> tuple[float, float]:
    """Fill the inside charts for positions 0..size-1; return log Z and its derivative along `direction`."""
    first = 1 if single_root else 0
    empty = (-math.inf, 0.0, 0.0)
    for j in range(first, size):
        _store(charts, slopes, RIGHT, j, j, (0.0, 0.0))
        _store(charts, slopes, LEFT, j, j, (0.0, 0.0))
        for i in range(j - 1, first - 1, -1):
            log, slope = finish(*_add_row(empty, charts, slopes, RIGHT, i, LEFT, j, i, j, 1))
            _store(charts, slopes, PAIR, i, j, (log, slope))
            _store(charts, slopes, ARC_RIGHT, i, j, (log + scores[i, j], slope + direction[i, j]))
            _store(charts, slopes, ARC_LEFT, i, j, (log + scores[j, i], slope + direction[j, i]))
            running = _add_row(empty, charts, slopes, ARC_RIGHT, i, RIGHT, j, i + 1, j + 1, 0)
            _store(charts, slopes, RIGHT, i, j, finish(*running))
            running = _add_row(empty, charts, slopes, LEFT, i, ARC_LEFT, j, i, j, 0)
            _store(charts, slopes, LEFT, i, j, finish(*running))
    last = size - 1
    if not single_root:
        return charts[RIGHT, 0, last], slopes[RIGHT, 0, last]
    top, total, slope = empty
    for k in range(1, size):
        term = scores[0, k] + charts[LEFT, 1, k] + charts[RIGHT, k, last]
        term_slope = direction[0, k] + slopes[LEFT, 1, k] + slopes[RIGHT, k, last]
        top, total, slope = add(top, total, slope, term, term_slope)
    return finish(top, total, slope)


@kernel
def log_outside(
    scores: FloatArray,
    direction: FloatArray,
    size: int,
    single_root: bool,
    charts: FloatArray,
    slopes: FloatArray,
    gains: FloatArray,
    gain_slopes: FloatArray,
) -> None:
    """After `log_inside`: `gains[head, modifier]` = log(dZ / d weight) and its derivative along `direction`."""
    first = 1 if single_root else 0
    last = size - 1
    gains[:size, :size] = -math.inf
    gain_slopes[:size, :size] = 0.0
    for j in range(last, first, -1):
        for i in range(first, j):
            out_right = (-math.inf, 0.0, 0.0)
            out_left = (-math.inf, 0.0, 0.0)
            if single_root:
                if j == last:
                    term, slope = scores[0, i] + charts[LEFT, 1, i], direction[0, i] + slopes[LEFT, 1, i]
                    out_right = add(-math.inf, 0.0, 0.0, term, slope)
                if i == 1:
                    term, slope = (
                        scores[0, j] + charts[RIGHT, j, last],
                        direction[0, j] + slopes[RIGHT, j, last],
                    )
                    out_left = add(-math.inf, 0.0, 0.0, term, slope)
            elif i == 0 and j == last:
                out_right = (0.0, 1.0, 0.0)
            out_right = _add_row(out_right, charts, slopes, OUT_PAIR, i, LEFT, min(j + 1, last), j + 1, size, 0)
            out_right = _add_row(out_right, charts, slopes, OUT_RIGHT, j, ARC_RIGHT, i, first, i, 0)
            out_left = _add_row(out_left, charts, slopes, OUT_PAIR, j, RIGHT, max(i - 1, first), first, i, 0)
            out_left = _add_row(out_left, charts, slopes, OUT_LEFT, i, ARC_LEFT, j, j + 1, size, 0)
            _store(charts, slopes, OUT_RIGHT, i, j, finish(*out_right))
            _store(charts, slopes, OUT_LEFT, i, j, finish(*out_left))
            right = finish(*_add_row(out_right, charts, slopes, OUT_RIGHT, i, RIGHT, j, j + 1, size, 0))
            left = finish(*_add_row(out_left, charts, slopes, OUT_LEFT, j, LEFT, i, first, i, 0))
            top, total, slope = add(-math.inf, 0.0, 0.0, scores[i, j] + right[0], direction[i, j] + right[1])
            top, total, slope = add(top, total, slope, scores[j, i] + left[0], direction[j, i] + left[1])
            _store(charts, slopes, OUT_PAIR, i, j, finish(top, total, slope))
            gains[i, j] = right[0] + charts[PAIR, i, j]
            gains[j, i] = left[0] + charts[PAIR, i, j]
            gain_slopes[i, j] = right[1] + slopes[PAIR, i, j]
            gain_slopes[j, i] = left[1] + slopes[PAIR, i, j]
    if single_root:
        for k in range(1, size):
            gains[0, k] = charts[LEFT, 1, k] + charts[RIGHT, k, last]
            gain_slopes[0, k] = slopes[LEFT, 1, k] + slopes[RIGHT, k, last]
    gains[:size, 0] = -math.inf
    gain_slopes[:size, 0] = 0.0


@kernel
def log_gains(
    scores: FloatArray,
    direction: FloatArray,
    size: int,
    single_root: bool,
    gains: FloatArray,
    gain_slopes: FloatArray,
) -> tuple[float, float]:
    """Fill `gains[head, modifier]` = log(dZ / d weight) and its derivative; return log Z and its derivative."""
    charts, slopes = np.empty((CHARTS, size, size)), np.empty((CHARTS, size, size))
    log_z, slope = log_inside(scores, direction, size, single_root, charts, slopes)
    log_outside(scores, direction, size, single_root, charts, slopes, gains, gain_slopes)
    return log_z, slope


@kernel
def sample(
    scores: FloatArray,
    size: int,
    single_root: bool,
    charts: FloatArray,
    rng: np.random.Generator,
    heads: IntArray,
) -> None:
    """Draw one tree from the charts of `log_inside`."""
    last = size - 1
    terms = np.full(size, -math.inf)
    stack = np.empty((2 * size + 2, 3), np.int64)  # complete items (chart, i, j) still to be expanded
    stack[0] = RIGHT, 0, last
    depth = 1
    if single_root:
        for k in range(1, size):
            terms[k] = scores[0, k] + charts[LEFT, 1, k] + charts[RIGHT, k, last]
        root = draw(terms, size, rng.random())
        heads[root - 1] = 0
        stack[0] = LEFT, 1, root
        stack[1] = RIGHT, root, last
        depth = 2
    while depth > 0:
        depth -= 1
        chart, i, j = stack[depth]
        if i == j:
            continue
        # A complete item ends in an arc; what lies under the arc splits into two complete items.
        if chart == RIGHT:
            k = _draw_product(charts, ARC_RIGHT, i, RIGHT, j, i + 1, j + 1, 0, terms, rng)
            heads[k - 1] = i
            stack[depth] = RIGHT, k, j
            low, high = i, k
        else:
            k = _draw_product(charts, LEFT, i, ARC_LEFT, j, i, j, 0, terms, rng)
            heads[k - 1] = j
            stack[depth] = LEFT, i, k
            low, high = k, j
        split = _draw_product(charts, RIGHT, low, LEFT, high, low, high, 1, terms, rng)
        stack[depth + 1] = RIGHT, low, split
        stack[depth + 2] = LEFT, split + 1, high
        depth += 3


@kernel
def _draw_product(
    charts: FloatArray,
    a: int,
    row_a: int,
    b: int,
    row_b: int,
    start: int,
    stop: int,
    shift: int,
    terms: FloatArray,
    rng: np.random.Generator,
) -> int:
    """Index drawn in proportion to the product of two charts' rows, the second `shift` to the right."""
    for k in range(start, stop):
        terms[k - start] = charts[a, row_a, k] + charts[b, row_b, k + shift]
    return start + draw(terms, stop - start, rng.random())
