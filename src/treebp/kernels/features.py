"""Hashed features of arcs and pairs of arcs.

A token is a row of attributes (word, tags, ...). The rows of a sentence are: a boundary, the root, the words, a
boundary; so position p (0 is the root) is row p + 1, and every position has two neighbours.

A template looks at some attributes around each of a few positions: head and modifier, say. Its feature is the exclusive
or of one hash per position, so all hashing is done once per position and template (``position_keys``), and an arc or a
pair costs one operation per template and position (Zobrist, 1970). A key is the index of a weight: its upper bits
choose a cache line of 16 weights, its four lowest ones a weight in the line. What varies most while the rest stays the
same (distance, order, the tag of the last position) goes into those four bits alone: it is looked up in a line that is
already at hand.

A position's part of a template is a row of SLOTS + 1 numbers that index the position's *atoms*: its attributes, those
of its left and of its right neighbour, its attributes divided by 16, and zero. The first SLOTS are hashed, shorter
templates being filled up with zero since loops of equal length are faster; the last one goes into the lowest bits.

Nearly every weight is far away in memory, so those of many features are asked for before the first is used.
"""

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.prefetch import prefetch

# Seeds, so that the families of features do not collide.
HEAD, MODIFIER, ARC, BETWEEN, TRIPLE, OF_BC, OF_AC, SIBLING, GRANDPARENT = (k << 20 for k in range(1, 10))
_ROLE = 1 << 16  # added to a seed for the second, and the third position that a template looks at
SLOTS = 4
CODES = 15  # of direction and distance; code 0 means none
ORDERS = 8
_AHEAD = 64  # pairs whose weights are asked for before the first is used

# The parts of templates, one kind after the other: the rows, a seed for the hash of each, and where each kind begins.
# There are seven kinds, for arcs: of templates on the head alone, on the modifier alone; on both, the head's and the
# modifier's part; on what stands between them, the head's part, the modifier's and that of the tag between.
# For pairs of arcs over positions a, b, c: of templates on all three, a's, b's and c's part; on b and c; on a and c.
Templates = tuple[IntArray, AnyArray, AnyArray]
ARC_SEEDS = (HEAD, MODIFIER, ARC, ARC + _ROLE, BETWEEN, BETWEEN + _ROLE, BETWEEN + 2 * _ROLE)
PAIR_SEEDS = (TRIPLE, TRIPLE + _ROLE, TRIPLE + 2 * _ROLE, OF_BC, OF_BC + _ROLE, OF_AC, OF_AC + _ROLE)

_MULTIPLIER, _FINISHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_FOLD, _HALF, _PLACE = np.uint64(29), np.uint64(32), np.uint64(4)
_WITHIN_LINE = np.uint64(15)


@kernel
def mix(hash_: np.uint64, value: int) -> np.uint64:
    """One step of the hash."""
    hash_ = (hash_ ^ np.uint64(value)) * _MULTIPLIER
    return hash_ ^ (hash_ >> _FOLD)


@kernel
def start(seed: int) -> np.uint64:
    """What a hash begins with, so far from what it is for other seeds that no small value leads from one to another."""
    return np.uint64(seed) * _MULTIPLIER


@kernel
def finish(hash_: np.uint64) -> np.uint64:
    """A hash whose bits all depend on all of the given one's, so that an exclusive or of such is a hash too."""
    hash_ = (hash_ ^ (hash_ >> _HALF)) * _FINISHER
    return hash_ ^ (hash_ >> _HALF)


@kernel
def distance_code(head: int, modifier: int) -> np.uint32:
    """Direction and binned length of an arc, as a number from 1 to CODES - 1."""
    length = abs(head - modifier)
    bin_ = (length > 1) + (length > 2) + (length > 4) + (length > 7) + (length > 12) + (length > 20)
    return np.uint32(1 + 2 * bin_ + (head < modifier))


