"""Weights in little room: few of them, and few different ones.

Most hashed features were seen once or twice and weigh next to nothing. Dropping them and rounding the others to a few
steps changes hardly any decision (see docs/results.md), and what is left takes about a byte a weight.
"""

import lzma
from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray

_STEPS = 15  # from zero to all but the largest weights, one in a thousand
_FAR = 255  # a gap that goes on in the next byte
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6}]


def rounded(weights: AnyArray, share: float) -> AnyArray:
    """The largest weights, of either sign, a share of those that are not zero, rounded to multiples of one step.

    Example:
        >>> rounded(np.array([0.0, 0.1, -3.0, 1.63], np.float32), 2 / 3).round(2)
        array([ 0. ,  0. , -3. ,  1.6], dtype=float32)

    """
    sizes = np.abs(weights)
    used = sizes[sizes > 0.0]
    count = round(share * len(used))
    out = np.zeros_like(weights)
    if count == 0:
        return out
    smallest = np.partition(used, len(used) - count)[len(used) - count]
    step = np.quantile(used[used >= smallest], 0.999) / _STEPS
    kept = sizes >= smallest
    multiples = np.clip(np.rint(weights[kept] / step), -127, 127)
    out[kept] = (multiples * step).astype(weights.dtype)
    return out


class Packed(NamedTuple):
    """Weights most of which are zero, and the others of few values.

    Attributes:
        gaps: compressed, the number of zeros before each other weight, 255 of them at a time.
        codes: compressed, which value each of these has.
        values: float32, at most 256.

    """

    gaps: AnyArray
    codes: AnyArray
    values: AnyArray


def pack_few(weights: AnyArray) -> Packed | None:
    """The weights exactly, or None if they have too many different values.

    Example:
        >>> packed = pack_few(np.array([0.0, 0.5, 0.0, -1.0], np.float32))
        >>> packed.values, unpack_few(packed, 4)
        (array([-1. ,  0.5], dtype=float32), array([ 0. ,  0.5,  0. , -1. ], dtype=float32))

    """
    places = np.flatnonzero(weights)
    some = np.unique(weights[places[: 1 << 12]])  # to know soon, where there are many
    if len(some) > 256:
        return None
    values, codes = np.unique(weights[places], return_inverse=True)
    if len(values) > 256:
        return None
    gaps = np.diff(places, prepend=-1) - 1
    far = gaps // _FAR
    ends = np.cumsum(far + 1) - 1
    flat = np.full(int(ends[-1]) + 1 if len(ends) else 0, _FAR, np.uint8)
    flat[ends] = gaps % _FAR
    return Packed(_compressed(flat), _compressed(codes.astype(np.uint8)), values)


def unpack_few(packed: Packed, count: int) -> AnyArray:
    """The reverse of `pack_few`; ValueError if these are not so many weights."""
    flat, codes = _decompressed(packed.gaps, count), _decompressed(packed.codes, count)
    ends = flat != _FAR
    places = np.cumsum(flat, dtype=np.int64)[ends] + np.arange(np.count_nonzero(ends))
    if len(places) != len(codes) or (len(places) and (places[-1] >= count or codes.max() >= len(packed.values))):
        raise ValueError(f"{len(codes)} weights at {len(places)} places do not make {count} features")
    if packed.values.dtype != np.float32 or not np.isfinite(packed.values).all():
        raise ValueError("weights that are no numbers")
    weights = np.zeros(count, np.float32)
    weights[places] = packed.values[codes]
    return weights


def _compressed(flat: AnyArray) -> AnyArray:
    return np.frombuffer(lzma.compress(flat.tobytes(), lzma.FORMAT_RAW, filters=_FILTERS), np.uint8)


def _decompressed(array: AnyArray, most: int) -> AnyArray:
    """What was compressed; ValueError if it is damaged, or longer than it can be."""
    if array.dtype != np.uint8 or array.ndim != 1:
        raise ValueError(f"compressed weights of type {array.dtype} and shape {array.shape}")
    try:
        reader = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_FILTERS)
        found = reader.decompress(array.tobytes(), max_length=most + 1)
    except lzma.LZMAError as error:
        raise ValueError(f"compressed weights that are damaged: {error}") from None
    if len(found) > most or not reader.eof:
        raise ValueError(f"compressed weights that are damaged, or more than {most} features have")
    return np.frombuffer(found, np.uint8)
