"""Which parts there are, against listings by definition."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import all_trees
from treebp.features.templates import ATTRIBUTES
from treebp.parsing.arcs import Arcs, Batch
from treebp.parsing.parts import PARTS
from treebp.parsing.parts.part import NEAREST

kinds = pytest.mark.parametrize("kind", PARTS)
drawn = given(seed=st.integers(0, 10**6), sizes=st.lists(st.integers(1, 8), min_size=1, max_size=4))


def random_keep(rng, size):
    keep = rng.random((size, size)) < 0.6
    keep[:, 0] = False
    np.fill_diagonal(keep, False)
    return keep


def all_arcs(size):
    return ~np.eye(size, dtype=bool) & (np.arange(size) > 0)


def batch_of(matrices):
    tokens = [np.ones((len(keep) + 2, len(ATTRIBUTES)), np.int64) for keep in matrices]
    return Batch.of(tokens, [Arcs.of(keep) for keep in matrices])


def same_side(head, *modifiers):
    return len({modifier < head for modifier in modifiers}) == 1


def siblings(keep, projective):
    for h in range(len(keep)):
        for m, s in combinations(np.flatnonzero(keep[h]), 2):
            yield (h, m, s), [(h, m), (h, s)]


def grandparents(keep, projective):
    for h in range(len(keep)):
        for g in np.flatnonzero(keep[:, h]):
            for m in np.flatnonzero(keep[h]):
                if m != g and not (projective and min(h, m) < g < max(h, m)):
                    yield (g, h, m), [(g, h), (h, m)]


def consecutive_siblings(keep, projective):
    for h in range(len(keep)):
        children = np.flatnonzero(keep[h])
        for side in (children[children < h][::-1], children[children > h]):
            for i in range(-1, len(side)):
                for j in range(i + 1, len(side) + 1):
                    if (i, j) != (-1, len(side)):
                        m, s = side[i] if i >= 0 else h, side[j] if j < len(side) else h
                        yield (h, m, s), [(h, m) if m != h else None, (h, s) if s != h else None]


def grand_siblings(keep, projective):
    for h in range(1, len(keep)):
        for m, s in combinations(np.flatnonzero(keep[h]), 2):
            if same_side(h, m, s):
                for g in np.flatnonzero(keep[:, h]):
                    if g not in (m, s) and not (projective and min(h, m) < g < max(h, s)):
                        yield (g, h, m, s), [(g, h), (h, m), (h, s)]


def tri_siblings(keep, projective):
    for h in range(len(keep)):
        for m, s, t in combinations(np.flatnonzero(keep[h]), 3):
            if same_side(h, m, s, t):
                yield (h, m, s, t), [(h, m), (h, s), (h, t)]


BY_DEFINITION = {
    "sibling": siblings,
    "grandparent": grandparents,
    "consecutive-sibling": consecutive_siblings,
    "grand-sibling": grand_siblings,
    "tri-sibling": tri_siblings,
}


@kinds
@pytest.mark.parametrize("projective", [True, False])
@settings(max_examples=20)
@drawn
def test_parts_are_those_of_the_definition_in_its_order(kind, projective, seed, sizes):
    rng = np.random.default_rng(seed)
    matrices = [random_keep(rng, size) for size in sizes]
    batch = batch_of(matrices)
    numbers, count = [], 0
    for arcs in batch.arcs:
        pairs = zip(arcs.heads.tolist(), arcs.modifiers.tolist(), strict=True)
        numbers.append({pair: count + k for k, pair in enumerate(pairs)} | {None: -1})
        count += len(arcs.heads)
    listed = [list(BY_DEFINITION[kind](keep, projective)) for keep in matrices]
    tuples = PARTS[kind].list(batch, projective)
    assert tuples.first.tolist() == np.cumsum([0, *map(len, listed)]).tolist()
    assert tuples.positions.tolist() == [list(map(int, positions)) for own in listed for positions, _ in own]
    assert tuples.arcs.tolist() == [
        [number[arc] for arc in arcs] for number, own in zip(numbers, listed, strict=True) for _, arcs in own
    ]


@settings(max_examples=20)
@drawn
def test_sequences_are_the_children_of_each_side_nearest_first(seed, sizes):
    rng = np.random.default_rng(seed)
    batch = batch_of([random_keep(rng, size) for size in sizes])
    expected, offset = [], 0
    for arcs in batch.arcs:
        for h in range(len(arcs.starts)):
            own = [k for k in range(len(arcs.heads)) if arcs.heads[k] == h]
            left = [offset + k for k in reversed(own) if arcs.modifiers[k] < h]
            right = [offset + k for k in own if arcs.modifiers[k] > h]
            expected += [side for side in (left, right) if side]
        offset += len(arcs.heads)
    tuples = PARTS["consecutive-sibling"].list(batch, True)
    arcs, first = tuples.sequences
    assert [arcs[a:b].tolist() for a, b in pairwise(first)] == expected
    assert len(tuples.arcs) == sum((len(side) + 1) * (len(side) + 2) // 2 - 1 for side in expected)


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("kind", ["sibling", "grandparent", "grand-sibling", "tri-sibling"])
def test_what_is_left_out_is_in_no_tree_and_all_else_is_in_one(kind, projective):
    size = 6
    positions = PARTS[kind].list(batch_of([all_arcs(size)]), projective).positions
    listed = set(map(tuple, positions.tolist()))
    assert len(listed) == len(positions)
    held = set()
    for tree in all_trees(size - 1, projective, False):
        keep = np.zeros((size, size), bool)
        keep[tree, np.arange(1, size)] = True
        held |= {tuple(map(int, part)) for part, _ in BY_DEFINITION[kind](keep, False)}
    assert listed == held


def test_each_tree_has_one_chain_of_successions_per_side():
    size = 5
    tuples = PARTS["consecutive-sibling"].list(batch_of([all_arcs(size)]), True)
    parts = tuples.positions.tolist()
    for tree in all_trees(size - 1, True, True):
        on = {(int(h), m) for m, h in enumerate(tree, start=1)}
        held = 0
        for h, m, s in parts:
            ends = {(h, child) for child in (m, s) if child != h}
            side = [x for x in range(size) if x not in (h, m, s) and (x < h) == (min(m, s) < h)]
            nearer, farther = abs(m - h), abs(s - h) if s != h else size  # beyond the last child there is none
            held += ends <= on and not any((h, x) in on for x in side if nearer < abs(x - h) < farther)
        sides = {(h, m > h) for h, m in on}
        assert held == len(on) + len(sides)


@pytest.mark.parametrize("kind", ["grand-sibling", "tri-sibling"])
def test_third_order_looks_at_the_nearest_children_only(kind):
    keep = np.zeros((31, 31), bool)
    keep[15, 1:] = True  # one head in the middle
    keep[0, 15], keep[15, 15] = True, False
    positions = PARTS[kind].list(batch_of([keep]), True).positions
    arity = 2 if kind == "grand-sibling" else 3
    assert np.abs(positions[:, -arity:] - 15).max() == NEAREST
    assert len(positions) == 2 * len(list(combinations(range(NEAREST), arity)))


@kinds
def test_sentences_without_words_have_no_parts(kind):
    tuples = PARTS[kind].list(batch_of([all_arcs(1), all_arcs(4), all_arcs(1)]), True)
    assert tuples.first[1] == 0
    assert tuples.first[2] == tuples.first[3] == len(tuples.arcs)


def test_names_and_families_tell_kinds_apart():
    assert all(PARTS[name].name == name for name in PARTS)
    assert all(a.family != b.family for a, b in permutations(PARTS.values(), 2))
