"""Training the whole way from text to trees, and how far it leads."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from treebp._threads import thread_count
from treebp.data.plain_text import plain_text
from treebp.data.raw_evaluation import F1, evaluate_raw
from treebp.data.sentence import Sentence
from treebp.parsing.config import Config
from treebp.pipeline.pipeline import Pipeline
from treebp.tokenising.fitting import fit_tokeniser
from treebp.training.data import train_and_dev
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
    device: str = "auto",
) -> Pipeline:
    """Train what the configuration asks for; by default a tokeniser, and a parser on predicted tags.

    See `fit`, which goes on from a checkpoint. The tokeniser takes seconds, and is trained again then.
    """
    config, progress = config or Config(tags="predicted", tokeniser=True), progress or Progress()
    sentences, held_out = train_and_dev(train, dev, config)
    tokeniser = None
    if config.tokeniser:
        progress.start("tokeniser", 0)
        tokeniser = fit_tokeniser(sentences, seed=config.seed, threads=thread_count(threads))
    parser = fit(sentences, held_out, config, threads=threads, progress=progress, checkpoint=checkpoint, device=device)
    return Pipeline(parser, tokeniser)


def raw_scores(pipeline: Pipeline, treebank: Sequence[Sentence], *, threads: int | None = None) -> dict[str, F1]:
    """What a pipeline makes of the text of a treebank, in the measures of raw text."""
    found = pipeline.stream([plain_text(treebank).text], threads=threads)
    return evaluate_raw(treebank, (sentence.to_sentence() for sentence in found))
