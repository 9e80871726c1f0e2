"""What a parser reveals of one sentence."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from small_parser import TINY, fit
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factors.trees import ProjectiveTree
from treebp.bp.propagation import propagate
from treebp.data.sentence import Sentence
from treebp.parsing.arcs import Batch
from treebp.parsing.inspection import Inspection


def test_the_history_is_that_of_the_same_factor_graph_in_the_library(parser, test_set):
    sentence = min(test_set, key=len)
    inspection = Inspection.of(parser, sentence)
    pruned = inspection.parse.arcs
    circuit = parser.model(Batch.of([parser.encoding.encode(sentence)], [pruned]))
    graph = FactorGraph()
    arcs = {arc: graph.variable() for arc in zip(pruned.heads.tolist(), pruned.modifiers.tolist(), strict=True)}
    graph.constrain(ProjectiveTree(arcs, single_root=True))
    for variable, score in zip(arcs.values(), circuit.problem.potentials["arc"], strict=True):
        graph.factor([variable], [0.0, score])
    for kind, tuples in circuit.problem.tuples.items():
        for (a, b, c), score in zip(tuples.positions.tolist(), circuit.problem.potentials[kind], strict=True):
            other = arcs[a, c] if kind == "sibling" else arcs[b, c]
            graph.factor([arcs[a, b], other], [[0.0, 0.0], [0.0, score]])
    assert list(circuit.problem.tuples) == ["grandparent", "sibling"]
    assert len(inspection.history) == parser.config.iterations
    for iterations, row in enumerate(inspection.history, start=1):
        beliefs = propagate(graph, iterations=iterations)
        np.testing.assert_allclose(row, [beliefs[variable][1] for variable in arcs.values()], atol=1e-6)


def test_the_history_ends_with_the_parse(parser, test_set):
    for sentence in test_set[:10]:
        inspection = Inspection.of(parser, sentence)
        parse = inspection.parse
        np.testing.assert_array_equal(inspection.history[-1], parse.beliefs)
        np.testing.assert_array_equal(inspection.head_history[-1], parse.head_probabilities)
        assert inspection.changes[-1] == pytest.approx(parse.residual)
        arcs = list(zip(parse.arcs.heads, parse.arcs.modifiers, strict=True))
        assert parse.factors["sibling"] == sum(a[0] == b[0] for a, b in combinations(arcs, 2))
    assert parser.model.inference.iterations == parser.config.iterations


def test_candidates_are_a_distribution_in_falling_order(parser, test_set):
    inspection = Inspection.of(parser, test_set[0])
    for word in range(1, len(test_set[0]) + 1):
        heads, beliefs = zip(*inspection.candidates(word), strict=True)
        assert word not in heads
        assert sum(beliefs) == pytest.approx(1.0)
        assert list(beliefs) == sorted(beliefs, reverse=True)


def test_the_history_ends_where_the_tolerance_was_reached(parser, test_set):
    config = replace(parser.config, tolerance=0.01)
    tolerant = replace(parser, config=config).with_iterations(50)
    for sentence in test_set[:5]:
        inspection = Inspection.of(tolerant, sentence)
        assert 1 < len(inspection.history) < 50
        np.testing.assert_array_equal(inspection.history[-1], inspection.parse.beliefs)
        assert inspection.changes[-1] == pytest.approx(inspection.parse.residual)
        assert inspection.changes[-1] > 0.0


def test_the_tree_factor_is_the_parsers(parser, nonprojective, test_set):
    for model, structure in ((parser, (True, True)), (nonprojective, (False, False))):
        inspection = Inspection.of(model, test_set[0])
        assert (inspection.projective, inspection.single_root) == structure


@pytest.mark.parametrize(
    ("settings", "kinds", "iterations"),
    [
        ({"factors": ("sibling",)}, ["sibling"], 4),
        ({"factors": ("grandparent",), "iterations": 1}, ["grandparent"], 1),
        ({"factors": ("grandparent",), "inference": "exact"}, ["grandparent"], 0),
        ({"factors": ()}, [], 0),
    ],
)
def test_factors_and_iterations_follow_the_configuration(train, dev, settings, kinds, iterations):
    parser = fit(train[:20], dev[:5], config=replace(TINY, epochs=1, **settings))
    inspection = Inspection.of(parser, dev[0])
    assert [kind for kind, count in inspection.parse.factors.items() if count > 0] == kinds
    assert list(inspection.parse.factors) == kinds
    assert inspection.history.shape == (iterations, len(inspection.parse.beliefs))
    assert inspection.head_history.shape == (iterations, len(dev[0]))
    assert inspection.changes.shape == (max(iterations - 1, 0),)


def test_verdicts_compare_heads_and_then_labels(parser, test_set):
    parse = next(parser.parse(test_set[:1], threads=1))
    heads, labels = parse.heads.tolist(), list(parse.labels)
    root = heads.index(0)
    others = [word for word in range(len(heads)) if word != root]
    labels[others[0]] = "different"
    labels[others[1]] = "_"
    leaf = next(word for word in others[2:] if word + 1 not in heads and heads[word] != root + 1)
    heads[leaf] = root + 1
    unknown = next(word for word in others[2:] if word != leaf)
    heads[unknown] = -1
    verdicts = Inspection.of(parser, test_set[0].with_parse(heads, labels)).verdicts
    expected = {root: "right", others[0]: "other label", others[1]: "right", leaf: "wrong", unknown: "unknown"}
    assert {word: verdicts[word] for word in expected} == expected
    assert verdicts.count("right") == len(verdicts) - 3
    without = test_set[0].with_parse([-1] * len(heads), ["_"] * len(heads))
    assert set(Inspection.of(parser, without).verdicts) == {"unknown"}


def test_fine_tags_stand_in_for_coarse_ones(parser):
    sentence = Sentence.from_columns(["Trees", "grow"], coarse_tags=["_", "VERB"], fine_tags=["NNS", "VBP"])
    assert Inspection.of(parser, sentence).tags == ["NNS", "VERB"]


def test_what_cannot_be_inspected_is_refused(parser):
    with pytest.raises(ValueError, match="without words"):
        Inspection.of(parser, Sentence([], [], [], [], [], [], [], ""))
