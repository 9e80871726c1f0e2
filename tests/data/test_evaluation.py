import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.data.conll import read_conll
from treebp.data.errors import TreebankError
from treebp.data.evaluation import Scores, evaluate, is_punctuation, usual_punctuation
from treebp.data.sentence import Sentence

GOLD = Sentence.from_columns(
    ["We", "see", "it", "."],
    coarse_tags=["PRON", "VERB", "PRON", "PUNCT"],
    heads=[2, 0, 2, 2],
    labels=["nsubj", "root", "obj", "punct"],
)


def test_scores_by_hand_with_and_without_punctuation() -> None:
    system = GOLD.with_parse([2, 0, 1, 3], ["nsubj", "root", "obj", "x"])
    result = evaluate([GOLD], [system], punctuation="ud")
    assert result.punctuation == "ud"
    assert result.scores == Scores(words=3, correct_heads=2, correct_labels=3, correct_arcs=2)
    assert result.with_punctuation == Scores(words=4, correct_heads=2, correct_labels=3, correct_arcs=2)
    assert (result.tokens, result.sentences) == (3, 1)
    assert result.uas == result.las == pytest.approx(200 / 3)
    assert result.label_accuracy == 100
    assert (result.exact_match, result.labelled_exact_match) == (0, 0)


def test_exact_match_ignores_punctuation_and_sentences_without_scored_words() -> None:
    dots = Sentence.from_columns(["...", "!"], heads=[0, 1])
    only_label_wrong = GOLD.with_parse([2, 0, 2, 1], ["nsubj", "root", "iobj", "punct"])
    result = evaluate([GOLD, dots, GOLD], [GOLD, dots.with_parse([2, 0]), only_label_wrong], punctuation="unicode")
    assert result.sentences == 2
    assert (result.exact_match, result.labelled_exact_match) == (100, 50)
    np.testing.assert_array_equal(result.words, [3, 3])
    np.testing.assert_array_equal(result.correct_arcs, [3, 2])


def test_breakdowns_by_gold_length_label_and_distance() -> None:
    long = Sentence.from_columns([f"w{i}" for i in range(11)], heads=[0, *range(1, 9), 1, 1], labels=["a"] * 11)
    wrong = long.with_parse([0, *range(1, 9), 1, 2], ["b", *["a"] * 10])
    result = evaluate([GOLD, long], [GOLD, wrong], punctuation="include")
    assert result.by_length == {"1-10": Scores(4, 4, 4, 4), "11-20": Scores(11, 10, 10, 9)}
    assert list(result.by_label) == ["a", "nsubj", "root", "obj", "punct"]
    assert result.by_label["a"] == Scores(11, 10, 10, 9)
    assert result.by_distance == {
        "root": Scores(2, 2, 1, 1),
        "1": Scores(10, 10, 10, 10),
        "2": Scores(1, 1, 1, 1),
        "6-10": Scores(2, 1, 2, 1),
    }


@given(st.data())
def test_breakdowns_add_up(data: st.DataObject) -> None:
    def sentence(length: int) -> Sentence:
        heads = [data.draw(st.integers(0, word)) for word in range(length)]  # the head stands before: no cycle
        labels = data.draw(st.lists(st.sampled_from("abc"), min_size=length, max_size=length))
        return Sentence.from_columns([str(word) for word in range(length)], heads=heads, labels=labels)

    lengths = data.draw(st.lists(st.integers(1, 60), min_size=1, max_size=4))
    gold, system = [sentence(n) for n in lengths], [sentence(n) for n in lengths]
    result = evaluate(gold, system, punctuation="include")
    right = [
        g == s for left, other in zip(gold, system, strict=True) for g, s in zip(left.heads, other.heads, strict=True)
    ]
    assert result.scores.correct_heads == sum(right)
    for groups in (result.by_length, result.by_label, result.by_distance):
        for count in ("words", "correct_heads", "correct_labels", "correct_arcs"):
            assert sum(getattr(scores, count) for scores in groups.values()) == getattr(result.scores, count)
    assert result.words.sum() == result.tokens == sum(lengths)
    assert result.correct_heads.sum() == sum(right)
    assert evaluate(gold, gold, punctuation="include").labelled_exact_match == 100


