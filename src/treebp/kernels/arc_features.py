"""Scores of arcs, and their gradient by the weights of features, for the sentences of a batch in one call.

Sentences are laid end to end as in ``treebp.parsing.arcs.Batch``: ``sizes`` holds the number of positions of each,
n + 1; ``heads`` their arcs' heads; ``starts``, size of each, where the arcs of a modifier begin. Keys are those of all
tokens of the batch, so that position p of a sentence whose tokens begin at some row has row + p among the keys: here
called its *place*. Places between sentences are never looked at.
"""

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.features import BETWEEN, CODES, SLOTS, Hashes, Templates, distance_code, index, start
from treebp.kernels.intrinsics import prefetch

# Adjoints below this are not worth a look-up.
NEGLIGIBLE = 1e-5
_HEADS, _MODIFIERS, _BOTH, _BOTH_TOO, _BETWEEN_HEAD, _BETWEEN_MODIFIER, _BETWEEN_TAG = range(7)  # blocks of templates


@kernel
def previous_places(tokens: IntArray, templates: Templates) -> IntArray:
    """For each template of a tag between, and each place: the last place before it with the same tag, or 0."""
    begin = templates.begin[_BETWEEN_TAG]
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
    of_both = begin[_BOTH_TOO] - begin[_BOTH]
    row, position, arc = 0, 0, 0
    for sentence in range(len(sizes)):
        size = sizes[sentence]
        own_starts = starts[position : position + size]
        own_keys = keys[row : row + size]
        of_head = _by_code(own_keys[:, : begin[_MODIFIERS]], weights)
        of_modifier = _by_code(own_keys[:, begin[_MODIFIERS] : begin[_BOTH]], weights)
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
                    prefetch(weights, keys[head, begin[_BOTH] + t] ^ keys[row + m, begin[_BOTH_TOO] + t])
                if len(previous) > 0:
                    so_far = ends[a - first]
                    new = _between(head, row + m, keys, begin, previous, bits, between[so_far:])
                    ends[a - first + 1] = so_far + new
            for k in range(ends[last - first]):
                prefetch(weights, between[k])
            for a in range(first, last):
                head, code = heads[a], distance_code(heads[a], m)
                total = of_head[head, 0] + of_head[head, code] + of_modifier[m, 0] + of_modifier[m, code]
                for t in range(of_both):
                    key = keys[row + head, begin[_BOTH] + t] ^ keys[row + m, begin[_BOTH_TOO] + t]
                    total += weights[key] + weights[key ^ code]
                for k in range(ends[a - first], ends[a - first + 1]):
                    total += weights[between[k]]
                out[a] = total
        row, position, arc = row + size + 2, position + size, arc + own_starts[-1]
    return out


@kernel
def list_arc_gradient(
    sizes: IntArray,
    heads: IntArray,
    starts: IntArray,
    hashes: Hashes,
    previous: IntArray,
    adjoints: FloatArray,
    indices: AnyArray,
    values: AnyArray,
) -> int:
    """Write the arcs' features to a list, each with its arc's adjoint; return how many.

    The mirror image of ``score_arcs``: adjoints of what was looked up once are added up first.
    """
    keys, begin, bits = hashes
    count = 0
    row, position, arc = 0, 0, 0
    for sentence in range(len(sizes)):
        size = sizes[sentence]
        between = np.empty(len(previous) * size + 1, np.uint32)
        sums = np.zeros((2, size, CODES))
        for m in range(1, size):
            for a in range(arc + starts[position + m - 1], arc + starts[position + m]):
                adjoint = adjoints[a]
                if abs(adjoint) < NEGLIGIBLE:
                    continue
                head, code = heads[a], distance_code(heads[a], m)
                sums[0, head, 0] += adjoint
                sums[0, head, code] += adjoint
                sums[1, m, 0] += adjoint
                sums[1, m, code] += adjoint
                for t in range(begin[_BOTH_TOO] - begin[_BOTH]):
                    key = keys[row + head, begin[_BOTH] + t] ^ keys[row + m, begin[_BOTH_TOO] + t]
                    indices[count], values[count] = key, adjoint
                    indices[count + 1], values[count + 1] = key ^ code, adjoint
                    count += 2
                for k in range(_between(row + head, row + m, keys, begin, previous, bits, between)):
                    indices[count], values[count] = between[k], adjoint
                    count += 1
        for role in range(2):
            for own in range(size):
                for code_ in range(CODES):
                    adjoint = sums[role, own, code_]
                    if adjoint != 0.0:
                        for part in range(begin[_HEADS + role], begin[_HEADS + role + 1]):
                            indices[count], values[count] = keys[row + own, part] ^ np.uint32(code_), adjoint
                            count += 1
        row, position, arc = row + size + 2, position + size, arc + starts[position + size - 1]
    return count


@kernel
def _between(
    head: int, modifier: int, keys: AnyArray, begin: AnyArray, previous: IntArray, bits: int, out: AnyArray
) -> int:
    """A feature for each tag that occurs between the places of head and modifier, once per tag; return how many.

    ``out`` has room for one more than there can be.
    """
    count = 0
    low, high = min(head, modifier) + 1, max(head, modifier)
    direction = index(start(BETWEEN), bits) if head < modifier else np.uint32(0)
    for t in range(np.uint64(len(previous))):
        key = keys[head, begin[_BETWEEN_HEAD] + t] ^ keys[modifier, begin[_BETWEEN_MODIFIER] + t] ^ direction
        for place in range(low, high):
            out[count] = key ^ keys[place, begin[_BETWEEN_TAG] + t]
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
