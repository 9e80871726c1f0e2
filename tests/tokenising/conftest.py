import pytest

from treebp.data.embedded import embedded_treebank
from treebp.tokenising.fitting import fit_tokeniser
from treebp.tokenising.tokeniser import Tokeniser


@pytest.fixture(scope="session")
def tokeniser() -> Tokeniser:
    return fit_tokeniser(embedded_treebank("train")[:400])
