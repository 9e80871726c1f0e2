import json
import lzma
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from small_disk import files_of_at_most
from treebp.features import model_file
from treebp.features.compact import rounded
from treebp.features.model_file import VERSION, pack, read_tensors, unpack, write_tensors

KIND = "treebp model"
HEADER = {"name": "Bäume", "numbers": [1, 2.5], "nothing": None}
TENSORS = {
    "weights": np.array([0.5, -1.25, 3.0], np.float32),
    "bounds": np.arange(12).reshape(2, 3, 2),
    "empty": np.zeros((0, 0, 2), np.int64),
    "bits": np.array([255, 3], np.uint8),
}


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "model"
    write_tensors(path, KIND, HEADER, TENSORS)
    return path


def same(found):
    header, tensors = found
    return header == HEADER and all(
        np.array_equal(tensors[name], array) and tensors[name].dtype == array.dtype for name, array in TENSORS.items()
    )


def test_there_and_back(stored):
    assert same(read_tensors(stored, KIND))
    assert read_tensors(stored, KIND)[1].keys() == TENSORS.keys()
    assert [path.name for path in stored.parent.iterdir()] == ["model"]


def test_arrays_can_be_changed_after_reading(stored):
    tensors = read_tensors(stored, KIND)[1]
    tensors["weights"][0] = 7.0
    assert tensors["weights"][0] == 7.0


def test_arrays_need_not_be_contiguous(tmp_path):
    array = np.arange(12.0).reshape(3, 4).T
    write_tensors(tmp_path / "model", KIND, {}, {"array": array})
    assert np.array_equal(read_tensors(tmp_path / "model", KIND)[1]["array"], array)


def test_no_truncated_file_is_read(stored):
    data = stored.read_bytes()
    for length in {*range(0, len(data), 7), 0, 1, 8, len(data) - 1}:
        stored.write_bytes(data[:length])
        with pytest.raises(ValueError, match="model"):
            read_tensors(stored, KIND)


def test_no_altered_file_is_read_as_something_else(stored):
    data = stored.read_bytes()
    for place in range(len(data)):
        for mask in (0x0F, 0x80):  # 0x0F turns F32 into I32
            altered = bytearray(data)
            altered[place] ^= mask
            stored.write_bytes(altered)
            try:
                found = read_tensors(stored, KIND)
            except ValueError as error:
                assert str(stored) in str(error)  # noqa: PT017
            else:
                assert same(found), f"byte {place} of {len(data)} changed by {mask:#x}"


def test_appended_bytes_are_noticed(stored):
    stored.write_bytes(stored.read_bytes() + b"more")
    with pytest.raises(ValueError, match="damaged"):
        read_tensors(stored, KIND)


def test_a_newer_version_is_refused(stored, monkeypatch):
    monkeypatch.setattr(model_file, "VERSION", VERSION + 1)
    write_tensors(stored, KIND, HEADER, TENSORS)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=f"format version {VERSION + 1}: upgrade treebp, which reads {VERSION}"):
        read_tensors(stored, KIND)


def test_an_older_version_is_refused(stored, monkeypatch):
    monkeypatch.setattr(model_file, "VERSION", 1)
    write_tensors(stored, KIND, HEADER, TENSORS)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="format version 1, of an older treebp: train it again"):
        read_tensors(stored, KIND)


def rounded_tensors():
    rng = np.random.default_rng(0)
    weights = rounded(np.where(rng.random(1 << 16) < 0.1, rng.normal(size=1 << 16), 0.0).astype(np.float32), 1.0)
    used, values = pack(weights)
    return {"used": used, "values": values, "rows": values[:600].reshape(30, 20), "numbers": np.arange(300)}


def with_lzma(array):
    return np.frombuffer(lzma.compress(array.tobytes(), lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2}]), np.uint8)


def test_what_version_3_compressed_is_read(tmp_path, monkeypatch):
    tensors = rounded_tensors()
    monkeypatch.setattr(model_file, "VERSION", 3)
    monkeypatch.setattr(model_file, "compressed", with_lzma)
    write_tensors(tmp_path / "model", KIND, HEADER, tensors)
    monkeypatch.undo()
    header, found = read_tensors(tmp_path / "model", KIND)
    assert header == HEADER
    assert found.keys() == tensors.keys()
    assert all(np.array_equal(found[name], array) for name, array in tensors.items())


