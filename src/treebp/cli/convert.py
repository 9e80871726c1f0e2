"""``treebp convert``: Penn Treebank brackets to CoNLL-X."""

from typing import Annotated

import typer

from treebp.cli._files import check_files


def convert(
    source: Annotated[str, typer.Argument(metavar="INPUT", help="Penn Treebank file (.mrg, may be .gz or .xz), or -.")],
    output: Annotated[str, typer.Option("--output", "-o", help="CoNLL-X file to write, or - for standard output.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the output file.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the input.")] = "utf-8",
) -> None:
    """Convert Penn Treebank brackets to dependencies.

    Traces and function tags are removed; heads are found by the rules of Yamada and Matsumoto (2003). The output
    appears only when it is complete.

    Example: treebp convert wsj_0001.mrg -o wsj_0001.conll
    """
    check_files(inputs=[source], outputs=[output], force=force, streams=True)

    from treebp.data.conll import write_conll
    from treebp.data.penn import read_penn

    count = write_conll(output, read_penn(source, encoding=encoding))
    typer.echo(f"{count:,} sentences converted", err=True)
