r"""The text that a treebank was made from, and where in it each token lies.

A sentence's text is its comment `# text = ...`. Where there is none, it is put together from the tokens, which stand
apart unless MISC says `SpaceAfter=No` (or exactly what follows, as `SpacesAfter=\n`); in treebanks that never say so,
unless their script is written without spaces. Sentences follow each other likewise, with a blank line between
paragraphs: these begin where a comment `# newdoc` or `# newpar` says so. A treebank without any such comment has still
sentences of several documents, if the names of its sentences (`# sent_id = weblog-17-0003`) say so: a paragraph begins
where all but the last number changes.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from treebp.data.errors import TreebankError
from treebp.data.sentence import Sentence
from treebp.data.surface import SurfaceToken, surface_tokens

_PARAGRAPH = "\n\n"
_TEXT = re.compile(r"#\s*text\s*=(.*)")
_ESCAPES = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}
_WITHOUT_SPACES = re.compile("CJK |HIRAGANA|KATAKANA|IDEOGRAPHIC|FULLWIDTH|THAI |LAO |KHMER |MYANMAR |TIBETAN ")


class PlainText(NamedTuple):
    """A text, and the tokens of its sentences, each with the characters [start, end) that it covers."""

    text: str
    sentences: list[list[SurfaceToken]]
    spans: list[list[tuple[int, int]]]


def plain_text(treebank: Sequence[Sentence]) -> PlainText:
    r"""The text of a treebank's sentences; see the module's text.

    Of what the tokeniser made of a text, it is that text again, to the last character.

    Raises TreebankError, with the line, if a sentence's tokens are not those of its `# text`.

    Example:
        >>> from treebp.data.sentence import Sentence
        >>> first = Sentence.from_columns(["Trees", "grow", "."], comments=["# text = Trees grow."])
        >>> second = Sentence.from_columns(["Slowly"], comments=["# newpar"])
        >>> plain_text([first, second])[::2]
        ('Trees grow.\n\nSlowly\n', [[(0, 5), (6, 10), (10, 11)], [(13, 19)]])

    """
    comments = [sentence.comments for sentence in treebank]
    has_paragraphs = any(map(_is_paragraph, comments))
    names = [None if has_paragraphs else _document(own) for own in comments]
    tokens = [surface_tokens(sentence) for sentence in treebank]
    is_told = any("Space" in token.misc for own in tokens for token in own)
    gap_of = _told_gap if is_told else _usual_gap
    pieces: list[str] = []
    spans: list[list[tuple[int, int]]] = []
    position = 0
    for number, sentence in enumerate(treebank):
        forms, gaps = _laid_out(sentence, comments[number], tokens[number], gap_of)
        if number:
            is_paragraph = _is_paragraph(comments[number]) or names[number] != names[number - 1]
            gap = gap_of(tokens[number - 1][-1], pieces[-1], forms[0])
            is_exact = tokens[number - 1][-1].entry("SpacesAfter") is not None
            pieces.append(_PARAGRAPH if is_paragraph and not is_exact else gap)
        else:
            pieces.append(unescaped(tokens[0][0].entry("SpacesBefore") or ""))
        position += len(pieces[-1])
        spans.append([])
        for form, gap in zip_longest(forms, gaps, fillvalue=""):
            spans[-1].append((position, position + len(form)))
            position += len(form) + len(gap)
            pieces += [form, gap]
        pieces.pop()  # after the last token: the next sentence says what
    if pieces:
        last = tokens[-1][-1]
        pieces.append(_told_gap(last, "", "") if "Space" in last.misc else "\n")
    return PlainText("".join(pieces), tokens, spans)


def tells_spaces(treebank: Iterable[Sentence]) -> bool:
    """Whether a treebank says anywhere that no space follows a token: without that, a tokeniser cannot learn it."""
    return any(
        any(map(_TEXT.match, sentence.comments)) or any("Space" in token.misc for token in surface_tokens(sentence))
        for sentence in treebank
    )


def escaped(white: str) -> str:
    r"""White space as MISC has it, where a bar, a space or a line end must not stand.

    Example:
        >>> escaped(" \n"), unescaped(r"\s\n")
        ('\\s\\n', ' \n')

    """
    names = {mark: f"\\{letter}" for letter, mark in _ESCAPES.items()}
    return "".join(names.get(mark, mark) for mark in white)


def unescaped(text: str) -> str:
    """What ``escaped`` was given."""
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text, flags=re.DOTALL)


def _laid_out(
    sentence: Sentence,
    comments: Iterable[str],
    tokens: Sequence[SurfaceToken],
    gap_of: Callable[[SurfaceToken, str, str], str],
) -> tuple[list[str], list[str]]:
    """The tokens of a sentence as they stand in its text, and what stands between them."""
    text = next((match[1].strip() for comment in comments if (match := _TEXT.match(comment))), None)
    if text is None:
        forms = [token.form for token in tokens]
        return forms, [gap_of(*three) for three in zip(tokens, forms, forms[1:], strict=False)]
    forms, gaps, position = [], [], 0
    for number, token in enumerate(tokens):
        start, end = _found(text, token.form, position)
        if end < 0:
            reason = f"the token {token.form!r} is not what follows in the sentence's text, {text[start:][:20]!r}"
            raise TreebankError(f"{reason}: correct one of them", sentence.source or None, token.line, 2)
        if number:
            spaces = tokens[number - 1].entry("SpacesAfter")
            gaps.append(text[position:start] if spaces is None else unescaped(spaces))
        forms.append(text[start:end])
        position = end
    if text[position:].strip():
        reason = f"the sentence's text goes on after its last token, with {text[position:][:20]!r}"
        raise TreebankError(f"{reason}: correct it", sentence.source or None, sentence.line)
    return forms, gaps


def _found(text: str, form: str, position: int) -> tuple[int, int]:
    """Where a form lies in a text that goes on with it, white space aside; its end is -1 if the text does not."""
    while position < len(text) and text[position].isspace():
        position += 1
    if text.startswith(form, position):
        return position, position + len(form)
    place = position
    for mark in form:
        while place < len(text) and text[place].isspace():
            place += 1
        if not mark.isspace():
            if place == len(text) or text[place] != mark:
                return position, -1
            place += 1
    return position, place


def _told_gap(token: SurfaceToken, form: str, following: str) -> str:
    """What stands between a token and what follows, in a treebank that tells."""
    spaces = token.entry("SpacesAfter")
    if spaces is not None:
        return unescaped(spaces)
    return "" if token.entry("SpaceAfter") == "No" else " "


def _usual_gap(token: SurfaceToken, form: str, following: str) -> str:
    """What usually stands between a token, written so, and what follows."""
    return "" if _is_without_spaces(form[-1]) or _is_without_spaces(following[0]) else " "


@lru_cache(1 << 16)
def _is_without_spaces(mark: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return _WITHOUT_SPACES.match(unicodedata.name(mark, "")) is not None


def _is_paragraph(comments: Iterable[str]) -> bool:
    return any(re.match(r"#\s*new(doc|par)\b", comment) for comment in comments)


def _document(comments: Iterable[str]) -> str | None:
    """What a sentence's name says of its document, if anything."""
    name = next((match[1] for comment in comments if (match := re.match(r"#\s*sent_id\s*=\s*(.*)", comment))), None)
    return None if name is None else re.sub(r"\d+\D*$", "", name)
