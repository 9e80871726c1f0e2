import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brute_force import all_trees, indicators
from treebp.kernels.candidates import list_arcs, select_heads, within_bounds


def random_arcs(seed: int, size: int) -> np.ndarray:
    keep = np.random.default_rng(seed).random((size, size)) < 0.6
    keep[:, 0] = False
    np.fill_diagonal(keep, False)
    return keep


@given(seed=st.integers(0, 10**6), size=st.integers(1, 8))
def test_arcs_are_listed_by_modifier(seed, size):
    keep = random_arcs(seed, size)
    heads, modifiers, starts = list_arcs(keep)
    assert [(h, m) for m, h in zip(modifiers, heads, strict=True)] == [(h, m) for m, h in np.argwhere(keep.T)]
    for m in range(1, size):
        assert (modifiers[starts[m - 1] : starts[m]] == m).all()
        assert starts[m] - starts[m - 1] == keep[:, m].sum()


@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), most=st.integers(1, 6), ratio=st.sampled_from([0, 0.1, 1]))
def test_selection_keeps_a_tree_the_best_heads_and_no_more_than_asked(seed, words, most, ratio):
    rng = np.random.default_rng(seed)
    trees = all_trees(words, True, True)
    marginals = np.tensordot(rng.dirichlet(np.full(len(trees), 0.3)), indicators(trees), axes=1)
    tree = trees[rng.integers(len(trees))]
    for m in range(1, words + 1):
        column, kept = marginals[:, m].copy(), np.zeros(words + 1, bool)
        select_heads(column, tree[m - 1], float(ratio), most, kept)
        assert kept[tree[m - 1]]
        assert kept.sum() <= most
        others = kept & (np.arange(words + 1) != tree[m - 1])
        assert (column[others] >= ratio * column.max()).all()
        assert (column[others] > 0.0).all()
        dropped = ~kept & (column > 0.0) & (column >= ratio * column.max())
        if dropped.any():  # only for want of room, and only worse ones
            assert kept.sum() == most
            assert column[dropped].max() <= column[others].min(initial=np.inf)


def test_length_bounds():
    #            root a  b  b  unknown, and a tag that came after the bounds were made
    tags = np.array([2, 3, 4, 4, 0, 9])
    bounds = np.zeros((5, 5, 2), dtype=np.int64)
    bounds[3, 4] = 1, 1  # a above b: one word either way
    bounds[4, 3] = 2, 0  # b above a: two words when it precedes; never seen when it follows
    allowed = within_bounds(tags, bounds)
    assert allowed[0, 1:].all()
    assert not allowed[:, 0].any()
    assert not allowed.diagonal().any()
    assert allowed[1].tolist() == [False, False, True, False, True, True]  # 1 -> 3 is too long
    assert allowed[2].tolist() == [False, True, False, True, True, True]
    assert allowed[3].tolist() == [False, True, True, False, True, True]
    assert allowed[4:, 1:4].all()  # unknown tags are not bounded


def test_without_bounds_all_arcs_are_in():
    allowed = within_bounds(np.array([2, 3, 4]), np.zeros((0, 0, 2), np.int64))
    assert allowed.tolist() == [[False, True, True], [False, False, True], [False, True, False]]


def test_bounds_always_leave_a_tree():
    bounds = np.ones((5, 5, 2), dtype=np.int64)
    allowed = within_bounds(np.array([2, 3, 3, 3, 3, 3, 3]), bounds)
    assert allowed[0, 1:].all()
    assert all(allowed[m, m + 1] for m in range(1, 6))  # a chain below one root word
    assert allowed.sum() == 6 + 2 * 5
