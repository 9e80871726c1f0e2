"""Projective dependency trees (Eisner, 1996): sums over all of them in real arithmetic, and the best one.

Every chart is a symmetric matrix: the item over positions i..j stands at [i, j] and at [j, i], so that each inner
loop runs along two contiguous rows whichever end of the span it moves. `right` and `left` hold the complete items
headed at the left and right end, `arc_right` and `arc_left` the incomplete ones, `pair` the sum over split points
that both arcs share; `out_arc`, the one exception, is indexed by head and modifier.

Position 0 is the root. A tree with one root word is built over the words alone and attached at the end.

For sums, `weights[head, modifier]` must have been divided by each modifier's largest weight (every tree picks one head
per modifier, so this rescales all trees alike); whether the partition then stayed in range is the caller's to check.
The best tree is found by the same recursion over maxima of sums of scores.

Indices are unsigned throughout: Numba then leaves out the test for negative ones and the loops vectorise.
"""

import math
from typing import TypeAlias

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import inlined, kernel, summing_kernel
from treebp.kernels.intrinsics import FAINT

Index: TypeAlias = int | np.uint64
CHARTS = 9
RIGHT, LEFT, ARC_RIGHT, ARC_LEFT, PAIR, OUT_PAIR, OUT_RIGHT, OUT_LEFT, OUT_ARC = range(CHARTS)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
LONGEST = 300  # of more positions there may be too many trees to count: these are rescaled at once


@summing_kernel
def _inside_ends(weights: FloatArray, begin: Index, end: Index, first: Index, charts: FloatArray, most: float) -> None:
    """Fill the inside charts for the spans that end at begin..end-1, after those before; no sum counts as more."""
    right, left = charts[RIGHT], charts[LEFT]
    arc_right, arc_left, pair = charts[ARC_RIGHT], charts[ARC_LEFT], charts[PAIR]
    for j in range(begin, end):
        right[j, j] = 1.0
        left[j, j] = 1.0
    for width in range(_ONE, end - first):
        for j in range(max(begin, first + width), end):
            i = j - width
            split = left[j, i + _ONE]
            to_right = 0.0
            to_left = 0.0
            for k in range(i + _ONE, j):
                split += right[i, k] * left[j, k + _ONE]
                to_right += arc_right[i, k] * right[j, k]
                to_left += left[i, k] * arc_left[j, k]
            split = min(split, most)
            rightward = split * weights[i, j]
            leftward = split * weights[j, i]
            to_right = min(to_right + rightward, most)
            to_left = min(to_left + leftward, most)
            pair[i, j] = split
            arc_right[i, j] = rightward
            arc_right[j, i] = rightward
            arc_left[i, j] = leftward
            arc_left[j, i] = leftward
            right[i, j] = to_right
            right[j, i] = to_right
            left[i, j] = to_left
            left[j, i] = to_left


