"""Texts that nobody would write, and some that somebody does."""

import random

# fmt: off
PIECES = [
    " ", "  ", "\t", "\n", "\r\n", "\r", "\n\n", "\n \n", "\u00a0", "\u2003", "\u200b", "\u2028", "\u2029", "\x0b",
    "\x0c", "\x1c", "\x85", "\ufeff", "\x00", "\x01", "\x1b[0m", "\x7f", ".", "...", "!?", "\"", "''", "(", ")", "_",
    "#", "# text = x", "1\t2", "|", "\\n", "\\", "SpaceAfter=No", "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\U0001f44d\U0001f3fd", "e\u0301", "n\u0303\u0303", "\u0301", "ﬁ", "ß", "İ", "日本語の文。", "한국어", "ภาษาไทย",
    "العربية", "עברית", "\U0001d4d0", "\uffff", "\ue000", "\u202e", "http://x.y/?z=1", "a@b.c", "1,000.50", "Mr.",
    "don't", "A", "z" * 300,
]
# fmt: on


def mutated(text: str, dice: random.Random) -> str:
    """A piece of a text with characters taken out, doubled, swapped and put in."""
    start = dice.randrange(len(text))
    marks = list(text[start : start + dice.randrange(1, 300)])
    for _ in range(dice.randrange(12)):
        place = dice.randrange(len(marks) + 1)
        action = dice.randrange(4)
        if action == 0:
            marks[place:place] = [dice.choice(PIECES)]
        elif action == 1:
            del marks[place : place + dice.randrange(1, 8)]
        elif action == 2:
            marks[place:place] = marks[place : place + dice.randrange(1, 20)]
        else:
            marks[place:place] = [chr(dice.choice([dice.randrange(0xD800), dice.randrange(0xE000, 0x110000)]))]
    return "".join(marks)
