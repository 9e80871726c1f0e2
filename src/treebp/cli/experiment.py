"""``treebp experiment``: the paper's figures and tables on the user's treebanks."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Name(str, Enum):
    """The experiments, as ``treebp.experiments.designs`` names them."""

    figure3 = "figure3"
    figure4 = "figure4"
    table1 = "table1"
    table2 = "table2"
    nonprojective = "nonprojective"
    predicted_tags = "predicted-tags"
    ar_alone = "ar-alone"
    convergence = "convergence"


def experiment(
    name: Annotated[Name, typer.Argument(metavar="NAME", help=f"One of {', '.join(name.value for name in Name)}.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the results.")],
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with files CODE.train.conllu, also .conll or .xz; else: embedded."),
    ] = None,
    treebanks: Annotated[str, typer.Option(metavar="CODE,...", help="Which treebanks; else the paper's.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Few sentences, epochs and iterations.")] = False,
    max_train: Annotated[int | None, typer.Option(min=2, help="Use so many training sentences at most.")] = None,
    seeds: Annotated[str, typer.Option(metavar="N,...", help="Run everything with each of these seeds.")] = "1",
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; by default one per core.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated.")
    ] = None,
) -> None:
    """Run an experiment of the paper, and leave tables, a CSV file and a plot.

    Every finished training run is a line in DIR/NAME.jsonl: the same command continues where it was interrupted.

    Example: treebp experiment figure3 --quick -o results
    """
    # Slow to load, so only when all is well so far.
    import os

    from rich.console import Console

    from treebp.cli._experiment_display import ExperimentDisplay
    from treebp.cli._progress import announce_compilation
    from treebp.experiments import append_results, make_plan, run_cells, write_reports
    from treebp.kernels.tree_group import send_trees

    try:
        plan = make_plan(
            name.value,
            data=data,
            codes=[code.strip() for code in treebanks.split(",") if code.strip()],
            quick=quick,
            max_train=max_train,
            seeds=[int(seed) for seed in seeds.split(",")],
            settings=settings or [],
        )
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from None
    output.mkdir(parents=True, exist_ok=True)
    missing = plan.missing(output)
    console = Console(markup=False, highlight=False, soft_wrap=True)
    console.print(f"{len(plan.cells)} training runs, {len(plan.cells) - len(missing)} of them done already")
    if missing:
        announce_compilation(console, send_trees)
    with ExperimentDisplay(console, len(missing)) as display:
        for news in run_cells(plan.name, missing, plan.treebanks, jobs=jobs or os.cpu_count() or 1):
            if news.result:
                append_results(plan.path(output, "jsonl"), [news.result])
            display.show(news)
    for path in write_reports(plan, output):
        console.print(f"written: {path}")
    if display.failures:
        for news in display.failures:
            typer.echo(f"treebp: failed: {news.cell}: {news.failure}", err=True)
        raise typer.Exit(1)
