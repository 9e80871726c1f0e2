"""The tokens of a sentence as they stand in its text: a multiword token is one of them, its words are not."""

from typing import NamedTuple

from treebp.data.sentence import BYTE_ORDER_MARK, Sentence


class SurfaceToken(NamedTuple):
    """What stands in the text: a word, or a multiword token.

    Attributes:
        form: as written.
        words: the words that it stands for, counted from 0.
        is_multiword: whether it is a multiword token (which may, oddly, stand for one word).
        misc: the MISC column, "_" if it is empty; always "_" in CoNLL-X, which has other things there.
        line: where it stands in the file, from 1.

    """

    form: str
    words: range
    is_multiword: bool
    misc: str
    line: int

    def entry(self, name: str) -> str | None:
        """The value of an entry of MISC, such as "No" for SpaceAfter, or None."""
        for item in self.misc.split("|"):
            key, _, value = item.partition("=")
            if key == name:
                return value
        return None


def surface_tokens(sentence: Sentence) -> list[SurfaceToken]:
    r"""The tokens of a sentence, in order.

    Example:
        >>> import io
        >>> from treebp.data.conll import read_conll
        >>> rows = ["1-2 isn't", "1 is", "2 n't", "3 it"]
        >>> text = "".join("\t".join([*row.split(), *"_______", "_"]) + "\n" for row in rows)
        >>> (sentence,) = read_conll(io.BytesIO(text.encode()))
        >>> [(token.form, list(token.words)) for token in surface_tokens(sentence)]
        [("isn't", [0, 1]), ('it', [2])]

    """
    tokens: list[SurfaceToken] = []
    inside = 0  # words that belong to a multiword token that was met
    for line, row in enumerate(sentence.text.removeprefix(BYTE_ORDER_MARK).split("\n"), sentence.line):
        columns = row.split("\t")
        if len(columns) != 10 or row.startswith("#"):
            continue
        name, form, misc = columns[0], columns[1], columns[9].rstrip("\r") if sentence.format == "conllu" else "_"
        if "-" in name:
            first, last = map(int, name.split("-"))
            tokens.append(SurfaceToken(form, range(first - 1, last), True, misc, line))
            inside = last
        elif "." not in name and int(name) > inside:
            tokens.append(SurfaceToken(form, range(int(name) - 1, int(name)), False, misc, line))
    return tokens
