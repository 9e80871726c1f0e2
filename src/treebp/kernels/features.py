"""Hashed features of arcs and pairs of arcs.

A token is a row of attributes (word, tags, ...). The rows of a sentence are: a boundary, the root, the words, a
boundary; so position p (0 is the root) is row p + 1, and every position has two neighbours.

A template is a list of slots, each naming an attribute of one of a few tokens; its feature's index is a hash of the
template's number and the attributes' values. Templates come as an array (templates, SLOTS) of slot codes
``token * attributes + attribute``. Shorter templates are filled up with the code of a value that is always zero, right
behind the last one: loops of equal length run several times as fast as loops of just the right length.

Hashing and looking up are what parsing spends most of its time on. So what depends on fewer tokens than a whole arc or
pair is done once and kept: keys of templates on head or modifier alone per position, weights of pair templates on two
tokens per two positions and order.
"""

import math

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel

# Seeds, so that the families of features do not collide.
HEAD, MODIFIER, ARC, BETWEEN, SIBLING, GRANDPARENT = (k << 20 for k in range(1, 7))
OF_BC, OF_AC = 1 << 18, 1 << 19  # added to the seed of pairs for templates on two tokens
SLOTS = 4
CODES = 15  # of direction and distance; code 0 means none
ORDERS = 8

# Templates of arcs on the head alone, on the modifier alone, on both; attributes looked at between them.
ArcTemplates = tuple[IntArray, IntArray, IntArray, IntArray]
# Templates of pairs over positions a, b, c: on a and b, the attribute of c that completes each, on b and c, on a and c.
PairTemplates = tuple[IntArray, IntArray, IntArray, IntArray]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)


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
def distance_code(head: int, modifier: int) -> int:
    """Direction and binned length of an arc, as a number from 1 to CODES - 1."""
    length = abs(head - modifier)
    bin_ = (length > 1) + (length > 2) + (length > 4) + (length > 7) + (length > 12) + (length > 20)
    return 1 + 2 * bin_ + (head < modifier)


@kernel
def order_code(a: int, b: int, c: int) -> int:
    """In which order three positions stand, as a number from 0 to ORDERS - 1."""
    return (a < b) + 2 * (b < c) + 4 * (a < c)


@kernel
def gather(tokens: IntArray, positions: tuple[int, ...], atoms: IntArray) -> None:
    """The attributes of some positions' tokens, one after the other, then zero: what slot codes index."""
    width = tokens.shape[1]
    k = 0
    for position in positions:
        for attribute in range(width):
            atoms[k] = tokens[position + 1, attribute]
            k += 1
    atoms[k] = 0


@kernel
def template_key(atoms: IntArray, templates: IntArray, t: int, key: np.uint64) -> np.uint64:
    """Hash of a template's values."""
    for s in range(SLOTS):
        key = mix(key, atoms[templates[t, s]])
    return key


@kernel
def index(key: np.uint64, code: int, bits: int) -> np.int64:
    """The weight that a key joined with a code (0: none) stands for.

    All codes of a key share a cache line of 16 weights, so that looking up a second one is cheap; where in the line
    code 0 stands depends on the key, so that all places are used alike.
    """
    line = np.int64(key >> np.uint64(68 - bits))
    return (line << 4) + ((np.int64(key) + code) & 15)


@kernel
def position_keys(tokens: IntArray, templates: IntArray, seed: int) -> AnyArray:
    """Keys (positions, templates) of templates on a position and its left and right neighbours."""
    size = len(tokens) - 2
    atoms = np.empty(3 * tokens.shape[1] + 1, np.int64)
    keys = np.empty((size, len(templates)), np.uint64)
    for position in range(size):
        gather(tokens, (position, position - 1, position + 1), atoms)
        for t in range(len(templates)):
            keys[position, t] = template_key(atoms, templates, t, start(seed + t))
    return keys


@kernel
def arc_keys(tokens: IntArray, head: int, modifier: int, templates: IntArray, atoms: IntArray, keys: AnyArray) -> None:
    """Keys of the templates on head and modifier together."""
    gather(tokens, (head, modifier, head - 1, head + 1, modifier - 1, modifier + 1), atoms)
    for t in range(len(templates)):
        keys[t] = template_key(atoms, templates, t, start(ARC + t))


@kernel
def between_features(
    tokens: IntArray, head: int, modifier: int, between: IntArray, bits: int, stamps: IntArray, out: IntArray
) -> int:
    """A feature for each tag that occurs between head and modifier, once per tag; return how many.

    ``stamps`` is scratch memory, one longer than there are tags, zero at first.
    """
    count = 0
    low, high = min(head, modifier) + 2, max(head, modifier) + 1
    if low >= high:
        return count
    for attribute in between:
        key = mix(start(BETWEEN + 2 * attribute + (head < modifier)), tokens[head + 1, attribute])
        key = mix(key, tokens[modifier + 1, attribute])
        stamps[0] += 1
        for row in range(low, high):
            tag = tokens[row, attribute]
            if stamps[1 + tag] != stamps[0]:
                stamps[1 + tag] = stamps[0]
                out[count] = index(mix(key, tag), 0, bits)
                count += 1
    return count


