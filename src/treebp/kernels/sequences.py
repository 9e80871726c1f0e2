"""Scores of labels along sequences, by hashed features of what stands around a position, and their gradient.

A position has a row of values, one per attribute. A template looks at some of them, here and at some distance, and its
key, hashed as in ``treebp.kernels.features``, is the index of a weight: its upper bits choose a cache line of 16.
A label is a set of *columns*, its parts, so that labels that have parts in common share what is learnt of these. With
each 16 columns a key leads to one line: so with few labels there is one line to fetch per feature, and with many, one
for each 16 columns that the candidates of a position have. A weight's index is the exclusive or of the keys of feature
and column, and for a transition, of the column that it comes from.

A position with a single candidate has nothing to choose: its score is zero, since the same number for all candidates
changes nothing.
"""

from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.chain import ChainLayout
from treebp.kernels.features import COLUMN, COMING_FROM, finish, index, mix, start
from treebp.kernels.intrinsics import prefetch

_BOUNDARY = 1 << 40  # what is seen beyond the ends of a sequence: the value of no attribute
_WITHIN = np.uint64(15)


class Windows(NamedTuple):
    """Templates.

    Attributes:
        atoms: (atoms, 2) what templates look at: attributes, and at which distance.
        rows: (templates, slots) the atoms of each, -1 beyond the last.
        seeds: (templates,) of their hashes, uint64.

    """

    atoms: IntArray
    rows: IntArray
    seeds: AnyArray


class LabelColumns(NamedTuple):
    """What labels are made of.

    Attributes:
        parts: (labels, parts) the columns of each, -1 for a part that it does not have.
        chained: of how many of the first parts, which all labels have, transitions are scored, each with the same part
            of the label before.
        to: (columns,) the key of each, uint32.
        coming: (columns,) its key when a transition comes from it, uint32.

    """

    parts: IntArray
    chained: int
    to: AnyArray
    coming: AnyArray


@kernel
def column_keys(columns: int, bits: int) -> tuple[AnyArray, AnyArray]:
    """The keys of columns, and those of columns that transitions come from."""
    to, coming = np.empty(columns, np.uint32), np.empty(columns, np.uint32)
    for column in range(columns):
        line = finish(start(COLUMN + (column >> 4))) & ~_WITHIN
        to[column] = index(line | (np.uint64(column) & _WITHIN), bits)
        coming[column] = index(finish(start(COMING_FROM + column)), bits)
    return to, coming


@kernel
def window_keys(first: IntArray, values: AnyArray, windows: Windows, bits: int) -> AnyArray:
    """Keys (positions, templates), uint32; sequence s has the positions ``first[s]`` to ``first[s + 1] - 1``."""
    atoms, rows, seeds = windows
    size = len(values)
    seen = np.empty((len(atoms), size), np.uint64)
    for atom in range(len(atoms)):
        attribute, distance = atoms[atom]
        for s in range(len(first) - 1):
            for position in range(first[s], first[s + 1]):
                other = position + distance
                inside = first[s] <= other < first[s + 1]
                seen[atom, position] = values[other, attribute] if inside else _BOUNDARY
    keys = np.empty((size, len(rows)), np.uint32)
    hashes = np.empty(size, np.uint64)
    for template in range(len(rows)):
        hashes[:] = start(seeds[template])
        for atom in rows[template]:
            if atom >= 0:
                for position in range(size):
                    hashes[position] = mix(hashes[position], seen[atom, position])
        for position in range(size):
            keys[position, template] = index(finish(hashes[position]), bits)
    return keys


@kernel
def _columns(candidates: AnyArray, parts: IntArray, place: IntArray, out: IntArray) -> int:
    """List the columns of some labels, each once, and note where; return how many. ``place`` is -1 elsewhere."""
    count = 0
    for label in candidates:
        for column in parts[label]:
            if column >= 0 and place[column] < 0:
                place[column] = count
                out[count] = column
                count += 1
    return count


