"""Weights that need little room: few of them, and few different ones.

Most hashed features were seen once or twice and weigh next to nothing. Dropping them and rounding the others to a few
steps changes hardly any decision (see docs/results.md); ``model_file`` then needs about a byte for each that is left.
"""

import lzma
import zlib
from collections.abc import Mapping

import numpy as np

from treebp._types import AnyArray

_STEPS = 15  # from zero to all but the largest weights, one in a thousand
_LZMA = [{"id": lzma.FILTER_LZMA2, "preset": 6}]  # of files of version 3


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
    out[kept] = (np.clip(np.rint(weights[kept] / step), -127, 127) * step).astype(weights.dtype)
    return out


def lighter(tensors: Mapping[str, AnyArray], share: float) -> dict[str, AnyArray]:
    """The arrays of a model, with all that are called weights `rounded`."""
    return {
        name: rounded(array, share) if name.endswith("weights") and array.dtype == np.float32 else array
        for name, array in tensors.items()
    }


def coded(array: AnyArray) -> tuple[AnyArray, AnyArray] | None:
    """A float32 array of few different values as those, and as bytes that say which each entry has; None if of more.

    Example:
        >>> coded(np.tile(np.array([0.5, 2.0], np.float32), 128))[0]
        array([0.5, 2. ], dtype=float32)

    """
    bits = array.view(np.int32)  # 0 and -0 are two values
    if array.size < 256 or len(np.unique(bits.ravel()[: 1 << 12])) > 256:  # most are told soon
        return None
    values, codes = np.unique(bits, return_inverse=True)
    if len(values) > 256:
        return None
    return values.view(np.float32), codes.reshape(array.shape).astype(np.uint8)


def compressed(array: AnyArray) -> AnyArray:
    """The bytes of an array, in fewer bytes: by their frequencies alone, since what hashing has mixed repeats nothing.

    That takes less room than LZMA, which looks for repetitions, and a sixth of its time to read.
    """
    writer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
    return np.frombuffer(writer.compress(array.tobytes()) + writer.flush(), np.uint8)


def decompressed(array: AnyArray, size: int) -> bytes:
    """The reverse of `compressed`; zlib.error unless these are ``size`` bytes, however many a stranger packed."""
    reader = zlib.decompressobj(-zlib.MAX_WBITS)
    found = reader.decompress(array.tobytes(), size + 1)
    if len(found) != size or not reader.eof:
        raise zlib.error(f"{size} bytes expected")
    return found


def decompressed_lzma(array: AnyArray, size: int) -> bytes:
    """The same for files of version 3, but for the error."""
    reader = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=_LZMA)
    found = reader.decompress(array.tobytes(), max_length=size + 1)
    if len(found) != size or reader.needs_input:
        raise lzma.LZMAError(f"{size} bytes expected")
    return found
