"""Training a parser."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from treebp._threads import thread_count
from treebp.data.sentence import Sentence
from treebp.parsing.arcs import Arcs
from treebp.parsing.columns import columns_used, filled
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser, new_model
from treebp.training.data import Prepared, as_resolved, fingerprint, prepare
from treebp.training.development import Development
from treebp.training.learner import Example
from treebp.training.loop import train_model
from treebp.training.progress import Progress


def fit(
    train: Iterable[Sentence] = (),
    dev: Iterable[Sentence] | None = None,
    config: Config | None = None,
    *,
    prepared: Prepared | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
) -> Parser:
    """Train a parser on sentences with heads, and keep the weights that do best on ``dev``.

    Without ``dev``, the last tenth of ``train`` (``config.held_out``) is kept back for it. The result depends on
    data and configuration alone, not on the number of threads. With a ``checkpoint`` path training can be
    interrupted after any epoch and continued by the same call.

    To train several parsers on the same data, ``prepare`` these once and pass the result as ``prepared`` instead.

    Example:
        >>> from treebp.data.embedded import embedded_treebank
        >>> config = Config(epochs=1, pruner_epochs=1, weight_bits=18, pruner_weight_bits=16, rate=0.05)
        >>> parser = fit(embedded_treebank("train")[:60], embedded_treebank("dev")[:10], config, threads=1)
        >>> [report.epoch for report in parser.reports]
        [1]

    """
    config, progress, workers = config or Config(), progress or Progress(), thread_count(threads)
    if prepared is None:
        prepared = prepare(train, dev, config, threads=workers, progress=progress)
    prepared.check(config)
    if config.objective != "cll" and prepared.pruning["train"].oracle == 0.0:
        raise ValueError("pruning left no right arc at all: raise prune_heads or lower prune_ratio")
    run = fingerprint(config, *prepared.given)
    projective, single_root = prepared.structure
    model = new_model(config, prepared.encoding, projective=projective, single_root=single_root)
    reports = train_model(
        model,
        _examples(prepared, whole_trees=config.objective == "cll"),
        Development(prepared, config, model).score,
        config,
        threads=workers,
        progress=progress,
        checkpoint=checkpoint,
        fingerprint=run,
    )
    tagging = prepared.tagging
    return Parser(
        config=as_resolved(config, prepared.structure, reports),
        encoding=prepared.encoding,
        pruner=prepared.pruner,
        model=model,
        labels=prepared.labels,
        reports=reports,
        pruning=dict(prepared.pruning),
        tagger=tagging.tagger if tagging is not None else None,
        tagging=tagging.accuracy if tagging is not None else {},
        columns=filled(prepared.train, columns_used(config, prepared.encoding)),
        fingerprint=run,
    )


def _examples(prepared: Prepared, *, whole_trees: bool) -> list[Example]:
    """The training sentences. Log-likelihood needs whole trees: all arcs of a legal one, pruned or not."""
    examples = []
    for tokens, kept, gold, legal in zip(prepared.tokens, prepared.keep, prepared.gold, prepared.legal, strict=True):
        heads = legal if whole_trees else gold
        if whole_trees:
            kept = kept.copy()
            kept[heads, np.arange(1, len(heads) + 1)] = True
        arcs = Arcs.of(kept)
        examples.append(Example(tokens, arcs, arcs.marked(heads)))
    return examples