@kernel
def stamps_for(tokens: IntArray, between: IntArray) -> IntArray:
    """Scratch memory for ``between_features``."""
    largest = 0
    for attribute in between:
        largest = max(largest, tokens[:, attribute].max())
    return np.zeros(largest + 2, np.int64)


@kernel
def two_token_keys(
    tokens: IntArray, x: int, c: int, order: int, templates: IntArray, seed: int, atoms: IntArray, keys: AnyArray
) -> None:
    """Keys of templates on two of the three positions of a pair of arcs, joined with the order of all three."""
    gather(tokens, (x, c), atoms)
    for t in range(len(templates)):
        keys[t] = template_key(atoms, templates, t, start(seed + (t << 4) + order))


@kernel
def prefix_keys(
    tokens: IntArray, a: int, b: int, templates: IntArray, seed: int, atoms: IntArray, keys: AnyArray
) -> None:
    """What the templates on three positions have in common for all c."""
    gather(tokens, (a, b), atoms)
    for t in range(len(templates)):
        keys[t] = template_key(atoms, templates, t, start(seed + t))


@kernel
def triple_value(tokens: IntArray, c: int, attribute: int, order: int) -> int:
    """What completes the key of a template on three positions."""
    return (tokens[c + 1, attribute] << 3) + order


@kernel
def coded_sum(weights: AnyArray, keys: AnyArray, code: int, bits: int) -> float:
    """Sum of the weights of some keys, each joined with a code."""
    total = 0.0
    for t in range(len(keys)):
        total += weights[index(keys[t], code, bits)]
    return total


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
    of_head, of_modifier, of_both, between = templates
    size = len(tokens) - 2
    atoms = np.empty(6 * tokens.shape[1] + 1, np.int64)
    keys = np.empty(len(of_both), np.uint64)
    head_keys, modifier_keys = position_keys(tokens, of_head, HEAD), position_keys(tokens, of_modifier, MODIFIER)
    bare = np.empty((2, size))
    for position in range(size):
        bare[0, position] = coded_sum(weights, head_keys[position], 0, bits)
        bare[1, position] = coded_sum(weights, modifier_keys[position], 0, bits)
    stamps = stamps_for(tokens, between)
    features = np.empty(len(between) * size, np.int64)
    for a in range(len(heads)):
        head, modifier = heads[a], modifiers[a]
        code = distance_code(head, modifier)
        arc_keys(tokens, head, modifier, of_both, atoms, keys)
        total = bare[0, head] + bare[1, modifier]
        for t in range(len(keys)):
            total += weights[index(keys[t], 0, bits)] + weights[index(keys[t], code, bits)]
        for t in range(len(of_head)):
            total += weights[index(head_keys[head, t], code, bits)]
        for t in range(len(of_modifier)):
            total += weights[index(modifier_keys[modifier, t], code, bits)]
        if len(between) > 0:
            count = between_features(tokens, head, modifier, between, bits, stamps, features)
            for k in range(count):
                total += weights[features[k]]
        out[a] = total


@kernel
def score_pairs(
    tokens: IntArray,
    triples: IntArray,
    templates: PairTemplates,
    seed: int,
    bits: int,
    weights: AnyArray,
    out: FloatArray,
) -> None:
    """Score of each pair of arcs over the three positions in a row of ``triples``; best sorted by a and b."""
    of_ab, completing, of_bc, of_ac = templates
    size = len(tokens) - 2
    atoms = np.empty(2 * tokens.shape[1] + 1, np.int64)
    prefixes = np.empty(len(of_ab), np.uint64)
    keys_bc, keys_ac = np.empty(len(of_bc), np.uint64), np.empty(len(of_ac), np.uint64)
    sums = np.full((2, ORDERS, size, size), math.nan)
    last_a, last_b = -1, -1
    for p in range(len(triples)):
        a, b, c = triples[p, 0], triples[p, 1], triples[p, 2]
        order = order_code(a, b, c)
        if a != last_a or b != last_b:
            prefix_keys(tokens, a, b, of_ab, seed, atoms, prefixes)
            last_a, last_b = a, b
        if math.isnan(sums[0, order, b, c]):
            two_token_keys(tokens, b, c, order, of_bc, seed + OF_BC, atoms, keys_bc)
            sums[0, order, b, c] = coded_sum(weights, keys_bc, 0, bits)
        if math.isnan(sums[1, order, a, c]):
            two_token_keys(tokens, a, c, order, of_ac, seed + OF_AC, atoms, keys_ac)
            sums[1, order, a, c] = coded_sum(weights, keys_ac, 0, bits)
        total = sums[0, order, b, c] + sums[1, order, a, c]
        for t in range(len(prefixes)):
            total += weights[index(mix(prefixes[t], triple_value(tokens, c, completing[t], order)), 0, bits)]
        out[p] = total
