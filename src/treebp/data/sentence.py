"""One sentence of a treebank: its columns, and the very text that it was read from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, SupportsInt

Format = Literal["conllx", "conllu"]

BYTE_ORDER_MARK = "\ufeff"
_LEMMA, _HEAD, _MISC = 2, 6, 9
_MARKS = frozenset("\t\n\r")


@dataclass(frozen=True, slots=True)
class Sentence:
    r"""One sentence as columns, each with one entry per word. To be read, not changed: see `with_parse`.

    Multiword tokens and empty nodes are no words; they live in `text` only. A missing value is "_", a
    missing head is -1. Sentences are equal if their text is, wherever it was read.

    Attributes:
        forms: column 2.
        lemmas: column 3.
        coarse_tags: column 4, CPOSTAG or UPOS.
        fine_tags: column 5, POSTAG or XPOS.
        feats: column 6.
        heads: column 7; words count from 1, 0 is the root, -1 is unknown.
        labels: column 8.
        text: the lines of the file, comments, line ends and the blank lines after the sentence included.
        format: "conllx" or "conllu".
        source: the file's name, "" if there is none.
        line: where `text` begins in the file, from 1.

    Example:
        >>> from treebp.data.sentence import Sentence
        >>> sentence = Sentence.from_columns(["Trees", "grow"], coarse_tags=["NOUN", "VERB"], heads=[2, 0])
        >>> len(sentence), sentence.forms, sentence.heads
        (2, ['Trees', 'grow'], [2, 0])
        >>> print(sentence.text.replace("\t", " "), end="")
        1 Trees _ NOUN _ _ 2 _ _ _
        2 grow _ VERB _ _ 0 _ _ _
        <BLANKLINE>

    """

    forms: list[str]
    lemmas: list[str]
    coarse_tags: list[str]
    fine_tags: list[str]
    feats: list[str]
    heads: list[int]
    labels: list[str]
    text: str = field(repr=False)
    format: Format = "conllu"
    source: str = field(default="", compare=False)
    line: int = field(default=1, compare=False)

    def __len__(self) -> int:
        return len(self.forms)

    @classmethod
    def from_columns(
        cls,
        forms: Sequence[str],
        *,
        lemmas: Sequence[str] | None = None,
        coarse_tags: Sequence[str] | None = None,
        fine_tags: Sequence[str] | None = None,
        feats: Sequence[str] | None = None,
        heads: Sequence[SupportsInt] | None = None,
        labels: Sequence[str] | None = None,
        comments: Iterable[str] = (),
    ) -> "Sentence":
        """Make a CoNLL-U sentence from its columns; those left out are "_".

        Args:
            forms: the words, at least one.
            lemmas: column 3.
            coarse_tags: column 4.
            fine_tags: column 5.
            feats: column 6.
            heads: 0 for the root, -1 for unknown.
            labels: column 8.
            comments: lines such as "# sent_id = 1".

        Raises:
            ValueError: if the columns differ in length, a value is empty or holds a tab or a line end, a head
                is out of range, or the heads form a cycle.

        """
        count = len(forms)
        if not count:
            raise ValueError("a sentence needs at least one word")
        tree = [-1] * count if heads is None else checked_heads(heads, count)
        sentence = cls(
            forms=_checked("forms", forms, count),
            lemmas=_checked("lemmas", lemmas, count),
            coarse_tags=_checked("coarse_tags", coarse_tags, count),
            fine_tags=_checked("fine_tags", fine_tags, count),
            feats=_checked("feats", feats, count),
            heads=tree,
            labels=_checked("labels", labels, count),
            text="",
        )
        rows = zip(
            map(str, range(1, count + 1)),
            sentence.forms,
            sentence.lemmas,
            sentence.coarse_tags,
            sentence.fine_tags,
            sentence.feats,
            map(_head_text, tree),
            sentence.labels,
            strict=True,
        )
        lines = [*map(_comment, comments), *("\t".join((*row, "_", "_")) for row in rows), "", ""]
        return replace(sentence, text="\n".join(lines))

    def with_parse(
        self,
        heads: Sequence[SupportsInt],
        labels: Sequence[str] | None = None,
        *,
        misc: Sequence[str] | None = None,
        comments: Iterable[str] = (),
        remove: tuple[str, ...] = (),
    ) -> "Sentence":
        r"""Return a copy with other heads and labels, and everything else byte for byte as it was.

        Only the DEPS column of CoNLL-U is emptied if a head or label changes: it would contradict the new tree.

        Args:
            heads: one per word: 0 for the root, -1 for unknown.
            labels: one per word; without them column 8 stays as it is.
            misc: one per word, such as "HeadProb=0.973", for the MISC column; replaces an entry of the same
                name, and "" adds nothing. CoNLL-U only, as are comments.
            comments: lines to stand after the present comments.
            remove: beginnings of comments and MISC entries that are out of date, and left out.

        Raises:
            ValueError: as `from_columns`, and for misc or comments in a CoNLL-X sentence.

        Example:
            >>> from treebp.data.sentence import Sentence
            >>> sentence = Sentence.from_columns(["Trees", "grow"])
            >>> parsed = sentence.with_parse([2, 0], ["nsubj", "root"], misc=["HeadProb=0.9", ""])
            >>> print(parsed.text.replace("\t", " "), end="")
            1 Trees _ _ _ _ 2 nsubj _ HeadProb=0.9
            2 grow _ _ _ _ 0 root _ _
            <BLANKLINE>

        """
        count = len(self)
        new_comments = [_comment(comment) for comment in comments]
        if self.format == "conllx" and (misc is not None or new_comments):
            raise ValueError("CoNLL-X has neither comments nor a MISC column: convert the file to CoNLL-U")
        tree = checked_heads(heads, count)
        names = self.labels if labels is None else _checked("labels", labels, count)
        additions = None if misc is None else _checked("misc", [value or "_" for value in misc], count)

        columns = [list(map(_head_text, tree)), names]
        if self.format == "conllx":
            remove = ()
        elif (tree, names) != (self.heads, self.labels):
            columns.append(["_"] * count)  # DEPS
        text = _rewritten(self.text, new_comments, _HEAD, columns, additions, remove)
        return replace(self, heads=tree, labels=names, text=text)

    def with_tags(
        self,
        *,
        lemmas: Sequence[str] | None = None,
        coarse_tags: Sequence[str] | None = None,
        fine_tags: Sequence[str] | None = None,
        feats: Sequence[str] | None = None,
    ) -> "Sentence":
        r"""Return a copy with other values in some columns, and everything else byte for byte as it was.

        Raises ValueError as `from_columns`.

        Example:
            >>> from treebp.data.sentence import Sentence
            >>> tagged = Sentence.from_columns(["Trees", "grow"]).with_tags(coarse_tags=["NOUN", "VERB"])
            >>> print(tagged.text.replace("\t", " "), end="")
            1 Trees _ NOUN _ _ _ _ _ _
            2 grow _ VERB _ _ _ _ _ _
            <BLANKLINE>

        """
        given = {"lemmas": lemmas, "coarse_tags": coarse_tags, "fine_tags": fine_tags, "feats": feats}
        if not len(self) or all(values is None for values in given.values()):
            return self
        new: dict[str, Any] = {
            name: getattr(self, name) if values is None else _checked(name, values, len(self))
            for name, values in given.items()
        }
        return replace(self, text=_rewritten(self.text, [], _LEMMA, list(new.values()), None), **new)

    @property
    def comments(self) -> list[str]:
        """The comment lines, each from its "#" on."""
        lines = self.text.removeprefix(BYTE_ORDER_MARK).split("\n")
        return [line.rstrip("\r") for line in lines if line.startswith("#")]

    @property
    def misc(self) -> list[str]:
        """Column 10 of each word; of CoNLL-U, since in CoNLL-X it means something else."""
        rows = (line.split("\t") for line in self.text.removeprefix(BYTE_ORDER_MARK).split("\n"))
        return [row[_MISC].rstrip("\r") for row in rows if len(row) > _MISC and row[0].isdigit()]

    def line_of(self, word: int) -> int:
        """Return the line of the file, from 1, that holds a word (from 1)."""
        lines = self.text.removeprefix(BYTE_ORDER_MARK).split("\n")
        return self.line + next(index for index, line in enumerate(lines) if line.startswith(f"{word}\t"))


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, each followed by its head, or an empty list when there is none.

    Example:
        >>> from treebp.data.sentence import find_cycle
        >>> find_cycle([2, 0, 2]), find_cycle([0, 3, 2])
        ([], [2, 3])

    """
    reached_from = [0] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        word = start
        while word > 0 and not reached_from[word]:
            reached_from[word] = start
            word = heads[word - 1]
        if word > 0 and reached_from[word] == start:
            cycle = [word]
            while heads[cycle[-1] - 1] != word:
                cycle.append(heads[cycle[-1] - 1])
            return cycle
    return []


