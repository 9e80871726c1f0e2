"""The gaps of a text, and what is said of them."""

import random
import re

import numpy as np
import pytest
from mutations import PIECES

from treebp.data.plain_text import plain_text
from treebp.data.sentence import Sentence
from treebp.kernels import gaps as kernels
from treebp.tokenising.characters import CLASSES, IS_WORD, Characters
from treebp.tokenising.gaps import ATTRIBUTES, GOES_ON, SENTENCE_ENDS, TOKEN_ENDS, OpenGaps, gold_labels, token_ends

EVERYWHERE = np.ones((CLASSES, CLASSES), np.bool_)
LINE_END = r"\r\n|[\n\r\x85\u2028]"


def text_of(dice: random.Random) -> str:
    return "".join(dice.choice([*PIECES, "ab", "C", "7", " ", "x. "]) for _ in range(dice.randrange(1, 25)))


def described(text: str, is_open: np.ndarray = EVERYWHERE) -> list[tuple[int, int, int, dict[str, int]]]:
    characters = Characters.of(text)
    gaps = kernels.find_gaps(characters.points, characters.classes, is_open)
    values = kernels.describe_gaps(*characters, IS_WORD, is_open, gaps)
    named = [dict(zip(ATTRIBUTES, row, strict=True)) for row in values.tolist()]
    return list(zip(gaps.last.tolist(), gaps.behind.tolist(), gaps.white.tolist(), named, strict=True))


def white_of(white: str, is_end: bool) -> int:
    """What a gap holds, by definition."""
    lines = len(re.findall(LINE_END, white)) + 2 * len(re.findall(r"[\x0c\u2029]", white))
    if is_end or lines > 1:
        return kernels.PARAGRAPH
    if lines:
        return kernels.LINE
    return {"": kernels.NOTHING, " ": kernels.SPACE, "\u00a0": kernels.SPACE}.get(white, kernels.SPACES)


@pytest.mark.parametrize("seed", range(60))
def test_gaps_are_all_white_space_and_all_open_places(seed: int) -> None:
    text = text_of(random.Random(seed))
    visible = [k for k, mark in enumerate(text) if not (mark.isspace() or mark == "\ufeff")]
    expected = [
        (last, behind, white_of(text[last + 1 : behind], behind == len(text)))
        for last, behind in zip(visible, [*visible[1:], len(text)], strict=True)
    ]
    assert [gap[:3] for gap in described(text)] == expected
    closed = [gap for gap in expected if gap[2] != kernels.NOTHING]
    assert [gap[:3] for gap in described(text, ~EVERYWHERE)] == closed


def test_what_stands_around() -> None:
    gaps = {(last, behind): own for last, behind, _, own in described("Mr. Brown (no 5) ran.", ~EVERYWHERE)}
    first, second = gaps[2, 4], gaps[8, 10]
    assert [chr(first[name]) for name in ("left1", "left2", "left3", "right1", "right2")] == [".", "r", "M", "B", "r"]
    assert first["right_word"] != second["left_word"]  # each side has hashes of its own
    assert second["chunk_before"] == first["left_chunk"]
    assert first["chunk_before"] == 0
    assert (first["since_stop"], second["since_stop"]) == (1, 1)
    assert [gaps[gap]["inside"] for gap in ((8, 10), (12, 14), (15, 17))] == [0, 2, 0]
    lower = {(last, behind): own for last, behind, _, own in described("mr. brown (NO 5) ran.", ~EVERYWHERE)}
    assert lower[2, 4]["left_chunk"] == first["left_chunk"]
    assert lower[2, 4]["left_shape"] != first["left_shape"]


@pytest.mark.parametrize("seed", range(20))
def test_a_paragraph_knows_nothing_of_others(seed: int) -> None:
    dice = random.Random(seed)
    paragraphs = [re.sub(r"\s+|\ufeff", " ", text_of(dice)).strip() + "." for _ in range(3)]
    for is_open in (EVERYWHERE, ~EVERYWHERE):
        alone = [own for text in paragraphs for *_, own in described(text, is_open)[:-1]]
        together = described("\n\n".join(paragraphs), is_open)
        assert [own for _, _, white, own in together if white != kernels.PARAGRAPH] == alone


def test_only_what_training_has_seen_is_open() -> None:
    text = plain_text([Sentence.from_columns(["5", "kg", "1 000", "."], comments=["# text = 5kg 1 000."])] * 3)
    characters = Characters.of(text.text)
    open_gaps = OpenGaps.of(characters, token_ends(text))
    letter, digit, stop, emoji, mark = Characters.of("a5.\U0001f600\u0301").classes
    assert open_gaps.between[digit, letter]
    assert open_gaps.between[digit, stop]
    assert not open_gaps.between[letter, letter]
    assert not open_gaps.between[digit, digit]
    assert open_gaps.between[letter, emoji]  # never seen, and not both of words
    assert not open_gaps.between[letter, mark]
    assert open_gaps.over_space[digit, digit]
    assert not open_gaps.over_space[letter, digit]

    gaps = open_gaps.find(characters)
    labels = gold_labels(gaps, text)
    assert labels.tolist() == [TOKEN_ENDS, TOKEN_ENDS, GOES_ON, TOKEN_ENDS, SENTENCE_ENDS] * 3
    sequences = open_gaps.sequences(characters, gaps, longest=4)
    assert sequences.lengths.tolist() == [4, 4, 4, 3]
    assert sequences.entries(labels).shape == (15,)  # all of them are candidates
