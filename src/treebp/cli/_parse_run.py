"""How ``treebp parse`` goes through files, here and on clusters."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import tee
from typing import TYPE_CHECKING, Any

import typer

from treebp.cli._errors import complain

if TYPE_CHECKING:
    from treebp.cli._progress import WordsBar
    from treebp.data.sentence import Sentence
    from treebp.pipeline import Pipeline

_LOOKED_AT = 500  # words of the input that show whether it has the columns that the model needs


@dataclass(frozen=True)
class ParseOptions:
    """How files are parsed, as the command line says it."""

    marginals: bool
    kbest: int
    input_kind: str | None
    ranges: bool
    constraints: bool
    max_length: int | None
    threads: int | None
    encoding: str


class ParseRun:
    """Parses one input after the other, and counts words and sentences that were skipped."""

    def __init__(
        self,
        pipeline: "Pipeline",
        options: ParseOptions,
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
