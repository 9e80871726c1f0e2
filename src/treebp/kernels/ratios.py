"""Messages as ratios, ON over OFF: what binary variables make of them, and factors that weigh their all being ON.

A message's number is an *entry* of flat arrays and speaks of a *slot*: see ``treebp.kernels.variables``. Variables add
up logarithms of products of ratios, and send on the odds that are left without a factor's own ratio. Factors weigh the
joint state in which all their variables are ON, and no other: with p the probability of ON that a message speaks of and
e the weight, the message to one variable is 1 - P + e P, P being the product of the other messages' p. What is left to
one is a sum of positive terms, so that every digit counts however large or small the ratios are. Rows of ``incoming``
and ``outgoing`` are the first, second and third variables of all factors. Adjoints are those of the ratios' logarithms.
"""

import math

import numpy as np

from treebp._types import AnyArray, FloatArray
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.intrinsics import FARTHEST, exp, log, softplus

CERTAIN = 400.0
"""Log-odds beyond this are certainty to a factor whose messages are ratios: see ``treebp.bp.groups``."""

_ROOM = 350.0  # what a logarithm may grow by beyond that of _FAR
_FAR = 1e150  # a product of ratios beyond this, or below its inverse, is taken into the logarithm
_NO_SIGN = np.uint64((1 << 63) - 1)
_LARGEST = 1e100  # beyond this, or below its inverse, a product of normalisers is taken into its logarithm


@kernel
def gather_ratios(
    slots: AnyArray, ratios: FloatArray, strongest: float, products: FloatArray, logs: FloatArray
) -> None:
    """Fill ``logs`` with the logarithm of the product of each slot's ratios; ``products`` is scratch memory.

    Entries of one slot that follow each other are multiplied without a way through memory. No ratio's logarithm exceeds
    ``strongest``, so a product need be looked at only now and then.
    """
    products[:] = 1.0
    logs[:] = 0.0
    most = int(_ROOM / max(strongest, 1.0))
    current, product, left = np.uint32(0), 1.0, most
    for entry in range(np.uint64(len(slots))):
        slot = slots[entry]
        if slot != current or left == 0:
            if not 1.0 / _FAR < product < _FAR:
                logs[current] += math.log(product)
                product = 1.0
            products[current] = product
            current, product, left = slot, products[slot], most
        product *= ratios[entry]
        left -= 1
    if len(slots) > 0:
        products[current] = product
    for slot_ in range(np.uint64(len(logs))):
        logs[slot_] += log(products[slot_])


@kernel
def totals(gathered: FloatArray, without: int, out: FloatArray) -> int:
    """Add up the rows of ``gathered`` (groups, slots) but for one; return the first slot that has NaN, or -1."""
    out[:] = 0.0
    for group in range(len(gathered)):
        if group != without:
            row = gathered[group]
            for slot in range(np.uint64(len(out))):
                out[slot] += row[slot]
    return first_nan(out)


@kernel
def first_nan(numbers: FloatArray) -> int:
    """Where the first NaN is, or -1."""
    for k in range(len(numbers)):
        if math.isnan(numbers[k]):
            return k
    return -1


@kernel
def divide(gathered: FloatArray, slots: AnyArray, ratios: FloatArray, odds: FloatArray, out: FloatArray) -> None:
    """Messages to factors: the odds of all that was gathered, but for what the factor said itself.

    ``odds`` is scratch memory, one per slot.
    """
    odds[:] = 0.0
    for group in range(len(gathered)):
        row = gathered[group]
        for slot in range(np.uint64(len(odds))):
            odds[slot] += row[slot]
    for slot in range(np.uint64(len(odds))):
        odds[slot] = exp(min(max(odds[slot], -CERTAIN), CERTAIN))
    for entry in range(np.uint64(len(slots))):  # one by one
        out[entry] = odds[slots[entry]]
    for entry in range(np.uint64(len(slots))):  # many at a time
        out[entry] /= ratios[entry]


@kernel
def probabilities(log_odds: FloatArray, out: FloatArray) -> None:
    """Probabilities of ON; 0 and 1 for infinite log-odds, NaN for NaN."""
    for slot in range(np.uint64(len(log_odds))):
        odds = log_odds[slot]
        p = 1.0 / (1.0 + exp(-odds))
        p = p if odds > -FARTHEST else 0.0
        out[slot] = p if odds == odds else math.nan


@kernel
def send_pairs(weights: FloatArray, incoming: FloatArray, outgoing: FloatArray) -> None:
    """Messages of pairs: (1 + e y) / (1 + y), y being the message from the other variable."""
    for f in range(np.uint64(len(weights))):
        e, a, b = weights[f], incoming[0, f], incoming[1, f]
        outgoing[0, f] = (1.0 + e * b) / (1.0 + b)
        outgoing[1, f] = (1.0 + e * a) / (1.0 + a)


