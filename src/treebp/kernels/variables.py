"""What variables do in belief propagation, but for messages in ratios: gather them, and send products on (eq. 4).

A binary variable's messages are single numbers, the ratio of ON to OFF or its logarithm; another variable's are one
log-probability per state. Each number is an *entry* of the flat arrays of messages and speaks of a *slot*: of the
binary variable, or of one state of another one. ``slots[entry]`` is unsigned, which lets loops vectorise.
"""

import math

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.intrinsics import exp, softplus
from treebp.kernels.ratios import totals

_LANES = 8
_FAR = 1e150  # the product of two odds is still a number
_LARGE = 1e3  # log-messages beyond this are not subtracted from a sum that has them


@kernel
def gather_logs(slots: AnyArray, messages: FloatArray, logs: FloatArray) -> None:
    """Fill ``logs`` with the sum of each slot's log-messages."""
    logs[:] = 0.0
    for entry in range(np.uint64(len(slots))):
        logs[slots[entry]] += messages[entry]


@kernel
def subtract(gathered: FloatArray, slots: AnyArray, messages: FloatArray, logs: FloatArray, out: FloatArray) -> bool:
    """Messages to factors, in logarithms: all that was gathered but what the factor said itself.

    Return whether all could be subtracted, none being large or infinite.
    """
    totals(gathered, -1, logs)
    safe = True
    for entry in range(np.uint64(len(slots))):
        safe &= abs(messages[entry]) < _LARGE
        out[entry] = logs[slots[entry]] - messages[entry]
    return safe


@kernel
def gather_adjoints(slots: AnyArray, adjoint: FloatArray, at_slots: FloatArray) -> None:
    """Add up the adjoints of messages to factors at each slot."""
    for entry in range(np.uint64(len(slots))):
        at_slots[slots[entry]] += adjoint[entry]


@kernel
def spread_adjoints(slots: AnyArray, at_slots: FloatArray, own: FloatArray, adjoint: FloatArray) -> None:
    """Write the adjoints of messages to variables: each was part of all that its slot sent but for the entry's own.

    ``own`` is empty where nothing was sent along these entries.
    """
    for entry in range(np.uint64(len(slots))):  # one by one
        adjoint[entry] = at_slots[slots[entry]]
    for entry in range(np.uint64(len(own))):  # many at a time
        adjoint[entry] -= own[entry]


@kernel
def add_log_probabilities(slots: AnyArray, log_odds: FloatArray, off: FloatArray, on: FloatArray) -> None:
    """Add the log-probabilities of OFF and ON, given log-odds, to each slot's."""
    for entry in range(np.uint64(len(slots))):
        odds = log_odds[entry]
        off[slots[entry]] -= softplus(odds)
        on[slots[entry]] -= softplus(-odds)


@kernel
def total_softplus(log_odds: FloatArray) -> float:
    """Sum of log(1 + odds), certain ones aside."""
    total = 0.0
    for entry in range(np.uint64(len(log_odds))):
        total += softplus(log_odds[entry]) if log_odds[entry] < math.inf else 0.0
    return total


@kernel
def log_agreement(incoming: FloatArray, outgoing: FloatArray) -> float:
    """Sum over edges of the log-probability that two messages, given as log-odds, agree; -inf if two cannot."""
    total = 0.0
    for entry in range(np.uint64(len(incoming))):
        a, b = incoming[entry], outgoing[entry]
        both = a + b
        if math.isinf(a) or math.isinf(b):
            total += max(-softplus(a) - softplus(b), -softplus(-a) - softplus(-b)) if both == both else -math.inf
        else:
            total += softplus(both) - softplus(a) - softplus(b)
    return total


@kernel
def send_some(
    entries: IntArray,
    slots: AnyArray,
    first_entry: IntArray,
    slot_entries: IntArray,
    incoming: FloatArray,
    after: FloatArray,
    outgoing: FloatArray,
) -> None:
    """Send log-messages along some entries, those of one slot being neighbours, in the order of ``slot_entries``.

    The entries of slot s are ``slot_entries[first_entry[s] : first_entry[s + 1]]``. Sums before and after an entry are
    combined, because an infinite message cannot be subtracted. ``after`` is scratch memory, an entry per slot's entry.
    """
    position = 0
    while position < len(entries):
        slot = slots[entries[position]]
        begin, end = first_entry[slot], first_entry[slot + np.uint32(1)]
        total = 0.0
        for k in range(end - 1, begin - 1, -1):
            after[k - begin] = total
            total += incoming[slot_entries[k]]
        before = 0.0
        for k in range(begin, end):
            entry = slot_entries[k]
            if position < len(entries) and entries[position] == entry:
                outgoing[entry] = before + after[k - begin]
                position += 1
            before += incoming[entry]


@kernel
def send_some_backward(
    entries: IntArray,
    slots: AnyArray,
    first_entry: IntArray,
    slot_entries: IntArray,
    adjoint_outgoing: FloatArray,
    adjoint_incoming: FloatArray,
) -> None:
    """Add to ``adjoint_incoming``: each message entered the sums of all other entries of its slot."""
    position = 0
    while position < len(entries):
        slot = slots[entries[position]]
        total = 0.0
        while position < len(entries) and slots[entries[position]] == slot:
            entry = entries[position]
            total += adjoint_outgoing[entry]
            adjoint_incoming[entry] -= adjoint_outgoing[entry]
            position += 1
        for k in range(first_entry[slot], first_entry[slot + np.uint32(1)]):
            adjoint_incoming[slot_entries[k]] += total


@kernel
def largest_ratio_change(old: FloatArray, new: FloatArray) -> float:
    """Largest change of a message, as a probability, of messages in ratios."""
    return _largest(old, new, False)


@kernel
def largest_log_odds_change(old: FloatArray, new: FloatArray) -> float:
    """The same for log-odds."""
    return _largest(old, new, True)


@kernel
def _largest(old: FloatArray, new: FloatArray, logs: bool) -> float:
    largest = np.zeros(_LANES)  # several, which a processor compares at once
    whole = len(old) // _LANES * _LANES
    for begin in range(np.uint64(0), np.uint64(whole), np.uint64(_LANES)):
        for lane in range(np.uint64(_LANES)):
            change = _change(old[begin + lane], new[begin + lane], logs)
            largest[lane] = change if change > largest[lane] else largest[lane]
    for entry in range(whole, len(old)):
        largest[0] = max(largest[0], _change(old[entry], new[entry], logs))
    return largest.max()


@inlined
def _change(old: float, new: float, logs: bool) -> float:
    if logs:
        old, new = exp(-old), exp(-new)
    old, new = _FAR if old > _FAR else old, _FAR if new > _FAR else new
    return abs(new - old) / ((1.0 + new) * (1.0 + old))
