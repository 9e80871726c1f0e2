"""Arcs that are settled or forbidden, as a treebank file says them: `Head=3` and `NoHead=2,5` in a word's MISC."""

from treebp.data.errors import TreebankError
from treebp.data.sentence import Sentence

_MISC = 10


def known_heads(sentence: Sentence) -> dict[int, int]:
    """The heads that are settled, as {modifier: head}.

    Raises:
        TreebankError: with file and line, if one is no word of the sentence.

    Example:
        >>> sentence = Sentence.from_columns(["Trees", "grow"]).with_parse([-1, -1], misc=["Head=2", "NoHead=1,2"])
        >>> known_heads(sentence), forbidden_arcs(sentence)
        ({1: 2}, [(1, 2)])

    """
    return {modifier: heads[-1] for modifier, heads in _entries(sentence, "Head").items()}


def forbidden_arcs(sentence: Sentence) -> list[tuple[int, int]]:
    """The arcs (head, modifier) that must not be; errors as for `known_heads`."""
    entries = _entries(sentence, "NoHead").items()
    return [(head, modifier) for modifier, heads in entries for head in heads if head != modifier]


def _entries(sentence: Sentence, name: str) -> dict[int, list[int]]:
    """The numbers that entries of a name hold, by word."""
    found: dict[int, list[int]] = {}
    if f"{name}=" not in sentence.text:
        return found
    for word, misc in enumerate(sentence.misc, 1):
        for entry in misc.split("|"):
            key, _, values = entry.partition("=")
            if key == name:
                numbers = [int(value) if value.isdecimal() else -1 for value in values.split(",")]
                if not all(0 <= number <= len(sentence) for number in numbers) or (name == "Head" and word in numbers):
                    reason = f"{entry}: write the number of another word, or 0 for the root"
                    raise TreebankError(reason, sentence.source or None, sentence.line_of(word), _MISC)
                found.setdefault(word, []).extend(numbers)
    return found
