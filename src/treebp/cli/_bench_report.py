"""How ``treebp bench`` shows a run, and the pictures that it draws."""

from rich.console import Console
from rich.table import Column, Table

from treebp.benchmarks import Comparison, Measurement, Run, compare
from treebp.benchmarks.measurement import growth_exponent
from treebp.drawing.timings import Timing, growth_picture, stages_picture


def print_facts(console: Console, run: Run) -> None:
    """Print what was measured on which machine."""
    facts = (
        f"{value if name in ('processor', 'system') else f'{name} {value}'}"
        for name, value in run.machine.items()
        if value
    )
    console.print(f"{run.workload}; {', '.join(facts)}")


def print_group(console: Console, name: str, measurements: list[Measurement]) -> None:
    """Print the figures of one benchmark."""
    table = Table(name, *(Column(title, justify="right") for title in ("median", "quartiles", "unit")))
    for one in measurements:
        low, high = one.quartiles
        table.add_row(one.name, _number(one.median), f"{_number(low)} - {_number(high)}", one.unit)
    console.print(table if measurements else f"{name}: nothing to measure with this model on this system")


def print_comparison(console: Console, new: Run, old: Run) -> None:
    """Print the ratios of two runs, and which of them are beyond the spread."""
    numbers = (Column(title, justify="right") for title in ("old", "new", "new / old"))
    table = Table("benchmark", "figure", *numbers, "unit", "")
    for pair in compare(new, old):
        table.add_row(pair.new.group, pair.new.name, *_cells(pair), pair.new.unit, pair.verdict)
    console.print(table)
    changed = {name: (old.machine.get(name), new.machine.get(name)) for name in old.machine | new.machine}
    for name, (before, after) in changed.items():
        if before != after:
            console.print(f"{name}: {before} before, {after} now")
    if old.workload != new.workload:
        console.print(f"not the same work: {old.workload} before, {new.workload} now")


def pictures(run: Run) -> tuple[str, str]:
    """The pictures of stages and of growth, as SVG; "" where the run has no figures for one."""
    stages, growth = run.of("stages"), [one for one in run.of("growth") if one.name.endswith(" words")]
    lengths = [int(one.name.split()[0]) for one in growth]
    exponent = growth_exponent(lengths, [one.median for one in growth]) if growth else 0.0
    return (
        stages_picture(_timings(stages)) if stages else "",
        growth_picture(lengths, _timings(growth), exponent) if growth else "",
    )


def _timings(measurements: list[Measurement]) -> list[Timing]:
    return [Timing(one.name, one.median, one.quartiles) for one in measurements]


def _cells(pair: Comparison) -> tuple[str, str, str]:
    return _number(pair.old.median), _number(pair.new.median), f"{pair.ratio:.2f}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
