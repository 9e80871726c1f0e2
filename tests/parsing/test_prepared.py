import numpy as np
import pytest

from treebp.data.embedded import embedded_treebank
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser
from treebp.parsing.preparation import prepare

CONFIG = Config(epochs=1, pruner_epochs=1, weight_bits=16, pruner_weight_bits=14, rate=0.05, pruner_folds=2)


@pytest.fixture(scope="module")
def data():
    return embedded_treebank("train")[:60], embedded_treebank("dev")[:10]


@pytest.fixture(scope="module")
def prepared(data):
    return prepare(*data, CONFIG)


@pytest.mark.parametrize("objective", ["cll", "l2"])
def test_parsers_fitted_to_prepared_data_are_those_fitted_to_the_data(data, prepared, objective):
    config = CONFIG.override([f"objective={objective}", "iterations=2"])
    shared, alone = Parser(config), Parser(config)
    shared.fit(prepared=prepared, threads=1)
    alone.fit(*data, threads=1)
    assert [(r.dev_uas, r.value) for r in shared.reports] == [(r.dev_uas, r.value) for r in alone.reports]
    assert shared.pruning == alone.pruning
    for a, b in zip(shared.parse(data[1], threads=1), alone.parse(data[1], threads=1), strict=True):
        np.testing.assert_array_equal(a.beliefs, b.beliefs)


def test_preparation_is_for_one_pruner_only(prepared):
    with pytest.raises(ValueError, match=r"prepared with prune_heads = 10, not 3"):
        Parser(CONFIG.override(["prune_heads=3"])).fit(prepared=prepared)


def test_iterations_can_be_changed_after_training(data, prepared):
    parser = Parser(CONFIG)
    parser.fit(prepared=prepared, threads=1)
    other = parser.with_iterations(1)
    assert (parser.config.iterations, other.config.iterations) == (4, 1)
    four, one = (next(p.parse(data[1][:1], threads=1)) for p in (parser, other))
    assert not np.array_equal(four.beliefs, one.beliefs)
    again = next(other.with_iterations(4).parse(data[1][:1], threads=1))
    np.testing.assert_array_equal(again.beliefs, four.beliefs)
