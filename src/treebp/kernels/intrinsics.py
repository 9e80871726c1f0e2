"""What processors can do and Numba does not offer: exponentials and logarithms of several numbers, early loads.

A loop that calls ``math.exp`` calls a library for each number; one that calls these is compiled to work on several at
once. They are powers and shifts of bits, right to a few units in the last digit: polynomials interpolate at Chebyshev's
nodes, or are Taylor's where few terms are enough.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from treebp._types import AnyArray
from treebp.kernels._jit import inlined

FARTHEST = 700.0
"""The largest argument, of either sign, of ``exp``."""

FAINT = 1e-290
"""What is smaller may have lost digits to underflow."""

_ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the lowest bits
_PER_OCTAVE, _OCTAVE, _OCTAVE_REST = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770002e-10
_HALF_UP = 0x3FE6A09E667F3BCD  # the bits of the square root of one half


def _bits_of(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


def _number_of(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


_bits = cast(Callable[[float], int], intrinsic(_bits_of))  # the bits of a number
_number = cast(Callable[[int], float], intrinsic(_number_of))  # the number that has some bits


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature_of_llvm = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch.p0", (), signature_of_llvm)
        element = builder.bitcast(builder.gep(data, [arguments[1]]), address)
        for_reading, keep_close, data_cache = number(0), number(3), number(1)
        builder.call(function, [element, for_reading, keep_close, data_cache])
        return context.get_dummy_value()

    return types.void(array, index), generate


# prefetch(array, index), in kernels: start to bring an element into the caches. The index must be unsigned.
prefetch = cast(Callable[[AnyArray, np.uint32 | np.uint64], None], intrinsic(_prefetch))


@inlined
def exp(x: float) -> float:
    """e^x; beyond FARTHEST, of either sign, what it is there. NaN counts as -FARTHEST."""
    x = x if x > -FARTHEST else -FARTHEST
    x = x if x < FARTHEST else FARTHEST
    octaves = x * _PER_OCTAVE + _ROUNDER
    whole = octaves - _ROUNDER
    r = (x - whole * _OCTAVE) - whole * _OCTAVE_REST
    r2 = r * r
    r4 = r2 * r2
    low = (0.99999999999999999693 + r) + r2 * (0.50000000000000183855 + r * 0.16666666666666680806)
    middle = (0.041666666666488095495 + r * 0.0083333333333196006109) + r2 * (
        0.0013888888952314774652 + r * 0.00019841269890047113707
    )
    high = (0.000024801485482328492419 + r * 2.7557240918578969823e-6) + r2 * (
        2.7632639639041029749e-7 + r * 2.5110037605963777712e-8
    )
    return (low + r4 * (middle + r4 * high)) * _number((_bits(octaves) + 1023) << 52)


@inlined
def log(x: float) -> float:
    """Logarithm of a positive number that is not subnormal."""
    bits = _bits(x)
    shifted = bits - _HALF_UP
    octaves = shifted >> 52
    mantissa = _number(bits - (octaves << 52))  # between the roots of one half and of two
    z = (mantissa - 1.0) / (mantissa + 1.0)
    y = z * z
    y2 = y * y
    y4 = y2 * y2
    # 2 atanh(z) / z, for |z| up to 0.1716
    low = (2.0 + y * 0.66666666666666666667) + y2 * (0.4 + y * 0.28571428571428571429)
    middle = (0.22222222222222222222 + y * 0.18181818181818181818) + y2 * (
        0.15384615384615384615 + y * 0.13333333333333333333
    )
    high = 0.11764705882352941176 + y * 0.10526315789473684211
    whole = float(octaves)
    return whole * _OCTAVE + (z * (low + y4 * (middle + y4 * high)) + whole * _OCTAVE_REST)


@inlined
def softplus(x: float) -> float:
    """log(1 + e^x), for any x, infinities included."""
    small = exp(-abs(x))
    z = small / (2.0 + small)  # log(1 + small) = 2 atanh(z), z up to a third
    y = z * z
    y2 = y * y
    y4 = y2 * y2
    low = (2.0000000000000000024 + y * 0.66666666666666149594) + y2 * (
        0.40000000000185747468 + y * 0.28571428545454114534
    )
    middle = (0.22222224080747673173 + y * 0.1818174083250480451) + y2 * (
        0.15386614042304007762 + y * 0.13300374032674624337
    )
    high = 0.12110168728069217655 + y * (0.083245065118608205757 + y * 0.17044163562781398129)
    return max(x, 0.0) + z * (low + y4 * (middle + y4 * high))
