"""From text to trees and back, in memory and in files."""

import io
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

import treebp
from treebp.data.conll import read_conll
from treebp.data.embedded import embedded_treebank
from treebp.data.plain_text import plain_text
from treebp.data.raw_evaluation import evaluate_raw
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser
from treebp.pipeline import Pipeline
from treebp.training import fit_pipeline
from treebp.training.pipeline import raw_scores

sys.path.insert(0, str(Path(__file__).parents[1] / "tokenising"))

from mutations import mutated

CONFIG = Config(
    tokeniser=True,
    tags="predicted",
    epochs=2,
    pruner_epochs=1,
    pruner_folds=2,
    tagger_folds=2,
    weight_bits=16,
    pruner_weight_bits=14,
    tagger_weight_bits=16,
    rate=0.05,
)
TEXT = "  The dog saw a bird, and she sleeps.\nMr. Brown saw the dog\n\nThe birds sleep."


@pytest.fixture(scope="module")
def nlp() -> Pipeline:
    return fit_pipeline(embedded_treebank("train")[:150], embedded_treebank("dev")[:20], CONFIG, threads=1)


def test_a_document_has_sentences_words_and_trees(nlp: Pipeline) -> None:
    doc = nlp(TEXT)
    assert doc.text == TEXT
    assert [sentence.text for sentence in doc][-1] == "The birds sleep."
    assert doc[-1].start == TEXT.index("The birds")
    assert doc[-1].end == len(TEXT)
    forms = "The dog saw a bird , and she sleeps . Mr. Brown saw the dog The birds sleep ."
    assert [word.form for word in doc.words] == forms.split()
    for sentence in doc:
        assert len(sentence) == len(sentence.words) == len(sentence.parse.heads)
        assert sum(word.head == 0 for word in sentence) == 1
        for number, word in enumerate(sentence):
            assert TEXT[word.start : word.end] == word.form
            assert sentence[number] == word
            assert word.coarse_tag != "_"
            assert word.lemma != "_"
            for share in word[-4:]:
                assert 0.0 < share <= 1.0


def test_output_is_conllu_with_the_whole_text(nlp: Pipeline) -> None:
    doc = nlp(TEXT, ranges=True)
    sentences = list(read_conll(io.BytesIO(doc.to_conllu(marginals=True).encode())))
    assert plain_text(sentences).text == TEXT
    assert [sentence.heads for sentence in sentences] == [sentence.parse.heads.tolist() for sentence in doc]
    assert "TokenRange=2:5|SpacesBefore=\\s\\s|HeadProb=" in sentences[0].text
    assert doc.to_conllu().count("# newpar") == 2


def test_no_text_no_sentences(nlp: Pipeline) -> None:
    for text in ("", " \n\n"):
        doc = nlp(text)
        assert (len(doc), doc.words, doc.to_conllu(), doc.text) == (0, [], "", text)


def test_settled_heads_and_alternatives(nlp: Pipeline) -> None:
    text = "The dog saw a bird. She sleeps."
    free = nlp(text, kbest=3)
    assert all(1 <= len(sentence.parse.alternatives) <= 3 for sentence in free)
    settled = nlp(text, known=[{1: 5}, {}], forbidden=[[], [(0, 2)]])
    assert settled[0][0].head == 5
    assert settled[1][1].head != 0
    with pytest.raises(ValueError, match="for 1 sentences only"):
        nlp(text, known=[{1: 5}])


def test_stream_gives_the_same_and_looks_little_ahead(nlp: Pipeline) -> None:
    text = plain_text(embedded_treebank("test")).text.replace(". ", ".\n\n", 100)[:9000]
    whole = nlp(text)
    streamed = list(nlp.stream([text[start : start + 70] for start in range(0, len(text), 70)], threads=2))
    assert [sentence.to_sentence() for sentence in streamed] == [sentence.to_sentence() for sentence in whole]

    taken = 0

    def pieces() -> Iterator[str]:
        nonlocal taken
        for _ in range(100_000):
            taken += 1
            yield text

    next(iter(nlp.stream(pieces(), threads=2)))
    assert taken < 50


def test_a_file_holds_everything(nlp: Pipeline, tmp_path: Path) -> None:
    path = tmp_path / "en.model"
    nlp.save(path)
    again = treebp.load(path)
    assert again(TEXT).to_conllu(marginals=True) == nlp(TEXT).to_conllu(marginals=True)
    parser = Parser.load(path)
    sentence = embedded_treebank("test")[0]
    (one,), (other,) = (list(each.parse([sentence], threads=1)) for each in (parser, nlp.parser))
    assert np.array_equal(one.heads, other.heads)
    again.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == path.read_bytes()


def test_a_parser_alone_cannot_read_text(nlp: Pipeline, tmp_path: Path) -> None:
    nlp.parser.save(tmp_path / "parser.model")
    alone = treebp.load(tmp_path / "parser.model")
    assert alone.tokeniser is None
    with pytest.raises(ValueError, match="no tokeniser"):
        alone(TEXT)


def test_models_of_the_first_version_still_load() -> None:
    kept = Path(__file__).parents[1] / "parsing" / "kept" / "second-order.model"
    with safe_open(kept, framework="numpy") as file:
        assert "tokeniser" not in file.metadata()["treebp"]
    assert treebp.load(kept).tokeniser is None


def test_a_damaged_tokeniser_is_refused(nlp: Pipeline, tmp_path: Path) -> None:
    assert nlp.tokeniser is not None
    gaps = nlp.tokeniser.open_gaps
    broken = replace(nlp.tokeniser, open_gaps=gaps._replace(between=gaps.between[:3]))
    Pipeline(nlp.parser, broken).save(tmp_path / "en.model")
    with pytest.raises(ValueError, match=r"en\.model is not a treebp model that can be used: the tokeniser's tables"):
        treebp.load(tmp_path / "en.model")


def test_mutated_texts_come_out_whole(nlp: Pipeline) -> None:
    dice = random.Random(4)
    source = plain_text(embedded_treebank("test")[:50]).text
    for _ in range(25):
        text = mutated(source, dice)
        doc = nlp(text)
        if doc.sentences:
            assert plain_text(list(read_conll(io.BytesIO(doc.to_conllu().encode())))).text == text


def test_a_huge_line_is_parsed(nlp: Pipeline) -> None:
    text = "dog " * 3000 + "x" * 100_000
    assert "".join(token.form + token.white for sentence in nlp(text) for token in sentence.found.tokens) == text


def test_raw_scores_are_those_of_the_output(nlp: Pipeline) -> None:
    gold = embedded_treebank("dev")[:20]
    scores = raw_scores(nlp, gold, threads=1)
    doc = nlp(plain_text(gold).text)
    assert scores == evaluate_raw(gold, [sentence.to_sentence() for sentence in doc])
    assert scores["Words"].f1 > 99.0
    assert scores["UPOS"].f1 > 85.0
    assert scores["UAS"].f1 > 60.0


def test_texts_are_tokenised_together_as_they_are_alone(nlp: Pipeline) -> None:
    assert nlp.tokeniser is not None
    texts = [TEXT, "", " \n", "Dog", "The dog saw.  She sleeps.\n\n", *TEXT.split("\n"), "a b " * 700]
    assert nlp.tokeniser.tokenise_together(texts) == [nlp.tokeniser.tokenise(text) for text in texts]
    assert nlp.tokeniser.tokenise_together([]) == []
