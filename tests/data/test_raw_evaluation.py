"""Our scores of raw text are those of the official evaluation, digit by digit."""

import io
import random

import pytest
from udtools import udeval

from treebp.data.conll import read_conll
from treebp.data.embedded import embedded_treebank
from treebp.data.errors import TreebankError
from treebp.data.raw_evaluation import evaluate_raw
from treebp.data.sentence import Sentence

LABELS = ["nsubj", "obj", "case", "det", "aux:pass", "nmod:poss", "punct", "cc", "conj"]
FEATURES = ["_", "Number=Sing", "Number=Plur|Own=Yes", "Case=Nom|Gender=Fem"]
TEXT = "Das ist zum Beispiel vom Haus am See aus gesehen nicht zu glauben aber es stimmt zum Teil "


def rows(words: list[str], dice: random.Random) -> list[list[str]]:
    """A random tree over words, with tags, features and lemmas that are often the same."""
    count = len(words)
    order = dice.sample(range(1, count + 1), count)
    heads = {word: dice.choice(order[:place]) if place else 0 for place, word in enumerate(order)}
    return [
        [
            str(number),
            form,
            dice.choice([form.lower(), "_", "other"]),
            dice.choice(["NOUN", "VERB"]),
            dice.choice(["NN", "VB"]),
            dice.choice(FEATURES),
            str(heads[number]),
            dice.choice(LABELS) if heads[number] else "root",
            "_",
            "_",
        ]
        for number, form in enumerate(words, 1)
    ]


def treebank(text: str, dice: random.Random) -> str:
    """The text cut into random sentences, tokens (some with a space inside) and words, as CoNLL-U."""
    lines: list[str] = []
    while text := text.lstrip(" "):
        tokens: list[tuple[str, list[str]]] = []
        for _ in range(dice.randint(1, 8)):
            cut = text.find(" ") if dice.random() < 0.7 else dice.randint(1, 9)
            token, text = text[:cut].strip(" "), text[cut:].lstrip(" ")
            if token:
                parts = [dice.choice(["zu", "dem", "von", "der", token]) for _ in range(dice.randint(1, 3))]
                tokens.append((token, parts if dice.random() < 0.3 else [token]))
            if not text:
                break
        if not tokens:
            continue
        words = rows([word for _, parts in tokens for word in parts], dice)
        lines.append("# sent_id = x")
        for token, parts in tokens:
            if parts != [token]:
                first = int(words[0][0])
                lines.append("\t".join([f"{first}-{first + len(parts) - 1}", token, *"________"]))
            for _ in parts:
                lines.append("\t".join(words.pop(0)))
                if dice.random() < 0.1:
                    lines.append("\t".join([lines[-1].split("\t")[0] + ".1", "empty", *"______", "0:exroot", "_"]))
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(60))
def test_equals_the_official_evaluation(seed: int) -> None:
    dice = random.Random(seed)
    text = TEXT * 3
    gold, system = treebank(text, dice), treebank(text, dice)
    official = udeval.evaluate(
        *(
            udeval.load_conllu(io.StringIO(side), name, {"multiple_roots_okay": True})
            for side, name in ((gold, "gold"), (system, "system"))
        )
    )
    ours = evaluate_raw(*(read_conll(io.BytesIO(side.encode()), format="conllu") for side in (gold, system)))
    assert list(ours) == [name for name in official if name not in ("ELAS", "EULAS")]
    for name, score in ours.items():
        theirs = official[name]
        assert (score.correct, score.gold, score.system, score.aligned) == (
            theirs.correct,
            theirs.gold_total,
            theirs.system_total,
            theirs.aligned_total,
        ), name
        assert score.precision == pytest.approx(100 * theirs.precision, abs=1e-9)
        assert score.recall == pytest.approx(100 * theirs.recall, abs=1e-9)
        assert score.f1 == pytest.approx(100 * theirs.f1, abs=1e-9)


def test_a_treebank_agrees_with_itself() -> None:
    sentences = embedded_treebank("dev")[:20]
    assert {score.f1 for score in evaluate_raw(sentences, sentences).values()} == {100.0}


def test_unknown_heads_of_the_system_are_wrong() -> None:
    gold = Sentence.from_columns(["Trees", "grow"], heads=[2, 0])
    assert evaluate_raw([gold], [gold.with_parse([-1, 0])])["UAS"].f1 == 50.0


def test_errors_say_where() -> None:
    gold = b"1\tWe\t_\t_\t_\t_\t2\t_\t_\t_\n2\tsee\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    system = b"# a comment\n" + gold.replace(b"see", b"saw")
    with pytest.raises(TreebankError, match=r"<stream>:2:2: the texts differ .* 'ee' in the gold but 'aw'.* line 3"):
        evaluate_raw(read_conll(io.BytesIO(gold)), read_conll(io.BytesIO(system)))
    with pytest.raises(TreebankError, match=r":2:2: the texts differ .* 'see' in the gold but '' in the system"):
        evaluate_raw(read_conll(io.BytesIO(gold)), [Sentence.from_columns(["We"], heads=[0])])
    with pytest.raises(TreebankError, match=r"1:7: the gold head is missing"):
        evaluate_raw([Sentence.from_columns(["We"])], [Sentence.from_columns(["We"])])
    with pytest.raises(TreebankError, match="nothing but white space"):
        evaluate_raw([Sentence.from_columns(["\u00a0"], heads=[0])], [])
