"""Scores of arcs, and of parts over three or four positions, for the sentences of a batch in one call.

Sentences are laid end to end as in ``treebp.parsing.arcs.Batch``: ``sizes`` holds the number of positions of each,
n + 1; ``heads`` their arcs' heads; ``starts``, size of each, where the arcs of a modifier begin; ``positions``
(parts, 3 or 4) those of parts, within their sentence, and the parts of sentence s are ``first[s]`` to
``first[s + 1] - 1``. Keys are those of all tokens of the batch, so that position p of a sentence whose tokens begin at
some row has row + p among the keys: here called its *place*. Places between sentences are never looked at.

Templates of parts look at all positions together, or at the last position with one of those before it: these two are a
*view*, the first view being of the last two. What depends on two positions, and on the order of all, is looked up once
per sentence and kept.

``roles`` is 0, 1, 2 or 0, 1, 2, 3. Unlike the shape of an array, the length of a tuple is known when a kernel is
compiled: with parts of any length in one kernel it takes a third longer. Indices are unsigned where many are looked up:
Numba then leaves out the test for negative ones.
"""

from typing import TypeAlias

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.features import (
    BETWEEN,
    CODES,
    ORDERS,
    SLOTS,
    Hashes,
    Templates,
    distance_code,
    index,
    order_keys,
    start,
)
from treebp.kernels.intrinsics import prefetch

Roles = tuple[int, ...]
Index: TypeAlias = int | np.uint64
_ZERO, _ONE, _TWO, _ORDERS = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(ORDERS)
# Blocks of an arc's templates: see `Templates`.
HEADS, MODIFIERS, BOTH, BOTH_TOO, BETWEEN_HEAD, BETWEEN_MODIFIER, BETWEEN_TAG = range(7)
_AHEAD = np.uint64(64)  # parts whose weights are asked for before the first is used


@kernel
def previous_places(tokens: IntArray, templates: Templates) -> IntArray:
    """For each template of a tag between, and each place: the last place before it with the same tag, or 0."""
    begin = templates.begin[BETWEEN_TAG]
    size = len(tokens) - 2
    previous = np.zeros((len(templates.rows) - begin, size), np.int64)
    for t in range(len(previous)):
        tags = tokens[:, templates.rows[begin + t, SLOTS]]
        last = np.zeros(tags.max() + 1, np.int64)
        for place in range(1, size):
            previous[t, place] = last[tags[place + 1]]
            last[tags[place + 1]] = place
    return previous


@kernel
def score_arcs(
    sizes: IntArray,
    heads: IntArray,
    starts: IntArray,
    hashes: Hashes,
    previous: IntArray,
    weights: AnyArray,
) -> FloatArray:
    """Score of each arc: the sum of its features' weights, each with and without the arc's distance.

    ``previous`` comes from ``previous_places``.
    """
    keys, begin, bits = hashes
    out = np.empty(len(heads))
    of_both = begin[BOTH_TOO] - begin[BOTH]
    row, position, arc = 0, 0, 0
    for sentence in range(len(sizes)):
        size = sizes[sentence]
        own_starts = starts[position : position + size]
        own_keys = keys[row : row + size]
        of_head = _by_code(own_keys[:, : begin[MODIFIERS]], weights)
        of_modifier = _by_code(own_keys[:, begin[MODIFIERS] : begin[BOTH]], weights)
        most = 0
        for m in range(1, size):
            most = max(most, own_starts[m] - own_starts[m - 1])
        between = np.empty(most * len(previous) * size + 1, np.uint32)
        ends = np.zeros(most + 1, np.int64)
        for m in range(1, size):
            first, last = arc + own_starts[m - 1], arc + own_starts[m]
            for a in range(first, last):
                head = row + heads[a]
                for t in range(of_both):
                    prefetch(weights, keys[head, begin[BOTH] + t] ^ keys[row + m, begin[BOTH_TOO] + t])
                if len(previous) > 0:
                    so_far = ends[a - first]
                    new = list_between(head, row + m, keys, begin, previous, bits, between[so_far:])
                    ends[a - first + 1] = so_far + new
            for k in range(ends[last - first]):
                prefetch(weights, between[k])
            for a in range(first, last):
                head, code = heads[a], distance_code(heads[a], m)
                total = of_head[head, 0] + of_head[head, code] + of_modifier[m, 0] + of_modifier[m, code]
                for t in range(of_both):
                    key = keys[row + head, begin[BOTH] + t] ^ keys[row + m, begin[BOTH_TOO] + t]
                    total += weights[key] + weights[key ^ code]
                for k in range(ends[a - first], ends[a - first + 1]):
                    total += weights[between[k]]
                out[a] = total
        row, position, arc = row + size + 2, position + size, arc + own_starts[-1]
    return out


@kernel
def list_between(
    head: int, modifier: int, keys: AnyArray, begin: AnyArray, previous: IntArray, bits: int, out: AnyArray
) -> int:
    """A feature for each tag that occurs between the places of head and modifier, once per tag; return how many.

    ``out`` has room for one more than there can be.
    """
    count = 0
    low, high = min(head, modifier) + 1, max(head, modifier)
    direction = index(start(BETWEEN), bits) if head < modifier else np.uint32(0)
    for t in range(np.uint64(len(previous))):
        key = keys[head, begin[BETWEEN_HEAD] + t] ^ keys[modifier, begin[BETWEEN_MODIFIER] + t] ^ direction
        for place in range(low, high):
            out[count] = key ^ keys[place, begin[BETWEEN_TAG] + t]
            count += previous[t, place] < low  # a branch could not be predicted
    return count


