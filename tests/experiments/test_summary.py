"""Means, ranges and differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up import result

from treebp.experiments.cells import Cell
from treebp.experiments.summary import average, difference, select, spread
from treebp.parsing.config import Config

counts = st.lists(st.integers(0, 10), min_size=8, max_size=8)


def of_seed(seed: int, wrong: list[int], objective: str = "cll"):
    return result(Cell(treebank="da", data="", config=Config(seed=seed, objective=objective)), wrong)


@given(st.tuples(counts, counts, counts, counts))
def test_a_difference_is_that_of_the_means_and_lies_in_its_interval(wrong: tuple[list[int], ...]) -> None:
    one = [of_seed(seed, counts, "l2") for seed, counts in zip((1, 2), wrong[:2], strict=True)]
    other = [of_seed(seed, counts) for seed, counts in zip((2, 1), wrong[2:], strict=True)]
    change = difference(one, other)
    assert change is not None
    assert change.mean == pytest.approx(
        np.mean([each.test_uas for each in one]) - np.mean([each.test_uas for each in other])
    )
    assert change.low <= change.mean + 1e-9
    assert change.mean <= change.high + 1e-9
    reverse = difference(other, one)
    assert reverse is not None
    assert reverse.mean == pytest.approx(-change.mean)


def test_only_seeds_that_both_have_are_compared() -> None:
    change = difference([of_seed(1, [0, 0]), of_seed(2, [9, 9])], [of_seed(1, [1, 3]), of_seed(3, [0, 0])])
    assert change is not None
    assert change.mean == 20.0
    assert change.sure
    assert difference([of_seed(1, [0])], [of_seed(2, [0])]) is None


def test_selection_and_nothing_to_select() -> None:
    results = [of_seed(1, [1]), of_seed(1, [2], "l2")]
    assert select(results, "da", {"objective": "l2"}) == results[1:]
    assert select(results, "sv", {}) == []
    assert spread([]) is None
    assert average([]) is None
