"""The component gives spaCy our trees, and survives all that spaCy does with components."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Doc

import treebp
from treebp.data.conll import read_conll
from treebp.data.embedded import embedded_treebank
from treebp.pipeline import Pipeline
from treebp.spacy import from_doc, to_doc

TEXT = "They saw her duck with a telescope. I don't think we'll ever know who wrote it."


@pytest.fixture(scope="module")
def ours() -> Pipeline:
    return treebp.load("en")


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("treebp", config={"model": "en"})
    return nlp


def described(doc: Doc) -> list[tuple]:
    return [
        (
            token.text,
            token.head.i,
            token.dep_,
            token.pos_,
            token.tag_,
            token.lemma_,
            str(token.morph),
            token._.head_prob,
        )
        for token in doc
    ]


def test_a_doc_has_our_trees_and_probabilities(nlp, ours: Pipeline) -> None:
    doc, expected = nlp(TEXT), ours(TEXT)
    assert [token.text for token in doc] == [word.form for word in expected.words]
    assert [sentence.text for sentence in doc.sents] == [sentence.text for sentence in expected]
    for span, sentence in zip(doc.sents, expected, strict=True):
        for token, word in zip(span, sentence, strict=True):
            assert token.head.i == (span.start + word.head - 1 if word.head else token.i)
            assert token.dep_ == (word.label if word.head else "ROOT")
            assert (token.pos_, token.tag_, token.lemma_) == (word.coarse_tag, word.fine_tag, word.lemma)
            assert str(token.morph) == ("" if word.feats == "_" else word.feats)
            assert (token._.head_prob, token._.label_prob) == (word.head_probability, word.label_probability)
            assert (token._.tag_prob, token._.lemma_prob) == (word.tag_probability, word.lemma_probability)
            assert dict(token._.heads)[token.head.i] == word.head_probability
    assert displacy.render(doc, style="dep", options={"collapse_punct": False}).count("<textPath") == sum(
        word.head > 0 for word in expected.words
    )


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\n", "Trees", "  They saw her. \n\n It  rains.\t", "\n They saw\n\n\nher.", "a\u00a0b \u2028 c."],
)
def test_white_space_changes_no_tree(nlp, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    for span in doc.sents:
        assert all(token.head in span for token in span)
    words = [token for token in doc if not token.is_space]
    assert all(token._.head_prob is not None for token in words)
    assert not any(token.head.is_space for token in words)
    assert all(token.pos_ == "SPACE" for token in doc if token.is_space and words)


def test_sentences_that_are_set_stay() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"punct_chars": ["!"]})
    nlp.add_pipe("treebp")
    assert [span.text for span in nlp("She sleeps. It rains! We go.").sents] == ["She sleeps. It rains!", "We go."]


def test_batches_and_processes_give_the_same(nlp) -> None:
    texts = [" ".join(sentence.forms) for sentence in embedded_treebank("test")[:40]]
    alone = [described(nlp(text)) for text in texts]
    assert [described(doc) for doc in nlp.pipe(texts, batch_size=16)] == alone


def test_two_processes_give_the_same(nlp) -> None:
    texts = [TEXT, "Trees grow.", "It rains."] * 3
    # In a process of its own: spaCy forks, which a test suite with threads should not.
    code = (
        "import spacy, sys\n"
        "nlp = spacy.blank('en'); nlp.add_pipe('treebp')\n"
        f"for doc in nlp.pipe({texts!r}, n_process=2, batch_size=2):\n"
        "    print([(token.head.i, token.dep_, token._.head_prob) for token in doc])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    expected = [str([(token.head.i, token.dep_, token._.head_prob) for token in nlp(text)]) for text in texts]
    assert done.stdout.splitlines() == expected, done.stderr


def test_storage(nlp, tmp_path: Path) -> None:
    expected = described(nlp(TEXT))
    nlp.to_disk(tmp_path / "pipeline")
    assert described(spacy.load(tmp_path / "pipeline")(TEXT)) == expected
    again = spacy.blank("en")
    again.add_pipe("treebp", config={"model": "nowhere.model"})  # the bytes bring their own
    assert described(again.from_bytes(nlp.to_bytes())(TEXT)) == expected
    assert described(pickle.loads(pickle.dumps(nlp))(TEXT)) == expected
    doc = Doc(nlp.vocab).from_bytes(nlp(TEXT).to_bytes())
    assert described(doc) == expected


def test_converters(nlp, ours: Pipeline, tmp_path: Path) -> None:
    text = "\t They saw  her.\n\nI don't know. "
    document = ours(text)
    doc = to_doc(document, nlp.vocab)
    assert doc.text == text
    assert [span.text.strip() for span in doc.sents] == ["They saw  her.", "I don't know."]
    back = from_doc(doc)
    for sentence, parsed in zip(back, document, strict=True):
        assert sentence.forms == parsed.parse.sentence.forms
        assert sentence.heads == parsed.parse.heads.tolist()
        assert sentence.labels == parsed.parse.labels
        assert sentence.feats == parsed.parse.sentence.feats
    (tmp_path / "back.conllu").write_text("".join(sentence.text for sentence in back))
    assert list(read_conll(tmp_path / "back.conllu")) == back
    assert [sentence.forms for sentence in from_doc(spacy.blank("en")("No trees. Yet."))] == [
        ["No", "trees", ".", "Yet", "."]
    ]


def test_without_spacy_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['spacy'] = None; import treebp.spacy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.endswith("ImportError: treebp.spacy needs spaCy: pip install 'treebp[spacy]'\n")