def test_an_unknown_system_head_is_wrong() -> None:
    assert evaluate([GOLD], [GOLD.with_parse([-1, 0, 2, 2])], punctuation="include").uas == 75


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("include", [0, 0, 0, 0, 0, 0, 0, 0]),
        ("unicode", [0, 1, 1, 0, 0, 1, 0, 0]),  # a grave accent is a symbol to Unicode
        ("ptb", [1, 1, 0, 0, 0, 0, 1, 0]),
        ("ud", [0, 1, 0, 0, 1, 0, 0, 0]),
    ],
)
def test_punctuation_rules(rule: str, expected: list[int]) -> None:
    sentence = Sentence.from_columns(
        ["``", "、", "«-»", "$", "+", "--", "x", "a."],
        fine_tags=["``", "''", "-LRB-", "$", "SYM", "NN", "_", "NN"],
        coarse_tags=["X", "PUNCT", "X", "X", "PUNCT", "X", ":", ","],
    )
    np.testing.assert_array_equal(is_punctuation(sentence, rule), np.array(expected, dtype=bool))


def test_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown punctuation rule 'none'"):
        evaluate([GOLD], [GOLD], punctuation="none")


def test_usual_rule_follows_the_tags() -> None:
    penn = Sentence.from_columns(["a", ","], fine_tags=["NN", ","], coarse_tags=["NN", ","])
    other = Sentence.from_columns(["a", ","], fine_tags=["NC", "XP"], coarse_tags=["N", "X"])
    assert usual_punctuation([other, GOLD]) == "ud"
    assert usual_punctuation([penn]) == "ptb"
    assert usual_punctuation([other]) == "unicode"


def test_nothing_to_score_is_an_error() -> None:
    dots = Sentence.from_columns(["..."], heads=[0])
    with pytest.raises(ValueError, match="no word is left to score"):
        evaluate([dots], [dots], punctuation="unicode")
    with pytest.raises(ValueError, match="no word is left to score"):
        evaluate([], [], punctuation="include")


def from_file(*sentences: Sentence, name: str) -> list[Sentence]:
    stream = io.BytesIO("".join(sentence.text for sentence in sentences).encode())
    stream.name = name
    return list(read_conll(stream))


def test_mismatches_name_both_lines() -> None:
    other = Sentence.from_columns(["We", "saw", "it", "."], heads=[2, 0, 2, 2])
    shorter = Sentence.from_columns(["We", "see", "it"], heads=[2, 0, 2])
    gold = from_file(GOLD, GOLD, name="gold.conllu")
    with pytest.raises(TreebankError) as caught:
        evaluate(gold, from_file(GOLD, other, name="out.conllu"), punctuation="ud")
    assert str(caught.value) == (
        "gold.conllu:7:2: word 2 of sentence 2 is 'see' in gold.conllu, line 7 but 'saw' in out.conllu, line 7: "
        "both must have the same words"
    )
    with pytest.raises(TreebankError, match=r"is '\.' in gold\.conllu, line 4 but missing in out\.conllu, line 3"):
        evaluate(gold, from_file(shorter, name="out.conllu"), punctuation="ud")
    with pytest.raises(TreebankError, match=r"gold\.conllu:6:1: the system ends before this sentence 2 of the gold"):
        evaluate(gold, gold[:1], punctuation="ud")
    with pytest.raises(TreebankError, match=r"gold\.conllu:6:1: the gold ends before this sentence 2 of the system"):
        evaluate(gold[:1], gold, punctuation="ud")


def test_a_missing_gold_head_is_an_error() -> None:
    gold = from_file(GOLD.with_parse([2, 0, -1, 2]), name="gold.conllu")
    with pytest.raises(TreebankError, match=r"gold\.conllu:3:7: the gold head is missing"):
        evaluate(gold, gold, punctuation="ud")