def checked_heads(heads: Sequence[SupportsInt], count: int) -> list[int]:
    """Return heads as integers; ValueError unless there are `count`, within -1..count, without a cycle."""
    tree = [int(head) for head in heads]
    if len(tree) != count:
        raise ValueError(f"{len(tree)} heads for {count} words")
    for word, head in enumerate(tree, 1):
        if not -1 <= head <= count:
            raise ValueError(f"word {word} has head {head}: the sentence has {count} words")
    if cycle := find_cycle(tree):
        raise ValueError(f"the heads of the words {cycle} form a cycle")
    return tree


def _checked(name: str, values: Sequence[str] | None, count: int) -> list[str]:
    if values is None:
        return ["_"] * count
    if len(values) != count:
        raise ValueError(f"{len(values)} {name} for {count} words")
    if not all(values) or not _MARKS.isdisjoint("".join(values)):
        word, value = next((word, value) for word, value in enumerate(values, 1) if not value or _MARKS & set(value))
        raise ValueError(f"{name} of word {word}: {value!r} is empty or holds a tab or a line end")
    return list(values)


def _comment(comment: str) -> str:
    if "\n" in comment or "\r" in comment:
        raise ValueError(f"the comment {comment!r} holds a line end")
    return comment if comment.startswith("#") else f"# {comment}"


