"""How far a score may be chance: a confidence interval, and a test between two systems.

Sentences are the unit of both, since the errors within one depend on each other.
"""

import numpy as np

from treebp._types import IntArray


def bootstrap_interval(
    correct: IntArray, words: IntArray, *, confidence: float = 0.95, samples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Return the percentile bootstrap confidence interval of an accuracy, in per cent.

    Args:
        correct: right words of each sentence, shape (sentences,).
        words: scored words of each sentence, shape (sentences,), all positive.
        confidence: the probability that the interval is to hold, between 0 and 1.
        samples: how often the sentences are drawn anew, with replacement.
        seed: of the draws.

    Raises:
        ValueError: if there is no sentence or an argument is out of range.

    Example:
        >>> import numpy as np
        >>> from treebp.data.significance import bootstrap_interval
        >>> low, high = bootstrap_interval(np.array([8, 10, 9, 5]), np.array([10, 10, 10, 10]))
        >>> bool(50 <= low < 80 < high <= 100)
        True

    """
    if len(correct) != len(words) or not len(words) or np.min(words) <= 0:
        raise ValueError("correct and words need one entry per sentence, and each sentence a word")
    if not 0 < confidence < 1 or samples < 1:
        raise ValueError("confidence lies between 0 and 1, and at least one sample is needed")
    rng = np.random.default_rng(seed)
    draws = (rng.integers(len(words), size=len(words)) for _ in range(samples))
    accuracies = [100 * correct[drawn].sum() / words[drawn].sum() for drawn in draws]
    low, high = np.quantile(accuracies, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def paired_test(correct: IntArray, other: IntArray, *, samples: int = 10_000, seed: int = 0) -> float:
    """Return the p-value of the difference between two systems, by approximate randomisation.

    Under the null hypothesis the outputs for each sentence could as well be swapped. The p-value is the share
    of random swaps with a difference at least as large, in either direction, the observed one counted in, so
    that it is never zero (Noreen 1989; Yeh 2000).

    Args:
        correct: right words of each sentence by one system, shape (sentences,).
        other: the same by the other system, on the same words.
        samples: how many random swaps.
        seed: of the swaps.

    Raises:
        ValueError: if the systems differ in their number of sentences, or `samples` is not positive.

    Example:
        >>> import numpy as np
        >>> from treebp.data.significance import paired_test
        >>> one, other = np.full(50, 9), np.full(50, 8)
        >>> paired_test(one, other) < 0.001, paired_test(one, one)
        (True, 1.0)

    """
    if len(correct) != len(other) or samples < 1:
        raise ValueError("both systems need one entry per sentence, and the test at least one sample")
    # A swap changes the sign of a sentence's difference. Of the sentences with differences of the same size,
    # only the number of positive signs matters, and that is binomial.
    sizes, counts = np.unique(np.abs(correct - other), return_counts=True)
    positive = np.random.default_rng(seed).binomial(counts, 0.5, size=(samples, len(sizes)))
    swapped = np.abs((2 * positive - counts) @ sizes)
    as_large = int(np.sum(swapped >= abs(np.sum(correct - other))))
    return (1 + as_large) / (1 + samples)
