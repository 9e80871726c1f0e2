"""From an experiment's name and a user's wishes to the cells that have to be run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from treebp.experiments.cells import VARIED, Cell, Result
from treebp.experiments.designs import EXPERIMENTS, QUICK_SENTENCES, QUICK_SETTINGS, Experiment, Figure
from treebp.experiments.results_file import append_results, read_results
from treebp.experiments.treebanks import Treebank, codes_in, find_treebanks
from treebp.parsing.config import Config


@dataclass(frozen=True)
class Plan:
    """An experiment made definite: the figure to draw, the cells it needs, and their treebanks by code.

    Example:
        >>> plan = make_plan("table1", quick=True, seeds=[1, 2])
        >>> len(plan.cells), str(plan.cells[0])
        (8, 'embedded, seed 1, cll, grandparent, 4 iterations')

    """

    name: str
    experiment: Experiment
    figure: Figure
    cells: list[Cell]
    treebanks: dict[str, Treebank]

    def path(self, folder: Path, ending: str) -> Path:
        """A file of this experiment in the folder of results."""
        return folder / f"{self.name}.{ending}"

    def results(self, folder: Path) -> list[Result]:
        """The results that are there, in the order of the cells."""
        there = read_results(self.path(folder, "jsonl"))
        return [there[cell] for cell in self.cells if cell in there]

    def missing(self, folder: Path) -> list[Cell]:
        """The cells without a result.

        Results of the same cells for another experiment in the same folder are taken over.

        Raises:
            ValueError: with file and line, if the experiment's own file is not one of results.

        """
        own = self.path(folder, "jsonl")
        done = read_results(own)
        for path in sorted(folder.glob("*.jsonl")):
            if path != own:
                try:
                    others = read_results(path)
                except ValueError:
                    continue  # something else of the user's
                shared = [others[cell] for cell in self.cells if cell in others and cell not in done]
                append_results(own, shared)
                done |= {result.cell: result for result in shared}
        return [cell for cell in self.cells if cell not in done]


def make_plan(
    name: str,
    *,
    data: Path | None = None,
    codes: Sequence[str] = (),
    quick: bool = False,
    max_train: int | None = None,
    seeds: Sequence[int] = (1,),
    settings: Sequence[str] = (),
) -> Plan:
    """Lay out an experiment.

    Args:
        name: of the experiment.
        data: the folder with the treebanks' files; None for the embedded treebank.
        codes: of the treebanks; by default those that the experiment is usually run on, as far as they are there.
        quick: take few iterations, sentences and epochs.
        max_train: how many training sentences to use at most.
        seeds: each cell is run with each of them.
        settings: changes to the configuration, as ``key=value``.

    Raises:
        ValueError: if a setting is wrong or one that the experiment itself varies, or a treebank is unknown.
        FileNotFoundError: if a treebank's file is missing.

    """
    experiment = EXPERIMENTS[name]
    figure = experiment.figure(quick)
    for setting in settings:
        key = setting.partition("=")[0].strip()
        if key == "seed" or any(key in variant for variant in figure.variants):
            raise ValueError(f"{key} cannot be set: the experiment runs with several of it")
    # Labels cost time, and what is looked at here are the heads; all treebanks get the same kind of trees.
    base = Config(labels=False, tree="projective").override(QUICK_SETTINGS if quick else ()).override(settings)
    if not codes:
        codes = experiment.embedded
        if data is not None:
            found = codes_in(data)
            codes = [code for code in experiment.treebanks if code in found] or experiment.treebanks[:1]
    treebanks = find_treebanks(data, list(dict.fromkeys(codes)))
    if max_train is None and quick:
        max_train = QUICK_SENTENCES
    cells = [
        Cell(
            treebank=treebank.code,
            data=fingerprint,
            max_train=max_train,
            config=replace(base, **variant, seed=seed),
            test_iterations=figure.test_iterations,
        )
        for treebank, fingerprint in [(treebank, treebank.fingerprint()) for treebank in treebanks]
        for seed in dict.fromkeys(seeds)
        for variant in figure.variants
    ]
    return Plan(name, experiment, figure, cells, {treebank.code: treebank for treebank in treebanks})


def own_settings(cells: Sequence[Cell]) -> dict[str, object]:
    """The settings, the same in all cells, that differ from the default without being what the experiment varies."""
    return {
        key: value
        for key, value in cells[0].settings.items()
        if key not in VARIED and all(getattr(cell.config, key) == value for cell in cells)
    }
