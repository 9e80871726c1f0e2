"""The first run's compiling of kernels, by two processes: within one, Numba compiles one at a time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, Popen

import numpy as np

from treebp.data.sentence import Sentence


@contextmanager
def compiling_elsewhere(model: Path) -> Iterator[None]:
    """Have what comes before and after the search for trees compiled by another process meanwhile; wait for it.

    If that fails, nothing is lost but the time: this process then compiles what it does not find.
    """
    command = [sys.executable, "-c", f"from {__name__} import all_but_trees as run; run({str(model)!r})"]
    with Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL) as other:
        try:
            yield
            other.wait()
        finally:
            other.kill()  # if this process is to stop


def all_but_trees(model: str) -> None:
    """Use the kernels of tokeniser, tagger, labels and parts; those of arcs should be compiled by then."""
    from treebp.parsing.arcs import Arcs, Batch
    from treebp.pipeline import load

    pipeline = load(model)
    parser, sentence = pipeline.parser, Sentence.from_columns(["They", "saw", "her", "duck"])
    if pipeline.tokeniser is not None:
        pipeline.tokeniser.tokenise("They saw her. And ducked!")
    if parser.tagger is not None:
        parser.tagger.tag_together([sentence])
    tokens = parser.encoding.encode(sentence)
    parser.labels.predict(tokens, np.arange(len(sentence)))
    batch = Batch.of([tokens], [Arcs.of(parser.pruner.allowed(tokens))], [sentence.forms])
    scorer = parser.model.scorer
    scorer(batch, {part.name: part.list(batch, parser.model.projective) for part in scorer.parts})
