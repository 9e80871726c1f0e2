"""Running a cell: train a parser, choose its epoch on development data, score it once on the test set."""

import subprocess
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import process_time

import numpy as np

import treebp
from treebp.data.evaluation import Evaluation, evaluate
from treebp.data.projectivity import nonprojective_arcs
from treebp.data.sentence import Sentence
from treebp.experiments.cells import Cell, CurvePoint, Result
from treebp.experiments.treebanks import Treebank
from treebp.parsing.parse import Parse
from treebp.parsing.parser import Parser
from treebp.parsing.reports import EpochReport
from treebp.training import Prepared, Progress, fit, prepare


class Runner:
    """Runs cells on one thread, and keeps what the cells of a group share for the next one."""

    def __init__(self) -> None:
        self._shared: _Shared | None = None

    def run(self, experiment: str, cell: Cell, treebank: Treebank, tell: Callable[[str], None]) -> Result:
        """Train and score; ``tell`` hears of every epoch."""
        if self._shared is None or self._shared.group != cell.group:
            tell("pruning")
            self._shared = None  # the old one's memory is needed now
            self._shared = _Shared(cell, treebank)
        shared = self._shared

        def epoch(report: EpochReport) -> None:
            tell(f"{report.objective} epoch {report.epoch}, dev UAS {report.dev_uas:.2f}")

        began = process_time()
        parser = fit(config=cell.config, prepared=shared.prepared, threads=1, progress=Progress(epoch=epoch))
        seconds = process_time() - began
        scores, _ = _scored(parser, shared.test)
        return Result(
            experiment=experiment,
            cell=cell,
            dev_uas=round(max(report.dev_uas for report in parser.reports), 3),
            test_las=round(scores.las, 3) if cell.config.labels else None,
            words=scores.words.tolist(),
            wrong=(scores.words - scores.correct_heads).tolist(),
            nonprojective=round(shared.nonprojective, 3),
            training_seconds=round(seconds, 1),
            preparation_seconds=round(shared.seconds, 1),
            version=program_version(),
            curve=[
                _curve_point(parser.with_iterations(iterations), shared.prepared.dev, shared.test)
                for iterations in cell.test_iterations
            ],
        )


class _Shared:
    """What the cells of a group share: the pruned training and development sentences, and the test sentences."""

    def __init__(self, cell: Cell, treebank: Treebank) -> None:
        train, dev = treebank.read("train")[: cell.max_train], treebank.read("dev")
        self.group = cell.group
        self.test = treebank.read("test")
        crossing = np.concatenate([nonprojective_arcs(sentence.heads) for sentence in train])
        self.nonprojective = 100.0 * float(crossing.mean())
        began = process_time()
        self.prepared: Prepared = prepare(train, dev or None, cell.config, threads=1)
        self.seconds = process_time() - began


def _curve_point(parser: Parser, dev: list[Sentence], test: list[Sentence]) -> CurvePoint:
    scores, parses = _scored(parser, test)
    residual = float(np.mean([parse.residual for parse in parses]))
    return CurvePoint(
        iterations=parser.config.iterations,
        dev_uas=round(_scored(parser, dev)[0].uas, 3),
        test_uas=round(scores.uas, 3),
        residual=float(f"{residual:.3g}") if np.isfinite(residual) else None,
        converged=round(100.0 * float(np.mean([parse.converged for parse in parses])), 2),
    )


def _scored(parser: Parser, test: list[Sentence]) -> tuple[Evaluation, list[Parse]]:
    parses = list(parser.parse(test, threads=1))
    return evaluate(test, (parse.to_sentence() for parse in parses), punctuation="unicode"), parses


@cache
def program_version() -> str:
    """The commit of the checkout that this package runs from, "-dirty" if changed since; or else its version.

    Example:
        >>> len(program_version()) > 4
        True

    """
    package = Path(treebp.__file__)

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(package.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", package.name)  # the repository around may be someone else's
        return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return version("treebp")
