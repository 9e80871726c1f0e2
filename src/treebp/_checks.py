"""Checks of what users pass in, and the arrays that they get back."""

import operator

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray

LARGEST_SCORE = 1e300
"""The largest finite log-weight, of either sign, of which millions can be added up without overflow."""


def float_array(values: ArrayLike, name: object, *, copied: bool = True) -> FloatArray:
    """Own contiguous copy of an array; ValueError, which begins with the name, if it does not hold real numbers.

    What is only read, and at once, need not be `copied` unless kernels would be compiled once more for it.
    """
    numbers = _numbers(values, name, "biufO")
    if copied:
        is_new = isinstance(values, list | tuple)
        return numbers if is_new and numbers.dtype == np.float64 else np.array(numbers, np.float64, order="C")
    return np.asarray(np.require(numbers, np.float64, ["C", "A", "W"]))


def integer_array(values: ArrayLike, name: str) -> IntArray:
    """The same for integers: a float is none, even if it is whole."""
    return np.array(_numbers(values, name, "iu"), dtype=np.int64, order="C")


def _numbers(values: ArrayLike, name: object, kinds: str) -> AnyArray:
    """The values as an array of one of these kinds of numbers, of which none is masked."""
    what = "integers" if kinds == "iu" else "numbers"
    try:
        array = np.asanyarray(values)
        if array.dtype.kind == "O":  # Fractions, for instance; None and lists of different lengths are no numbers
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: an array of {what} expected ({error})") from error
    if array.dtype.kind not in kinds and array.size:
        raise ValueError(f"{name}: an array of {what} expected, not of type {array.dtype}")
    if type(array) is not np.ndarray and np.ma.is_masked(array):
        raise ValueError(f"{name}: an array with masked entries; fill them first")
    return array


def whole_number(value: int, name: str, least: int) -> int:
    """An integer of any type; ValueError, which begins with the name, for anything else and below the least."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} = {value!r}: a whole number expected") from None
    if number < least:
        raise ValueError(f"{name} = {number}: at least {least} expected")
    return number


def random_generator(rng: np.random.Generator) -> np.random.Generator:
    """The generator itself; ValueError for anything else."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng = {rng!r}: a generator expected, such as numpy.random.default_rng(0) makes")
    return rng


def read_only(array: AnyArray) -> AnyArray:
    """A view of an array that cannot be written to.

    The array itself stays writable: kernels would be compiled once more for one that is not.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def is_score(array: FloatArray) -> BoolArray:
    """Which entries can be scores: -inf, or a number not so large that a sum of such numbers overflows."""
    return np.asarray((array == -np.inf) | (np.abs(array) <= LARGEST_SCORE))