def _head_text(head: int) -> str:
    return "_" if head < 0 else str(head)


def _merged(misc: str, additions: str, remove: tuple[str, ...]) -> str:
    """Change the entries of the MISC column; `misc` may end in the line's carriage return, which stays last."""
    old = misc.rstrip("\r")
    new = [] if additions == "_" else additions.split("|")
    renewed = (*remove, *(f"{entry.partition('=')[0]}=" for entry in new))
    if not old or not (new or any(entry.startswith(renewed) for entry in old.split("|"))):
        return misc
    kept = [entry for entry in old.split("|") if entry != "_" and not entry.startswith(renewed)]
    return ("|".join(kept + new) or "_") + misc[len(old) :]


def _rewritten(
    text: str,
    comments: list[str],
    first: int,
    columns: Sequence[Sequence[str]],
    additions: Sequence[str] | None,
    remove: tuple[str, ...] = (),
) -> str:
    """Put columns, the first of them having this number, into the rows of the words; additions to MISC, comments."""
    body = text.removeprefix(BYTE_ORDER_MARK)
    lines = body.split("\n")
    remove = tuple(beginning for beginning in remove if beginning in text)
    first_row = next(index for index, line in enumerate(lines) if line.strip() and not line.startswith("#"))
    has_misc = additions is not None or bool(remove)
    behind = first + len(columns)
    last = -1 if has_misc else behind  # what is behind need not be taken apart
    rows = list(zip(*columns, strict=True))
    word, begin = 0, "1\t"
    for index in range(first_row, len(lines)):
        if lines[index].startswith(begin):
            cells = lines[index].split("\t", last)
            cells[first:behind] = rows[word]
            if has_misc:
                cells[_MISC] = _merged(cells[_MISC], "_" if additions is None else additions[word], remove)
            lines[index] = "\t".join(cells)
            word += 1
            begin = f"{word + 1}\t" if word < len(rows) else "\n"  # which no line begins with
    carriage_return = "\r" if lines[first_row].endswith("\r") else ""
    before = [line for line in lines[:first_row] if not (remove and line.startswith(remove))]
    lines[:first_row] = before + [comment + carriage_return for comment in comments]
    return text[: len(text) - len(body)] + "\n".join(lines)
