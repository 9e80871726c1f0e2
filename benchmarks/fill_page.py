"""Put the figures of benchmarks/results into the tables of docs/performance.md.

A table stands between ``<!-- peers.json trees -->`` (a file and its table) or ``<!-- bench.json parsing threads -->``
(a file of ``treebp bench`` and its groups) and ``<!-- end -->``. What has no file stays as it is.

    python benchmarks/fill_page.py
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from peers import TABLES

from treebp.benchmarks import Run

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "benchmarks" / "results", ROOT / "docs" / "performance.md"
TABLE = re.compile(r"(<!-- (\S+\.json) ([^>]*) -->\n).*?(<!-- end -->)", flags=re.DOTALL)


def run_table(run: Run, groups: list[str]) -> Iterator[str]:
    yield "| | figure | median | quartiles | |"
    yield "| --- | --- | ---: | ---: | --- |"
    for group in groups:
        for one in run.of(group):
            numbers = [f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in (one.median, *one.quartiles)]
            yield f"| {group} | {one.name} | {numbers[0]} | {numbers[1]} - {numbers[2]} | {one.unit} |"


def filled(match: re.Match[str]) -> str:
    opening, name, what, closing = match.groups()
    path = RESULTS / name
    if not path.exists():
        return match[0]
    if name in ("peers.json", "graphs.json"):
        lines = list(TABLES[what](json.loads(path.read_text(encoding="utf-8"))))
    else:
        run = Run.load(path)
        machine = ", ".join(f"{key} {value}" for key, value in run.machine.items() if value)
        lines = [*run_table(run, what.split()), "", f"{run.workload}; {machine}."]
    return "\n".join([opening, *lines, "", closing])


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(filled, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
