"""Edit scripts: how to make a lemma of a word, so that what is learnt from some words applies to others.

A script is a text of five fields, such as ``lower|0||3|y``: make the word lower case, take 0 letters from its front,
put nothing there, take 3 from its end, add ``y``. One that keeps nothing of the word is the lemma itself: ``=be``.
"""

from collections.abc import Callable
from difflib import SequenceMatcher

_CASES: dict[str, Callable[[str], str]] = {"lower": str.lower, "keep": str, "title": str.capitalize, "upper": str.upper}
_MARK = "|"


def script_of(word: str, lemma: str) -> str:
    r"""A short script that makes a lemma of a word and keeps some of it, where that is possible.

    >>> script_of("Flies", "fly"), script_of("Bush", "Bush"), script_of("was", "be"), script_of("gegangen", "gehen")
    ('lower|0||3|y', 'keep|0||0|', '=be', 'lower|0||6|hen')
    """
    best, best_cost = f"={lemma}", 2 * len(lemma) + 1
    for case, change in _CASES.items():
        base = change(word)
        match = SequenceMatcher(None, base, lemma, autojunk=False).find_longest_match()
        if not match.size or _MARK in lemma:
            continue
        front, back = lemma[: match.b], lemma[match.b + match.size :]
        cut = len(base) - match.a - match.size
        cost = match.a + len(front) + cut + len(back)
        if cost < best_cost:
            best, best_cost = _MARK.join((case, str(match.a), front, str(cut), back)), cost
    return best


def apply_script(script: str, word: str) -> str:
    """The lemma that a script makes of a word, or the word itself if that would be empty.

    >>> apply_script("lower|0||3|y", "Skies"), apply_script("keep|0||9|", "a")
    ('sky', 'a')
    """
    if script.startswith("="):
        return script[1:]
    case, cut_front, front, cut_back, back = script.split(_MARK)
    base = _CASES[case](word)
    return front + base[int(cut_front) : max(len(base) - int(cut_back), 0)] + back or word
