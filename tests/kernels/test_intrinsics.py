"""Exponentials and logarithms that vectorise are right to the last digits, and say the right thing at the extremes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.kernels._jit import kernel
from treebp.kernels.intrinsics import FARTHEST, exp, log, softplus


@kernel
def exps(numbers: np.ndarray, out: np.ndarray) -> None:
    for k in range(np.uint64(len(numbers))):
        out[k] = exp(numbers[k])


@kernel
def logs(numbers: np.ndarray, out: np.ndarray) -> None:
    for k in range(np.uint64(len(numbers))):
        out[k] = log(numbers[k])


@kernel
def softpluses(numbers: np.ndarray, out: np.ndarray) -> None:
    for k in range(np.uint64(len(numbers))):
        out[k] = softplus(numbers[k])


def of(function, numbers) -> np.ndarray:
    numbers = np.asarray(numbers, dtype=np.float64)
    out = np.empty_like(numbers)
    function(numbers, out)
    return out


def ulps(found: np.ndarray, expected) -> float:
    """The largest error, in units of the last digit of what is right."""
    expected = np.array(expected)
    return float(np.max(np.abs(found - expected) / np.spacing(np.abs(expected))))


def test_exp_is_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    for numbers in (
        rng.uniform(-FARTHEST, FARTHEST, 20000),
        rng.uniform(-1.0, 1.0, 20000),
        rng.uniform(-1e-9, 1e-9, 2000),
        (np.arange(-1000, 1000) + 0.5) * math.log(2.0),  # where the remainder is largest
    ):
        assert ulps(of(exps, numbers), [math.exp(x) for x in numbers]) <= 2.0


def test_exp_at_the_extremes():
    farthest = math.exp(FARTHEST)
    found = of(exps, [0.0, -0.0, FARTHEST, 701.0, 1e300, math.inf])
    assert found[:2].tolist() == [1.0, 1.0]
    assert found[2:] == pytest.approx(farthest, rel=1e-15)
    assert of(exps, [-FARTHEST, -701.0, -1e300, -math.inf, math.nan]) == pytest.approx(1.0 / farthest, rel=1e-15)


def test_log_is_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    for numbers in (
        10.0 ** rng.uniform(-307, 308, 20000),
        rng.uniform(0.5, 2.0, 20000),
        1.0 + rng.uniform(-1e-7, 1e-7, 2000),
        np.sqrt(0.5) * (1.0 + rng.uniform(-1e-12, 1e-12, 2000)),  # where the octave changes
        [np.finfo(float).tiny, np.finfo(float).max, math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0)],
    ):
        assert ulps(of(logs, numbers), [math.log(x) for x in numbers]) <= 4.0
    assert of(logs, [1.0])[0] == 0.0


def test_softplus_is_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    numbers = np.concatenate([rng.uniform(-40.0, 40.0, 20000), rng.uniform(-690.0, 700.0, 5000)])
    expected = [max(x, 0.0) + math.log1p(math.exp(-abs(x))) for x in numbers]
    assert ulps(of(softpluses, numbers), expected) <= 4.0


def test_softplus_at_the_extremes():
    assert of(softpluses, [0.0])[0] == pytest.approx(math.log(2.0), rel=1e-15)
    assert of(softpluses, [1e4, 1e300, math.inf]).tolist() == [1e4, 1e300, math.inf]
    assert of(softpluses, [-1e4, -1e300, -math.inf]) == pytest.approx(0.0, abs=1e-300)


@given(st.floats(-FARTHEST, FARTHEST))
def test_exp_and_log_are_inverse(x):
    assert of(logs, of(exps, [x]))[0] == pytest.approx(x, rel=1e-15, abs=1e-15)
