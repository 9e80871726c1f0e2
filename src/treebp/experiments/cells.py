"""A cell of an experiment: one training run, and what came of it."""

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from treebp._types import IntArray
from treebp.parsing.config import Config

# What experiments vary: a result names these always, other settings only where they are not the default.
VARIED = ("seed", "objective", "factors", "iterations", "inference", "tree")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One training run; two cells are equal when they would give the same result.

    Attributes:
        treebank: its code.
        data: fingerprint of its files.
        max_train: how many training sentences are used at most; None for all.
        config: all settings of the run.
        test_iterations: numbers of iterations to parse with besides that of the training.

    Example:
        >>> cell = Cell(treebank="ptb10", data="3f", config=Config(objective="cll", iterations=2, labels=False))
        >>> list(cell.settings)
        ['seed', 'objective', 'factors', 'iterations', 'inference', 'tree', 'labels']
        >>> str(cell)
        'ptb10, seed 1, cll, grandparent+sibling, 2 iterations, auto'

    """

    treebank: str
    data: str
    max_train: int | None = None
    config: Config = field(default_factory=Config)
    test_iterations: tuple[int, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What experiments vary, and all else that differs from the default configuration."""
        values, default = asdict(self.config), asdict(Config())
        others = {key: value for key, value in values.items() if key not in VARIED and value != default[key]}
        return {key: values[key] for key in VARIED} | others

    @property
    def group(self) -> "Cell":
        """The cell less all that pruning does not depend on: cells with the same group can share it."""
        config = replace(
            self.config,
            objective="cll",
            factors=(),
            iterations=1,
            inference="bp",
            scorer="hashed",
            network_objective="heads",
        )
        return replace(self, config=config, test_iterations=())

    def __str__(self) -> str:
        config = self.config
        parts = [self.treebank, f"seed {config.seed}", config.objective, "+".join(config.factors) or "first order"]
        if config.scorer != "hashed":
            parts.append(config.scorer)
        if config.inference == "exact":
            parts.append("exact")
        elif config.factors:
            parts.append(f"{config.iterations} iteration{'s' if config.iterations > 1 else ''}")
        if config.tree != "projective":
            parts.append(config.tree)
        if config.tags != "gold":
            parts.append("predicted tags")
        return ", ".join(parts)


@dataclass(frozen=True)
class CurvePoint:
    """How a trained parser does with another number of iterations.

    Attributes:
        iterations: their number.
        dev_uas: in per cent.
        test_uas: in per cent.
        residual: the mean over test sentences of the largest change of a belief in the last iteration; None after the
            first, which has nothing to compare with.
        converged: per cent of the test sentences in which no belief changed by more than a thousandth.

    """

    iterations: int
    dev_uas: float
    test_uas: float
    residual: float | None
    converged: float


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a cell came to; attachment scores are in per cent, without words that are all Unicode punctuation.

    Attributes:
        experiment: for which the cell was run.
        cell: what was run.
        dev_uas: at the epoch that was kept, which it chose.
        test_las: None where the parser gives no labels.
        words: scored test words of each sentence, shape (sentences,).
        wrong: those with a wrong head, shape (sentences,).
        nonprojective: per cent of the training arcs that are non-projective.
        training_seconds: of processor time, without those for pruning, but with those for compiling kernels if need be.
        preparation_seconds: of processor time, for the pruning that the cells of a group share.
        version: git commit of the program, or its version.
        curve: the same parser with other numbers of iterations.

    """

    experiment: str
    cell: Cell
    dev_uas: float
    test_las: float | None
    words: list[int]
    wrong: list[int]
    nonprojective: float
    training_seconds: float
    preparation_seconds: float
    version: str
    curve: list[CurvePoint] = field(default_factory=list)

    @property
    def correct(self) -> IntArray:
        """Right heads of each test sentence, shape (sentences,)."""
        return np.subtract(self.words, self.wrong)

    @property
    def test_uas(self) -> float:
        """Unlabelled attachment score on the test set."""
        return 100.0 * float(self.correct.sum()) / sum(self.words)

    def to_json(self) -> dict[str, Any]:
        """The result as plain data, with the figures that people look for first."""
        cell = self.cell
        plain = {key: value for key, value in asdict(self).items() if key not in ("cell", "words", "wrong", "curve")}
        line: dict[str, Any] = {"experiment": self.experiment, "treebank": cell.treebank, "max_train": cell.max_train}
        line |= cell.settings | {"test_uas": round(self.test_uas, 3)}
        line |= {"correct": int(self.correct.sum()), "total": sum(self.words)} | plain | {"data": cell.data}
        if cell.test_iterations:
            line["curve"] = [asdict(point) for point in self.curve]
        return line | {"words": self.words, "wrong": self.wrong}

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> "Result":
        """The result that ``to_json`` wrote. Raises ValueError or KeyError for anything else."""
        curve = [CurvePoint(**point) for point in line.get("curve", [])]
        known = {one.name for one in fields(Config)}
        cell = Cell(
            treebank=line["treebank"],
            data=line["data"],
            max_train=line["max_train"],
            config=Config(**{key: value for key, value in line.items() if key in known}),
            test_iterations=tuple(point.iterations for point in curve),
        )
        own = {one.name for one in fields(cls)} - {"cell", "curve"}
        return cls(cell=cell, curve=curve, **{key: line[key] for key in own})
