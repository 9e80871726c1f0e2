"""``treebp demo``: the paper's main point on a small treebank, in about a minute."""

import shlex
from dataclasses import asdict, replace
from json import dumps
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from treebp.cli._files import check_files

if TYPE_CHECKING:
    from treebp.cli._progress import WordsBar
    from treebp.data.sentence import Sentence
    from treebp.parsing.config import Config
    from treebp.parsing.parser import Parser

# Small enough for a minute on two cores. The rate is what tuning picks for both objectives with 4 iterations.
SENTENCES = 1200
SETTINGS = (
    "epochs=3",
    "rate=0.02",
    "weight_bits=19",
    "pruner_weight_bits=17",
    "pruner_epochs=1",
    "pruner_folds=2",
    "prune_heads=5",
)
_FILES = ("train.conllu", "dev.conllu", "test.conllu", "demo.model", "accuracy.svg", "index.html")
_ENGLISH = "They saw her duck. I don't think we'll ever know who wrote it."
_INTENT = (
    "A second-order parser cannot sum over all trees, so it approximates by a few iterations of belief propagation. "
    "Conditional log-likelihood (CLL) trains it as if there were no approximation; L2 trains for the beliefs that "
    "these very iterations give. Here both are trained with 1, 2 and 4 iterations, and scored on test sentences."
)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the results.")] = Path(
        "treebp-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the training.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON; all else to stderr.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the results of an earlier run.")] = False,
) -> None:
    """Parse some English; then train small parsers on an embedded treebank, with CLL and with L2, and compare them.

    Example: treebp demo --output treebp-demo
    """
    from treebp.cli._progress import WordsBar, announce_compilation
    from treebp.cli._terminal import console as new_console
    from treebp.data.conll import write_conll
    from treebp.data.embedded import embedded_treebank
    from treebp.data.evaluation import evaluate
    from treebp.data.files import write_text
    from treebp.drawing.demo_page import Row, demo_page, score_plot, score_table
    from treebp.drawing.terminal import tree_text
    from treebp.kernels.tree_group import send_trees
    from treebp.parsing.config import Config
    from treebp.pipeline import load

    output.mkdir(parents=True, exist_ok=True)
    check_files(outputs=[output / name for name in _FILES], force=force)
    console = new_console(stderr=json, soft_wrap=False)
    announce_compilation(console, send_trees)
    console.print("Plain English, parsed by the model that comes with treebp:\n")
    for sentence in load("en")(_ENGLISH):
        console.print(f"{tree_text(sentence.parse)}\n")
    console.print(_INTENT + "\n")
    train, dev, test = embedded_treebank("train")[:SENTENCES], embedded_treebank("dev"), embedded_treebank("test")
    for name, sentences in (("train", train), ("dev", dev), ("test", test)):
        write_conll(output / f"{name}.conllu", sentences)

    config = replace(Config().override(SETTINGS), seed=seed)
    parsers, rows = [], []
    with WordsBar(console) as bar:
        for training in ("CLL", "L2"):
            for iterations in (1, 2, 4):
                settings = (f"objective={training.lower()}", f"iterations={iterations}")
                began = perf_counter()
                parser = _trained(config.override(settings), train, dev, bar)
                seconds = perf_counter() - began
                scores = evaluate(test, (parse.to_sentence() for parse in parser.parse(test)), punctuation="unicode")
                rows.append(Row(training, iterations, scores.uas, scores.las, seconds))
                parsers.append(parser)
    console.print(score_table(rows))
    if json:
        typer.echo(dumps([asdict(row) for row in rows], indent=2))

    # The test sentences must not choose the model.
    best = max(parsers, key=lambda parser: max(report.dev_uas for report in parser.reports))
    model = output / "demo.model"
    best.save(model)
    parses = [parse for parse in best.parse(test) if 10 <= len(parse.sentence) <= 14][:3]
    console.print(
        f"\nThe best on development sentences, {best.config.objective.upper()} with "
        f"{best.config.iterations} iterations, at work:\n"
    )
    for parse in parses:
        right = sum(parse.heads == parse.sentence.heads)
        console.print(f"  {' '.join(parse.sentence.forms)}")
        console.print(
            f"    {right} of {len(parse.heads)} heads are right; expected {sum(parse.head_probabilities):.1f}"
        )
    tree = tree_text(parses[0])
    console.print(f"\n{tree}\n")

    plot, report = output / "accuracy.svg", output / "index.html"
    commands = _next_commands(output, model)
    for path, text in ((plot, score_plot(rows)), (report, demo_page(_INTENT, rows, tree, commands))):
        write_text(path, text)
    console.print(f"In {output}: index.html (this report), accuracy.svg, demo.model, and the treebank.\nNext:")
    for command in commands:
        console.print(f"  {command}", soft_wrap=True)


def _trained(config: "Config", train: "list[Sentence]", dev: "list[Sentence]", bar: "WordsBar") -> "Parser":
    from treebp.training import Progress, fit

    def start(what: str, words: int) -> None:
        bar.start(f"{config.objective.upper()}, iterations: {config.iterations}, {what}", words)

    return fit(train, dev, config, progress=Progress(start, bar.advance))


def _next_commands(folder: Path, model: Path) -> list[str]:
    test, parsed = folder / "test.conllu", folder / "parsed.conllu"
    own = ["train", folder / "train.conllu", "--dev", folder / "dev.conllu", "-o", folder / "my.model"]
    commands = [["parse", model, test, "-o", parsed, "--marginals"], ["evaluate", test, parsed], own]
    return [shlex.join(["treebp", *map(str, command)]) for command in commands]