def test_rounded_weights_need_a_byte_each(tmp_path):
    tensors = rounded_tensors()
    write_tensors(tmp_path / "model", KIND, HEADER, tensors)
    header, found = read_tensors(tmp_path / "model", KIND)
    assert header == HEADER
    assert found.keys() == tensors.keys()
    for name, array in tensors.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert (tmp_path / "model").stat().st_size < 1.5 * len(tensors["values"]) + 4000
    found["values"][0] = 7.0  # arrays may be changed


@pytest.mark.parametrize(
    "small",
    [
        {"values": ["float32", [1 << 40]]},
        {"values": ["float32", [-1]]},
        {"values": ["float64", [6553]]},
        {"values": ["float32", [3]]},
        {"used": ["float32", [8192]]},
        {"values": 3},
        {"nothing": ["uint8", [3]]},
        [3],
    ],
)
def test_forged_sizes_are_refused(small, tmp_path):
    path = tmp_path / "model"
    write_tensors(path, KIND, HEADER, rounded_tensors())
    arrays = load_file(path)
    with safe_open(path, framework="numpy") as file:
        body = json.loads(file.metadata()["treebp"])
    body["small"] = {**body["small"], **small} if isinstance(small, dict) else small
    text = json.dumps(body)
    save_file(arrays, path, metadata={"treebp": text, "checksum": str(zlib.crc32(text.encode()))})
    with pytest.raises(ValueError, match="model"):
        read_tensors(path, KIND)


def test_another_kind_is_refused(stored):
    with pytest.raises(ValueError, match="is a treebp model, not a treebp checkpoint"):
        read_tensors(stored, "treebp checkpoint")


@pytest.mark.parametrize("content", [b"", b"1\tTrees\ttree\n", bytes(100), b"\x80\x04\x95pickle"])
def test_files_of_another_format_are_refused(content, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="model is damaged or not a treebp model"):
        read_tensors(path, KIND)


def test_tensors_of_someone_else_are_refused(tmp_path):
    save_file({"weights": np.zeros(3)}, tmp_path / "model")
    with pytest.raises(ValueError, match="is not a treebp model"):
        read_tensors(tmp_path / "model", KIND)


@pytest.mark.parametrize("body", [[], {}, {"kind": KIND}, {"kind": KIND, "version": "x"}, {"kind": 3, "version": None}])
def test_a_forged_header_is_refused(body, tmp_path):
    text = json.dumps(body)
    metadata = {"treebp": text, "checksum": str(zlib.crc32(text.encode()))}
    save_file({"weights": np.zeros(3)}, tmp_path / "model", metadata=metadata)
    with pytest.raises(ValueError, match="model"):
        read_tensors(tmp_path / "model", KIND)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_tensors(tmp_path / "nothing", KIND)


def test_a_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises((OSError, ValueError), match=tmp_path.name):
        read_tensors(tmp_path, KIND)


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        write_tensors(tmp_path / "nowhere" / "model", KIND, HEADER, TENSORS)


def test_what_cannot_be_written_leaves_the_old_file(stored):
    before = stored.read_bytes()
    with pytest.raises(TypeError):
        write_tensors(stored, KIND, {"not": object()}, TENSORS)
    assert stored.read_bytes() == before
    assert [path.name for path in stored.parent.iterdir()] == ["model"]


def test_an_interrupted_write_leaves_the_old_file(stored):
    before = stored.read_bytes()
    with files_of_at_most(100), pytest.raises(OSError, match="File too large") as caught:
        write_tensors(stored, KIND, HEADER, TENSORS)
    assert caught.value.filename == str(stored)
    assert stored.read_bytes() == before
    assert [path.name for path in stored.parent.iterdir()] == ["model"]


def test_the_same_contents_give_the_same_bytes_and_safetensors_reads_them(stored):
    before = stored.read_bytes()
    write_tensors(stored, KIND, HEADER, dict(reversed(TENSORS.items())))
    assert stored.read_bytes() == before
    assert all(np.array_equal(array, TENSORS[name]) for name, array in load_file(stored).items())


@given(hnp.arrays(np.float32, st.integers(1, 50), elements=st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e-30])))
def test_packing_keeps_what_is_not_zero(weights):
    bits, values = pack(weights)
    assert len(values) == np.count_nonzero(weights)
    restored = np.zeros_like(weights)
    unpack(bits, values, restored)
    assert np.array_equal(restored, weights)


@pytest.mark.parametrize(("bits", "values"), [([255], [1.0]), ([128], [1.0, 2.0]), ([255, 255, 255], [1.0] * 24)])
def test_packed_weights_that_do_not_fit_are_refused(bits, values):
    with pytest.raises(ValueError):  # noqa: PT011
        unpack(np.array(bits, np.uint8), np.array(values, np.float32), np.zeros(8, np.float32))
