"""``treebp experiment``: the paper's figures and tables on the user's treebanks."""

import os
from enum import Enum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treebp.cli._errors import complain
from treebp.cli._files import check_files, sole_writer

if TYPE_CHECKING:
    from treebp.experiments import Plan


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
    networks = "networks"


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
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on this Ray cluster; local for processes of this machine."),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all results as JSON lines; all else to stderr.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace tables that are not of an earlier run.")] = False,
) -> None:
    """Run an experiment of the paper, and leave tables, a CSV file and a plot.

    Every finished training run is a line in DIR/NAME.jsonl: the same command continues where it was interrupted.

    Example: treebp experiment figure3 --quick -o results
    """
    # Slow to load, so only when all is well so far.
    from treebp.experiments import ENDINGS, make_plan

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
    results, *reports = (plan.path(output, ending) for ending in ("jsonl", *ENDINGS))
    check_files(outputs=[results], force=True)  # it is added to
    with sole_writer(results):
        # Beside results of an earlier run, the tables are those of that run, to be brought up to date.
        check_files(outputs=reports, force=force or bool(plan.results(output)))
        _run(plan, output, jobs, ray, json=json)


def _run(plan: "Plan", output: Path, jobs: int | None, ray: str | None, *, json: bool) -> None:
    from treebp.cli._experiment_display import ExperimentDisplay
    from treebp.cli._progress import announce_compilation
    from treebp.cli._terminal import console as new_console
    from treebp.experiments import append_results, run_cells, run_cells_on_cluster, write_reports
    from treebp.kernels.tree_group import send_trees

    missing = plan.missing(output)
    console = new_console(stderr=json)
    console.print(f"{len(plan.cells)} training runs, {len(plan.cells) - len(missing)} of them done already")
    if missing:
        announce_compilation(console, send_trees)
    with ExperimentDisplay(console, len(missing)) as display:
        if ray is None:
            all_news = run_cells(plan.name, missing, plan.treebanks, jobs=jobs or os.cpu_count() or 1)
        else:
            all_news = run_cells_on_cluster(plan.name, missing, plan.treebanks, address=ray, jobs=jobs)
        for news in all_news:
            if news.result:
                append_results(plan.path(output, "jsonl"), [news.result])
            display.show(news)
    for path in write_reports(plan, output):
        console.print(f"written: {path}")
    for result in plan.results(output) if json else ():
        typer.echo(dumps(result.to_json(), ensure_ascii=False))
    if display.failures:
        for news in display.failures:
            complain(f"failed: {news.cell}: {news.failure}")
        raise typer.Exit(1)
