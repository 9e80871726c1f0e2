"""AdaGrad with composite mirror descent and lazy L2 regularisation (Duchi et al., 2011), on sparse gradients.

``gradient`` sums up over the current minibatch. ``state`` holds, side by side for each weight, the sum of its squared
gradients so far and the step up to which its decay has been applied.
"""

import math

import numpy as np

from treebp._types import AnyArray
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.intrinsics import prefetch

SQUARES, DECAYED = 0, 1
_BITS = 7  # of the number of steps of decay that a weight may miss
CATCH_UP = (1 << _BITS) - 1
_DELTA = 1e-6
_AHEAD = 32  # weights that are asked for before they are used
_BLOCK = 512  # weights that are looked at together


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


@inlined
def keep_and_move(squares: float, rate: float, decay: float) -> tuple[float, float]:
    """What a weight and its gradient are multiplied by in a step: x <- keep x - move g."""
    h = _DELTA + math.sqrt(squares)
    return h / (h + rate * decay), rate / (h + rate * decay)


@inlined
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
    """Apply all decay that is still due.

    Weights that are not zero are brought side by side first: what is done for one is done for many at once then.
    """
    numbers, steps = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.int32)
    x, squares = np.empty(_BLOCK), np.empty(_BLOCK, np.float32)
    for begin in range(0, len(weights), _BLOCK):
        own, own_state = weights[begin : begin + _BLOCK], state[begin : begin + _BLOCK]
        count = 0
        for f in range(len(own)):
            numbers[count] = f
            count += own[f] != 0.0
        for k in range(count):
            f = numbers[k]
            x[k], squares[k], steps[k] = own[f], own_state[f, SQUARES], step - int(own_state[f, DECAYED])
        for k in range(np.uint64(count)):
            x[k] = decayed(x[k], squares[k], steps[k], decay, _BITS)
        for k in range(count):
            own[numbers[k]] = x[k]
        for f in range(np.uint64(len(own))):
            own_state[f, DECAYED] = step
