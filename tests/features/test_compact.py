import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.features.compact import Packed, pack_few, rounded, unpack_few


@given(seed=st.integers(0, 10**6), count=st.integers(0, 3000), share=st.sampled_from([0.0, 0.002, 0.3, 1.0]))
def test_few_values_come_back_exactly(seed, count, share):
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(count) < share, rng.integers(-4, 5, count) * 0.3, 0.0).astype(np.float32)
    packed = pack_few(weights)
    assert packed is not None
    np.testing.assert_array_equal(unpack_few(packed, count), weights)


def test_many_values_are_not_packed_so():
    assert pack_few(np.random.default_rng(0).normal(size=5000).astype(np.float32)) is None
    late = np.ones(10_000, np.float32)
    late[5000:] = np.arange(5000)
    assert pack_few(late) is None


@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 1.0))
def test_rounding_keeps_the_largest_and_moves_none_far(seed, share):
    rng = np.random.default_rng(seed)
    weights = (rng.normal(size=2000) * (rng.random(2000) < 0.7)).astype(np.float32)
    small = rounded(weights, share)
    wanted = round(share * np.count_nonzero(weights))
    kept = small != 0.0
    assert np.count_nonzero(kept) <= wanted
    chosen = np.argsort(-np.abs(weights))[:wanted]
    step = np.quantile(np.abs(weights[chosen]), 0.999) / 15
    assert (np.abs(small - weights)[chosen] <= 0.5001 * step).all()
    assert not kept[np.argsort(-np.abs(weights))[wanted:]].any()
    assert pack_few(small) is not None


def test_rounding_nothing_gives_nothing():
    assert not rounded(np.zeros(5, np.float32), 0.5).any()
    assert not rounded(np.ones(5, np.float32), 0.0).any()


def test_packed_weights_are_a_tenth_of_their_size():
    rng = np.random.default_rng(0)
    weights = np.where(rng.random(1 << 18) < 0.1, rng.normal(size=1 << 18), 0.0).astype(np.float32)
    packed = pack_few(rounded(weights, 1.0))
    assert packed is not None
    assert sum(array.nbytes for array in packed) < 1.3 * np.count_nonzero(weights)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p._replace(gaps=p.gaps[:3]),
        lambda p: p._replace(values=p.values[:1]),
        lambda p: p._replace(values=np.array([np.nan, 1.0, 2.0], np.float32)),
        lambda p: p._replace(gaps=np.zeros(3)),
        lambda p: p._replace(gaps=np.frombuffer(b"nonsense", np.uint8)),
    ],
)
def test_damaged_weights_are_refused(change):
    packed = pack_few(np.array([0.0, 0.5, 0.0, -1.0, 0.5, 2.0], np.float32))
    assert isinstance(packed, Packed)
    with pytest.raises(ValueError, match="weights"):
        unpack_few(change(packed), 6)
    with pytest.raises(ValueError, match="features"):
        unpack_few(packed, 4)