@kernel
def send_pairs_backward(
    weights: FloatArray, incoming: FloatArray, adjoint: FloatArray, out: FloatArray, of_weights: FloatArray
) -> None:
    """Write the adjoints of the messages received, and add those of the weights' logarithms."""
    for f in range(np.uint64(len(weights))):
        e, a, b = weights[f], incoming[0, f], incoming[1, f]
        with_a, with_b = e * a / (1.0 + e * a), e * b / (1.0 + e * b)
        of_weights[f] += adjoint[0, f] * with_b + adjoint[1, f] * with_a
        out[0, f] = adjoint[1, f] * (with_a - a / (1.0 + a))
        out[1, f] = adjoint[0, f] * (with_b - b / (1.0 + b))


@inlined
def _to_one(e: float, off_a: float, on_a: float, off_b: float, on_b: float) -> float:
    return off_a + on_a * (off_b + e * on_b)


@kernel
def send_triples(weights: FloatArray, incoming: FloatArray, outgoing: FloatArray) -> None:
    """Messages of triples."""
    for f in range(np.uint64(len(weights))):
        e, a, b, c = weights[f], incoming[0, f], incoming[1, f], incoming[2, f]
        off_a, off_b, off_c = 1.0 / (1.0 + a), 1.0 / (1.0 + b), 1.0 / (1.0 + c)
        on_a, on_b, on_c = a * off_a, b * off_b, c * off_c
        outgoing[0, f] = _to_one(e, off_b, on_b, off_c, on_c)
        outgoing[1, f] = _to_one(e, off_a, on_a, off_c, on_c)
        outgoing[2, f] = _to_one(e, off_a, on_a, off_b, on_b)


@kernel
def send_triples_backward(
    weights: FloatArray, incoming: FloatArray, adjoint: FloatArray, out: FloatArray, of_weights: FloatArray
) -> None:
    """Write the adjoints of the messages received, and add those of the weights' logarithms."""
    for f in range(np.uint64(len(weights))):
        e, a, b, c = weights[f], incoming[0, f], incoming[1, f], incoming[2, f]
        off_a, off_b, off_c = 1.0 / (1.0 + a), 1.0 / (1.0 + b), 1.0 / (1.0 + c)
        on_a, on_b, on_c = a * off_a, b * off_b, c * off_c
        # By the message to each, what it says divided out: d log m = [(e - 1) dP + P de] / m, dp = p (1 - p) dlog y.
        to_a = adjoint[0, f] * on_b * on_c / _to_one(e, off_b, on_b, off_c, on_c)
        to_b = adjoint[1, f] * on_a * on_c / _to_one(e, off_a, on_a, off_c, on_c)
        to_c = adjoint[2, f] * on_a * on_b / _to_one(e, off_a, on_a, off_b, on_b)
        of_weights[f] += e * (to_a + to_b + to_c)
        out[0, f] = (e - 1.0) * off_a * (to_b + to_c)
        out[1, f] = (e - 1.0) * off_b * (to_a + to_c)
        out[2, f] = (e - 1.0) * off_c * (to_a + to_b)


@kernel
def expectations(weights: FloatArray, incoming: FloatArray, outgoing: FloatArray, out: FloatArray) -> float:
    """Write each factor's belief that all its variables are ON; return what these factors add to log Z.

    That is, in Bethe's approximation, the factors' log-partitions less those of their edges, with messages to factors
    taken as probabilities and those to variables as ratios.
    """
    arity = len(incoming)
    total, ratio = 0.0, 1.0  # one logarithm for many factors
    for f in range(len(weights)):
        on, off, edges = 1.0, 0.0, 1.0
        for k in range(arity):
            p_off = 1.0 / (1.0 + incoming[k, f])
            p_on = incoming[k, f] * p_off
            off += on * p_off
            on *= p_on
            edges *= p_off + p_on * outgoing[k, f]
        both = weights[f] * on
        out[f] = both / (off + both)
        ratio *= (off + both) / edges
        if not 1.0 / _LARGEST < ratio < _LARGEST:
            total += log(ratio)
            ratio = 1.0
    return total + log(ratio)


@kernel
def single_expectations(potentials: FloatArray, incoming: FloatArray, out: FloatArray) -> float:
    """The same for factors of one variable, whose messages are log-odds; the log-partition is that of the factors."""
    total = 0.0
    for f in range(np.uint64(len(potentials))):
        odds = potentials[f] + incoming[f]
        out[f] = 1.0 / (1.0 + exp(-odds))
        # log(1 - p + p e^s), p = 1 / (1 + e^-x), as a sum of what cannot overflow
        total += softplus(odds) - softplus(incoming[f]) if incoming[f] < math.inf else potentials[f]
    return total


@kernel
def weights_of(potentials: FloatArray) -> tuple[float, FloatArray]:
    """The largest potential, of either sign, and all exponentials."""
    weights = np.empty(len(potentials))
    for f in range(np.uint64(len(potentials))):
        weights[f] = exp(potentials[f])
    bits, strongest = potentials.view(np.uint64), np.zeros(1, np.uint64)
    for f in range(np.uint64(len(bits))):  # without the sign, bits are in order, NaN coming last
        strongest[0] = max(strongest[0], bits[f] & _NO_SIGN)
    return strongest.view(np.float64)[0], weights
