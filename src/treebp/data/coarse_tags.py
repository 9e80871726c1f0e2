"""Coarse part-of-speech tags: the twelve universal tags of Petrov, Das and McDonald (2012), or a treebank's own."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from treebp.data.errors import TreebankError
from treebp.data.files import read_lines
from treebp.data.sentence import Sentence

_PENN_TAGS = {
    "VERB": "MD VB VBD VBG VBN VBP VBZ",
    "NOUN": "NN NNP NNPS NNS",
    "PRON": "PRP PRP$ WP WP$",
    "ADJ": "JJ JJR JJS",
    "ADV": "RB RBR RBS WRB",
    "ADP": "IN",
    "CONJ": "CC",
    "DET": "DT EX PDT WDT",
    "NUM": "CD",
    "PRT": "POS RP TO",
    "X": "FW LS SYM UH",
    ".": "# $ '' ( ) , -LRB- -RRB- . : ``",
}
PENN_TO_UNIVERSAL: dict[str, str] = {fine: coarse for coarse, tags in _PENN_TAGS.items() for fine in tags.split()}


def coarse_tags(sentence: Sentence, mapping: Mapping[str, str] | None = None) -> list[str]:
    """Coarse tag of each word.

    Args:
        sentence: n words.
        mapping: from fine tags to coarse ones; a fine tag that it lacks becomes `X`. Without it, the sentence's
            own coarse column (UPOS or CPOSTAG) is taken.

    Example:
        >>> sentence = Sentence.from_columns(["dogs", "bark"], coarse_tags=["N", "V"], fine_tags=["NNS", "VBP"])
        >>> coarse_tags(sentence)
        ['N', 'V']
        >>> coarse_tags(sentence, PENN_TO_UNIVERSAL)
        ['NOUN', 'VERB']

    """
    if mapping is None:
        return list(sentence.coarse_tags)
    return [mapping.get(tag, "X") for tag in sentence.fine_tags]


def default_mapping(tags: Iterable[str]) -> dict[str, str] | None:
    """Choose the mapping for a treebank from the tags of its coarse column, or None where that column is good as it is.

    A coarse column that holds nothing but Penn Treebank tags repeats the fine ones, as CoNLL-X versions of the Penn
    Treebank do: then the coarse tags come from `PENN_TO_UNIVERSAL`.

    Example:
        >>> default_mapping(["DT", "NN", "VBZ"]) is PENN_TO_UNIVERSAL
        True
        >>> default_mapping(["DET", "NOUN", "VERB"]) is None
        True

    """
    seen = set(tags)
    return PENN_TO_UNIVERSAL if seen and seen <= PENN_TO_UNIVERSAL.keys() else None


def read_tag_map(path: str | Path) -> dict[str, str]:
    r"""Read a mapping file of Petrov et al.: one `fine<TAB>coarse` pair a line.

    Raises:
        TreebankError: if a line is not such a pair, or maps a tag a second time to something else.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "en.map")
        ...     _ = path.write_text("NN\tNOUN\nVB\tVERB\n")
        ...     read_tag_map(path)
        {'NN': 'NOUN', 'VB': 'VERB'}

    """
    mapping: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            fields = line.decode("utf-8").split()
        except UnicodeDecodeError as error:
            raise TreebankError("not UTF-8: convert the file", str(path), number) from error
        if not fields:
            continue
        if len(fields) != 2:
            raise TreebankError("expected a fine tag, a tab and its coarse tag", str(path), number)
        fine, coarse = fields
        if mapping.setdefault(fine, coarse) != coarse:
            raise TreebankError(f"{fine!r} is already mapped to {mapping[fine]!r}", str(path), number)
    if not mapping:
        raise TreebankError("the file holds no pair of tags", str(path))
    return mapping
