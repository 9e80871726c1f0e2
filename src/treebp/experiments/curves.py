"""Accuracy against one setting, a line for each kind of training: the paper's Figures 3 and 4 and Table 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treebp.drawing.line_plot import line_plot, stacked
from treebp.experiments.cells import Result
from treebp.experiments.summary import (
    Settings,
    Spread,
    difference,
    difference_text,
    markdown_table,
    score_text,
    select,
    spread,
)


@dataclass(frozen=True)
class Curves:
    """What to draw.

    Attributes:
        across: title of the horizontal axis.
        points: what stands on it, by name.
        series: the lines, by name; the first one is the baseline.
        comparisons: pairs of (line, point) to compare besides.

    """

    across: str
    points: Mapping[str, Settings]
    series: Mapping[str, Settings]
    comparisons: Sequence[tuple[tuple[str, str], tuple[str, str]]] = ()
    test_iterations: tuple[int, ...] = ()

    @property
    def variants(self) -> list[Settings]:
        """The settings of all the cells that this needs."""
        return [{**point, **line} for point in self.points.values() for line in self.series.values()]

    def markdown(self, results: Sequence[Result], treebanks: Sequence[str]) -> str:
        """Tables of test scores, of differences from the baseline, and of development scores."""
        return "\n".join(self._tables(results, treebank) for treebank in treebanks)

    def svg(self, results: Sequence[Result], treebanks: Sequence[str]) -> str:
        """A plot of test scores for each treebank; bars show the range of the seeds."""
        plots = []
        for treebank in treebanks:
            lines: dict[str, list[float | None]] = {}
            ranges: dict[str, list[tuple[float, float] | None]] = {}
            for name in self.series:
                scores = [self._score(results, treebank, name, point) for point in self.points]
                lines[name] = [score.mean if score else None for score in scores]
                if any(score and score.low < score.high for score in scores):
                    ranges[name] = [(score.low, score.high) if score else None for score in scores]
            if any(value is not None for line in lines.values() for value in line):
                plot = line_plot(
                    list(self.points), lines, across=self.across, up="test UAS", title=treebank, ranges=ranges
                )
                plots.append(plot)
        return stacked(plots)

    def _tables(self, results: Sequence[Result], treebank: str) -> str:
        baseline, *others = self.series
        test, dev = [], []
        for point in self.points:
            scores = [self._score(results, treebank, name, point) for name in self.series]
            changes = [self._difference(results, treebank, (name, point), (baseline, point)) for name in others]
            test.append([point, *map(score_text, scores), *map(difference_text, changes)])
            dev.append([point, *(score_text(self._dev(results, treebank, name, point)) for name in self.series)])
        heads = [self.across, *self.series, *(f"{name} − {baseline}" for name in others)]
        parts = [
            f"## {treebank}\n\nTest UAS:\n\n{markdown_table(heads, test)}",
            "".join(
                f"- {one} ({self.across}: {here}) − {other} ({self.across}: {there}): "
                f"{difference_text(self._difference(results, treebank, (one, here), (other, there)))}\n"
                for (one, here), (other, there) in self.comparisons
            ),
            f"Development UAS:\n\n{markdown_table([self.across, *self.series], dev)}",
        ]
        return "\n".join(part for part in parts if part)

    def _results(self, results: Sequence[Result], treebank: str, line: str, point: str) -> list[Result]:
        return select(results, treebank, {**self.points[point], **self.series[line]})

    def _score(self, results: Sequence[Result], treebank: str, line: str, point: str) -> Spread | None:
        return spread([result.test_uas for result in self._results(results, treebank, line, point)])

    def _dev(self, results: Sequence[Result], treebank: str, line: str, point: str) -> Spread | None:
        return spread([result.dev_uas for result in self._results(results, treebank, line, point)])

    def _difference(
        self, results: Sequence[Result], treebank: str, one: tuple[str, str], other: tuple[str, str]
    ) -> Spread | None:
        return difference(self._results(results, treebank, *one), self._results(results, treebank, *other))
