"""The gaps of a text, the places where a token may end, and what stands around them.

A text is an array of code points, with the class of each: 0 for white space, else a number of its own for each Unicode
category. A *chunk* is what stands between white space, a *word* a stretch of letters, marks and digits within it. Where
a script has no spaces, tokens may end between any two letters: both are single letters then.
"""

from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, BoolArray, IntArray
from treebp.kernels._jit import kernel

NOTHING, SPACE, SPACES, LINE, PARAGRAPH = range(5)
"""What is in a gap: nothing, one space, other white space within a line, a line end, a blank line or the text's end."""

LEFT_1, LEFT_2, LEFT_3, RIGHT_1, RIGHT_2, RIGHT_3 = range(6)
LEFT_CLASS, RIGHT_CLASS, LEFT_CLASSES, RIGHT_CLASSES = range(6, 10)
LEFT_WORD, RIGHT_WORD, LEFT_CHUNK, RIGHT_CHUNK, CHUNK_BEFORE, CHUNK_BEHIND = range(10, 16)
LEFT_SHAPE, RIGHT_SHAPE, WHITE, LEFT_LENGTH, RIGHT_LENGTH, SINCE_STOP, INSIDE = range(16, 23)
ATTRIBUTES = 23

_LONGEST = 24  # characters of a chunk that is looked at as a whole
_CLASSES = 32
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_KEPT = np.uint64(33)  # bits of a hash that are shifted out: 31 remain
_STEPS = (1, -1)  # right and left; a plain 1 or -1 has a type of its own, for which callees are compiled again


class Gaps(NamedTuple):
    """Gaps of a text in order.

    Attributes:
        last: (gaps,) the character before each.
        behind: (gaps,) the next character that is no white space, or the text's length.
        white: (gaps,) what is between them, NOTHING to PARAGRAPH.

    """

    last: IntArray
    behind: IntArray
    white: IntArray


@kernel
def find_gaps(text: AnyArray, classes: AnyArray, is_open: BoolArray) -> Gaps:
    """All white space, and the places between two characters of classes (left, right) where ``is_open``."""
    size = len(text)
    last, behind, white = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    count = position = 0
    while position < size:
        if classes[position] == 0:
            position += 1
            continue
        following = position + 1
        if following < size and classes[following] != 0:
            if is_open[classes[position], classes[following]]:
                last[count], behind[count], white[count] = position, following, NOTHING
                count += 1
        else:
            lines = 0
            while following < size and classes[following] == 0:
                mark = text[following]
                # \r\n is one line end; a form feed and the paragraph separator are as good as a blank line
                lines += mark == 10 or (mark == 13 and not (following + 1 < size and text[following + 1] == 10))
                lines += mark == 0x85 or mark == 0x2028
                lines += 2 * (mark == 12 or mark == 0x2029)
                following += 1
            if lines > 1 or following == size:
                kind = PARAGRAPH
            elif lines == 1:
                kind = LINE
            else:
                is_one = following == position + 2 and (text[position + 1] == 32 or text[position + 1] == 160)
                kind = SPACE if is_one else SPACES
            last[count], behind[count], white[count] = position, following, kind
            count += 1
        position = following
    return Gaps(last[:count].copy(), behind[:count].copy(), white[:count].copy())


@kernel
def _hash(before: np.uint64, value: int) -> np.uint64:
    mixed = (before ^ np.uint64(value)) * _MULTIPLIER
    return mixed ^ (mixed >> np.uint64(29))


@kernel
def _short(hash_: np.uint64) -> int:
    return int(hash_ >> _KEPT)


@kernel
def _bin(count: int) -> int:
    return min(count, 4) + (count > 6) + (count > 10) + (count > 20)


@kernel
def _is_torn(classes: AnyArray, is_word: BoolArray, is_open: BoolArray, one: int, other: int) -> bool:
    """Whether a token may end between two neighbouring characters of words."""
    left, right = classes[min(one, other)], classes[max(one, other)]
    return is_word[left] and is_word[right] and is_open[left, right]


@kernel
def _sides(
    lower: AnyArray, classes: AnyArray, is_word: BoolArray, is_open: BoolArray, edge: BoolArray, step: int
) -> AnyArray:
    """Of each character, hashes (4, size) of its word, its chunk and the shape of its chunk up to it, and more.

    With ``step`` 1 everything begins at the left, with -1 at the right. The fourth row is the whole chunk on the other
    side of where the character's own chunk begins, 0 if that is the ``edge`` of a paragraph.
    """
    size = len(lower)
    found = np.zeros((4, size), np.int64)
    word = chunk = shape = np.uint64(0)
    length = neighbour = 0
    for k in range(size):
        position = k if step > 0 else size - 1 - k
        own = classes[position]
        if own == 0:
            continue
        previous = position - step
        starts = k == 0 or classes[previous] == 0 or _is_torn(classes, is_word, is_open, position, previous)
        if starts:
            neighbour = 0 if edge[position] else _short(chunk) if length <= _LONGEST else 1
            chunk = shape = np.uint64(step + 1)
            length = 0
        if starts or not (is_word[own] and is_word[classes[previous]]):
            word = np.uint64(step + 1)
        word, chunk = _hash(word, lower[position]), _hash(chunk, lower[position])
        if starts or classes[previous] != own:
            shape = _hash(shape, own)
        length += 1
        found[0, position] = _short(word)
        found[1, position] = _short(chunk) if length <= _LONGEST else 1
        found[2, position] = _short(shape)
        found[3, position] = neighbour
    return found


