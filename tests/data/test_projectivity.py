"""Projectivity against its definition, and projectivisation against all projective trees."""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.data.conll import read_conll
from treebp.data.projectivity import is_projective, nonprojective_arcs, projectivise

DATA = Path(os.environ.get("TREEBP_DATA", Path(__file__).parents[3] / "shared" / "data"))


@st.composite
def trees(draw: st.DrawFn, max_words: int = 9) -> list[int]:
    """Draw heads of a tree: words in a random order, each on the root or on a word before it."""
    order = draw(st.permutations(range(1, draw(st.integers(1, max_words)) + 1)))
    heads = [0] * len(order)
    for index, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:index]]))
    return heads


def ancestors(heads: list[int], word: int) -> set[int]:
    found = set()
    while word != 0:
        word = heads[word - 1]
        found.add(word)
    return found


def by_definition(heads: list[int]) -> list[bool]:
    return [
        any(head not in ancestors(heads, word) for word in range(min(head, modifier) + 1, max(head, modifier)))
        for modifier, head in enumerate(heads, start=1)
    ]


@given(trees())
def test_arcs_agree_with_the_definition(heads: list[int]) -> None:
    assert nonprojective_arcs(heads).tolist() == by_definition(heads)
    assert is_projective(heads) == (not any(by_definition(heads)))


def test_an_arc_that_crosses_a_root_arc_is_not_projective() -> None:
    assert nonprojective_arcs([3, 0, 0]).tolist() == [True, False, False]


def test_no_words() -> None:
    assert is_projective([])


def test_long_sentences() -> None:
    n = 5000
    assert is_projective(np.arange(n))
    assert is_projective([0, *[1] * (n - 1)])
    assert nonprojective_arcs([0, 1, *[1, 2] * (n // 2 - 1)]).sum() == n // 2 - 1


@pytest.mark.parametrize(
    ("heads", "reason"), [([2, 1], "word 1 .* cycle"), ([3], "head 3"), ([-1], "head -1"), ([1], "cycle")]
)
@pytest.mark.parametrize(
    "function", [is_projective, nonprojective_arcs, lambda heads: projectivise(heads, single_root=False)]
)
def test_what_is_no_tree_is_refused(function: object, heads: list[int], reason: str) -> None:
    assert callable(function)
    with pytest.raises(ValueError, match=reason):
        function(heads)


def is_tree(heads: tuple[int, ...]) -> bool:
    try:
        return is_projective(list(heads))
    except ValueError:
        return False


PROJECTIVE = {n: [heads for heads in product(range(n + 1), repeat=n) if is_tree(heads)] for n in range(1, 6)}


@pytest.mark.parametrize("single_root", [False, True])
@given(heads=trees(max_words=5))
def test_projectivised_keeps_as_many_arcs_as_any_projective_tree(heads: list[int], single_root: bool) -> None:
    result = projectivise(heads, single_root=single_root).tolist()

    def kept(other: tuple[int, ...]) -> int:
        return sum(ours == theirs for ours, theirs in zip(heads, other, strict=True))

    candidates = [tree for tree in PROJECTIVE[len(heads)] if not single_root or tree.count(0) == 1]
    assert tuple(result) in candidates
    assert kept(tuple(result)) == max(map(kept, candidates))


def test_displaced_words_are_lifted_to_the_nearest_ancestor() -> None:
    # 2 hangs on 4 and 4 on 3, 3 on 5: only 3 stands between, so 2 goes to 3 rather than to 5 or the root.
    assert projectivise([3, 4, 5, 3, 0], single_root=True).tolist() == [3, 3, 5, 3, 0]


def test_a_projective_tree_is_unchanged_but_for_further_roots() -> None:
    assert projectivise([0, 1, 0], single_root=False).tolist() == [0, 1, 0]
    changed = projectivise([0, 1, 0], single_root=True).tolist()
    assert changed.count(0) == 1
    assert changed[1] == 1


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the treebanks of TREEBP_DATA")
def test_counts_of_a_real_treebank() -> None:
    arcs = [nonprojective_arcs(sentence.heads) for sentence in read_conll(DATA / "da_conllx.train.conll.xz")]
    assert round(100 * np.mean([sentence.any() for sentence in arcs]), 1) == 15.6
    assert round(100 * np.concatenate(arcs).mean(), 2) == 1.00
