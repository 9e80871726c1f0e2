"""Which columns of a treebank a parser looks at, and whether a file to parse has them.

A parser that was trained with tags does badly without them, and nothing else would say so.
"""

from collections.abc import Callable, Iterable, Mapping

from treebp.data.sentence import Sentence
from treebp.features.encoding import Encoding
from treebp.parsing.config import Config

_VALUES: dict[str, Callable[[Sentence], list[str]]] = {
    "LEMMA": lambda sentence: sentence.lemmas,
    "UPOS": lambda sentence: sentence.coarse_tags,
    "XPOS": lambda sentence: sentence.fine_tags,
    "FEATS": lambda sentence: sentence.feats,
}
# A column counts as filled in training from this share of words on, and as missing below this share of that share.
_FILLED, _MISSING = 0.1, 0.1
# Tags count as another tag set's if more than this share of them is unknown.
_UNKNOWN = 0.5


def columns_used(config: Config, encoding: Encoding) -> list[str]:
    """The columns, besides the words, that a parser's features come from."""
    groups = encoding.available(config.templates)
    used = {
        "LEMMA": "lemmas" in groups,
        "UPOS": encoding.tag_map is None,  # else coarse tags are made of fine ones
        "XPOS": bool(encoding.values["fine"]),
        "FEATS": "morphology" in groups,
    }
    return [name for name in _VALUES if used[name]]


def filled(sentences: Iterable[Sentence], columns: Iterable[str]) -> dict[str, float]:
    """The share of words that have a value in each of these columns.

    Example:
        >>> filled([Sentence.from_columns(["Trees", "grow"], lemmas=["tree", "_"])], ["LEMMA", "XPOS"])
        {'LEMMA': 0.5, 'XPOS': 0.0}

    """
    sentences = list(sentences)
    words = max(1, sum(map(len, sentences)))
    return {
        name: sum(value != "_" for sentence in sentences for value in _VALUES[name](sentence)) / words
        for name in columns
    }


def find_mismatch(columns: Mapping[str, float], encoding: Encoding, sentences: list[Sentence]) -> str:
    """What a parser trained with these columns misses in some sentences, as a clause; "" if nothing.

    Args:
        columns: the shares of training words with a value, as `filled` gives them.
        encoding: the parser's.
        sentences: some to be parsed.

    """
    there = filled(sentences, columns)
    missing = [name for name, share in columns.items() if share >= _FILLED and there[name] < _MISSING * share]
    if missing:
        return f"no values in {' and '.join(missing)}, which the model was trained with"
    for name, attribute in (("XPOS", "fine"), ("UPOS", "coarse")):
        tags = [tag for sentence in sentences for tag in _VALUES[name](sentence) if tag != "_"]
        known = set(encoding.values[attribute])
        if name in columns and sum(tag not in known for tag in tags) > _UNKNOWN * max(1, len(tags)):
            return f"tags in {name} that the model has never seen, such as {tags[0]!r}"
    return ""
