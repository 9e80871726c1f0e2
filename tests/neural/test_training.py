"""Parsers with networks: trained, stored, continued, used."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_network import NETWORK

from small_parser import accuracy, fit
from treebp.data.embedded import embedded_treebank
from treebp.features.model_file import MODEL_KIND, read_tensors, write_tensors
from treebp.parsing.parser import Parser, new_model
from treebp.training import Progress, prepare
from treebp.training.stages import stages_of

TRAIN, DEV, TEST = embedded_treebank("train")[:120], embedded_treebank("dev")[:20], embedded_treebank("test")[:20]


@pytest.fixture(scope="module")
def both():
    return fit(TRAIN, DEV, config=replace(NETWORK, scorer="sum", rate=0.05))


def states_equal(one, other):
    return same_state(one.model.scorer, other.model.scorer)


def same_state(one, other):
    one, other = one.state(), other.state()
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_a_network_learns_heads_and_labels():
    parser = fit(TRAIN, DEV, config=replace(NETWORK, network_epochs=12, network_rate=0.01))
    first, best = parser.reports[0], max(parser.reports, key=lambda report: report.dev_uas)
    assert best.dev_uas > max(75.0, first.dev_uas + 10.0)
    assert best.dev_las > 65.0
    assert accuracy(parser, TEST) > 70.0
    assert not parser.labels.weights.any()


@pytest.mark.parametrize("objective", ["cll", "l2"])
def test_all_objectives_lower_their_value(objective):
    parser = fit(TRAIN[:60], DEV[:5], config=replace(NETWORK, network_objective=objective, network_epochs=3))
    values = [report.value for report in parser.reports]
    assert values == sorted(values, reverse=True)


def test_a_sum_is_no_worse_on_dev_than_its_parts(both):
    by_stage = {report.objective: report for report in both.reports}
    of_sum = by_stage["sum"]
    assert of_sum.dev_uas >= max(report.dev_uas for report in both.reports) == of_sum.dev_uas
    assert 0.0 <= both.model.scorer.shares.min() <= both.model.scorer.shares.max() <= 1.0


def test_the_halves_of_a_sum_are_what_each_would_be_alone(both):
    features = fit(TRAIN, DEV, config=replace(NETWORK, scorer="hashed", rate=0.05))
    network = fit(TRAIN, DEV, config=replace(NETWORK, rate=0.05))
    assert same_state(both.model.scorer.hashed, features.model.scorer)
    assert same_state(both.model.scorer.neural, network.model.scorer)


def test_a_parser_comes_back_from_its_file(both, tmp_path):
    both.save(tmp_path / "model")
    again = Parser.load(tmp_path / "model")
    assert states_equal(again, both)
    for one, other in zip(both.parse(TEST, threads=1), again.parse(TEST, threads=2), strict=True):
        assert np.array_equal(one.heads, other.heads)
        assert one.labels == other.labels
        np.testing.assert_allclose(one.label_probabilities, other.label_probabilities, atol=1e-5)
        np.testing.assert_allclose(one.label_probabilities.sum(axis=1), 1.0)


def test_a_file_with_other_arrays_is_refused(both, tmp_path):
    both.save(tmp_path / "model")
    header, tensors = read_tensors(tmp_path / "model", MODEL_KIND)
    for change in (
        {"network.arc_scores.weight": np.zeros((2, 2), np.float32)},
        {"network.arc_scores.bias": np.full_like(tensors["network.arc_scores.bias"], np.nan)},
        {"shares": np.array([0.5, 7.0])},
    ):
        write_tensors(tmp_path / "changed", MODEL_KIND, header, {**tensors, **change})
        with pytest.raises(ValueError, match="that can be used"):
            Parser.load(tmp_path / "changed")


def test_a_run_that_was_interrupted_goes_on_to_the_same_bits(both, tmp_path):
    config = replace(NETWORK, scorer="sum", rate=0.05)
    for stop_after in (1, 3):  # in the stage of features, and in that of the network
        checkpoint = tmp_path / f"checkpoint{stop_after}"
        epochs = []

        def stop(report, epochs=epochs, stop_after=stop_after):
            epochs.append(report)
            if len(epochs) > stop_after:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit(TRAIN, DEV, config=config, checkpoint=checkpoint, progress=Progress(epoch=stop))
        torch.manual_seed(stop_after)  # what was random before does not matter
        assert states_equal(fit(TRAIN, DEV, config=config, checkpoint=checkpoint), both)


def test_a_mean_in_a_sum_is_judged_by_its_features_alone():
    config = replace(NETWORK, scorer="sum", rate=0.05, trainings=2)
    prepared = prepare(TRAIN[:20], DEV[:3], config)
    model = new_model(config, prepared.encoding, projective=True, single_root=True, labels=len(prepared.labels.labels))
    stages = list(stages_of(model, prepared, prepared.labels, config, 1, Progress()))
    (mean,) = (stage for stage in stages if stage.objective == "mean")
    assert mean.scorer is model.scorer.hashed
    assert mean.learner(None)._score == mean.score
    assert mean.score not in [stage.score for stage in stages if stage.scorer is model.scorer.neural]


def test_training_leaves_the_state_of_torch_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    fit(TRAIN[:20], DEV[:3], config=replace(NETWORK, network_epochs=1))
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.are_deterministic_algorithms_enabled()