@kernel
def score_labels(
    keys: AnyArray, layout: ChainLayout, candidates: AnyArray, labels: LabelColumns, weights: AnyArray
) -> FloatArray:
    """Score of each candidate of each position; the weights of the next position are asked for before they are used."""
    begin, parts, width = layout.start, labels.parts, len(labels.to)
    scores = np.zeros(len(candidates))
    places, columns = np.full((2, width), -1), np.empty((2, width), np.int64)
    own, sums = np.empty((2, width), np.uint32), np.empty(width)
    count, waiting = 0, -1
    for i in range(len(keys) + 1):
        turn, following = i & 1, 0
        if i < len(keys):
            if begin[i + 1] - begin[i] < 2:
                if waiting < 0:
                    continue
            else:
                following = _columns(candidates[begin[i] : begin[i + 1]], parts, places[turn], columns[turn])
                for k in range(following):
                    own[turn, k] = labels.to[columns[turn, k]]
                for key in keys[i]:
                    for k in range(following):
                        prefetch(weights, key ^ own[turn, k])
        if waiting >= 0:
            place, last = places[1 - turn], own[1 - turn]
            sums[:count] = 0.0
            for key in keys[waiting]:
                for k in range(count):
                    sums[k] += weights[key ^ last[k]]
            for c in range(begin[waiting], begin[waiting + 1]):
                for column in parts[candidates[c]]:
                    if column >= 0:
                        scores[c] += sums[place[column]]
            for k in range(count):
                place[columns[1 - turn, k]] = -1
        waiting, count = (i if following else -1), following
    return scores


@kernel
def list_label_gradient(
    keys: AnyArray,
    layout: ChainLayout,
    candidates: AnyArray,
    labels: LabelColumns,
    adjoint: FloatArray,
    indices: AnyArray,
    values: AnyArray,
) -> int:
    """Write the gradient by weights, given that by the scores of candidates; return how many entries it has."""
    begin, parts = layout.start, labels.parts
    place, columns = np.full(len(labels.to), -1), np.empty(len(labels.to), np.int64)
    sums = np.empty(len(labels.to))
    listed = 0
    for i in range(len(keys)):
        if begin[i + 1] - begin[i] < 2:
            continue
        count = _columns(candidates[begin[i] : begin[i + 1]], parts, place, columns)
        sums[:count] = 0.0
        for c in range(begin[i], begin[i + 1]):
            for column in parts[candidates[c]]:
                if column >= 0:
                    sums[place[column]] += adjoint[c]
        for k in range(count):
            place[columns[k]] = -1
            if sums[k] != 0.0:
                for key in keys[i]:
                    indices[listed] = key ^ labels.to[columns[k]]
                    values[listed] = sums[k]
                    listed += 1
    return listed


@kernel
def score_transitions(
    keys: AnyArray, layout: ChainLayout, candidates: AnyArray, labels: LabelColumns, weights: AnyArray
) -> FloatArray:
    """Score of each transition from a candidate of one position to one of the next."""
    begin, into, parts = layout.start, layout.into, labels.parts
    scores = np.zeros(into[-1])
    for i in range(len(keys)):
        if into[i + 1] - into[i] < 2:
            continue
        choices = begin[i + 1] - begin[i]
        for part in range(labels.chained):
            place = into[i]
            for c in range(begin[i - 1], begin[i]):
                coming = labels.coming[parts[candidates[c], part]]
                for key in keys[i]:
                    start_key = key ^ coming
                    for d in range(choices):
                        scores[place + d] += weights[start_key ^ labels.to[parts[candidates[begin[i] + d], part]]]
                place += choices
    return scores


@kernel
def list_transition_gradient(
    keys: AnyArray,
    layout: ChainLayout,
    candidates: AnyArray,
    labels: LabelColumns,
    adjoint: FloatArray,
    indices: AnyArray,
    values: AnyArray,
) -> int:
    """The same for transitions."""
    begin, into, parts = layout.start, layout.into, labels.parts
    listed = 0
    for i in range(len(keys)):
        if into[i + 1] - into[i] < 2:
            continue
        place = into[i]
        for c in range(begin[i - 1], begin[i]):
            for d in range(begin[i], begin[i + 1]):
                if adjoint[place] != 0.0:
                    for part in range(labels.chained):
                        pair = labels.coming[parts[candidates[c], part]] ^ labels.to[parts[candidates[d], part]]
                        for key in keys[i]:
                            indices[listed] = key ^ pair
                            values[listed] = adjoint[place]
                            listed += 1
                place += 1
    return listed
