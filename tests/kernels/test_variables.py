"""How far messages have moved."""

import numpy as np
import pytest

from treebp.kernels.variables import largest_log_odds_change, largest_ratio_change


@pytest.mark.parametrize("count", [1, 20])
def test_how_far_a_message_moved(count):
    for before in (-700.0, -13.0, -1.0, 0.0, 2.0, 40.0, 700.0):
        for after in (-700.0, -13.0, 0.5, 14.0, 700.0):
            moved = abs(1.0 / (1.0 + np.exp(-after)) - 1.0 / (1.0 + np.exp(-before)))
            old, new = np.zeros(count), np.zeros(count)
            old[-1], new[-1] = before, after
            assert largest_log_odds_change(old, new) == pytest.approx(moved, rel=1e-9, abs=1e-15)
            assert largest_ratio_change(np.exp(old), np.exp(new)) == pytest.approx(moved, rel=1e-9, abs=1e-15)
