"""One-file storage of arrays with a JSON header: safetensors, so a file from a stranger can do no harm."""

import json
import math
import zlib
from collections.abc import Callable, Mapping
from lzma import LZMAError
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open

from treebp._types import AnyArray
from treebp.data.files import replacing
from treebp.features.compact import coded, compressed, decompressed, decompressed_lzma
from treebp.kernels.packing import fill_in
from treebp.models import find_model

Model = TypeVar("Model")

_TYPES = {"bool": "BOOL", "uint8": "U8", "int32": "I32", "int64": "I64", "float32": "F32", "float64": "F64"}
MODEL_KIND = "treebp model"
"""Of the files of parsers, with or without all that leads to them from plain text."""
VERSION = 4
_OLDEST = 2  # to be raised whenever the same weights would mean another model: with the hash of features, say
_LARGEST = 1 << 30  # bytes that a compressed array may have
_DAMAGES = (SafetensorError, json.JSONDecodeError, LookupError, TypeError, AttributeError, zlib.error, LZMAError)


def write_tensors(path: str | Path, kind: str, header: Mapping[str, Any], tensors: Mapping[str, AnyArray]) -> None:
    """Write a file of some kind; it appears under its name only when complete. The same contents give the same bytes.

    safetensors' own writer puts metadata in an order that changes from run to run. Weights that are rounded are stored
    in less room: see ``treebp.features.compact``.
    """
    arrays = {name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}
    checksums = _checksums(arrays)
    arrays, small = _in_less_room(arrays)
    body = {"kind": kind, "version": VERSION, "header": header, "checksums": checksums, "small": small}
    text = json.dumps(body, ensure_ascii=False)
    entries: dict[str, Any] = {"__metadata__": {"checksum": str(zlib.crc32(text.encode())), "treebp": text}}
    offset = 0
    for name, array in arrays.items():
        entries[name] = {
            "dtype": _TYPES[array.dtype.name],
            "shape": array.shape,
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    contents = json.dumps(entries, ensure_ascii=False).encode()
    contents += b" " * (-len(contents) % 8)
    with replacing(path) as temporary, open(temporary, "xb") as stream:
        stream.write(len(contents).to_bytes(8, "little") + contents)
        for array in arrays.values():
            stream.write(array.data)


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Read the header and the arrays; ValueError if the file is not whole, not ours, or from a newer version."""
    with path.open("rb"):  # an error that names the file, if it cannot be opened
        pass
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            text = metadata.get("treebp")
            if text is None:
                raise ValueError(f"{path} is not a {kind}")
            if metadata.get("checksum") != str(zlib.crc32(text.encode())):
                raise ValueError(f"{path} is damaged: its header does not match its checksum")
            body = json.loads(text)
            if body["kind"] != kind:
                raise ValueError(f"{path} is a {body['kind']}, not a {kind}")
            if body["version"] > VERSION:
                raise ValueError(f"{path} has format version {body['version']}: upgrade treebp, which reads {VERSION}")
            if body["version"] < _OLDEST:
                raise ValueError(f"{path} has format version {body['version']}, of an older treebp: train it again")
            header, checksums = body["header"], body["checksums"]
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            tensors = _as_they_were(stored, body.get("small", {}), body["version"])
    except _DAMAGES as error:
        raise ValueError(f"{path} is damaged or not a {kind}: {error}") from None
    if checksums != _checksums(tensors):
        raise ValueError(f"{path} is damaged: its contents do not match their checksums")
    return header, tensors


def load_model(
    name: str | Path, kind: str, from_state: Callable[[dict[str, Any], dict[str, AnyArray]], Model]
) -> Model:
    """What a file holds, or a model of the package; ValueError, which names the file, if that cannot be used."""
    path = find_model(name)
    header, tensors = read_tensors(path, kind)
    try:
        return from_state(header, tensors)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} is not a {kind} that can be used: {error}") from None


def tensors_of(part: str, tensors: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """The arrays of a part of a model, as ``with_prefix`` named them."""
    prefix = f"{part}."
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


def with_prefix(part: str, tensors: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """The arrays of a part of a model, with its name before theirs."""
    return {f"{part}.{name}": array for name, array in tensors.items()}


def _in_less_room(arrays: Mapping[str, AnyArray]) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    """The arrays, those of few values as their values and compressed codes, and the types and shapes of these.

    If there are any, other bytes are compressed too: where such weights belong, say.
    """
    stored, small = dict[str, AnyArray](), dict[str, Any]()
    for name, array in arrays.items():
        pair = coded(array) if array.dtype == np.float32 else None
        if pair is not None:
            stored[f"{name}.values"], stored[name] = pair[0], compressed(pair[1])
            small[name] = [array.dtype.name, array.shape]
    for name, array in arrays.items():
        if name not in small and small and array.dtype == np.uint8:
            stored[name], small[name] = compressed(array), [array.dtype.name, array.shape]
        stored.setdefault(name, array)
    return {name: stored[name] for name in sorted(stored)}, small


def _as_they_were(stored: Mapping[str, AnyArray], small: Mapping[str, Any], version: int) -> dict[str, AnyArray]:
    def restored(name: str) -> AnyArray:
        dtype, shape = small[name]
        size = math.prod(shape)
        if not 0 <= size <= _LARGEST or dtype not in ("float32", "uint8"):
            raise TypeError(f"{name} cannot be an array of type {dtype} and shape {shape}")
        found = (decompressed if version > 3 else decompressed_lzma)(stored[name], size)
        codes = np.frombuffer(found, np.uint8).reshape(shape)
        return np.asarray(stored[f"{name}.values"][codes]) if dtype == "float32" else codes.copy()

    arrays = {**stored, **{name: restored(name) for name in small}}
    return {name: array for name, array in arrays.items() if name.removesuffix(".values") not in small or name in small}


def pack(weights: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Which entries are not zero, as bits, and those entries."""
    used = weights != 0.0
    return np.packbits(used), weights[used]


def unpack(bits: AnyArray, values: AnyArray, out: AnyArray) -> None:
    """Fill ``out`` with what ``pack`` made; ValueError if it does not fit, or holds no numbers."""
    count = len(out)
    if bits.shape != ((count + 7) // 8,) or bits.dtype != np.uint8:
        raise ValueError(f"{bits.shape} bytes of type {bits.dtype} do not say which of {count} features are used")
    if values.ndim != 1 or values.dtype != out.dtype or not np.isfinite(values).all():
        raise ValueError(f"an array of type {values.dtype} and shape {values.shape} is not the weights of features")
    if (used := fill_in(bits, values if len(values) else np.zeros(1, out.dtype), out)) != len(values):
        raise ValueError(f"there are {len(values)} weights for {used} features")


def _checksums(arrays: Mapping[str, AnyArray]) -> dict[str, int]:
    """Of contents, types and shapes."""
    return {
        name: zlib.crc32(np.ascontiguousarray(array).data, zlib.crc32(f"{array.dtype} {array.shape}".encode()))
        for name, array in arrays.items()
    }
