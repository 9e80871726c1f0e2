import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.features.compact import coded, compressed, decompressed, rounded


@given(seed=st.integers(0, 10**6), count=st.integers(256, 3000), values=st.integers(1, 256))
def test_few_values_come_back_exactly(seed, count, values):
    rng = np.random.default_rng(seed)
    some = rng.normal(size=values).astype(np.float32)
    some[:2] = (0.0, -0.0)[:values]
    array = some[rng.integers(0, values, count)]
    pair = coded(array)
    assert pair is not None
    assert pair[0][pair[1]].tobytes() == array.tobytes()


def test_many_values_are_not_coded():
    assert coded(np.random.default_rng(0).normal(size=5000).astype(np.float32)) is None
    late = np.ones(10_000, np.float32)
    late[5000:] = np.arange(5000)
    assert coded(late) is None


@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 1.0))
def test_rounding_keeps_the_largest_and_moves_none_far(seed, share):
    rng = np.random.default_rng(seed)
    weights = (rng.normal(size=2000) * (rng.random(2000) < 0.7)).astype(np.float32)
    small = rounded(weights, share)
    wanted = round(share * np.count_nonzero(weights))
    by_size = np.argsort(-np.abs(weights))
    step = np.quantile(np.abs(weights[by_size[:wanted]]), 0.999) / 15
    assert (np.abs(small - weights)[by_size[:wanted]] <= 0.5001 * step).all()
    assert not small[by_size[wanted:]].any()
    assert coded(small) is not None


def test_rounding_nothing_gives_nothing():
    assert not rounded(np.zeros(5, np.float32), 0.5).any()
    assert not rounded(np.ones(5, np.float32), 0.0).any()


@pytest.mark.parametrize("size", [0, 99, 101])
def test_another_number_of_bytes_is_refused(size):
    packed = compressed(np.arange(100, dtype=np.uint8))
    assert decompressed(packed, 100) == bytes(range(100))
    with pytest.raises(zlib.error):
        decompressed(packed, size)


def test_damaged_bytes_are_refused():
    packed = compressed(np.arange(100, dtype=np.uint8))
    for wrong in (packed[:-3], packed[:3], np.zeros(0, np.uint8), np.frombuffer(b"nonsense", np.uint8)):
        with pytest.raises(zlib.error):
            decompressed(wrong, 100)
