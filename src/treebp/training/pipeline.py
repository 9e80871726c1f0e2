"""Training the whole way from text to trees."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from treebp._threads import thread_count
from treebp.data.sentence import Sentence
from treebp.parsing.config import Config
from treebp.pipeline.pipeline import Pipeline
from treebp.tokenising.fitting import fit_tokeniser
from treebp.training.data import split
from treebp.training.fit import fit
from treebp.training.progress import Progress


def fit_pipeline(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    config: Config | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
) -> Pipeline:
    """Train a tokeniser, and a parser on predicted tags; see `fit`, which goes on from a checkpoint.

    The tokeniser takes seconds to train, and is trained again after an interruption.
    """
    config, progress = replace(config or Config(), tags="predicted"), progress or Progress()
    sentences, held_out = split(train, dev, config)
    progress.start("tokeniser", 0)
    tokeniser = fit_tokeniser(sentences, seed=config.seed, threads=thread_count(threads))
    parser = fit(sentences, held_out, config, threads=threads, progress=progress, checkpoint=checkpoint)
    return Pipeline(parser, tokeniser)
