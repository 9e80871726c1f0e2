"""Sentences to be parsed, from files of all kinds."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Literal, get_args

from treebp.data.conll import read_conll
from treebp.data.errors import TreebankError
from treebp.data.files import PathOrStream, check_encoding, name_of, read_lines, read_text
from treebp.data.sentence import Format, Sentence
from treebp.tokenising.tokeniser import Tokeniser

InputKind = Literal["text", "tokens", "conll"]
_ENDINGS: dict[str, InputKind] = {"conll": "conll", "conllu": "conll", "conllx": "conll", "tokens": "tokens"}


def read_sentences(
    source: PathOrStream,
    kind: str | None,
    tokeniser: Tokeniser | None,
    *,
    format: Format | None = None,
    encoding: str = "utf-8",
    ranges: bool = False,
) -> Iterator[Sentence]:
    """Read the sentences of a file, one by one, without holding more of it than needed.

    Args:
        source: a path (.gz, .xz and .bz2 are decompressed), "-" for standard input, or a binary stream.
        kind: "text"; "tokens", a sentence a line with white space between tokens; "conll"; or None to go by the
            name: .conll, .conllu, .conllx or .tokens. Else it is text if there is a tokeniser, or CoNLL.
        tokeniser: for text.
        format: of CoNLL files, if it is known.
        encoding: of the file.
        ranges: write each token's place in the text into MISC.

    Raises:
        TreebankError: with the place, if the file cannot be read.
        ValueError: for an unknown kind, or for text without a tokeniser.

    """
    if kind is not None and kind not in get_args(InputKind):
        raise ValueError(f"unknown kind of input {kind!r}: choose one of {', '.join(get_args(InputKind))}")
    named = re.search(r"\.(\w+)(\.(gz|xz|bz2))?$", name_of(source))
    chosen = kind or _ENDINGS.get(named[1] if named else "") or ("conll" if tokeniser is None else "text")
    if chosen == "conll":
        return read_conll(source, format=format, encoding=encoding, check_trees=False)
    if chosen == "tokens":
        return _lines_of_tokens(source, encoding)
    if tokeniser is None:
        raise ValueError("this model has no tokeniser, so it cannot read plain text: train one with --pipeline")
    pieces = read_text(source, encoding=encoding)
    if kind is None:
        pieces = _no_treebank(pieces, name_of(source))
    return (found.to_sentence(number, ranges=ranges) for number, found in enumerate(tokeniser.stream(pieces), 1))


def _no_treebank(pieces: Iterator[str], name: str) -> Iterator[str]:
    """The same text; TreebankError if it is a CoNLL file whose name does not say so."""
    first = next(pieces, "")
    if re.match(r"\ufeff?(#[^\n]*\n)*1(-\d+)?(\t[^\t\n]+){9}\r?\n", first):
        raise TreebankError("this looks like CoNLL, not like text: say --input conll, or --input text", name, 1)
    return chain([first], pieces)


def _lines_of_tokens(source: PathOrStream, encoding: str) -> Iterator[Sentence]:
    """A sentence for each line that has tokens."""
    check_encoding(encoding)
    offset = 0
    for number, line in enumerate(read_lines(source), 1):
        try:
            tokens = line.decode(encoding).split()
        except UnicodeDecodeError as error:
            raise TreebankError(
                f"byte 0x{line[error.start]:02x} at offset {offset + error.start} is not {encoding}: "
                "name the file's encoding, for example --encoding latin-1",
                name_of(source),
                number,
            ) from error
        offset += len(line)
        if tokens:
            comments = [f"# text = {' '.join(tokens)}"]
            yield replace(Sentence.from_columns(tokens, comments=comments), source=name_of(source), line=number)
