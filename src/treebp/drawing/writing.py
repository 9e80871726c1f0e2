"""Writing systems: how wide a text is, and which way it runs."""

import unicodedata
from collections.abc import Iterable
from itertools import accumulate


def text_width(text: str) -> float:
    r"""About how wide a text is in a proportional font, in units of the font's size; a little too wide if anything.

    Example:
        >>> text_width("木") > text_width("t"), text_width("e\u0301") == text_width("e")
        (True, True)

    """
    return sum(map(_character_width, text))


def shortened(text: str, width: float) -> str:
    """The text itself if it is not wider than that, else its beginning and an ellipsis.

    Example:
        >>> shortened("tree", 10), shortened("https://example.org/a/long/address", 10)
        ('tree', 'https://example…')

    """
    if text_width(text) <= width:
        return text
    widths = accumulate(map(_character_width, text), initial=text_width("…"))
    return text[: sum(used <= width for used in widths) - 1] + "…"


def runs_right_to_left(texts: Iterable[str]) -> bool:
    """Whether more of the letters are of a right-to-left script than of others.

    Example:
        >>> runs_right_to_left(["شجرة", "x"]), runs_right_to_left(["tree", "."])
        (True, False)

    """
    kinds = [unicodedata.bidirectional(character) for text in texts for character in text]
    return kinds.count("R") + kinds.count("AL") > kinds.count("L")


def _character_width(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return 1.0
    if character in "mwMW%@—…" or character.isupper():
        return 0.75
    return 0.57
