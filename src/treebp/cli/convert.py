"""``treebp convert``: Penn Treebank brackets to CoNLL-X, and treebanks to their text."""

import re
from typing import Annotated

import typer

from treebp.cli._files import check_files


def convert(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="Penn Treebank file (.mrg) or - or, for its text, CoNLL-U file.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="CoNLL-X file to write, or - for standard output; .txt for text.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace the output file.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the input.")] = "utf-8",
) -> None:
    """Convert Penn Treebank brackets to dependencies, or a CoNLL-U file to the text that it was made from.

    Traces and function tags are removed; heads are found by the rules of Yamada and Matsumoto (2003). The output
    appears only when it is complete. A file whose name ends in .txt is written as text.

    Example: treebp convert wsj_0001.mrg -o wsj_0001.conll
    """
    check_files(inputs=[source], outputs=[output], force=force, streams=True)

    from treebp.data.conll import read_conll, write_conll
    from treebp.data.files import write_text
    from treebp.data.penn import read_penn
    from treebp.data.plain_text import plain_text

    if re.search(r"\.txt(\.\w+)?$", output):
        treebank = list(read_conll(source, encoding=encoding, check_trees=False))
        write_text(output, plain_text(treebank).text)
        count = len(treebank)
    else:
        count = write_conll(output, read_penn(source, encoding=encoding))
    typer.echo(f"{count:,} sentences converted", err=True)
