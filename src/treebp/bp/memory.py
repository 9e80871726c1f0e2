"""Memory for messages and charts, lent again and again: new memory costs more than what is computed in it."""

import sys
import threading

import numpy as np

from treebp._types import FloatArray

_LEAST = 1 << 13  # numbers; less than that is quickly had
_MOST = 1 << 23  # numbers that a thread keeps


def _references(blocks: list[FloatArray]) -> list[int]:
    """How many references each has: as many as in a list of new ones, if no array is a view of it."""
    return [sys.getrefcount(block) for block in blocks]


(_ALONE,) = _references([np.empty(0)])  # versions of Python count their own differently


class _Blocks(threading.local):
    """The blocks of one thread."""

    def __init__(self) -> None:
        self.kept: list[FloatArray] = []

    def lend(self, count: int) -> FloatArray:
        """A block of at least so many numbers that no array is a view of."""
        for block, references in zip(self.kept, _references(self.kept), strict=True):
            if len(block) >= count and references == _ALONE:
                return block
        block = np.empty(count)
        self.kept.append(block)
        while sum(map(len, self.kept)) > _MOST:
            del self.kept[0]  # whoever has views of it keeps them
        return block


_BLOCKS = _Blocks()


def empty(count: int) -> FloatArray:
    """As `numpy.empty`; large arrays lie where others lay that nobody has any more."""
    if count < _LEAST:
        return np.empty(count)
    return _BLOCKS.lend(count)[:count]
