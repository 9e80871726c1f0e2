"""``treebp convert``: Penn Treebank brackets to CoNLL-X."""

from typing import Annotated

import typer


def convert(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Penn Treebank file (.mrg, may be .gz or .xz), or -.")],
    output: Annotated[str, typer.Option("--output", "-o", help="CoNLL-X file to write, or - for standard output.")],
    encoding: Annotated[str, typer.Option(help="Encoding of the input.")] = "utf-8",
) -> None:
    """Convert Penn Treebank brackets to dependencies.

    Traces and function tags are removed; heads are found by the rules of Yamada and Matsumoto (2003). The output
    appears only when it is complete.

    Example: treebp convert wsj_0001.mrg -o wsj_0001.conll
    """
    from treebp.data.conll import write_conll
    from treebp.data.penn import read_penn

    count = write_conll(output, read_penn(source, encoding=encoding))
    typer.echo(f"{count:,} sentences converted", err=True)
