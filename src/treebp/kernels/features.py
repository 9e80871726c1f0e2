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

from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, IntArray
from treebp.kernels._jit import kernel

# Seeds, so that the families of features do not collide. Models depend on them: new ones go to the end.
HEAD, MODIFIER, ARC, BETWEEN, TRIPLE, OF_BC, OF_AC, SIBLING, GRANDPARENT = (k << 20 for k in range(1, 10))
CONSECUTIVE_SIBLING, GRAND_SIBLING, TRI_SIBLING = (k << 20 for k in range(10, 13))
QUADRUPLE, OF_CD, OF_BD, OF_AD = (k << 20 for k in range(13, 17))
WINDOW, TRANSITION, COLUMN, COMING_FROM = (k << 20 for k in range(17, 21))
ROLE = 1 << 16  # added to a seed for the second, the third and the fourth position that a template looks at
SLOTS = 4
CODES = 15  # of direction and distance; code 0 means none
ORDERS = 8


class Templates(NamedTuple):
    """The parts of templates, block after block, each block a position's part of the templates on some positions.

    For arcs there are seven blocks: of templates on the head alone; on the modifier alone; on both, the head's and the
    modifier's part; on what stands between them, the head's part, the modifier's and that of the tag between. For
    pairs of arcs over positions a, b, c: of templates on all three, a's, b's and c's part; on b and c; on a and c. For
    parts over a, b, c, d: on all four; on c and d; on b and d; on a and d.

    Attributes:
        rows: (parts, SLOTS + 1), numbers of atoms.
        seeds: (parts,), of the hash of each, uint64.
        begin: (blocks,), where each begins, uint64.

    """

    rows: IntArray
    seeds: AnyArray
    begin: AnyArray


class Hashes(NamedTuple):
    """Hashed positions: what turns parts into indices of weights.

    Attributes:
        keys: (positions, parts of templates), from ``position_keys``, uint32.
        begin: of the templates.
        bits: of an index.

    """

    keys: AnyArray
    begin: AnyArray
    bits: int


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
