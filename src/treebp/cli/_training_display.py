"""How ``treebp train`` shows and logs its epochs."""

from dataclasses import asdict
from json import dumps
from pathlib import Path

import typer
from rich.console import Console

from treebp.cli._progress import WordsBar
from treebp.data.files import naming
from treebp.parsing.reports import EpochReport
from treebp.training.progress import Progress

_COLUMNS = "{:>5}  {:<9}  {:<9}  {:>10}  {:>7}  {:>7}  {:>8}  {:>8}  {}"
_TITLES = ("epoch", "objective", "tags", "value", "dev UAS", "dev LAS", "words/s", "rate", "")


class TrainingDisplay:
    """A line per epoch, above a live bar if there is a terminal, and a JSON line per epoch in a file.

    A run that is resumed reports its earlier epochs again, so the file is begun anew and always holds one whole run.
    Without labels there is no LAS to show.
    """

    def __init__(self, console: Console, bar: WordsBar, log: Path, *, labels: bool = True, json: bool = False) -> None:
        self._console = console
        self._log = log
        self._labels = labels
        self._json = json
        self._begun = False
        self.progress = Progress(bar.start, bar.advance, self._epoch)

    def _epoch(self, report: EpochReport) -> None:
        line = dumps(asdict(report))
        if self._json:
            typer.echo(line)
        elif not self._begun:
            self._console.print(_COLUMNS.format(*_TITLES).rstrip(), style="bold")
        with naming(self._log), open(self._log, "a" if self._begun else "w", encoding="utf-8") as log:
            log.write(line + "\n")
        self._begun = True
        if self._json:
            return
        row = _COLUMNS.format(
            report.epoch,
            report.objective,
            report.tags,
            f"{report.value:.4f}",
            f"{report.dev_uas:.2f}",
            f"{report.dev_las:.2f}" if self._labels else "-",
            f"{report.words_per_second:,.0f}" if report.words_per_second else "-",
            f"{report.rate:.4g}" if report.rate else "-",
            "best" if report.best else "",
        )
        self._console.print(row.rstrip(), style="green" if report.best else "")
