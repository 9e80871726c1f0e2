"""How few weights a trained model needs."""

import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from treebp.data.evaluation import evaluate
from treebp.data.sentence import Sentence
from treebp.pipeline.pipeline import Pipeline

_SHARES = 0.05, 0.1, 0.2, 0.4, 0.7, 1.0
_COST = 0.03  # points of attachment that count as none
_TRIES = 8
_FULL_ENOUGH = 0.93


class Lightened(NamedTuple):
    """A model with fewer weights.

    Attributes:
        pipeline: the model.
        share: of all weights, that are left.
        measure: "LAS" or, of a parser without labels, "UAS": on development data, without punctuation.
        score: by this measure.
        score_of_all: the same with all weights.

    """

    pipeline: Pipeline
    share: float
    measure: str
    score: float
    score_of_all: float


def lightened(
    pipeline: Pipeline, dev: Sequence[Sentence], megabytes: float = 0.0, *, threads: int | None = None
) -> Lightened:
    """The fewest weights that cost nothing on development data, or the most whose file has so many megabytes.

    Raises ValueError if the file needs more room than that whatever its weights.
    """
    measure = "LAS" if pipeline.parser.config.labels else "UAS"

    def judged(model: Pipeline) -> float:
        parsed = (parse.to_sentence() for parse in model.parser.parse(dev, threads=threads))
        scores = evaluate(dev, parsed, punctuation="unicode")
        return scores.las if measure == "LAS" else scores.uas

    score_of_all = judged(pipeline)
    if megabytes == math.inf:
        return Lightened(pipeline, 1.0, measure, score_of_all, score_of_all)
    if megabytes > 0.0:
        share, small = _of_size(pipeline, megabytes)
        return Lightened(small, share, measure, judged(small), score_of_all)
    for share in _SHARES:
        small = pipeline.rounded(share)
        score = judged(small)
        if score >= score_of_all - _COST:
            return Lightened(small, share, measure, score, score_of_all)
    return Lightened(pipeline, 1.0, measure, score_of_all, score_of_all)


def _of_size(pipeline: Pipeline, megabytes: float) -> tuple[float, Pipeline]:
    """The largest share of weights, and the model, whose file has at most this size: it grows evenly with the share."""
    share, fitting = 0.0, pipeline.rounded(0.0)
    least = _megabytes(fitting)
    if least > megabytes:
        raise ValueError(f"size = {megabytes:g}: words and tags alone take {least:.1f} megabytes")
    high: float | None = None
    guess = 0.1
    for _ in range(_TRIES):
        tried = pipeline.rounded(guess)
        found = _megabytes(tried)
        if found <= megabytes:
            share, fitting = guess, tried
            if found >= _FULL_ENOUGH * megabytes or guess == 1.0:
                break
        else:
            high = guess
        growth = max((found - least) / guess, 1e-9)
        guess = min(1.0, 0.97 * (megabytes - least) / growth)
        if high is not None and not share < guess < high:
            guess = (share + high) / 2
    return share, fitting


def _megabytes(pipeline: Pipeline) -> float:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        pipeline.save(path)
        return path.stat().st_size / 1e6
