"""``treebp train``: a parser from a treebank."""

import glob
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treebp.cli._errors import complain
from treebp.cli._files import check_files, sole_writer
from treebp.cli._signals import last_words
from treebp.models import find_model

if TYPE_CHECKING:
    from rich.console import Console

    from treebp.data.raw_evaluation import F1
    from treebp.parsing.config import Config
    from treebp.parsing.parser import Parser
    from treebp.training.lightening import Lightened

_LAUNCHED = "TORCHELASTIC_RUN_ID"  # in the environment of processes that PyTorch's launcher has started


def train(
    source: Annotated[str, typer.Argument(metavar="TRAIN", help="CoNLL-X or CoNLL-U file with trees.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Model file to write.")],
    dev: Annotated[
        str | None, typer.Option(metavar="DEV", help="Development file; else the last tenth of TRAIN is kept back.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings as TOML; see: treebp init-config.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated.")
    ] = None,
    objective: Annotated[str | None, typer.Option(metavar="cll|l2|ar|l2+ar", help="What to train for.")] = None,
    scorer: Annotated[
        str | None, typer.Option(metavar="hashed|neural|sum", help="What scores arcs: features, a network, or both.")
    ] = None,
    factors: Annotated[
        str | None, typer.Option(metavar="grandparent,sibling,...", help='Factors on several arcs; "" for none.')
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Iterations of belief propagation.")] = None,
    pipeline: Annotated[
        bool,
        typer.Option("--pipeline", help="Train all that leads from plain text to trees: tokeniser, tagger, parser."),
    ] = False,
    tags: Annotated[
        str | None, typer.Option(metavar="gold|predicted", help="The treebank's tags, or those of a tagger of its own.")
    ] = None,
    word_clusters: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Clusters of words: lines of name, tab and word; or a model."),
    ] = None,
    inference: Annotated[str | None, typer.Option(metavar="bp|exact", help="How to infer beliefs.")] = None,
    tree: Annotated[str | None, typer.Option(metavar="auto|projective|nonprojective", help="Kind of trees.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training sentences.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the sentences' order.")] = None,
    size: Annotated[
        float | None, typer.Option(metavar="MB", help="Of the model file; by default what costs nothing on DEV.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="By default one per core.")] = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where a network is trained.")] = "auto",
    resume: Annotated[bool, typer.Option("--resume", help="Continue a run that was interrupted.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace MODEL and what an earlier run left.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print epochs as lines of JSON; all else to stderr.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the files.")] = "utf-8",
) -> None:
    """Train a parser and keep the epoch that does best on development data.

    Beside MODEL appear its settings and a log and, until training is complete, a checkpoint for --resume.

    Example: treebp train train.conllu --dev dev.conllu -o en.model --objective l2 --iterations 4
    """
    if _LAUNCHED in os.environ and os.environ["RANK"] != "0":
        from treebp.training.workers import assist

        assist(device, threads or 1)
        return
    checkpoint, log, resolved = (Path(f"{output}.{what}") for what in ("checkpoint", "log.jsonl", "config.toml"))
    outputs = [output, checkpoint, log, resolved]
    if checkpoint.exists() and not (resume or force):
        raise typer.BadParameter(
            f"{checkpoint} is of an interrupted run: continue it with --resume, or start anew with --force.",
            param_hint="--output",
        )
    check_files(inputs=[source, dev, config], outputs=outputs, force=force or resume)
    options = {
        "objective": objective,
        "scorer": scorer,
        "factors": factors,
        "iterations": iterations,
        "tags": tags if tags or not pipeline else "predicted",
        "tokeniser": "true" if pipeline else None,
        "inference": inference,
        "tree": tree,
        "epochs": epochs,
        "seed": seed,
        "size": size,
    }
    named = [f"{key}={value}" for key, value in options.items() if value is not None]
    run = _configuration(config, [*(settings or []), *named])
    if word_clusters:
        run = replace(run, word_clusters=word_clusters)
    if run.word_clusters:
        check_files(inputs=[find_model(run.word_clusters)], outputs=outputs, force=force or resume)

    if run.scorer != "hashed":
        from treebp.neural.device import find_device

        device = find_device(device)  # what is not there is told before all else

    # Slow to load, so only when all is well so far.
    from treebp.cli._progress import WordsBar, announce_compilation
    from treebp.cli._terminal import console as new_console
    from treebp.cli._training_display import TrainingDisplay
    from treebp.data.conll import read_conll
    from treebp.data.files import write_text
    from treebp.data.plain_text import tells_spaces
    from treebp.features.word_clusters import WordClusters
    from treebp.kernels.tree_group import send_trees
    from treebp.training import fit_pipeline
    from treebp.training.data import fingerprint, train_and_dev
    from treebp.training.lightening import lightened
    from treebp.training.pipeline import raw_scores

    sentences = list(read_conll(source, encoding=encoding, require_heads=True))
    development = list(read_conll(dev, encoding=encoding, require_heads=True)) if dev else None
    if run.word_clusters:
        WordClusters.load(run.word_clusters)  # what is wrong with it is told before anything is written
    console = new_console(stderr=json)
    with sole_writer(log), _others_dismissed():
        # Another run may have ended meanwhile.
        check_files(outputs=[output, checkpoint, resolved], force=force or resume)
        if not resume:
            checkpoint.unlink(missing_ok=True)
        elif checkpoint.exists():
            _check_settings(resolved, run)
        elif output.exists() and not force:
            done = _complete(output, fingerprint(run, *train_and_dev(sentences, development, run)))
            write_text(resolved, done.config.to_toml())
            console.print(f"{output} is complete: nothing to continue")
            return
        for path in outputs:  # what was half-written when an earlier run was killed
            for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
                part.unlink()
        write_text(resolved, run.to_toml())
        last_words.append(f"to continue: treebp {shlex.join([*sys.argv[1:], *([] if resume else ['--resume'])])}")
        announce_compilation(console, send_trees)
        if run.tokeniser and not tells_spaces(sentences):
            complain(f"warning: {source} says nowhere that no space follows a token: neither # text nor SpaceAfter=No")
        with WordsBar(console) as bar:
            display = TrainingDisplay(console, bar, log, labels=run.labels, json=json)
            try:
                trained = fit_pipeline(
                    sentences,
                    development,
                    run,
                    threads=threads,
                    progress=display.progress,
                    checkpoint=checkpoint,
                    device=device,
                )
            except MemoryError:
                longest = max((*sentences, *(development or ())), key=len)
                where = f"{longest.source}:{longest.line}"
                raise MemoryError(
                    f"there is not enough memory: the longest sentence, at {where}, has {len(longest):,} words"
                ) from None
            bar.start("development text")
            held_out = train_and_dev(sentences, development, run)[1]
            light = lightened(trained, held_out, run.size, threads=threads)
            trained = light.pipeline
            raw = raw_scores(trained, held_out, threads=threads) if trained.tokeniser else {}
        trained.save(output)
        checkpoint.unlink()
        last_words.clear()
        write_text(resolved, trained.parser.config.to_toml())
    _summarise(console, light, raw, output, dev, chosen=run.tree == "auto")