@kernel
def _by_code(keys: AnyArray, weights: AnyArray) -> FloatArray:
    """The sum of the templates' weights for each position and code."""
    sums = np.zeros((len(keys), CODES))
    for position in range(len(keys)):
        for t in range(keys.shape[1]):
            prefetch(weights, keys[position, t])
    for position in range(len(keys)):
        for t in range(keys.shape[1]):
            for code in range(CODES):
                sums[position, code] += weights[keys[position, t] ^ np.uint32(code)]
    return sums


@kernel
def order_of(positions: IntArray, part: Index, roles: Roles) -> Index:
    """In which order the positions of a part stand, as a number from 0 to ORDERS - 1.

    Of three, the second or the third may be the first one again, for a sibling that is not there. Of four, the last
    three stand in order, from left to right or from right to left; the first may be anywhere.
    """
    a, b, c = positions[part, 0], positions[part, 1], positions[part, 2]
    if len(roles) == 3:
        return np.uint64((a < b) + 2 * (b < c) + 4 * ((a < c) | (a == b)))
    return np.uint64((b < c) + 2 * ((b < a) + (c < a) + (positions[part, 3] < a)))


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
    arity, views, of_all = len(roles), np.uint64(len(roles) - 1), begin[1]
    all_orders, two_orders = order_keys(family, bits)
    out = np.empty(len(positions))
    # Of each part its features on all positions, and a cell of sums for each view; of each cell that is new, its
    # features, and where they end.
    of_parts, cells = np.empty(_AHEAD * of_all, np.uint32), np.empty(_AHEAD * views, np.uint64)
    of_cells, new_cells = np.empty(_AHEAD * keys.shape[1], np.uint32), np.empty(_AHEAD * views, np.uint64)
    ends = np.empty(_AHEAD * views, np.uint64)
    row = np.uint64(0)
    for sentence in range(len(sizes)):
        size, end_of_sentence = np.uint64(sizes[sentence]), np.uint64(first[sentence + 1])
        sums = np.empty(views * size * size * _ORDERS)
        known = np.zeros(views * size * size * _ORDERS, np.bool_)  # apart from the sums, which wait for memory
        for chunk in range(np.uint64(first[sentence]), end_of_sentence, _AHEAD):
            end = min(chunk + _AHEAD, end_of_sentence)
            feature, cell, new, new_feature = _ZERO, _ZERO, _ZERO, _ZERO
            for p in range(chunk, end):
                order = order_of(positions, p, roles)
                a, b, c, d = places_of(positions, p, roles, row)
                of_order, of_order_in_cell = all_orders[order], two_orders[order]
                for t in range(of_all):
                    key = feature_of(keys, a, b, c, d, roles, begin, t) ^ of_order
                    of_parts[feature] = key
                    prefetch(weights, key)
                    feature += _ONE
                y = np.uint64(positions[p, arity - 1])
                for view in range(views):
                    x = np.uint64(positions[p, views - _ONE - view])
                    own = ((view * size + x) * size + y) * _ORDERS + order
                    cells[cell] = own
                    cell += _ONE
                    if not known[own]:
                        known[own] = True
                        one, other = begin[views + _ONE + _TWO * view], begin[views + _TWO + _TWO * view]
                        for t in range(other - one):
                            key = keys[row + x, one + t] ^ keys[row + y, other + t] ^ of_order_in_cell
                            of_cells[new_feature] = key
                            prefetch(weights, key)
                            new_feature += _ONE
                        new_cells[new], ends[new] = own, new_feature
                        new += _ONE
            new_feature = _ZERO
            for k in range(new):
                total = 0.0
                while new_feature < ends[k]:
                    total += weights[of_cells[new_feature]]
                    new_feature += _ONE
                sums[new_cells[k]] = total
            feature, cell = _ZERO, _ZERO
            for p in range(chunk, end):
                total = sums[cells[cell]]
                for view in range(_ONE, views):
                    total += sums[cells[cell + view]]
                cell += views
                for _ in range(of_all):
                    total += weights[of_parts[feature]]
                    feature += _ONE
                out[p] = total
        row += size + _TWO
    return out


@kernel
def places_of(positions: IntArray, part: Index, roles: Roles, row: Index) -> tuple[Index, Index, Index, Index]:
    """Where a part's positions are among the keys; of three, the last one twice."""
    a, b, c = np.uint64(positions[part, 0]), np.uint64(positions[part, 1]), np.uint64(positions[part, 2])
    return row + a, row + b, row + c, row + np.uint64(positions[part, len(roles) - 1])


@kernel
def feature_of(
    keys: AnyArray, a: Index, b: Index, c: Index, d: Index, roles: Roles, begin: AnyArray, template: Index
) -> np.uint32:
    """The feature of a template that looks at all positions, but for their order."""
    key = keys[a, template] ^ keys[b, begin[1] + template] ^ keys[c, begin[2] + template]
    if len(roles) == 4:
        key ^= keys[d, begin[3] + template]
    return key
