"""The embedded treebank, and parsers trained on a little of it."""

from dataclasses import replace

import pytest
from small_parser import CONFIG

from treebp.data.embedded import embedded_treebank
from treebp.parsing.parser import Parser


@pytest.fixture(scope="session")
def parser():
    parser = Parser(CONFIG)
    parser.fit(embedded_treebank("train")[:200], embedded_treebank("dev")[:20], threads=1)
    return parser


@pytest.fixture(scope="session")
def nonprojective():
    parser = Parser(replace(CONFIG, tree="nonprojective", root="multiple", epochs=1))
    parser.fit(embedded_treebank("train", nonprojective=0.3)[:100], embedded_treebank("dev")[:10], threads=1)
    return parser


@pytest.fixture(scope="session")
def test_set():
    return embedded_treebank("test")[:60]


@pytest.fixture(scope="session")
def train():
    return embedded_treebank("train")


@pytest.fixture(scope="session")
def dev():
    return embedded_treebank("dev")
