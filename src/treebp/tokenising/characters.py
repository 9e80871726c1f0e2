"""Text as arrays: code points, the same in lower case, and classes of characters."""

import unicodedata
from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, BoolArray

# fmt: off
_CATEGORIES = (
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn",
)
# fmt: on
_BYTE_ORDER_MARK = 0xFEFF  # where it is not at the beginning it is a space of no width
_UNKNOWN = 255
_COUNT = 0x110000

CLASSES = len(_CATEGORIES) + 1
"""Class 0 is white space, others are Unicode categories."""

IS_WORD: BoolArray = np.array([False, *(category[0] in "LMN" for category in _CATEGORIES)])
"""Which classes words are made of: letters, marks and numbers."""

STICKS_LEFT: BoolArray = np.array([False, *(category in ("Mn", "Mc", "Me", "Cf") for category in _CATEGORIES)])
"""Which classes belong to the character before: marks, and what joins characters and cannot be seen."""


class Characters(NamedTuple):
    """A text as arrays, each with one entry per character.

    Attributes:
        points: code points, int32.
        lower: code points in lower case, int32.
        classes: 0 for white space, else by Unicode category, uint8.

    """

    points: AnyArray
    lower: AnyArray
    classes: AnyArray

    @classmethod
    def of(cls, text: str) -> "Characters":
        """Look all characters up, those that were never seen before one by one.

        Example:
            >>> from treebp.tokenising.characters import Characters
            >>> points, lower, classes = Characters.of("A b")
            >>> points.tolist(), lower.tolist(), classes.tolist()
            ([65, 32, 98], [97, 32, 98], [1, 0, 2])

        """
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)
        classes = _classes[points]
        if (classes == _UNKNOWN).any():
            for point in np.unique(points[classes == _UNKNOWN]).tolist():
                _lower[point], _classes[point] = _described(point)
            classes = _classes[points]
        return cls(points, _lower[points], classes)


_classes: AnyArray = np.full(_COUNT, _UNKNOWN, np.uint8)
_lower: AnyArray = np.empty(_COUNT, np.int32)


def _described(point: int) -> tuple[int, int]:
    """The lower case of a character, if that is a single character, and its class."""
    mark = chr(point)
    lower = mark.lower()
    white = mark.isspace() or point == _BYTE_ORDER_MARK
    return ord(lower) if len(lower) == 1 else point, 0 if white else _CATEGORIES.index(unicodedata.category(mark)) + 1
