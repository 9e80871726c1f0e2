from dataclasses import replace

import numpy as np
import pytest

from small_parser import TINY, fit
from treebp.data.embedded import embedded_treebank
from treebp.data.evaluation import evaluate
from treebp.pipeline.pipeline import Pipeline
from treebp.training.lightening import lightened

DEV = embedded_treebank("dev")[:60]


@pytest.fixture(scope="module")
def pipeline():
    return Pipeline(fit(embedded_treebank("train")[:200], embedded_treebank("dev")[:10]))


def megabytes(pipeline, folder):
    pipeline.save(folder / "model")
    return (folder / "model").stat().st_size / 1e6


def used(pipeline):
    return np.count_nonzero(pipeline.parser.model.scorer.weights)


def test_what_costs_nothing_is_dropped(pipeline, tmp_path):
    light = lightened(pipeline, DEV, threads=1)
    assert light.measure == "LAS"
    assert light.score >= light.score_of_all - 0.03
    assert used(light.pipeline) < used(pipeline)
    assert used(light.pipeline) <= light.share * used(pipeline) + 1
    assert megabytes(light.pipeline, tmp_path) < 0.5 * megabytes(pipeline, tmp_path)


def test_without_labels_heads_decide():
    config = replace(TINY, labels=False)
    pipeline = Pipeline(fit(embedded_treebank("train")[:200], embedded_treebank("dev")[:10], config=config))
    light = lightened(pipeline, DEV, threads=1)
    assert light.measure == "UAS"
    assert light.score >= light.score_of_all - 0.03
    for score, model in ((light.score, light.pipeline), (light.score_of_all, pipeline)):
        parsed = [parse.to_sentence() for parse in model.parser.parse(DEV, threads=1)]
        assert score == evaluate(DEV, parsed, punctuation="unicode").uas > 50.0


@pytest.mark.parametrize("size", [0.1, 0.2])
def test_a_file_of_a_given_size(pipeline, tmp_path, size):
    light = lightened(pipeline, DEV[:5], megabytes=size, threads=1)
    assert 0.7 * size < megabytes(light.pipeline, tmp_path) <= size


def test_room_for_everything(pipeline):
    assert lightened(pipeline, DEV[:5], megabytes=100.0, threads=1).share == 1.0


def test_too_little_room_is_an_error(pipeline):
    with pytest.raises(ValueError, match=r"size = 0.001: words and tags alone take 0\.\d megabytes"):
        lightened(pipeline, DEV[:5], megabytes=0.001, threads=1)


def test_what_is_stored_is_what_is_used(pipeline, tmp_path):
    light = lightened(pipeline, DEV[:5], megabytes=0.15, threads=1).pipeline
    light.save(tmp_path / "model")
    again = Pipeline.load(tmp_path / "model")
    for one, other in zip(light.parser.parse(DEV, threads=1), again.parser.parse(DEV, threads=1), strict=True):
        np.testing.assert_array_equal(one.heads, other.heads)
        np.testing.assert_array_equal(one.beliefs, other.beliefs)
        assert one.labels == other.labels
