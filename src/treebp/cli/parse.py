"""``treebp parse``: sentences in, trees out."""

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, tee
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treebp.cli._errors import complain
from treebp.cli._files import check_files
from treebp.models import find_model

if TYPE_CHECKING:
    from treebp.cli._progress import WordsBar
    from treebp.data.sentence import Sentence
    from treebp.pipeline import Pipeline

_LOOKED_AT = 500  # words of the input that show whether it has the columns that the model needs


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
    options = Options(marginals, kbest, input_kind, ranges, constraints, max_length, threads, encoding)
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
    from treebp.cli._progress import WordsBar, announce_compilation
    from treebp.cli._terminal import console as new_console
    from treebp.data.conll import write_conll
    from treebp.data.sentence import Sentence
    from treebp.kernels.tree_group import send_trees
    from treebp.pipeline import load

    console = new_console(stderr=True)
    pipeline = load(model)
    pipeline.parser.model.scorer.to(device)
    announce_compilation(console, send_trees)
    list(pipeline.parser.parse([Sentence.from_columns(["a"] * 4)], threads=1))  # loads kernels, no part of the speed
    size = sum(os.path.getsize(path) if os.path.isfile(path) else 0 for path in inputs)
    count, began = 0, perf_counter()
    with WordsBar(console, visible=_bar_is_apart(output)) as bar:
        bar.start("parsing")
        run = Run(pipeline, options, bar, size)
        for target, files in targets.items():
            count += write_conll(target, chain.from_iterable(map(run.parsed, files)), encoding=encoding)
    rate = run.words / (perf_counter() - began)
    typer.echo(f"{count:,} sentences, {run.words:,} words, {rate:,.0f} words/s", err=True)
    if run.skipped:
        complain(
            f"warning: sentences longer than --max-length are left as they are: {run.skipped}, {run.first_skipped}"
        )


@dataclass(frozen=True)
class Options:
    """How files are parsed, as the command line says it."""

    marginals: bool
    kbest: int
    input_kind: str | None
    ranges: bool
    constraints: bool
    max_length: int | None
    threads: int | None
    encoding: str


class Run:
    """Parses one input after the other, and counts words and sentences that were skipped."""

    def __init__(
        self,
        pipeline: "Pipeline",
        options: Options,
        bar: "WordsBar | None" = None,
        size: int = 0,
        warn: Callable[[str], None] = complain,
    ) -> None:
        self.words = self.skipped = 0
        self.first_skipped = ""
        self._parser, self._tokeniser, self._options, self._bar = pipeline.parser, pipeline.tokeniser, options, bar
        self._warn = warn
        self._size, self._done = size, 0
        needs_tags = self._parser.columns and self._parser.tagger is None
        self._looked_at: list[Sentence] | None = [] if needs_tags else None

    def parsed(self, source: str) -> "Iterator[Sentence]":
        """The sentences of a file with their trees, in order; those that are too long are as they were."""
        from treebp.parsing.constraints import forbidden_arcs, known_heads
        from treebp.pipeline.reading import read_sentences

        options = self._options
        # Standard input has no name that says what its columns mean; whoever wants MISC has one.
        misc = options.marginals or options.kbest or options.constraints
        sentences = read_sentences(
            source,
            options.input_kind,
            self._tokeniser,
            format="conllu" if source == "-" and misc else None,
            encoding=options.encoding,
            ranges=options.ranges,
        )
        waiting: deque[tuple[Sentence, bool]] = deque()
        short = self._short(sentences, waiting, misc=bool(misc))
        settled: dict[str, Any] = {}
        if options.constraints:
            short, of_known, of_forbidden = tee(short, 3)
            settled = {"known": map(known_heads, of_known), "forbidden": map(forbidden_arcs, of_forbidden)}
        for result in self._parser.parse(short, threads=options.threads, kbest=options.kbest, **settled):
            while not waiting[0][1]:
                yield waiting.popleft()[0]
            yield result.to_sentence(marginals=options.marginals)
            self.advance(waiting.popleft()[0])
        yield from (sentence for sentence, _ in waiting)
        self._look(None)

    def _short(
        self, sentences: "Iterator[Sentence]", waiting: "deque[tuple[Sentence, bool]]", *, misc: bool
    ) -> "Iterator[Sentence]":
        """Those sentences that are to be parsed; all wait to be written, together with whether they are parsed."""
        from treebp.data.errors import TreebankError

        for sentence in sentences:
            if misc and sentence.format == "conllx":
                raise TreebankError(
                    "--marginals, --kbest and --constraints need CoNLL-U; "
                    "if this is, let the file's name end in .conllu",
                    sentence.source,
                    sentence.line,
                )
            self._look(sentence)
            is_short = self._options.max_length is None or len(sentence) <= self._options.max_length
            waiting.append((sentence, is_short))
            if is_short:
                yield sentence
            else:
                self.skipped += 1
                self.first_skipped = self.first_skipped or f"the first at {sentence.source}:{sentence.line}"

    def advance(self, sentence: "Sentence") -> None:
        """Count a sentence that is done."""
        self.words += len(sentence)
        self._done += len(sentence.text.encode(self._options.encoding))
        if self._bar is None:
            return
        # What the rest of the files holds is estimated from what has been read; a compressed one says too little.
        self._bar.advance(len(sentence), self.words * self._size / self._done if self._done <= self._size else None)

    def _look(self, sentence: "Sentence | None") -> None:
        """Warn, once, if the first words of the input lack what the model was trained with; None is a file's end."""
        from treebp.parsing.columns import find_mismatch

        if self._looked_at is None:
            return
        if sentence is not None:
            self._looked_at.append(sentence)
        if self._looked_at and (sentence is None or sum(map(len, self._looked_at)) >= _LOOKED_AT):
            mismatch = find_mismatch(self._parser.columns, self._parser.encoding, self._looked_at)
            if mismatch:
                self._warn(
                    f"warning: {self._looked_at[0].source} has {mismatch}: expect more errors than usual. "
                    "Tag the file as the training file was, or train a model without these columns."
                )
            self._looked_at = None


def targets_of(inputs: list[str], output: str) -> dict[str, list[str]]:
    """Which inputs go to which output: each to a file of its name if that is a folder, else all to the same."""
    if not (os.path.isdir(output) or output.endswith(os.sep)):
        return {output: inputs}
    if "-" in inputs:
        raise typer.BadParameter(
            "standard input has no name for a file in a folder: name a file.", param_hint="--output"
        )
    # What becomes of text is none any more.
    names = [re.sub(r"\.(txt|tokens)(\.\w+)?$", ".conllu", os.path.basename(path)) for path in inputs]
    targets = [os.path.join(output, name) for name in names]
    for path, target in zip(inputs, targets, strict=True):
        if targets.count(target) > 1:
            raise typer.BadParameter(f"several inputs are named {os.path.basename(path)}.", param_hint="--output")
    return {target: [path] for path, target in zip(inputs, targets, strict=True)}


def _bar_is_apart(output: str) -> bool:
    """Whether a bar on the terminal cannot land among the output."""
    return output != "-" or stat.S_ISREG(os.fstat(1).st_mode)
