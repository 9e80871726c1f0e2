"""``treebp parse``: sentences in, trees out."""

import os
import stat
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from treebp.cli._errors import complain
from treebp.cli._files import check_files
from treebp.cli._parse_run import ParseOptions, ParseRun, targets_of
from treebp.models import find_model


def parse(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, as treebp train writes it, or en.")],
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="INPUT", help="Text, CoNLL-X or CoNLL-U files; by default stdin, -.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write, a folder for a file per input, or - for stdout.")
    ] = "-",
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
    constraints: Annotated[
        bool, typer.Option("--constraints", help="Obey MISC: Head=3 settles a head, NoHead=2,5 forbids some.")
    ] = False,
    max_length: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Leave sentences of more than N words as they are.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="By default one per core.")] = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where a network computes.")] = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace output files.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of input and output.")] = "utf-8",
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Parse the files that INPUT, also a quoted pattern, stands for on a Ray cluster, or with as many "
            "processes as --threads says if ADDRESS is local. What is in the output's folder is done already.",
        ),
    ] = None,
) -> None:
    """Parse text or sentences: heads and labels are filled in, everything else stays byte for byte as it is.

    A model that was trained with predicted tags fills in tags and lemmas too, one with a tokeniser starts from text.
    Sentences are written in order as soon as they are parsed; a file appears only when it is complete.

    Example: treebp parse en.model test.conllu -o parsed.conllu --marginals
    """
    options = ParseOptions(marginals, kbest, input_kind, ranges, constraints, max_length, threads, encoding)
    if ray is not None:
        from treebp.cli._parse_on_cluster import parse_on_cluster

        if not sources or "-" in (*sources, output):
            raise typer.BadParameter("name input files, and a folder for the output.", param_hint="--ray")
        check_files(inputs=[find_model(model)])
        parse_on_cluster(model, sources, output, options, ray, force)
        return
    inputs = sources or ["-"]
    targets = targets_of(inputs, output)
    check_files(inputs=[find_model(model), *inputs], outputs=targets, force=force, streams=True)

    # Slow to load, so only when all is well so far.
    from treebp._threads import thread_count
    from treebp.cli._compiling import compiling_elsewhere
    from treebp.cli._progress import WordsBar, announce_compilation
    from treebp.cli._terminal import console as new_console
    from treebp.data.conll import write_conll
    from treebp.data.sentence import Sentence
    from treebp.kernels.tree_group import send_trees
    from treebp.pipeline import load

    console = new_console(stderr=True)
    compiling = announce_compilation(console, send_trees) and thread_count(threads) > 1
    with compiling_elsewhere(model) if compiling else nullcontext():
        pipeline = load(model)
        pipeline.parser.model.scorer.to(device)
        # Loading kernels is no part of the speed, nor is compiling them: those of the parser itself are this process's.
        parser = replace(pipeline.parser, tagger=None) if compiling else pipeline.parser
        list(parser.parse([Sentence.from_columns(["a"] * 4)], threads=1, kbest=kbest))
        if pipeline.tokeniser is not None and not compiling:
            pipeline.tokeniser.tokenise("a")
    size = sum(os.path.getsize(path) if os.path.isfile(path) else 0 for path in inputs)
    count, began = 0, perf_counter()
    with WordsBar(console, visible=_bar_is_apart(output)) as bar:
        bar.start("parsing")
        run = ParseRun(pipeline, options, bar, size)
        for target, files in targets.items():
            count += write_conll(target, chain.from_iterable(map(run.parsed, files)), encoding=encoding)
    rate = run.words / (perf_counter() - began)
    typer.echo(f"{count:,} sentences, {run.words:,} words, {rate:,.0f} words/s", err=True)
    if run.skipped:
        complain(
            f"warning: sentences longer than --max-length are left as they are: {run.skipped}, {run.first_skipped}"
        )


def _bar_is_apart(output: str) -> bool:
    """Whether a bar on the terminal cannot land among the output."""
    return output != "-" or stat.S_ISREG(os.fstat(1).st_mode)
