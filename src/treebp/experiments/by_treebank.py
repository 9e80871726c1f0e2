"""A row for each treebank, pairs of columns for a baseline and what another setting gains: the paper's Table 2."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from treebp.drawing.heat_table import Shade, heat_table
from treebp.experiments.cells import Result
from treebp.experiments.summary import (
    MISSING,
    Settings,
    Spread,
    average,
    difference,
    difference_text,
    markdown_table,
    score_text,
    select,
    signed,
    spread,
)

_FULL = 2.0  # points of UAS that have the strongest colour


@dataclass(frozen=True)
class _Row:
    name: str
    trait: float | None
    pairs: Sequence[tuple[Spread | None, Spread | None]]  # the baseline's score, and the other's difference from it


@dataclass(frozen=True)
class ByTreebank:
    """What to tabulate.

    Attributes:
        names: what the baseline and the other are called.
        pairs: for each pair of columns its name, and the settings of the baseline and of the other.
        trait: a first column of numbers: its name, and how to get it from a result; None for none.
        published: results of others to put below a treebank: by its code, and by pair of columns.

    """

    names: tuple[str, str]
    pairs: Mapping[str, tuple[Settings, Settings]]
    trait: tuple[str, Callable[[Result], float]] | None = None
    published: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    test_iterations: tuple[int, ...] = ()

    @property
    def variants(self) -> list[Settings]:
        """The settings of all the cells that this needs."""
        return [settings for pair in self.pairs.values() for settings in pair]

    def markdown(self, results: Sequence[Result], treebanks: Sequence[str]) -> str:
        """The table of test scores, with averages at its foot."""
        heads = ["treebank", *self._heads()]
        rows = [
            [
                row.name,
                *self._trait_text(row),
                *(text for score, change in row.pairs for text in (score_text(score), difference_text(change))),
            ]
            for row in self._rows(results, treebanks)
        ]
        return f"Test UAS:\n\n{markdown_table(heads, rows)}"

    def svg(self, results: Sequence[Result], treebanks: Sequence[str]) -> str:
        """The same table, the differences coloured; a star marks those whose interval does not hold zero."""
        rows = []
        for row in self._rows(results, treebanks):
            shades = [Shade(text) for text in self._trait_text(row)]
            for score, change in row.pairs:
                shades.append(Shade(f"{score.mean:.2f}" if score else MISSING))
                star = "*" if change and change.sure else ""
                shades.append(Shade(signed(change.mean) + star, change.mean) if change else Shade(MISSING))
            rows.append((row.name, shades))
        return heat_table(self._heads(), rows, title="Test UAS", full=_FULL)

    def _heads(self) -> list[str]:
        baseline, other = self.names
        heads = [self.trait[0]] if self.trait else []
        for name in self.pairs:
            heads += [f"{name} {baseline}".strip(), f"{other} − {baseline}"]
        return heads

    def _trait_text(self, row: _Row) -> list[str]:
        if self.trait is None:
            return []
        return [f"{row.trait:.2f}" if row.trait is not None else ""]

    def _rows(self, results: Sequence[Result], treebanks: Sequence[str]) -> Iterator[_Row]:
        rows = [self._row(results, treebank) for treebank in treebanks]
        for row in rows:
            yield row
            if row.name in self.published:
                published = self.published[row.name]
                pairs = [_fixed(published[name]) if name in published else (None, None) for name in self.pairs]
                yield _Row(f"{row.name} (the paper)", None, pairs)
        foot: list[tuple[Spread | None, Spread | None]] = []
        for column in range(len(self.pairs)):
            # Only treebanks that have both: else the two averages would not be about the same.
            both = [(score, change) for row in rows for score, change in [row.pairs[column]] if score and change]
            mean = average([score for score, _ in both])
            foot.append((mean and Spread(mean.mean, mean.mean, mean.mean), average([change for _, change in both])))
        yield _Row("average", None, foot)

    def _row(self, results: Sequence[Result], treebank: str) -> _Row:
        pairs = []
        for settings, other_settings in self.pairs.values():
            baseline, other = select(results, treebank, settings), select(results, treebank, other_settings)
            pairs.append((spread([result.test_uas for result in baseline]), difference(other, baseline)))
        trait = None
        if self.trait and (own := select(results, treebank, {})):
            trait = self.trait[1](own[0])
        return _Row(treebank, trait, pairs)


def _fixed(pair: tuple[float, float]) -> tuple[Spread, Spread]:
    """Two published scores as a score and a difference, of which no interval is known."""
    score, other = pair
    change = other - score
    return Spread(score, score, score), Spread(change, change, change)
