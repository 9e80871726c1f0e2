"""Parsers trained on a little of the embedded treebank."""

from dataclasses import replace

import pytest

from small_parser import CONFIG, fit
from treebp.data.embedded import embedded_treebank


@pytest.fixture(scope="session")
def parser(train, dev):
    return fit(train[:200], dev[:20], config=CONFIG)


@pytest.fixture(scope="session")
def nonprojective(dev):
    config = replace(CONFIG, tree="nonprojective", root="multiple", epochs=1)
    return fit(embedded_treebank("train", nonprojective=0.3)[:100], dev[:10], config=config)
