"""Results that nobody had to train for."""

from treebp.experiments.cells import Cell, CurvePoint, Result


def result(cell: Cell, wrong: list[int], *, words: int = 10, **others) -> Result:
    """A result with so many wrong words in each sentence of so many words."""
    values = {
        "experiment": "figure3",
        "dev_uas": 90.0,
        "test_las": None,
        "nonprojective": 1.5,
        "training_seconds": 60.0,
        "preparation_seconds": 5.0,
        "version": "0.1.0",
        "curve": [
            CurvePoint(n, 80.0 + n, 81.0 + n, None if n == 1 else 10.0**-n, 6.0 * n) for n in cell.test_iterations
        ],
    }
    return Result(cell=cell, words=[words] * len(wrong), wrong=wrong, **{**values, **others})
