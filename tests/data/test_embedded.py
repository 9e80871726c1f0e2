"""The embedded treebank: the same everywhere, well formed, and ambiguous where it says so."""

import hashlib
from collections import Counter

import pytest

from treebp.data.embedded import SIZES, Split, embedded_treebank
from treebp.data.embedded.dice import Dice
from treebp.data.embedded.lexicon import NOUNS
from treebp.data.projectivity import is_projective
from treebp.data.sentence import Sentence

SPLITS: tuple[Split, ...] = ("train", "dev", "test")


@pytest.fixture(scope="module")
def treebank() -> dict[Split, list[Sentence]]:
    return {split: embedded_treebank(split) for split in SPLITS}


def test_the_text_is_the_same_on_every_platform_and_version(treebank: dict[Split, list[Sentence]]) -> None:
    digests = {
        split: hashlib.sha256("".join(sentence.text for sentence in sentences).encode()).hexdigest()[:12]
        for split, sentences in treebank.items()
    }
    assert digests == {"train": "0b5ce0ee8bb4", "dev": "4505cd98fbe0", "test": "eb1e26d63080"}


def test_sizes_and_lengths(treebank: dict[Split, list[Sentence]]) -> None:
    for split, sentences in treebank.items():
        assert len(sentences) == SIZES[split]
        assert all(5 <= len(sentence) <= 30 for sentence in sentences)
    assert 12 < sum(map(len, treebank["train"])) / SIZES["train"] < 18


def test_trees_are_projective_with_one_root_and_tags_are_universal(treebank: dict[Split, list[Sentence]]) -> None:
    for sentence in treebank["dev"] + treebank["test"]:
        assert is_projective(sentence.heads)
        assert sentence.heads.count(0) == sentence.labels.count("root") == 1
        assert {"VERB", "NOUN", "ADJ"} & set(sentence.coarse_tags)


def test_no_test_sentence_is_in_train(treebank: dict[Split, list[Sentence]]) -> None:
    seen = {tuple(sentence.forms) for sentence in treebank["train"]}
    assert not [sentence for sentence in treebank["test"] if tuple(sentence.forms) in seen]


def test_vocabulary_is_of_several_hundred_words_with_a_long_tail(treebank: dict[Split, list[Sentence]]) -> None:
    counts = Counter(form for sentence in treebank["train"] for form in sentence.forms)
    assert 400 < len(counts) < 1000
    assert counts["the"] > 50 * sorted(counts.values())[len(counts) // 2]


def test_seeds_differ_and_repeat() -> None:
    assert embedded_treebank("dev", seed=1) == embedded_treebank("dev", seed=1)
    assert embedded_treebank("dev", seed=1) != embedded_treebank("dev", seed=2)


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_share_of_nonprojective_sentences(share: float) -> None:
    sentences = embedded_treebank("dev", nonprojective=share)
    crossing = sum(not is_projective(sentence.heads) for sentence in sentences) / len(sentences)
    assert crossing == pytest.approx(share, abs=0.08)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="unknown split 'tset'"):
        embedded_treebank("tset")
    with pytest.raises(ValueError, match=r"from 0 to 1, not 1\.5"):
        embedded_treebank("dev", nonprojective=1.5)


def attachments(sentences: list[Sentence], preposition: str) -> Counter[tuple[str, str]]:
    """Count the coarse tag above a preposition in object position, and the kind of the noun below it."""
    kinds = {noun: kind for kind, nouns in NOUNS.items() for noun in nouns}
    counts: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        for modifier, head in enumerate(sentence.heads, start=1):
            above = sentence.heads[head - 1]
            if sentence.forms[head - 1] == preposition and 0 < above < head and sentence.labels[modifier - 1] == "pobj":
                counts[sentence.coarse_tags[above - 1], kinds[sentence.lemmas[modifier - 1]]] += 1
    return counts


def test_prepositions_are_ambiguous_until_their_object_is_seen(treebank: dict[Split, list[Sentence]]) -> None:
    counts = attachments(treebank["train"], "with")
    verbs = sum(count for (tag, _), count in counts.items() if tag == "VERB")
    assert 0.35 < verbs / counts.total() < 0.65
    # Which head is right follows from the object, up to the noise.
    decided = sum(max(counts["VERB", kind], counts["NOUN", kind]) for kind in NOUNS)
    assert decided / counts.total() > 0.93


def test_relative_pronouns_suit_the_noun_above_the_clause(treebank: dict[Split, list[Sentence]]) -> None:
    suits = []
    for sentence in treebank["train"]:
        for modifier, head in enumerate(sentence.heads, start=1):
            form = sentence.forms[modifier - 1]
            if form in ("who", "which") and sentence.labels[head - 1] == "acl:relcl":
                antecedent = sentence.lemmas[sentence.heads[head - 1] - 1]
                suits.append((form == "who") == (antecedent in NOUNS["person"]))
    assert len(suits) > 150
    assert sum(suits) / len(suits) > 0.9


def test_dice() -> None:
    dice = Dice("test")
    drawn = Counter(dice.pick("abcd") for _ in range(4000))
    assert drawn["a"] > drawn["b"] > drawn["c"] > drawn["d"] > 0
    assert {dice.either((1, 2, 3)) for _ in range(50)} == {1, 2, 3}
    assert dice.weighted({"never": 0.0, "always": 1.0}) == "always"
    assert (dice.chance(0.0), dice.chance(1.0)) == (False, True)
