r"""CoNLL-X (2006/2007) and CoNLL-U in and out, byte for byte.

What is read, and what is refused:

- A line has exactly ten tab-separated columns, none of them empty. Only `\n` ends a line: the Unicode line
  separators may stand in a word, `\r` may not. `\r\n` and a byte-order mark are accepted and written back.
- A line of nothing but white space is blank: it ends a sentence. Any number of blank lines may follow a
  sentence or open the file, and the last sentence needs none. To keep them all, a sentence is returned only
  when the next one begins.
- Lines that begin with "#" are comments, in both formats, wherever they stand. Comments that a blank line
  separates from their sentence still belong to it; at the end of the file they are an error.
- Words are numbered from 1. CoNLL-U has multiword tokens (3-4) and empty nodes (3.1) between them.
- A head is 0..n, or "_" where it is unknown. Several roots are legal, a cycle is not.

The format, when not given, is CoNLL-U if the name says so (.conllu) or if the first sentence has a comment, a
multiword token, an empty node, or only universal part-of-speech tags in column 4; else it is CoNLL-X, until a
multiword token or an empty node shows otherwise. All that depends on it is what the last two columns mean.
"""

import codecs
from collections.abc import Iterable, Iterator
from typing import get_args

from treebp.data._conll_block import BLANK, BlockParser
from treebp.data.errors import TreebankError
from treebp.data.files import PathOrStream, check_encoding, name_of, open_writing, read_lines
from treebp.data.sentence import Format, Sentence


def read_conll(
    source: PathOrStream,
    *,
    format: Format | None = None,
    encoding: str = "utf-8",
    require_heads: bool = False,
    check_trees: bool = True,
) -> Iterator[Sentence]:
    r"""Read the sentences of a CoNLL-X or CoNLL-U file, one by one.

    Args:
        source: a path (.gz, .xz and .bz2 are decompressed), "-" for standard input, or a binary stream.
        format: "conllx", "conllu", or None to find out (see the module's text).
        encoding: of the file; one that extends ASCII, such as "utf-8" or "latin-1".
        require_heads: refuse a word without a head.
        check_trees: refuse a cycle.

    Raises:
        TreebankError: with file, line and column, if the file breaks the format or holds no sentence.
        ValueError: for an unknown format or encoding.

    Example:
        >>> import io
        >>> from treebp.data.conll import read_conll
        >>> text = b"1\tTrees\ttree\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tgrow\tgrow\tVERB\t_\t_\t0\troot\t_\t_\n"
        >>> [(sentence.forms, sentence.heads) for sentence in read_conll(io.BytesIO(text))]
        [(['Trees', 'grow'], [2, 0])]

    """
    if format not in (None, *get_args(Format)):
        raise ValueError(f"unknown format {format!r}: choose one of {get_args(Format)}")
    check_encoding(encoding)
    return _sentences(source, BlockParser(name_of(source), format, encoding, require_heads, check_trees))


def write_conll(target: PathOrStream, sentences: Iterable[Sentence], *, encoding: str = "utf-8") -> int:
    r"""Write sentences with the very text that they have; returns their number.

    A file appears under its name only when it is complete. A sentence that another one follows is given the
    blank line that it may have lacked at the end of its own file.

    Args:
        target: a path (.gz, .xz and .bz2 are compressed), "-" for standard output, or a binary stream.
        sentences: in order; may be a generator.
        encoding: of the file.

    Example:
        >>> import io
        >>> from treebp.data.conll import read_conll, write_conll
        >>> text = b"1\tTrees\ttree\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tgrow\tgrow\tVERB\t_\t_\t0\troot\t_\t_\n"
        >>> copy = io.BytesIO()
        >>> write_conll(copy, read_conll(io.BytesIO(text)))
        1
        >>> copy.getvalue() == text
        True

    """
    count = 0
    with open_writing(target) as stream:
        missing = ""
        for sentence in sentences:
            stream.write((missing + sentence.text).encode(encoding))
            missing = _missing_end(sentence.text)
            count += 1
    return count


def _missing_end(text: str) -> str:
    """Return the line ends that a sentence's text lacks before another sentence can follow."""
    tail = text[len(text.rstrip(BLANK + "\n")) :]
    missing = max(2 - tail.count("\n"), 0 if text.endswith("\n") else 1)
    return ("\r\n" if "\r\n" in text else "\n") * missing


def _sentences(source: PathOrStream, parser: BlockParser) -> Iterator[Sentence]:
    block: list[bytes] = []
    has_words = ended = False
    start, offset = 1, 0
    for line in read_lines(source):
        if not line.strip():
            ended = has_words
        else:
            if ended:
                yield parser.parse(block, start, offset)
                start += len(block)
                offset += sum(map(len, block))
                block = []
                has_words = ended = False
            has_words = has_words or not line.removeprefix(codecs.BOM_UTF8).startswith(b"#")
        block.append(line)
    if has_words:
        yield parser.parse(block, start, offset)
    elif any(line.strip() for line in block):
        raise TreebankError("a comment without a sentence: remove it", parser.path, start)
    elif start == 1:
        raise TreebankError("the file holds no sentence", parser.path, start)
