import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treebp.features.optimiser import AdaGrad, SparseGradient

BITS = 10


def new_optimiser(rate, decay, threads=1):
    return AdaGrad(np.zeros(1 << BITS, np.float32), rate, decay, threads)


def random_batch(rng, sentences, features):
    """Sparse gradients, with weights that occur several times and a few values that cancel each other."""
    batch = []
    for _ in range(sentences):
        indices = rng.integers(0, 1 << BITS, features).astype(np.int32)
        values = rng.normal(size=features).astype(np.float32)
        indices[-4:-2] = indices[-2:] = 3, 5
        values[-4:-2] = 1.0, 2.0
        values[-2:] = -1.0, -2.0
        batch.append(SparseGradient(indices, values))
    return batch


def eager_step(weights, squares, batch, rate, decay):
    """Duchi et al. (2011): every weight is updated, and decays, at every step."""
    gradient = np.zeros(len(weights))
    for indices, values in batch:
        np.add.at(gradient, indices, values.astype(np.float64))
    gradient /= len(batch)
    squares += gradient**2
    h = 1e-6 + np.sqrt(squares)
    weights[:] = (h * weights - rate * gradient) / (h + rate * decay)


@pytest.mark.parametrize("decay", [0.0, 0.3])
@settings(max_examples=5)
@given(seed=st.integers(0, 10**6), threads=st.sampled_from([1, 3]))
def test_lazy_updates_equal_those_that_touch_every_weight_at_every_step(decay, seed, threads):
    rng = np.random.default_rng(seed)
    optimiser = new_optimiser(0.1, decay, threads)
    weights, squares = np.zeros(1 << BITS), np.zeros(1 << BITS)
    for _ in range(300):  # more than twice what a weight may fall behind
        batch = random_batch(rng, 3, 12)
        optimiser.step(batch, len(batch))
        eager_step(weights, squares, batch, 0.1, decay)
    optimiser.catch_up()
    assert np.abs(weights).max() > 0.01
    np.testing.assert_allclose(optimiser.weights, weights, atol=1e-5)
    assert not optimiser._gradient.any()  # ready for the next minibatch


def test_catching_up_twice_decays_once():
    optimiser = new_optimiser(0.1, 0.5)
    optimiser.step(random_batch(np.random.default_rng(0), 2, 30), 2)
    optimiser.step(random_batch(np.random.default_rng(1), 2, 30), 2)
    optimiser.catch_up()
    weights = optimiser.weights.copy()
    optimiser.catch_up()
    assert np.array_equal(optimiser.weights, weights)


def test_threads_give_the_same_bits():
    results = []
    for threads in (1, 2, 3):
        optimiser = new_optimiser(0.2, 0.1, threads)
        rng = np.random.default_rng(7)
        for _ in range(40):
            optimiser.step(random_batch(rng, 4, 50), 4)
        optimiser.catch_up()
        results.append((optimiser.weights, optimiser.state))
    for other in results[1:]:
        for first, second in zip(results[0], other, strict=True):
            assert np.array_equal(first, second)


def test_one_step_by_hand():
    optimiser = new_optimiser(0.5, 2.0)
    gradient = SparseGradient(np.array([8, 8], np.int32), np.array([1.0, 3.0], np.float32))
    nothing = SparseGradient(np.zeros(0, np.int32), np.zeros(0, np.float32))
    optimiser.step([gradient, nothing], 2)
    mean = (1.0 + 3.0) / 2
    assert optimiser.weights[8] == pytest.approx(-0.5 * mean / (mean + 0.5 * 2.0), rel=1e-5)
    assert np.count_nonzero(optimiser.weights) == 1
    optimiser.step([nothing], 1)
    optimiser.catch_up()
    assert optimiser.weights[8] == pytest.approx(-0.5 * mean / (mean + 1.0) * mean / (mean + 1.0), rel=1e-5)
    assert math.isclose(optimiser.state[8, 0], mean**2)


def test_a_gradient_may_be_of_several_sentences():
    rng = np.random.default_rng(3)
    apart, together = new_optimiser(0.1, 0.2), new_optimiser(0.1, 0.2)
    for _ in range(5):
        batch = random_batch(rng, 3, 20)
        apart.step(batch, 3)
        indices, values = (np.concatenate(column) for column in zip(*batch, strict=True))
        together.step([SparseGradient(indices, values)], 3)
    assert np.array_equal(apart.weights, together.weights)
