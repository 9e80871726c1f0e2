"""Accuracy and residuals against the iterations at test time, a line for each parser trained with T of them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from treebp.drawing.line_plot import line_plot, stacked
from treebp.experiments.cells import CurvePoint, Result
from treebp.experiments.summary import MISSING, Settings, Spread, markdown_table, score_text, select, spread

_Measure = Callable[[CurvePoint], float | None]


@dataclass(frozen=True)
class Convergence:
    """What to draw.

    Attributes:
        series: the parsers, by name.
        test_iterations: the numbers of iterations to parse with.

    """

    series: Mapping[str, Settings]
    test_iterations: tuple[int, ...]

    @property
    def variants(self) -> list[Settings]:
        """The settings of all the cells that this needs."""
        return list(self.series.values())

    def markdown(self, results: Sequence[Result], treebanks: Sequence[str]) -> str:
        """Tables of scores, of mean residuals, and of the share of sentences that have converged."""
        measures: dict[str, tuple[_Measure, Callable[[Spread | None], str]]] = {
            "Test UAS": (lambda point: point.test_uas, score_text),
            "Development UAS": (lambda point: point.dev_uas, score_text),
            "Mean over test sentences of the largest change of a belief in the last iteration": (
                lambda point: point.residual,
                lambda value: f"{value.mean:.2g}" if value else MISSING,
            ),
            "Test sentences in which the last iteration changed no belief by more than 0.001, in per cent": (
                lambda point: point.converged,
                lambda value: f"{value.mean:.1f}" if value else MISSING,
            ),
        }
        parts = []
        for treebank in treebanks:
            parts.append(f"## {treebank}\n")
            for title, (measure, text) in measures.items():
                columns = [self._column(results, treebank, name, measure) for name in self.series]
                rows = [
                    [str(iterations), *map(text, values)]
                    for iterations, *values in zip(self.test_iterations, *columns, strict=True)
                ]
                parts.append(f"{title}:\n\n{markdown_table(['iterations at test time', *self.series], rows)}")
        return "\n".join(parts)

    def svg(self, results: Sequence[Result], treebanks: Sequence[str]) -> str:
        """For each treebank a plot of test scores and one of residuals."""
        plots = []
        for treebank in treebanks:
            for up, measure in (
                ("test UAS", lambda point: point.test_uas),
                ("log₁₀ of mean residual", lambda point: math.log10(point.residual) if point.residual else None),
            ):
                lines = {
                    name: [value.mean if value else None for value in self._column(results, treebank, name, measure)]
                    for name in self.series
                }
                if any(value is not None for line in lines.values() for value in line):
                    across = "iterations at test time"
                    plots.append(line_plot(self.test_iterations, lines, across=across, up=up, title=treebank))
        return stacked(plots)

    def _column(self, results: Sequence[Result], treebank: str, name: str, measure: _Measure) -> list[Spread | None]:
        """A measure of a parser for each number of iterations, over the seeds."""
        curves = [result.curve for result in select(results, treebank, self.series[name])]
        by_iterations = zip(*curves, strict=True)
        values = [[value for point in points if (value := measure(point)) is not None] for points in by_iterations]
        return [spread(of_seeds) for of_seeds in values] or [None] * len(self.test_iterations)
