"""Settings of all property tests, and the embedded treebank."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from treebp.data.embedded import embedded_treebank

# The first example of a test may compile kernels, and machines may be busy: time says nothing about right or wrong.
settings.register_profile("treebp", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# With bounds checks it is the same code once more, and slower: a few examples reach all of it.
settings.register_profile("bounds", settings.get_profile("treebp"), max_examples=20)
settings.load_profile("bounds" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else "treebp")

# A suite that runs in the background, or under nohup, ignores these; the commands that it starts must not.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="session")
def train():
    return embedded_treebank("train")


@pytest.fixture(scope="session")
def dev():
    return embedded_treebank("dev")


@pytest.fixture(scope="session")
def test_set():
    return embedded_treebank("test")[:60]
