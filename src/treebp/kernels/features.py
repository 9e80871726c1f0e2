"""Hashed features of arcs and pairs of arcs.

A token is a row of attributes (word, tags, ...). The rows of a sentence are: a boundary, the root, the words, a
boundary; so position p (0 is the root) is row p + 1, and every position has two neighbours.

A template looks at some attributes around each of a few positions: head and modifier, say. Its key is the exclusive or
of one hash per position, so all hashing is done once per position and template (``position_keys``), and an arc or a
pair costs one operation per template and position (Zobrist, 1970). The upper bits of a key choose a cache line of 16
weights, its four lowest ones a weight in the line. What varies most while the rest stays the same (distance, order, the
tag of the last position) goes into those four bits alone: it is looked up in a line that is already at hand.

A position's part of a template is a row of SLOTS + 1 numbers that index the position's *atoms*: its attributes, those
of its left and of its right neighbour, its attributes divided by 16, and zero. The first SLOTS are hashed, shorter
templates being filled up with zero since loops of equal length are faster; the last one goes into the lowest bits.
"""

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel

# Seeds, so that the families of features do not collide.
HEAD, MODIFIER, ARC, BETWEEN, TRIPLE, OF_BC, OF_AC, SIBLING, GRANDPARENT = (k << 20 for k in range(1, 10))
_ROLE = 1 << 16  # added to a seed for the second, and the third position that a template looks at
SLOTS = 4
CODES = 15  # of direction and distance; code 0 means none
ORDERS = 8

# Parts of templates, each an array (templates, SLOTS + 1).
# Of arcs: on the head alone, on the modifier alone; on both: head's and modifier's part; on what stands between them:
# head's and modifier's part, and the tag.
ArcTemplates = tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]
# Of pairs of arcs over positions a, b, c: on all three: their parts; on b and c; on a and c.
PairTemplates = tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]
# The keys of all parts, each an array (positions, templates).
Keys = tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, AnyArray]

_MULTIPLIER, _FINISHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_FOLD, _HALF, _PLACE = np.uint64(29), np.uint64(32), np.uint64(4)
_WITHIN_LINE = np.uint64(15)


@kernel
def mix(key: np.uint64, value: int) -> np.uint64:
    """One step of the hash."""
    key = (key ^ np.uint64(value)) * _MULTIPLIER
    return key ^ (key >> _FOLD)


@kernel
def start(seed: int) -> np.uint64:
    """The key that a hash begins with, so far from other seeds' keys that no small value leads from one to another."""
    return np.uint64(seed) * _MULTIPLIER


@kernel
def finish(key: np.uint64) -> np.uint64:
    """A key whose bits all depend on all of the given one's, so that exclusive or of such keys is a hash too."""
    key = (key ^ (key >> _HALF)) * _FINISHER
    return key ^ (key >> _HALF)


@kernel
def distance_code(head: int, modifier: int) -> np.uint64:
    """Direction and binned length of an arc, as a number from 1 to CODES - 1."""
    length = abs(head - modifier)
    bin_ = (length > 1) + (length > 2) + (length > 4) + (length > 7) + (length > 12) + (length > 20)
    return np.uint64(1 + 2 * bin_ + (head < modifier))


@kernel
def order_code(a: int, b: int, c: int) -> int:
    """In which order three positions stand, as a number from 0 to ORDERS - 1."""
    return (a < b) + 2 * (b < c) + 4 * (a < c)


@kernel
def index(key: np.uint64, bits: int) -> np.uint64:
    """The weight that a key stands for."""
    return ((key >> np.uint64(68 - bits)) << _PLACE) | (key & _WITHIN_LINE)


@kernel
def position_keys(tokens: IntArray, templates: IntArray, seed: int) -> AnyArray:
    """Keys (positions, templates) of one part of each template."""
    size, width = len(tokens) - 2, tokens.shape[1]
    atoms = np.zeros(4 * width + 1, np.int64)
    keys = np.empty((size, len(templates)), np.uint64)
    for position in range(size):
        for attribute in range(width):
            atoms[attribute] = tokens[position + 1, attribute]
            atoms[width + attribute] = tokens[position, attribute]
            atoms[2 * width + attribute] = tokens[position + 2, attribute]
            atoms[3 * width + attribute] = tokens[position + 1, attribute] >> 4
        for t in range(len(templates)):
            key = start(seed + t)
            for s in range(SLOTS):
                key = mix(key, atoms[templates[t, s]])
            keys[position, t] = finish(key) ^ (np.uint64(atoms[templates[t, SLOTS]]) & _WITHIN_LINE)
    return keys


@kernel
def arc_keys(tokens: IntArray, templates: ArcTemplates) -> Keys:
    """The keys of all parts of arc templates."""
    return (
        position_keys(tokens, templates[0], HEAD),
        position_keys(tokens, templates[1], MODIFIER),
        position_keys(tokens, templates[2], ARC),
        position_keys(tokens, templates[3], ARC + _ROLE),
        position_keys(tokens, templates[4], BETWEEN),
        position_keys(tokens, templates[5], BETWEEN + _ROLE),
        position_keys(tokens, templates[6], BETWEEN + 2 * _ROLE),
    )


@kernel
def pair_keys(tokens: IntArray, templates: PairTemplates) -> Keys:
    """The keys of all parts of pair templates."""
    return (
        position_keys(tokens, templates[0], TRIPLE),
        position_keys(tokens, templates[1], TRIPLE + _ROLE),
        position_keys(tokens, templates[2], TRIPLE + 2 * _ROLE),
        position_keys(tokens, templates[3], OF_BC),
        position_keys(tokens, templates[4], OF_BC + _ROLE),
        position_keys(tokens, templates[5], OF_AC),
        position_keys(tokens, templates[6], OF_AC + _ROLE),
    )


