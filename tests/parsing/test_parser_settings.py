"""Parsers with other parts than the usual ones, and with other settings of belief propagation."""

import math
from dataclasses import replace

import numpy as np
import pytest

from small_parser import CONFIG, TINY, accuracy, fit, is_tree, parse
from treebp.parsing.model import Inference
from treebp.parsing.parser import Parser, inference_of
from treebp.parsing.parts import PARTS
from treebp.parsing.parts.part import NEAREST

OPTIONS = [{"schedule": "parallel"}, {"damping": 0.3}, {"tolerance": 0.3}, {"schedule": "parallel", "tolerance": 1e-3}]
NEW = ["consecutive-sibling", "grand-sibling", "tri-sibling"]


def with_settings(parser, **settings):
    """The same parser with other settings of belief propagation."""
    config = replace(parser.config, **settings)
    return replace(parser, config=config, model=replace(parser.model, inference=inference_of(config)))


@pytest.fixture(scope="module", params=[*NEW, "all"])
def with_parts(request, train, dev):
    kinds = tuple(PARTS) if request.param == "all" else (request.param,)
    return fit(train[:120], dev[:10], config=replace(CONFIG, factors=kinds))


def test_every_kind_of_part_is_learnt_and_parsed_with(with_parts, test_set):
    assert accuracy(with_parts, test_set) > 90.0
    for result in with_parts.parse(test_set, threads=1):
        assert is_tree(result.heads, projective=True, single_root=True)
        assert ((result.beliefs >= 0.0) & (result.beliefs <= 1.0 + 1e-9)).all()
        np.testing.assert_allclose(np.add.reduceat(result.beliefs, result.arcs.starts[:-1]), 1.0, atol=1e-9)
        assert tuple(result.factors) == with_parts.config.factors


def test_parts_are_those_of_the_arcs_that_pruning_leaves(with_parts, test_set):
    longest = max(test_set, key=len)
    tokens = with_parts.encoding.encode(longest)
    (arcs,) = with_parts.pruner.keep([tokens])
    result = parse(with_parts, longest)
    assert np.array_equal(result.arcs.heads, arcs.heads)
    assert all(count > 0 for count in result.factors.values())
    children = [np.flatnonzero(arcs.mask()[head]) for head in range(len(longest) + 1)]
    if "tri-sibling" in result.factors:
        sides = [side for head, own in enumerate(children) for side in (own[own < head], own[own > head])]
        assert result.factors["tri-sibling"] == sum(math.comb(min(len(side), NEAREST), 3) for side in sides)


def test_parsers_with_every_kind_of_part_come_back_from_a_file(with_parts, test_set, tmp_path):
    with_parts.save(tmp_path / "model")
    loaded = Parser.load(tmp_path / "model")
    assert loaded.config == with_parts.config
    for first, second in zip(
        with_parts.parse(test_set[:10], threads=1), loaded.parse(test_set[:10], threads=1), strict=True
    ):
        assert np.array_equal(first.heads, second.heads)
        assert np.array_equal(first.beliefs, second.beliefs)


def test_sentences_with_every_kind_of_part_are_parsed_together_as_they_are_alone(with_parts, test_set):
    for sentence, together in zip(test_set[:20], with_parts.parse(test_set[:20], threads=1), strict=True):
        alone = parse(with_parts, sentence)
        assert np.array_equal(together.heads, alone.heads)
        assert np.array_equal(together.beliefs, alone.beliefs)
        assert (together.factors, together.residual) == (alone.factors, alone.residual)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_settings_of_belief_propagation_change_beliefs_and_not_what_a_batch_gives(parser, test_set, options):
    other = with_settings(parser, **options)
    changed = 0
    for sentence, together in zip(test_set[:20], other.parse(test_set[:20], threads=1), strict=True):
        alone = parse(other, sentence)
        assert np.array_equal(together.heads, alone.heads)
        assert np.array_equal(together.beliefs, alone.beliefs)
        assert together.residual == alone.residual
        changed += not np.array_equal(together.beliefs, parse(parser, sentence).beliefs)
    assert changed > 10


def test_with_a_tolerance_each_sentence_stops_when_it_has_settled(parser, test_set):
    patient = with_settings(parser, iterations=100, tolerance=1e-6)
    stopped_after = set()
    for sentence, result in zip(test_set[:10], patient.parse(test_set[:10], threads=1), strict=True):
        histories = (parse(parser.with_iterations(count), sentence).beliefs for count in range(1, 100))
        stopped_after.add(next(k for k, row in enumerate(histories, 1) if np.array_equal(row, result.beliefs)))
        assert result.residual < 1e-5
    assert len(stopped_after) > 1
    assert max(stopped_after) < 100


def test_settings_reach_the_model_from_training_and_from_a_file(train, dev, tmp_path):
    config = replace(TINY, epochs=1, iterations=3, schedule="parallel", damping=0.25, tolerance=1e-3)
    parser = fit(train[:30], dev[:5], config=config)
    assert parser.model.inference == Inference(False, 3, "parallel", 0.25, 1e-3)
    parser.save(tmp_path / "model")
    assert Parser.load(tmp_path / "model").model.inference == parser.model.inference
    assert fit(train[:30], dev[:5], config=replace(TINY, epochs=1)).model.inference == Inference()


def test_settings_of_labels_reach_their_model(train, dev):
    usual = fit(train[:30], dev[:5], config=replace(TINY, epochs=1))
    few = fit(train[:30], dev[:5], config=replace(TINY, epochs=1, label_weight_bits=8))
    assert (len(usual.labels.weights), len(few.labels.weights)) == (1 << 17, 1 << 8)
    for settings in ({"label_epochs": 1}, {"label_rate": 0.1}):
        other = fit(train[:30], dev[:5], config=replace(TINY, epochs=1, **settings))
        assert not np.array_equal(other.labels.weights, usual.labels.weights)
        assert np.array_equal(other.model.scorer.weights, usual.model.scorer.weights)
