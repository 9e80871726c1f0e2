"""Between log-odds and the log-probabilities of OFF and ON."""

import numpy as np

from treebp._types import FloatArray


def log_probabilities(log_odds: FloatArray) -> FloatArray:
    """(n, 2) log-probabilities of OFF and ON; exact for infinite log-odds."""
    return -np.logaddexp(0.0, np.stack([log_odds, -log_odds], axis=1))


def odds_of(rows: FloatArray) -> FloatArray:
    """(n,) log-odds of (n, 2) log-weights; NaN where both are -inf."""
    with np.errstate(invalid="ignore"):
        return np.asarray(rows[:, 1] - rows[:, 0])


def adjoint_of_odds(rows: FloatArray, log_odds: FloatArray) -> FloatArray:
    """From the adjoints (n, 2) of `log_probabilities` to those of the log-odds; zero where these are infinite."""
    off, on = np.exp(log_probabilities(log_odds)).T
    return np.where(np.isfinite(log_odds), rows[:, 1] * off - rows[:, 0] * on, 0.0)
