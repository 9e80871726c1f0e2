"""Scores of parts over three or four positions, and their gradient by weights, for a batch in one call.

Templates look at all positions of a part together, or at the last position with one of those before it: these two are
a *view*, the first view being of the last two. What depends on two positions, and on the order of all, is looked up
once per sentence and kept. Keys and places are as in ``treebp.kernels.arc_features``; ``positions`` (parts, 3 or 4) are
those within a sentence, and the parts of sentence s are ``first[s]`` to ``first[s + 1] - 1``.

``roles`` is 0, 1, 2 or 0, 1, 2, 3. Unlike the shape of an array, the length of a tuple is known when a kernel is
compiled: with parts of any length in one kernel it takes a third longer.
"""

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.arc_features import NEGLIGIBLE
from treebp.kernels.features import ORDERS, Hashes, order_keys
from treebp.kernels.intrinsics import prefetch

_AHEAD = 64  # parts whose weights are asked for before the first is used
Roles = tuple[int, ...]


@kernel
def order_of(positions: IntArray, part: int, roles: Roles) -> int:
    """In which order the positions of a part stand, as a number from 0 to ORDERS - 1.

    Of three, the second or the third may be the first one again, for a sibling that is not there. Of four, the last
    three stand in order, from left to right or from right to left; the first may be anywhere.
    """
    a, b, c = positions[part, 0], positions[part, 1], positions[part, 2]
    if len(roles) == 3:
        return (a < b) + 2 * (b < c) + 4 * ((a < c) | (a == b))
    return (b < c) + 2 * ((b < a) + (c < a) + (positions[part, 3] < a))


@kernel
def score_tuples(
    sizes: IntArray,
    positions: IntArray,
    first: IntArray,
    roles: Roles,
    hashes: Hashes,
    family: int,
    weights: AnyArray,
) -> FloatArray:
    """Score of each part of a family: the sum of its features' weights."""
    keys, begin, bits = hashes
    arity, views, of_all = len(roles), len(roles) - 1, begin[1]
    all_orders, two_orders = order_keys(family, bits)
    out, orders = np.empty(len(positions)), np.empty(_AHEAD, np.int64)
    wanted = np.empty((views * _AHEAD, 4), np.int64)
    row = 0
    for sentence in range(len(sizes)):
        size, end_of_sentence = sizes[sentence], first[sentence + 1]
        sums = np.empty((views, size, size, ORDERS))
        known = np.zeros((views, size, size, ORDERS), np.bool_)  # apart from the sums, which wait for memory
        for chunk in range(first[sentence], end_of_sentence, _AHEAD):
            end = min(chunk + _AHEAD, end_of_sentence)
            missing = 0
            for p in range(chunk, end):
                order = order_of(positions, p, roles)
                orders[p - chunk] = order
                a, b, c, d = _places(positions, p, roles, row)
                for t in range(of_all):
                    prefetch(weights, _feature(keys, a, b, c, d, roles, begin, t) ^ all_orders[order])
                y = positions[p, arity - 1]
                for view in range(views):
                    x = positions[p, views - 1 - view]
                    if not known[view, x, y, order]:
                        known[view, x, y, order] = True
                        wanted[missing, 0], wanted[missing, 1] = view, x
                        wanted[missing, 2], wanted[missing, 3] = y, order
                        missing += 1
                        one, other = begin[arity + 2 * view], begin[arity + 2 * view + 1]
                        for t in range(other - one):
                            prefetch(weights, keys[row + x, one + t] ^ keys[row + y, other + t] ^ two_orders[order])
            for k in range(missing):
                view, x, y, order = wanted[k, 0], wanted[k, 1], wanted[k, 2], wanted[k, 3]
                one, other = begin[arity + 2 * view], begin[arity + 2 * view + 1]
                total = 0.0
                for t in range(other - one):
                    total += weights[keys[row + x, one + t] ^ keys[row + y, other + t] ^ two_orders[order]]
                sums[view, x, y, order] = total
            for p in range(chunk, end):
                order = orders[p - chunk]
                a, b, c, d = _places(positions, p, roles, row)
                y = positions[p, arity - 1]
                total = sums[0, positions[p, views - 1], y, order]
                for view in range(1, views):
                    total += sums[view, positions[p, views - 1 - view], y, order]
                for t in range(of_all):
                    total += weights[_feature(keys, a, b, c, d, roles, begin, t) ^ all_orders[order]]
                out[p] = total
        row += size + 2
    return out


@kernel
def list_tuple_gradient(
    sizes: IntArray,
    positions: IntArray,
    first: IntArray,
    roles: Roles,
    hashes: Hashes,
    family: int,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
) -> int:
    """Write the features of parts of a family to a list, each with its part's adjoint; return how many."""
    keys, begin, bits = hashes
    arity, views, of_all = len(roles), len(roles) - 1, begin[1]
    all_orders, two_orders = order_keys(family, bits)
    count, row = 0, 0
    for sentence in range(len(sizes)):
        size = sizes[sentence]
        sums = np.zeros((views, size, size, ORDERS))
        for p in range(first[sentence], first[sentence + 1]):
            adjoint = adjoints[p]
            if abs(adjoint) < NEGLIGIBLE:
                continue
            order = order_of(positions, p, roles)
            a, b, c, d = _places(positions, p, roles, row)
            for t in range(of_all):
                indices[count] = _feature(keys, a, b, c, d, roles, begin, t) ^ all_orders[order]
                values[count] = adjoint
                count += 1
            for view in range(views):
                sums[view, positions[p, views - 1 - view], positions[p, arity - 1], order] += adjoint
        for view in range(views):
            one, other = begin[arity + 2 * view], begin[arity + 2 * view + 1]
            for x in range(size):
                for y in range(size):
                    for order in range(ORDERS):
                        adjoint = sums[view, x, y, order]
                        if adjoint != 0.0:
                            for t in range(other - one):
                                indices[count] = keys[row + x, one + t] ^ keys[row + y, other + t] ^ two_orders[order]
                                values[count] = adjoint
                                count += 1
        row += size + 2
    return count


@kernel
def _places(positions: IntArray, part: int, roles: Roles, row: int) -> tuple[int, int, int, int]:
    """Where a part's positions are among the keys; of three, the last one twice."""
    a, b, c = row + positions[part, 0], row + positions[part, 1], row + positions[part, 2]
    return a, b, c, row + positions[part, len(roles) - 1]


@kernel
def _feature(keys: AnyArray, a: int, b: int, c: int, d: int, roles: Roles, begin: AnyArray, template: int) -> np.uint32:
    """The feature of a template that looks at all positions, but for their order."""
    key = keys[a, template] ^ keys[b, begin[1] + template] ^ keys[c, begin[2] + template]
    if len(roles) == 4:
        key ^= keys[d, begin[3] + template]
    return key