@kernel
def order_keys(family: int) -> AnyArray:
    """For each order of a pair's positions, what goes into the keys of all templates, for SIBLING or GRANDPARENT."""
    keys = np.empty(ORDERS, np.uint64)
    for order in range(ORDERS):
        keys[order] = finish(start(family + order))
    return keys


@kernel
def between_features(
    tokens: IntArray,
    head: int,
    modifier: int,
    templates: IntArray,
    keys: Keys,
    bits: int,
    stamps: IntArray,
    out: AnyArray,
) -> int:
    """A feature for each tag that occurs between head and modifier, once per tag; return how many.

    ``templates`` are those of the tag. ``stamps`` is scratch memory, one longer than there are tags, zero at first.
    """
    count = 0
    low, high = min(head, modifier) + 1, max(head, modifier)
    if low >= high:
        return count
    direction = start(BETWEEN) if head < modifier else np.uint64(0)
    for t in range(len(templates)):
        attribute = templates[t, SLOTS]
        key = keys[4][head, t] ^ keys[5][modifier, t] ^ direction
        stamps[0] += 1
        for position in range(low, high):
            tag = tokens[position + 1, attribute]
            if stamps[1 + tag] != stamps[0]:
                stamps[1 + tag] = stamps[0]
                out[count] = index(key ^ keys[6][position, t], bits)
                count += 1
    return count


@kernel
def stamps_for(tokens: IntArray, templates: IntArray) -> IntArray:
    """Scratch memory for ``between_features``."""
    largest = 0
    for t in range(len(templates)):
        largest = max(largest, tokens[:, templates[t, SLOTS]].max())
    return np.zeros(largest + 2, np.int64)


@kernel
def score_arcs(
    tokens: IntArray,
    heads: IntArray,
    modifiers: IntArray,
    templates: ArcTemplates,
    bits: int,
    weights: AnyArray,
    out: FloatArray,
) -> None:
    """Score of each arc: the sum of its features' weights, each with and without the arc's distance."""
    size = len(tokens) - 2
    keys = arc_keys(tokens, templates)
    of_head, of_modifier, both_head, both_modifier = keys[0], keys[1], keys[2], keys[3]
    between = templates[6]
    bare = np.zeros((2, size))
    for position in range(size):
        for t in range(of_head.shape[1]):
            bare[0, position] += weights[index(of_head[position, t], bits)]
        for t in range(of_modifier.shape[1]):
            bare[1, position] += weights[index(of_modifier[position, t], bits)]
    stamps = stamps_for(tokens, between)
    features = np.empty(len(between) * size, np.uint64)
    for a in range(len(heads)):
        head, modifier = heads[a], modifiers[a]
        code = distance_code(head, modifier)
        total = bare[0, head] + bare[1, modifier]
        for t in range(both_head.shape[1]):
            key = both_head[head, t] ^ both_modifier[modifier, t]
            total += weights[index(key, bits)] + weights[index(key ^ code, bits)]
        for t in range(of_head.shape[1]):
            total += weights[index(of_head[head, t] ^ code, bits)]
        for t in range(of_modifier.shape[1]):
            total += weights[index(of_modifier[modifier, t] ^ code, bits)]
        if len(between) > 0:
            for k in range(between_features(tokens, head, modifier, between, keys, bits, stamps, features)):
                total += weights[features[k]]
        out[a] = total


@kernel
def score_pairs(keys: Keys, triples: IntArray, family: int, bits: int, weights: AnyArray, out: FloatArray) -> None:
    """Score of each pair of arcs over the three positions in a row of ``triples``; best sorted by a and b.

    What depends on two positions and the order of all three is looked up once and kept.
    """
    of_a, of_b, of_c, bc_b, bc_c, ac_a, ac_c = keys
    size = len(of_a)
    orders = order_keys(family)
    prefixes = np.empty(of_a.shape[1], np.uint64)
    sums = np.empty((2, size, size, ORDERS))
    known = np.zeros((2, size, size, ORDERS), np.bool_)  # apart from the sums, which wait for memory
    last_a, last_b = -1, -1
    for p in range(len(triples)):
        a, b, c = triples[p, 0], triples[p, 1], triples[p, 2]
        order = order_code(a, b, c)
        if a != last_a or b != last_b:
            for t in range(len(prefixes)):
                prefixes[t] = of_a[a, t] ^ of_b[b, t]
            last_a, last_b = a, b
        if not known[0, b, c, order]:
            known[0, b, c, order] = True
            sums[0, b, c, order] = _two_token_sum(bc_b[b], bc_c[c], family, order, bits, weights)
        if not known[1, a, c, order]:
            known[1, a, c, order] = True
            sums[1, a, c, order] = _two_token_sum(ac_a[a], ac_c[c], family, order, bits, weights)
        total = sums[0, b, c, order] + sums[1, a, c, order]
        for t in range(len(prefixes)):
            total += weights[index(prefixes[t] ^ of_c[c, t] ^ orders[order], bits)]
        out[p] = total


@kernel
def two_token_code(family: int, order: int) -> np.uint64:
    """What joins the keys of two positions with the family and, within a line, the order of all three."""
    return start(family) ^ np.uint64(order)


@kernel
def _two_token_sum(first: AnyArray, second: AnyArray, family: int, order: int, bits: int, weights: AnyArray) -> float:
    code = two_token_code(family, order)
    total = 0.0
    for t in range(len(first)):
        total += weights[index(first[t] ^ second[t] ^ code, bits)]
    return total
