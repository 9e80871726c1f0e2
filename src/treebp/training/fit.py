"""Training a parser."""

from collections.abc import Iterable
from pathlib import Path

from treebp._threads import thread_count
from treebp.data.sentence import Sentence
from treebp.parsing.columns import columns_used, filled
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser, new_model
from treebp.training.data import Prepared, as_resolved, fingerprint, prepare
from treebp.training.development import Development
from treebp.training.loop import train_model
from treebp.training.progress import Progress
from treebp.training.stages import choose_shares, stages_of


def fit(
    train: Iterable[Sentence] = (),
    dev: Iterable[Sentence] | None = None,
    config: Config | None = None,
    *,
    prepared: Prepared | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    device: str = "auto",
) -> Parser:
    """Train a parser on sentences with heads, and keep the weights that do best on ``dev``.

    Without ``dev``, the last tenth of ``train`` (``config.held_out``) is kept back for it. The result depends on
    data and configuration alone, not on the number of threads. With a ``checkpoint`` path training can be
    interrupted after any epoch and continued by the same call. A network is trained on ``device``, by default a GPU if
    there is one.

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
    labels = prepared.labels
    model = new_model(
        config, prepared.encoding, projective=projective, single_root=single_root, labels=len(labels.labels)
    )
    model.scorer.to(device)
    if config.scorer == "neural":
        labels = labels.untrained()
    stages = list(stages_of(model, prepared, labels, config, workers, progress))
    reports = train_model(stages, config, progress=progress, checkpoint=checkpoint, fingerprint=run)
    if config.scorer == "sum":
        reports.append(choose_shares(model, Development(prepared, labels, config, model, workers)))
        progress.epoch(reports[-1])
    tagging = prepared.tagging
    return Parser(
        config=as_resolved(config, prepared.structure, reports),
        encoding=prepared.encoding,
        pruner=prepared.pruner,
        model=model,
        labels=labels,
        reports=reports,
        pruning=dict(prepared.pruning),
        tagger=tagging.tagger if tagging is not None else None,
        tagging=tagging.accuracy if tagging is not None else {},
        columns=filled(prepared.train, columns_used(config, prepared.encoding)),
        fingerprint=run,
    )