@inlined
def _inside(weights: FloatArray, first: Index, end: Index, charts: FloatArray, most: float) -> None:
    """Fill all inside charts.

    Spans that end at the same place wait for what the one before has just written; so those of a few ends take turns,
    of fewer ends in longer sentences, whose rows would not stay in the processor's cache.
    """
    ends = np.uint64(max(400 // int(end), 4))
    for begin in range(first, end, ends):
        _inside_ends(weights, begin, min(begin + ends, end), first, charts, most)


@inlined
def _partition_until(weights: FloatArray, j: Index, single_root: bool, charts: FloatArray) -> float:
    """The partition of the trees over positions 0..j."""
    if not single_root:
        return charts[RIGHT, _ZERO, j]
    partition = 0.0
    for k in range(_ONE, j + _ONE):
        partition += weights[_ZERO, k] * charts[LEFT, _ONE, k] * charts[RIGHT, k, j]
    return partition


@summing_kernel
def inside(weights: FloatArray, size: int, single_root: bool, charts: FloatArray) -> float:
    """Fill the inside charts for positions 0..size-1 and return the partition."""
    end = np.uint64(size)
    _inside(weights, _ONE if single_root else _ZERO, end, charts, math.inf)
    return _partition_until(weights, end - _ONE, single_root, charts)


@summing_kernel
def scaled_inside(weights: FloatArray, size: int, single_root: bool, charts: FloatArray, tops: FloatArray) -> float:
    """The same where the partition is out of range: return 1, or NaN where it cannot be done so.

    The weights of each modifier are multiplied by what makes the partition of all trees up to it one, and the logarithm
    of that is taken off its `tops`. So an item over a span is measured by the trees up to its ends, however long the
    sentence: what grows with each word, or fades, does so for both.
    """
    first = _ONE if single_root else _ZERO
    end = np.uint64(size)
    last = end - _ONE
    for j in range(first, end):
        _inside_ends(weights, j, j + _ONE, first, charts, math.inf)
        partition = _partition_until(weights, j, single_root, charts)
        if j == _ZERO or (partition == 0.0 and j < last):  # no tree ends here; the next one counts for both
            continue
        if not FAINT < partition < 1.0 / FAINT:
            return math.nan
        scale = 1.0 / partition
        tops[j] += math.log(partition)
        for head in range(end):
            weight = weights[head, j]
            if weight > FAINT and weight * scale <= FAINT:
                return math.nan
            weights[head, j] = weight * scale
        for i in range(first, j):  # each of these has one arc into j
            charts[ARC_RIGHT, i, j] *= scale
            charts[ARC_RIGHT, j, i] = charts[ARC_RIGHT, i, j]
            charts[RIGHT, i, j] *= scale
            charts[RIGHT, j, i] = charts[RIGHT, i, j]
    return 1.0


@kernel
def largest_item(size: int, single_root: bool, charts: FloatArray, gains: FloatArray) -> float:
    """The largest number in the charts that `inside` and `outside` have filled, and among the gains; NaN if one is.

    A product that underflows is off by less than e^-744. The trees' share in it is that times what stands beside it,
    inside or outside, so of weight times gain no more than n^3 e^-744 times this is lost.
    """
    largest = 1.0
    for chart in range(CHARTS):
        for i in range(1 if single_root else 0, size):
            for j in range(i + 1, size):
                largest = np.maximum(largest, charts[chart, i, j])
    for i in range(size):
        for j in range(1, size):
            largest = np.maximum(largest, gains[i, j])
            if 1 <= j < i:
                largest = np.maximum(largest, charts[OUT_ARC, i, j])
    return largest


@summing_kernel
def possible_arcs(weights: FloatArray, size: int, single_root: bool) -> FloatArray:
    """A matrix that is one for the arcs which are in some tree of arcs that have a weight, and zero for others.

    Counting to one and no further can neither overflow nor underflow.
    """
    charts = np.empty((CHARTS, size, size))
    ones, gains = np.empty((size, size)), np.empty((size, size))
    for head in range(size):
        for modifier in range(size):
            ones[head, modifier] = 1.0 if weights[head, modifier] > 0.0 else 0.0
    _inside(ones, _ONE if single_root else _ZERO, np.uint64(size), charts, 1.0)
    _outside(ones, size, single_root, charts, gains, 1.0)
    return ones * np.minimum(gains, 1.0)


@summing_kernel
def outside(weights: FloatArray, size: int, single_root: bool, charts: FloatArray, gains: FloatArray) -> None:
    """Fill the outside charts after `inside`, and `gains[head, modifier]` = d partition / d weight."""
    _outside(weights, size, single_root, charts, gains, math.inf)


@summing_kernel
def _outside(
    weights: FloatArray, size: int, single_root: bool, charts: FloatArray, gains: FloatArray, most: float
) -> None:
    right, left = charts[RIGHT], charts[LEFT]
    arc_right, arc_left, pair = charts[ARC_RIGHT], charts[ARC_LEFT], charts[PAIR]
    out_pair, out_right, out_left = charts[OUT_PAIR], charts[OUT_RIGHT], charts[OUT_LEFT]
    out_arc = charts[OUT_ARC]
    first = _ONE if single_root else _ZERO
    end = np.uint64(size)
    last = end - _ONE
    for step in range(last - first):
        j = last - step
        for i in range(first, j):
            out_r = 0.0
            out_l = 0.0
            if single_root:
                if j == last:
                    out_r = weights[_ZERO, i] * left[_ONE, i]
                if i == _ONE:
                    out_l = weights[_ZERO, j] * right[j, last]
            elif i == _ZERO and j == last:
                out_r = 1.0
            out_ar = 0.0
            out_al = 0.0
            for k in range(j + _ONE, end):
                out_r += out_pair[i, k] * left[j + _ONE, k]
                out_ar += out_right[i, k] * right[j, k]
                out_l += out_left[i, k] * arc_left[j, k]
            for k in range(first, i):
                out_l += out_pair[j, k] * right[i - _ONE, k]
                out_al += out_left[j, k] * left[i, k]
                out_r += out_right[j, k] * arc_right[i, k]
            out_r, out_l = min(out_r, most), min(out_l, most)
            out_ar, out_al = min(out_ar + out_r, most), min(out_al + out_l, most)
            share = weights[i, j] * out_ar + weights[j, i] * out_al
            out_right[i, j] = out_r
            out_right[j, i] = out_r
            out_left[i, j] = out_l
            out_left[j, i] = out_l
            out_pair[i, j] = share
            out_pair[j, i] = share
            out_arc[i, j] = out_ar
            out_arc[j, i] = out_al
            gains[i, j] = out_ar * pair[i, j]
            gains[j, i] = out_al * pair[i, j]
    if single_root:
        for k in range(_ONE, end):
            gains[_ZERO, k] = left[_ONE, k] * right[k, last]
    for k in range(end):
        gains[k, k] = 0.0
        gains[k, _ZERO] = 0.0


@kernel
def best_projective(scores: FloatArray, size: int, single_root: bool, heads: IntArray) -> float:
    """Write the heads of the best tree over positions 0..size-1; return its score, -inf where there is no tree.

    Among equals the choice is fixed by the order of the loops, so it never depends on anything but the scores.
    """
    charts = np.empty((4, size, size))
    right, left, arc_right, arc_left = charts[RIGHT], charts[LEFT], charts[ARC_RIGHT], charts[ARC_LEFT]
    first = _ONE if single_root else _ZERO
    end = np.uint64(size)
    last = end - _ONE
    for j in range(first, end):
        right[j, j] = 0.0
        left[j, j] = 0.0
        for width in range(_ONE, j - first + _ONE):
            i = j - width
            split = left[j, i + _ONE]
            to_right = -math.inf
            to_left = -math.inf
            for k in range(i + _ONE, j):
                split = max(split, right[i, k] + left[j, k + _ONE])
                to_right = max(to_right, arc_right[i, k] + right[j, k])
                to_left = max(to_left, left[i, k] + arc_left[j, k])
            rightward = split + scores[i, j]
            leftward = split + scores[j, i]
            to_right = max(to_right, rightward)
            to_left = max(to_left, leftward)
            arc_right[i, j] = rightward
            arc_right[j, i] = rightward
            arc_left[i, j] = leftward
            arc_left[j, i] = leftward
            right[i, j] = to_right
            right[j, i] = to_right
            left[i, j] = to_left
            left[j, i] = to_left
    stack = np.empty((2 * size + 2, 3), np.int64)
    depth = 1
    best = right[_ZERO, last]
    _put(stack, 0, RIGHT, 0, size - 1)
    if single_root:
        best = -math.inf
        root = 1
        for k in range(1, size):
            score = scores[0, k] + left[1, k] + right[k, size - 1]
            if score > best:
                best = score
                root = k
        heads[root - 1] = 0
        _put(stack, 0, LEFT, 1, root)
        _put(stack, 1, RIGHT, root, size - 1)
        depth = 2
    if best > -math.inf:
        _follow(charts, stack, depth, heads)
    return best


@kernel
def _follow(charts: FloatArray, stack: IntArray, depth: int, heads: IntArray) -> None:
    """Expand the complete items on the stack: each ends in an arc, under which two complete items meet."""
    right, left, arc_right, arc_left = charts[RIGHT], charts[LEFT], charts[ARC_RIGHT], charts[ARC_LEFT]
    while depth > 0:
        depth -= 1
        chart, i, j = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        if i == j:
            continue
        if chart == RIGHT:
            k = i + 1
            while arc_right[i, k] + right[j, k] != right[i, j]:
                k += 1
            heads[k - 1] = i
            _put(stack, depth, RIGHT, k, j)
            low, high = i, k
        else:
            k = i
            while left[i, k] + arc_left[j, k] != left[i, j]:
                k += 1
            heads[k - 1] = j
            _put(stack, depth, LEFT, i, k)
            low, high = k, j
        split = low
        best = right[low, low] + left[high, low + 1]
        for k in range(low + 1, high):
            score = right[low, k] + left[high, k + 1]
            if score > best:
                best = score
                split = k
        _put(stack, depth + 1, RIGHT, low, split)
        _put(stack, depth + 2, LEFT, split + 1, high)
        depth += 3


@kernel
def _put(stack: IntArray, place: int, chart: int, i: int, j: int) -> None:
    """Lay down an item. One number after the other: a whole row at once takes Numba seconds to compile."""
    stack[place, 0] = chart
    stack[place, 1] = i
    stack[place, 2] = j
