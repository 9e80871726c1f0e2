"""AdaGrad with composite mirror descent and lazy L2 regularisation (Duchi et al., 2011), on sparse gradients.

``gradient`` sums up over the current minibatch. ``state`` holds, side by side for each weight, the sum of its squared
gradients so far and the step up to which its decay has been applied.
"""

import math

import numpy as np

from treebp._types import AnyArray
from treebp.kernels._jit import kernel
from treebp.kernels.prefetch import prefetch

SQUARES, DECAYED = 0, 1
_BITS = 7  # of the number of steps of decay that a weight may miss
CATCH_UP = (1 << _BITS) - 1
_DELTA = 1e-6
_AHEAD = 32  # weights that are asked for before they are used


@kernel
def add(
    gradient: AnyArray, indices: AnyArray, values: AnyArray, low: int, high: int, touched: AnyArray, count: int
) -> int:
    """Add values to the gradients of weights low to high - 1; append to ``touched`` those that were zero.

    There is no branch on what memory holds: the processor would wait for it each time that it guesses wrong.
    """
    for k in range(len(indices)):
        if k + _AHEAD < len(indices):
            prefetch(gradient, np.uint32(indices[k + _AHEAD]))
        f = indices[k]
        if low <= f < high:
            before = gradient[f]
            touched[count] = f
            count += before == 0.0
            gradient[f] = before + values[k]
    return count


@kernel
def update(
    weights: AnyArray,
    gradient: AnyArray,
    state: AnyArray,
    touched: AnyArray,
    scale: float,
    rate: float,
    decay: float,
    step: int,
) -> None:
    """One step x <- (H x - rate g) / (H + rate decay), H = delta + sqrt(sum of g^2), on the touched weights.

    The gradient is the sum over a minibatch, to be multiplied by ``scale``; it is zero again afterwards. A weight
    that was not touched for some steps first makes up for their decay.
    """
    for k in range(len(touched)):
        if k + _AHEAD < len(touched):
            ahead = np.uint32(touched[k + _AHEAD])
            prefetch(gradient, ahead)
            prefetch(weights, ahead)
            prefetch(state, 2 * ahead)
        f = touched[k]
        g = gradient[f] * scale
        if g == 0.0:
            continue
        x = decayed(weights[f], state[f, SQUARES], step - int(state[f, DECAYED]), rate * decay, _BITS)
        gradient[f] = 0.0
        state[f, SQUARES] += g * g
        state[f, DECAYED] = step + 1
        keep, move = keep_and_move(state[f, SQUARES], rate, decay)
        weights[f] = keep * x - move * g


@kernel
def keep_and_move(squares: float, rate: float, decay: float) -> tuple[float, float]:
    """What a weight and its gradient are multiplied by in a step: x <- keep x - move g."""
    h = _DELTA + math.sqrt(squares)
    return h / (h + rate * decay), rate / (h + rate * decay)


@kernel
def decayed(x: float, squares: float, steps: int, decay: float, bits: int) -> float:
    """x after some steps, fewer than 2**bits, of nothing but decay."""
    h = _DELTA + math.sqrt(squares)
    factor = h / (h + decay)
    for bit in range(bits):  # the same few operations for all, without a branch that depends on memory
        x *= factor if (steps >> bit) & 1 else 1.0
        factor *= factor
    return x


@kernel
def catch_up(weights: AnyArray, state: AnyArray, decay: float, step: int) -> None:
    """Apply all decay that is still due."""
    for f in range(len(weights)):
        if weights[f] != 0.0:
            weights[f] = decayed(weights[f], state[f, SQUARES], step - int(state[f, DECAYED]), decay, _BITS)
        state[f, DECAYED] = step