@kernel
def _is_stop(mark: int) -> bool:
    """Whether a character often ends a sentence: . ! ? in several scripts."""
    return (
        mark == 0x21
        or mark == 0x2E
        or mark == 0x3F
        or mark == 0x61F
        or mark == 0x6D4
        or mark == 0x964
        or mark == 0x2026
        or mark == 0x3002
        or mark == 0xFF01
        or mark == 0xFF1F
    )


@kernel
def _state(text: AnyArray, classes: AnyArray, edge: BoolArray) -> AnyArray:
    """Of each character (2, size): chunks since a stop or the paragraph's beginning, and which brackets are open."""
    size = len(text)
    found = np.zeros((2, size), np.int64)
    since = depth = quoted = 0
    for position in range(size):
        mark = text[position]
        if classes[position] == 0:
            continue
        if edge[position]:
            since = depth = quoted = 0
        since += position == 0 or classes[position - 1] == 0
        depth += mark == 40 or mark == 91
        depth -= (mark == 41 or mark == 93) and depth > 0
        quoted ^= mark == 34
        found[0, position] = _bin(since)
        found[1, position] = 2 * min(depth, 2) + quoted
        if _is_stop(mark):
            since = 0
    return found


@kernel
def _window(text: AnyArray, classes: AnyArray, position: int, step: int, characters: AnyArray) -> int:
    """Write the character at a position and those beyond it, up to white space; return all their classes as one.

    The ends of a text are as good as white space.
    """
    together = 0
    for k in range(len(characters)):
        is_white = not 0 <= position < len(text) or classes[position] == 0
        together = together * _CLASSES + 1 + (0 if is_white else classes[position])
        characters[k] = 32 if is_white else text[position]
        if is_white:
            break
        position += step
    return together


@kernel
def _length(classes: AnyArray, is_word: BoolArray, position: int, step: int) -> int:
    """About how long the word is that begins at a position, 1 if none does."""
    length = 1
    if is_word[classes[position]]:
        position += step
        while length < 21 and 0 <= position < len(classes) and is_word[classes[position]]:
            length += 1
            position += step
    return _bin(length)


@kernel
def describe_gaps(
    text: AnyArray, lower: AnyArray, classes: AnyArray, is_word: BoolArray, is_open: BoolArray, gaps: Gaps
) -> AnyArray:
    """What stands around each gap (gaps, ATTRIBUTES), int32.

    Args:
        text: code points.
        lower: the same in lower case.
        classes: of characters.
        is_word: which classes words are made of.
        is_open: between which classes (left, right) tokens may end.
        gaps: as ``find_gaps`` lists them.

    """
    size = len(text)
    forward, back = _STEPS
    first, final = np.zeros(size, np.bool_), np.zeros(size, np.bool_)  # of a paragraph
    first[0] = classes[0] != 0
    for gap in range(len(gaps.last)):
        if gaps.white[gap] == PARAGRAPH:
            final[gaps.last[gap]] = True
            if gaps.behind[gap] < size:
                first[gaps.behind[gap]] = True
    left = _sides(lower, classes, is_word, is_open, first, forward)
    right = _sides(lower, classes, is_word, is_open, final, back)
    state = _state(text, classes, first)
    values = np.zeros((len(gaps.last), ATTRIBUTES), np.int32)
    for gap in range(len(gaps.last)):
        last, behind, own = gaps.last[gap], gaps.behind[gap], values[gap]
        own[LEFT_CLASS] = classes[last]
        own[LEFT_CLASSES] = _window(text, classes, last, back, own[LEFT_1 : LEFT_3 + 1])
        own[LEFT_LENGTH] = _length(classes, is_word, last, back)
        own[LEFT_WORD], own[LEFT_CHUNK], own[LEFT_SHAPE], own[CHUNK_BEFORE] = left[:, last]
        own[WHITE] = gaps.white[gap]
        own[SINCE_STOP], own[INSIDE] = state[:, last]
        if behind < size:
            own[RIGHT_CLASS] = classes[behind]
            own[RIGHT_CLASSES] = _window(text, classes, behind, forward, own[RIGHT_1 : RIGHT_3 + 1])
            own[RIGHT_LENGTH] = _length(classes, is_word, behind, forward)
            own[RIGHT_WORD], own[RIGHT_CHUNK], own[RIGHT_SHAPE], own[CHUNK_BEHIND] = right[:, behind]
    return values