@kernel
def order_code(a: int, b: int, c: int) -> int:
    """In which order three positions stand, as a number from 0 to ORDERS - 1."""
    return (a < b) + 2 * (b < c) + 4 * (a < c)


@kernel
def index(hash_: np.uint64, bits: int) -> np.uint32:
    """The bits of a hash that choose a weight: of an exclusive or of hashes, the exclusive or of their indices."""
    return np.uint32(((hash_ >> np.uint64(68 - bits)) << _PLACE) | (hash_ & _WITHIN_LINE))


@kernel
def position_keys(tokens: IntArray, templates: Templates, bits: int) -> AnyArray:
    """Keys (positions, parts) of all parts of templates."""
    rows, seeds, _ = templates
    size, width = len(tokens) - 2, tokens.shape[1]
    atoms = np.zeros((4 * width + 1, size), np.uint64)
    for position in range(size):
        for attribute in range(width):
            atoms[attribute, position] = tokens[position + 1, attribute]
            atoms[width + attribute, position] = tokens[position, attribute]
            atoms[2 * width + attribute, position] = tokens[position + 2, attribute]
            atoms[3 * width + attribute, position] = tokens[position + 1, attribute] >> 4
    keys = np.empty((size, len(rows)), np.uint32)
    hashes = np.empty(size, np.uint64)
    for part in range(len(rows)):
        hashes[:] = start(seeds[part])
        for slot in rows[part, :SLOTS]:
            for position in range(size):
                hashes[position] = mix(hashes[position], atoms[slot, position])
        for position in range(size):
            within = atoms[rows[part, SLOTS], position] & _WITHIN_LINE
            keys[position, part] = index(finish(hashes[position]) ^ within, bits)
    return keys


@kernel
def order_keys(family: int, bits: int) -> tuple[AnyArray, AnyArray]:
    """What goes into the keys of pairs of a family, SIBLING or GRANDPARENT, for each order of their positions.

    First for the templates on all three positions, then for those on two of them, where the order varies within a line.
    """
    of_three, of_two = np.empty(ORDERS, np.uint32), np.empty(ORDERS, np.uint32)
    for order in range(ORDERS):
        of_three[order] = index(finish(start(family + order)), bits)
        of_two[order] = index(start(family) ^ np.uint64(order), bits)
    return of_three, of_two


@kernel
def previous_alike(tokens: IntArray, templates: Templates) -> IntArray:
    """For each template of a tag between, and each position: the last position before it with the same tag, or 0."""
    rows, _, begin = templates
    size = len(tokens) - 2
    previous = np.zeros((len(rows) - begin[6], size), np.int64)
    for t in range(len(previous)):
        tags = tokens[:, rows[begin[6] + t, SLOTS]]
        last = np.zeros(tags.max() + 1, np.int64)
        for position in range(1, size):
            previous[t, position] = last[tags[position + 1]]
            last[tags[position + 1]] = position
    return previous


@kernel
def between_features(
    head: int, modifier: int, keys: AnyArray, begin: AnyArray, previous: IntArray, bits: int, out: AnyArray
) -> int:
    """A feature for each tag that occurs between head and modifier, once per tag; return how many.

    ``previous`` comes from ``previous_alike``; ``out`` has room for one more than there can be.
    """
    count = 0
    low, high = min(head, modifier) + 1, max(head, modifier)
    direction = index(start(BETWEEN), bits) if head < modifier else np.uint32(0)
    for t in range(np.uint64(len(previous))):
        key = keys[head, begin[4] + t] ^ keys[modifier, begin[5] + t] ^ direction
        for position in range(low, high):
            out[count] = key ^ keys[position, begin[6] + t]
            count += previous[t, position] < low  # a branch could not be predicted
    return count


