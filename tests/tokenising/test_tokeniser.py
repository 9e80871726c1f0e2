"""The tokeniser finds what it was shown, and never loses or changes a character."""

import io
import random

import pytest
from mutations import PIECES, mutated

from treebp.data.conll import read_conll, write_conll
from treebp.data.embedded import embedded_treebank
from treebp.data.plain_text import plain_text
from treebp.data.raw_evaluation import evaluate_raw
from treebp.data.sentence import Sentence
from treebp.tokenising import tokeniser as tokenising
from treebp.tokenising.fitting import fit_tokeniser
from treebp.tokenising.tokeniser import Tokeniser

TEXT = plain_text(embedded_treebank("dev")[:40]).text


@pytest.fixture(scope="module")
def tokeniser() -> Tokeniser:
    return fit_tokeniser(embedded_treebank("train")[:400])


def output(tokeniser: Tokeniser, text: str, **options: bool) -> list[Sentence]:
    """What the tokeniser makes of a text, written to a file and read again."""
    sentences = [found.to_sentence(number, **options) for number, found in enumerate(tokeniser.tokenise(text), 1)]
    if not sentences:
        return []
    file = io.BytesIO()
    write_conll(file, sentences)
    file.seek(0)
    assert sentences == list(read_conll(file, format="conllu"))
    return sentences


def test_new_text_is_tokenised_as_in_training(tokeniser: Tokeniser) -> None:
    gold = embedded_treebank("dev")[:40]
    scores = evaluate_raw(gold, [sentence.with_parse([-1] * len(sentence)) for sentence in output(tokeniser, TEXT)])
    assert scores["Words"].f1 == 100.0
    assert scores["Sentences"].f1 > 97.0


@pytest.mark.parametrize(
    "text", [*PIECES, *(f"{piece} We see.{piece}" for piece in PIECES), TEXT[:2000], "a" * 100_000]
)
def test_the_output_has_the_whole_text(tokeniser: Tokeniser, text: str) -> None:
    sentences = output(tokeniser, text)
    if sentences:
        assert plain_text(sentences).text == text
    else:
        assert not text.strip("\ufeff \t\n\r\x0b\x0c\x1c\x85\u00a0\u2003\u2028\u2029")


def test_mutated_texts_come_out_whole(tokeniser: Tokeniser) -> None:
    dice = random.Random(1)
    for _ in range(150):
        text = mutated(TEXT, dice)
        assert plain_text(output(tokeniser, text)).text == (text if tokeniser.tokenise(text) else "")


def test_ranges_are_places_in_the_text(tokeniser: Tokeniser) -> None:
    text = f"\n  {TEXT[:500]}"
    for found, sentence in zip(tokeniser.tokenise(text), output(tokeniser, text, ranges=True), strict=True):
        for token in found.tokens:
            assert text[token.start : token.end] == token.form
            assert f"TokenRange={token.start}:{token.end}" in sentence.text
    assert plain_text(output(tokeniser, text, ranges=True)).text == text


def test_pieces_and_blocks_make_no_difference(tokeniser: Tokeniser) -> None:
    text = "\n " + TEXT.replace(". ", ".\n\n", 10).replace(", ", ",\x0c", 3) * 2
    whole = tokeniser.tokenise(text)
    dice = random.Random(2)
    for block in (400, 1000, 5000):
        cuts = sorted(dice.sample(range(len(text)), 30))
        pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        found = list(tokeniser.stream(pieces, block=block))
        assert found == list(tokeniser.stream([text], block=block))
        assert [token for sentence in found for token in sentence.tokens] == [
            token for sentence in whole for token in sentence.tokens
        ]


def test_paragraphs_are_looked_at_by_themselves(tokeniser: Tokeniser) -> None:
    paragraphs = ["He saw a dog. The dog", "slept, and (as he", 'said "yes"\nand']
    alone = [[token.form for token in found.tokens] for text in paragraphs for found in tokeniser.tokenise(text)]
    for gap in ("\n\n", "\x0c", "\r\n\t\r\n", "\u2029"):
        together = tokeniser.tokenise(gap.join(paragraphs))
        assert [[token.form for token in found.tokens] for found in together] == alone
        assert sum(found.begins_paragraph for found in together) == 3


def test_endless_sentences_are_cut(tokeniser: Tokeniser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenising, "_LONGEST_SENTENCE", 20)
    text = "the dog of " * 200
    found = tokeniser.tokenise(text)
    assert max(len(sentence.tokens) for sentence in found) <= 20
    assert min(len(sentence.tokens) for sentence in found[:-1]) > 5
    assert plain_text(output(tokeniser, text)).text == text


def test_nothing_has_no_sentence(tokeniser: Tokeniser) -> None:
    assert tokeniser.tokenise("") == tokeniser.tokenise(" \n\n\ufeff") == []
    assert list(tokeniser.stream([])) == []


def test_state_makes_the_same_tokeniser(tokeniser: Tokeniser) -> None:
    header, tensors = tokeniser.state()
    again = Tokeniser.from_state(header, tensors)
    assert again.tokenise(TEXT) == tokeniser.tokenise(TEXT)
    with pytest.raises(ValueError, match="tables"):
        Tokeniser.from_state(header, {**tensors, "between": tensors["between"][1:]})


def test_threads_make_no_difference(tokeniser: Tokeniser) -> None:
    again = fit_tokeniser(embedded_treebank("train")[:400], threads=2)
    assert (again.model.weights == tokeniser.model.weights).all()


def test_scripts_without_spaces_and_spaces_in_tokens_are_learnt() -> None:
    words = ["猫", "犬", "大きい", "が", "見る", "走る", "白い", "水", "10 000", "5 500"]
    dice = random.Random(3)
    treebank = [
        Sentence.from_columns([*(dice.choice(words) for _ in range(dice.randint(2, 7))), "。"], heads=None)
        for _ in range(150)
    ]
    tokeniser = fit_tokeniser(treebank[:120])
    text = plain_text(treebank[120:]).text
    scores = evaluate_raw(
        [sentence.with_parse([0] * len(sentence)) for sentence in treebank[120:]], output(tokeniser, text)
    )
    assert scores["Words"].f1 > 97.0
    assert scores["Sentences"].f1 == 100.0
    assert "10 000" in [form for sentence in output(tokeniser, text) for form in sentence.forms]
