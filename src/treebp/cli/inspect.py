"""``treebp inspect``: how a parser came to one sentence's tree, as a page to look at."""

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from treebp.cli._files import check_files
from treebp.models import find_model


def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, as treebp train writes it, or en.")],
    source: Annotated[str, typer.Argument(metavar="FILE", help="CoNLL-X or CoNLL-U file, with or without trees.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PAGE", help="HTML file to write, or -.")],
    sentence: Annotated[int, typer.Option(min=1, metavar="K", help="Which of the file's sentences, from 1.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace the page.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of FILE.")] = "utf-8",
) -> None:
    """Show a sentence's tree, the heads its words might have had, and how belief propagation came to them.

    The page is one file that needs no network. Where FILE has trees, they are compared with the parser's.

    Example: treebp inspect en.model test.conllu --sentence 3 -o page.html
    """
    check_files(inputs=[find_model(model), source], outputs=[output], force=force, streams=True)

    # Slow to load, so only when all is well so far.
    from treebp.cli._progress import announce_compilation
    from treebp.cli._terminal import console
    from treebp.data.conll import read_conll
    from treebp.data.files import write_text
    from treebp.drawing.inspect_page import inspect_page
    from treebp.kernels.tree_group import send_trees
    from treebp.parsing.inspection import Inspection
    from treebp.parsing.parser import Parser

    parser = Parser.load(model)
    sentences = list(islice(read_conll(source, encoding=encoding), sentence))
    if len(sentences) < sentence:
        raise typer.BadParameter(f"{source} has {len(sentences):,} sentences.", param_hint="--sentence")
    announce_compilation(console(stderr=True), send_trees)
    text = inspect_page(Inspection.of(parser, sentences[-1]), number=sentence, model=model.name)
    write_text(output, text)
    typer.echo(f"written: {output}", err=True)