@kernel
def score_arcs(
    tokens: IntArray,
    heads: IntArray,
    starts: IntArray,
    templates: Templates,
    bits: int,
    weights: AnyArray,
    out: FloatArray,
) -> None:
    """Score of each arc: the sum of its features' weights, each with and without the arc's distance."""
    size, begin = len(tokens) - 2, templates[2]
    keys = position_keys(tokens, templates, bits)
    of_head, of_modifier = _by_code(keys[:, : begin[1]], weights), _by_code(keys[:, begin[1] : begin[2]], weights)
    of_both = begin[3] - begin[2]
    previous = previous_alike(tokens, templates)
    most = np.diff(starts).max()
    between = np.empty(most * len(previous) * size + 1, np.uint32)
    ends = np.zeros(most + 1, np.int64)
    for m in range(1, size):
        first = starts[m - 1]
        for a in range(first, starts[m]):
            head = heads[a]
            for t in range(of_both):
                prefetch(weights, keys[head, begin[2] + t] ^ keys[m, begin[3] + t])
            if len(previous) > 0:
                so_far = ends[a - first]
                new = between_features(head, m, keys, begin, previous, bits, between[so_far:])
                ends[a - first + 1] = so_far + new
        for k in range(ends[starts[m] - first]):
            prefetch(weights, between[k])
        for a in range(first, starts[m]):
            head, code = heads[a], distance_code(heads[a], m)
            total = of_head[head, 0] + of_head[head, code] + of_modifier[m, 0] + of_modifier[m, code]
            for t in range(of_both):
                key = keys[head, begin[2] + t] ^ keys[m, begin[3] + t]
                total += weights[key] + weights[key ^ code]
            for k in range(ends[a - first], ends[a - first + 1]):
                total += weights[between[k]]
            out[a] = total


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
def score_pairs(
    keys: AnyArray, begin: AnyArray, triples: IntArray, family: int, bits: int, weights: AnyArray, out: FloatArray
) -> None:
    """Score of each pair of arcs over the three positions in a row of ``triples``.

    What depends on two positions and the order of all three is looked up once and kept.
    """
    size = len(keys)
    of_three, of_two = order_keys(family, bits)
    count = begin[1]
    begins, counts = (begin[3], begin[5]), (begin[4] - begin[3], begin[6] - begin[5])
    sums = np.empty((2, size, size, ORDERS))
    known = np.zeros((2, size, size, ORDERS), np.bool_)  # apart from the sums, which wait for memory
    wanted = np.empty((2 * _AHEAD, 4), np.int64)
    for chunk in range(0, len(triples), _AHEAD):
        end = min(chunk + _AHEAD, len(triples))
        missing = 0
        for p in range(chunk, end):
            a, b, c = triples[p, 0], triples[p, 1], triples[p, 2]
            order = order_code(a, b, c)
            for t in range(count):
                prefetch(weights, keys[a, t] ^ keys[b, begin[1] + t] ^ keys[c, begin[2] + t] ^ of_three[order])
            for which in range(2):
                x = b if which == 0 else a
                if not known[which, x, c, order]:
                    known[which, x, c, order] = True
                    wanted[missing] = which, x, c, order
                    missing += 1
                    own = begins[which]
                    for t in range(counts[which]):
                        prefetch(weights, keys[x, own + t] ^ keys[c, own + counts[which] + t] ^ of_two[order])
        for k in range(missing):
            which, x, c, order = wanted[k]
            own = begins[which]
            total = 0.0
            for t in range(counts[which]):
                total += weights[keys[x, own + t] ^ keys[c, own + counts[which] + t] ^ of_two[order]]
            sums[which, x, c, order] = total
        for p in range(chunk, end):
            a, b, c = triples[p, 0], triples[p, 1], triples[p, 2]
            order = order_code(a, b, c)
            total = sums[0, b, c, order] + sums[1, a, c, order]
            for t in range(count):
                total += weights[keys[a, t] ^ keys[b, begin[1] + t] ^ keys[c, begin[2] + t] ^ of_three[order]]
            out[p] = total
