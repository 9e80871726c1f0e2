"""The lines of one CoNLL sentence, checked and taken apart."""

import re
from typing import NoReturn

from treebp.data.errors import TreebankError
from treebp.data.sentence import BYTE_ORDER_MARK, Format, Sentence, find_cycle

BLANK = " \t\r\v\f"
"""What a blank line may hold: the white space of `bytes.strip`, without the line end."""

_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_ID, _HEAD = 0, 6
# fmt: off
_UNIVERSAL_TAGS = frozenset((
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN",
    "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X",
))
# fmt: on


class BlockParser:
    """Turns the lines of one sentence after the other into a `Sentence`.

    Whole columns are checked at a time; only when a check fails are the rows walked, to say where.

    Args:
        path: the file's name, for messages.
        format: as given by the user, None to find out.
        encoding: of the file.
        require_heads: refuse a word without a head.
        check_trees: refuse a cycle.

    """

    def __init__(self, path: str, format: Format | None, encoding: str, require_heads: bool, check_trees: bool) -> None:
        self.path = path
        self._given_format = format
        self._format: Format | None = "conllu" if re.search(r"\.conllu(\.\w+)?$", path) else None
        self._encoding = encoding
        self._require_heads = require_heads
        self._check_trees = check_trees
        # Looking numerals up is faster than int(), and refuses 01, +1 and 1_0.
        self._numerals: list[str] = []
        self._head_of = {"_": -1, "0": 0}
        self._lines: list[str] = []
        self._start = 1

    def parse(self, block: list[bytes], start: int, offset: int) -> Sentence:
        """Parse a block whose first line is number `start` and lies at byte `offset` of the file."""
        text = self._decoded(b"".join(block), start, offset)
        self._lines = text.removeprefix(BYTE_ORDER_MARK).split("\n")
        self._start = start
        rows = [line.split("\t") for line in self._lines if _is_row(line)]
        self._count_to(len(rows))
        if "\r" in text:
            self._check_carriage_returns(rows)
        if set(map(len, rows)) != {len(_COLUMNS)}:
            self._refuse_widths(rows)
        columns = list(zip(*rows, strict=True))
        if any("" in column for column in columns) or "\r" in columns[-1]:
            self._refuse_empty(rows)
        words = rows
        if list(columns[_ID]) != self._numerals[: len(rows)]:
            words = self._words(rows)
            columns = list(zip(*words, strict=True))
        _, forms, lemmas, coarse_tags, fine_tags, feats, heads, labels, _, _ = map(list, columns)
        return Sentence(
            forms=forms,
            lemmas=lemmas,
            coarse_tags=coarse_tags,
            fine_tags=fine_tags,
            feats=feats,
            heads=self._tree(heads),
            labels=labels,
            text=text,
            format=self._format_of(coarse_tags, has_other_rows=words is not rows),
            source=self.path,
            line=start,
        )

    def _decoded(self, block: bytes, start: int, offset: int) -> str:
        try:
            return block.decode(self._encoding)
        except UnicodeDecodeError as error:
            before = block[: error.start]
            raise TreebankError(
                f"byte 0x{block[error.start]:02x} at offset {offset + error.start} is not {self._encoding}: "
                "name the file's encoding, for example --encoding latin-1",
                self.path,
                start + before.count(b"\n"),
                before.rpartition(b"\n")[2].count(b"\t") + 1,
            ) from error

    def _count_to(self, count: int) -> None:
        for number in range(len(self._numerals) + 1, count + 1):
            self._numerals.append(str(number))
            self._head_of[str(number)] = number

    def _words(self, rows: list[list[str]]) -> list[list[str]]:
        """Pick the words; a range must begin at the next word, an empty node follow the last one."""
        words: list[list[str]] = []
        node = range_end = range_row = 0
        for index, row in enumerate(rows):
            name, word = row[_ID], len(words)
            first, _, last = name.partition("-")
            if name == str(word + 1):
                words.append(row)
                node = 0
            elif self._given_format == "conllx":
                raise self._error(f"the ID is {name!r} but CoNLL-X numbers the words: write {word + 1}", index, _ID)
            elif name == f"{word}.{node + 1}":
                node += 1
            elif first == str(word + 1) and self._head_of.get(last, 0) > word >= range_end:
                range_end, range_row = self._head_of[last], index
            elif re.fullmatch(r"[0-9]+([.-][0-9]+)?", name):
                reason = f"the ID {name!r} is out of sequence, {word + 1} should follow: is a blank line missing?"
                raise self._error(reason, index, _ID)
            else:
                reason = f"the ID {name!r} is not a number, a range such as 3-4 or an empty node such as 3.1"
                raise self._error(reason, index, _ID)
        if range_end > len(words):
            reason = f"the multiword token reaches word {range_end}, but the sentence has {len(words)} words"
            raise self._error(reason, range_row, _ID)
        if not words:
            raise self._error("the sentence has no word, only empty nodes: remove it", 0, _ID)
        return words

    def _tree(self, heads: list[str]) -> list[int]:
        count = len(heads)
        tree = [self._head_of.get(head, count + 1) for head in heads]
        wrong, reason = 0, ""
        if max(tree) > count:
            wrong = next(word for word, head in enumerate(tree, 1) if head > count)
            reason = f"the head {heads[wrong - 1]!r} is not in the sentence: write 0 to {count}, or _ if unknown"
        elif self._require_heads and -1 in tree:
            wrong = tree.index(-1) + 1
            reason = "the head is missing: write 0 for the root"
        elif self._check_trees and (cycle := find_cycle(tree)):
            wrong = cycle[0]
            reason = f"the heads form a cycle, {' -> '.join(map(str, [*cycle, wrong]))}: correct one of them"
        if wrong:
            rows = filter(_is_row, self._lines)
            raise self._error(reason, next(i for i, row in enumerate(rows) if row.startswith(f"{wrong}\t")), _HEAD)
        return tree

    def _format_of(self, coarse_tags: list[str], *, has_other_rows: bool) -> Format:
        if self._given_format:
            return self._given_format
        if self._format is None:
            has_comment = any(line.startswith("#") for line in self._lines)
            self._format = "conllu" if has_comment or _UNIVERSAL_TAGS.issuperset(coarse_tags) else "conllx"
        if has_other_rows:
            self._format = "conllu"
        return self._format

    def _check_carriage_returns(self, rows: list[list[str]]) -> None:
        """Refuse all but the one at the end of a line: other programs would break the line there."""
        for row, values in enumerate(rows):
            for column, value in enumerate([*values[:-1], values[-1].removesuffix("\r")]):
                if "\r" in value:
                    reason = "a carriage return within the line: end lines with a line feed"
                    raise self._error(reason, row, column)

    def _refuse_widths(self, rows: list[list[str]]) -> NoReturn:
        if not rows:
            raise TreebankError("a comment without a sentence: remove it", self.path, self._start)
        row = next(index for index, row in enumerate(rows) if len(row) != len(_COLUMNS))
        width = len(rows[row])
        reason = f"{width} columns instead of 10: separate them with single tabs and write _ for a missing value"
        raise self._error(reason, row, min(width, len(_COLUMNS)))

    def _refuse_empty(self, rows: list[list[str]]) -> NoReturn:
        row, column = next(
            (row, column) for row, values in enumerate(rows) for column in range(10) if values[column] in ("", "\r")
        )
        raise self._error(f"the column {_COLUMNS[column]} is empty: write _ for a missing value", row, column)

    def _error(self, reason: str, row: int, column: int) -> TreebankError:
        """Place an error at a row of the sentence and a column, both from 0."""
        numbers = [number for number, line in enumerate(self._lines, self._start) if _is_row(line)]
        return TreebankError(reason, self.path, numbers[row], column + 1)


def _is_row(line: str) -> bool:
    return bool(line) and line[0] != "#" and bool(line.strip(BLANK))
