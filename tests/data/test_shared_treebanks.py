"""Real treebanks, where they are at hand: in the folder that TREEBP_DATA names, or in ../shared/data."""

import io
import os
from pathlib import Path

import pytest

from treebp.data.conll import read_conll, write_conll
from treebp.data.evaluation import evaluate, usual_punctuation
from treebp.data.files import read_lines

FOLDER = Path(os.environ.get("TREEBP_DATA", Path(__file__).parents[3] / "shared" / "data"))
FILES = sorted(FOLDER.glob("*.conll*.xz"))


@pytest.mark.skipif(not FILES, reason=f"no treebanks in {FOLDER}: set TREEBP_DATA")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_treebanks_come_back_identical_and_score_100(path: Path) -> None:
    sentences = list(read_conll(path, require_heads=True))
    copy = io.BytesIO()
    write_conll(copy, sentences)
    assert copy.getvalue() == b"".join(read_lines(path))
    assert {sentence.format for sentence in sentences} == {"conllu" if ".conllu" in path.name else "conllx"}
    result = evaluate(sentences, sentences, punctuation=usual_punctuation(sentences))
    assert (result.uas, result.las, result.labelled_exact_match) == (100, 100, 100)