@contextmanager
def _others_dismissed() -> Iterator[None]:
    """At the end, let the processes go that were launched beside this one."""
    try:
        yield
    finally:
        if _LAUNCHED in os.environ:
            from treebp.training.workers import dismiss

            dismiss()


def _configuration(path: Path | None, settings: list[str]) -> "Config":
    from treebp.parsing.config import Config

    config = Config.load(path) if path else Config()
    try:
        return config.override(settings)
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from None


def _check_settings(resolved: Path, run: "Config") -> None:
    """Refuse to continue a run with other settings."""
    if resolved.exists() and resolved.read_text(encoding="utf-8", errors="replace") != run.to_toml():
        raise typer.BadParameter(f"that run had other settings, those in {resolved}.", param_hint="--resume")


def _complete(model: Path, fingerprint: str) -> "Parser":
    """The parser that a run has left, refusing that of another run."""
    from treebp.parsing.parser import Parser

    parser = Parser.load(model)
    if parser.fingerprint != fingerprint:
        raise typer.BadParameter(
            f"{model} is of another run: choose another name, or add --force.", param_hint="--resume"
        )
    return parser


def _summarise(
    console: "Console", light: "Lightened", raw: "dict[str, F1]", model: Path, dev: str | None, *, chosen: bool
) -> None:
    from treebp.cli._score_report import tags_used

    parser = light.pipeline.parser
    best = [report for report in parser.reports if report.best][-1]
    pruning = parser.pruning["dev"]
    tags = tags_used(parser.tagging["dev"]) if parser.tagger is not None else "gold"
    example = shlex.quote(dev) if dev else "INPUT"
    las = f", LAS {best.dev_las:.2f}" if parser.config.labels else ""
    console.print(f"\nbest: {best.objective} epoch {best.epoch}, dev UAS {best.dev_uas:.2f}{las}")
    console.print(f"tags: {tags}")
    if light.share < 1.0:
        console.print(
            f"weights: {100 * light.share:.3g} % are kept, {light.measure} {light.score:.2f} "
            f"({light.score_of_all:.2f} with all)"
        )
    if raw:
        console.print("from raw text: " + ", ".join(f"{name} {score.f1:.2f}" for name, score in raw.items()))
    if chosen and parser.config.tree == "nonprojective":
        console.print("its trees are non-projective, as many training trees are (--tree projective changes that)")
    console.print(f"pruning keeps {100 * pruning.oracle:.2f} % of the right heads, {pruning.heads:.1f} heads per word")
    console.print(f"written: {model} ({model.stat().st_size / 1e6:.1f} MB), .log.jsonl and .config.toml beside it")
    console.print(f"next: treebp parse {shlex.quote(str(model))} {example} -o parsed.conllu")
    if dev:
        console.print(f"      treebp evaluate {example} parsed.conllu")
