"""Weights of which most are zero, from bits that say which are not, and those."""

from treebp._types import AnyArray
from treebp.kernels._jit import kernel


@kernel
def fill_in(bits: AnyArray, values: AnyArray, out: AnyArray) -> int:
    """Write the values, of which there are some, where bits are set, the highest of a byte first, and zeros elsewhere.

    Return how many bits are set: whether these are as many as there are values is the caller's business.
    """
    used, last = 0, len(values) - 1
    for k in range(len(out)):
        is_set = bits[k >> 3] >> (7 - (k & 7)) & 1
        value = values[min(used, last)]  # looked up in any case: a branch would be guessed wrong too often
        out[k] = value if is_set else 0.0
        used += is_set
    return used
