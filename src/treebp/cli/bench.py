"""``treebp bench``: how fast it is, and whether that has changed."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from treebp.cli._files import check_files


class Benchmark(str, Enum):
    """The benchmarks, as ``treebp.benchmarks`` names them."""

    trees = "trees"
    stages = "stages"
    propagation = "propagation"
    growth = "growth"
    parsing = "parsing"
    threads = "threads"
    training = "training"
    start_up = "start-up"
    memory = "memory"
    gpu = "gpu"


_PICTURES = ("stages", "growth")


def bench(
    names: Annotated[
        list[Benchmark] | None,
        typer.Argument(metavar="[NAME]...", help=f"All, or some of {', '.join(one.value for one in Benchmark)}."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="By default a small one is trained on an embedded treebank.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="FILE", help="Sentences for the model to parse, with heads to train on.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="RUN.JSON", help="Write all figures there, and pictures beside it."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="OLD.JSON", help="An earlier run, to compare this one with.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny sizes, to see that all works.")] = False,
    repeats: Annotated[int | None, typer.Option(min=1, help="How often everything is measured.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print all figures as JSON; tables go to stderr.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file.")] = False,
) -> None:
    """Measure speed and memory: median and quartiles of CPU time, or of wall time for threads and start-up.

    For figures that can be trusted, let the machine do nothing else.

    Example: treebp bench trees parsing --quick -o run.json
    """
    if (model is None) != (data is None):
        raise typer.BadParameter("give a model and the sentences for it to parse, or neither.", param_hint="--model")
    outputs = [] if output is None else [output, *(output.with_name(f"{output.stem}-{what}.svg") for what in _PICTURES)]
    check_files(inputs=[model, data, against], outputs=outputs, force=force)

    from dataclasses import replace

    from treebp.benchmarks import FULL, QUICK, Run, Workload, measure_groups
    from treebp.cli._bench_report import pictures, print_comparison, print_facts, print_group
    from treebp.cli._terminal import console as new_console
    from treebp.data.conll import read_conll
    from treebp.data.files import write_text
    from treebp.parsing.parser import Parser

    console = new_console(stderr=json, soft_wrap=False)
    old = Run.load(against) if against else None
    sizes = QUICK if quick else FULL
    sizes = replace(sizes, repeats=repeats or sizes.repeats)
    if model is not None and data is not None:
        sentences = [sentence for sentence in read_conll(data, require_heads=True) if len(sentence)]
        workload = Workload(Path(data).name, Parser.load(model), sentences, sizes)
    else:
        workload = Workload.small(sizes)
    run = Run(workload.name, [])
    print_facts(console, run)
    for name, measurements in measure_groups((one.value for one in names or Benchmark), workload):
        print_group(console, name, measurements)
        run.measurements.extend(measurements)
    for path, text in zip(outputs, (run.to_json(), *pictures(run)), strict=False):
        if text:
            write_text(path, text)
            console.print(f"written: {path}", soft_wrap=True)
    if old is not None:
        print_comparison(console, run, old)
    if json:
        typer.echo(run.to_json())
