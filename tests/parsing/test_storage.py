"""Models as files."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors import safe_open

from small_disk import files_of_at_most
from small_parser import CONFIG
from treebp.parsing.model_file import write_tensors
from treebp.parsing.parser import Parser


@pytest.mark.parametrize("which", ["parser", "nonprojective"])
def test_a_loaded_parser_parses_alike(which, request, test_set, tmp_path):
    parser = request.getfixturevalue(which)
    parser.save(tmp_path / "model")
    loaded = Parser.load(str(tmp_path / "model"))
    assert loaded.config == parser.config
    timeless = [replace(report, words_per_second=None) for report in parser.reports]
    assert loaded.reports == timeless
    assert loaded.pruning == parser.pruning
    for first, second in zip(
        parser.parse(test_set, threads=1, kbest=2), loaded.parse(test_set, threads=1, kbest=2), strict=True
    ):
        assert np.array_equal(first.heads, second.heads)
        assert np.array_equal(first.beliefs, second.beliefs)
        assert np.array_equal(first.label_probabilities, second.label_probabilities)
        assert first.to_sentence(marginals=True) == second.to_sentence(marginals=True)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_only_weights_that_are_not_zero_are_stored(parser, tmp_path):
    parser.save(tmp_path / "model")
    with safe_open(tmp_path / "model", framework="numpy") as file:
        weights = file.get_tensor("weights")
    assert weights.all()
    assert len(weights) == np.count_nonzero(parser.model.scorer.weights) < 1 << CONFIG.weight_bits


def test_damaged_models_are_refused(parser, tmp_path):
    path = tmp_path / "model"
    parser.save(path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in [0, 7, 8, 20, *rng.integers(8, len(data), 20).tolist(), len(data) - 1]:
        altered = bytearray(data)
        altered[place] ^= 0x10
        path.write_bytes(altered)
        with pytest.raises(ValueError, match="model"):
            Parser.load(path)
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="damaged"):
        Parser.load(path)


@pytest.fixture(scope="module")
def stored(parser, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    parser.save(path)
    with safe_open(path, framework="numpy") as file:
        body = json.loads(file.metadata()["treebp"])
        return body["header"], {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


@pytest.mark.parametrize(
    "change",
    [
        {"config": None},
        {"config": "depth = 3"},
        {"config": "weight_bits = 20"},
        {"values": {}},
        {"values": 3},
        {"labels": []},
        {"labels": 7},
        {"reports": [{"epoch": 1}]},
    ],
    ids=str,
)
def test_headers_made_up_by_strangers_are_refused(stored, change, tmp_path):
    """The checksums are right: such a file was made, not damaged."""
    header, tensors = stored
    write_tensors(tmp_path / "model", "treebp model", {**header, **change}, tensors)
    with pytest.raises(ValueError, match="model"):
        Parser.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("length_bounds", np.zeros((5, 2), np.int64)),
        ("length_bounds", np.zeros((5, 1, 2), np.int64)),
        ("length_bounds", np.zeros((5, 5, 1), np.int64)),
        ("length_bounds", np.zeros((5, 5, 2), np.float64)),
        ("weights", np.ones(3, np.float32)),
        ("weights_used", np.zeros(9)),
        ("labels.rows", np.zeros(1, np.int64)),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.dtype}{value.shape}",
)
def test_arrays_made_up_by_strangers_are_refused(stored, name, array, tmp_path):
    header, tensors = stored
    assert name in tensors
    for changed in ({**tensors, name: array}, {k: v for k, v in tensors.items() if k != name}):
        write_tensors(tmp_path / "model", "treebp model", header, changed)
        with pytest.raises(ValueError, match="model"):
            Parser.load(tmp_path / "model")


def test_weights_that_are_no_numbers_are_refused(stored, tmp_path):
    header, tensors = stored
    write_tensors(tmp_path / "model", "treebp model", header, {**tensors, "weights": tensors["weights"] * np.nan})
    with pytest.raises(ValueError, match="model"):
        Parser.load(tmp_path / "model")


def test_a_failed_save_leaves_the_old_model(parser, tmp_path):
    path = tmp_path / "model"
    parser.save(path)
    before = path.read_bytes()
    with files_of_at_most(5000), pytest.raises(OSError, match="File too large") as caught:
        parser.save(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
