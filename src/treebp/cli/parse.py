"""``treebp parse``: sentences in, trees out."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from treebp.cli._files import check_files


def parse(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, as written by treebp train.")],
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="Text, CoNLL-X or CoNLL-U file, or - for standard input.")
    ] = "-",
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, or - for standard output.")] = "-",
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Write each head's probability into MISC, as HeadProb=0.973.")
    ] = False,
    kbest: Annotated[
        int, typer.Option(min=0, metavar="K", help="Write the K best trees as comments before each sentence.")
    ] = 0,
    input_kind: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="text|tokens|conll",
            help="Plain text, a sentence a line with spaces between tokens, or CoNLL. By default as the name says: "
            "conll if it ends in .conll, .conllu or .conllx, tokens if in .tokens, else text if MODEL reads text.",
        ),
    ] = None,
    ranges: Annotated[
        bool, typer.Option("--ranges", help="Write each token's place in the text into MISC, as TokenRange=0:5.")
    ] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="By default one per core.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of input and output.")] = "utf-8",
) -> None:
    """Parse text or sentences: heads and labels are filled in, everything else stays byte for byte as it is.

    A model that was trained with predicted tags fills in tags and lemmas too, one with a tokeniser starts from text.
    Sentences are written in order as soon as they are parsed; a file appears only when it is complete.

    Example: treebp parse en.model test.conllu -o parsed.conllu --marginals
    """
    check_files(inputs=[model, source], outputs=[output], force=force, streams=True)

    # Slow to load, so only when all is well so far.
    from treebp.cli._progress import WordsBar, announce_compilation
    from treebp.cli._terminal import console as new_console
    from treebp.data.conll import write_conll
    from treebp.data.errors import TreebankError
    from treebp.data.sentence import Format, Sentence
    from treebp.kernels.tree_group import send_trees
    from treebp.pipeline import load
    from treebp.pipeline.reading import read_sentences

    console = new_console(stderr=True)
    pipeline = load(model)
    announce_compilation(console, send_trees)
    size = os.path.getsize(source) if os.path.isfile(source) else 0
    words = done = 0

    def parsed() -> Iterator[Sentence]:
        nonlocal words, done
        # Standard input has no name that says what its columns mean; whoever wants MISC written has one.
        format: Format | None = "conllu" if source == "-" and (marginals or kbest) else None
        sentences = read_sentences(
            source, input_kind, pipeline.tokeniser, format=format, encoding=encoding, ranges=ranges
        )
        for result in pipeline.parser.parse(sentences, threads=threads, kbest=kbest):
            sentence = result.sentence
            if sentence.format == "conllx" and (marginals or kbest):
                raise TreebankError(
                    "--marginals and --kbest need CoNLL-U; if this is, let the file's name end in .conllu",
                    sentence.source,
                    sentence.line,
                )
            yield result.to_sentence(marginals=marginals)
            words += len(sentence)
            done += len(sentence.text.encode(encoding))
            # What the rest of the file holds is estimated from what has been read; a compressed one says too little.
            bar.advance(len(sentence), words * size / done if done <= size else None)

    began = perf_counter()
    with WordsBar(console, visible=output != "-" or not sys.stdout.isatty()) as bar:
        bar.start("parsing")
        count = write_conll(output, parsed(), encoding=encoding)
    rate = words / (perf_counter() - began)
    typer.echo(f"{count:,} sentences, {words:,} words, {rate:,.0f} words/s", err=True)
