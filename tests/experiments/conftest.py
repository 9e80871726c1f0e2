"""A treebank in a folder, so small that training on it takes a second."""

import pytest

from treebp.data.conll import write_conll
from treebp.data.embedded import embedded_treebank
from treebp.experiments.treebanks import Treebank


@pytest.fixture(scope="session")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Treebank:
    folder = tmp_path_factory.mktemp("data")
    for split in ("train", "dev", "test"):
        write_conll(folder / f"small.{split}.conllu", embedded_treebank(split, nonprojective=0.3)[:40])
    return Treebank("small", folder)
