"""What an experiment leaves beside its results: tables in Markdown, a CSV file, and a picture."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from treebp.data.files import write_text
from treebp.experiments.cells import Result
from treebp.experiments.plans import Plan, own_settings
from treebp.parsing.config import Config

_NOTES = """\
UAS in per cent, without words that are all Unicode punctuation; epochs are chosen on development data, and the test set
is scored once. Where there are several seeds, scores are their means, with their range in parentheses. Differences have
95 % confidence intervals by paired bootstrap over test sentences (averages over treebanks: over those), and are bold
where the interval does not hold zero. Each line of `{name}.jsonl` is a training run with all its settings and counts;
`{name}.csv` is the same without the counts per sentence.
"""


ENDINGS = ("md", "csv", "svg")


def write_reports(plan: Plan, folder: Path) -> list[Path]:
    """Write the reports on the results there are so far, and return their paths; none if there are no results."""
    results = plan.results(folder)
    if not results:
        return []
    treebanks = list(plan.treebanks)
    texts = markdown(plan, results), table(results), plan.figure.svg(results, treebanks)
    paths = []
    for ending, text in zip(ENDINGS, texts, strict=True):
        paths.append(plan.path(folder, ending))
        write_text(paths[-1], text)
    return paths


def markdown(plan: Plan, results: Sequence[Result]) -> str:
    """The tables, and from which runs they come."""
    cells = plan.cells
    seeds = sorted({cell.config.seed for cell in cells})
    missing = len(cells) - len(results)
    limit = cells[0].max_train
    facts = [
        f"training runs: {len(results)}" + (f", and {missing} that are missing (–)" if missing else ""),
        f"treebanks: {', '.join(plan.treebanks)}",
        f"seeds: {', '.join(map(str, seeds))}",
        f"training sentences: {f'the first {limit:,}' if limit else 'all'}",
        f"settings: {', '.join(f'{key} = {value}' for key, value in own_settings(cells).items()) or 'the defaults'}",
        f"program: {', '.join(sorted({result.version for result in results}))}",
        f"processor time of training: {sum(result.training_seconds for result in results) / 60:,.0f} minutes",
    ]
    return "\n".join(
        [
            f"# {plan.experiment.title} (`{plan.name}`)\n",
            "".join(f"- {fact}\n" for fact in facts),
            _NOTES.format(name=plan.name),
            f"![{plan.experiment.title}]({plan.name}.svg)\n",
            plan.figure.markdown(results, list(plan.treebanks)),
        ]
    )


def table(results: Sequence[Result]) -> str:
    """A row of CSV for each training run, or for each number of iterations it was tested with."""
    rows: list[dict[str, Any]] = []
    for result in results:
        line = result.to_json()
        points = line.pop("curve", [{}])
        row = {key: value for key, value in line.items() if key not in ("words", "wrong")}
        row["factors"] = "+".join(row["factors"])
        rows += [row | {f"test_time_{key}": value for key, value in point.items()} for point in points]
    text = io.StringIO()
    usual = asdict(Config())  # lines leave out what is as usual
    names = dict.fromkeys(name for row in rows for name in row)
    rows = [{name: row[name] if name in row else usual[name] for name in names} for row in rows]
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
