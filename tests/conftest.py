"""Settings of all property tests, and the embedded treebank."""

import pytest
from hypothesis import HealthCheck, settings

from treebp.data.embedded import embedded_treebank

# The first example of a test may compile kernels, and machines may be busy: time says nothing about right or wrong.
settings.register_profile("treebp", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("treebp")


@pytest.fixture(scope="session")
def train():
    return embedded_treebank("train")


@pytest.fixture(scope="session")
def dev():
    return embedded_treebank("dev")


@pytest.fixture(scope="session")
def test_set():
    return embedded_treebank("test")[:60]
