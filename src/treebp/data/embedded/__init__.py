"""A treebank of our own: a seeded generator of English-like sentences, so that there is always something to train on.

Its attachments are ambiguous on purpose, and mostly decided by two arcs together rather than by either of them:

- **Prepositional phrases.** "watched the painter with a telescope / with a scarf": the object of the preposition tells
  whether the phrase modifies the verb or the noun (head, preposition, object: a grandparent pair).
- **Relative clauses.** "the letter of the nurse which ... / who ...": the pronoun below the clause's verb must suit the
  noun above it (grandparent).
- **Reported speech.** "said that he slept because ... / when ...": the conjunction below the last verb tells which of
  the other two it modifies (grandparent). "will have said that he had slept tomorrow / yesterday": an adverb modifies
  the verb whose auxiliary agrees with it (siblings).
- **Coordination.** "the dogs of the farmer and the horses": conjuncts are of one kind; "both" stands on the first one
  (siblings).
- **Comparison.** "more old books of the teachers than ...": "than" modifies the noun that has "more" (siblings).

A few per cent of these go against the preference. The tags are those of the Penn Treebank and their universal
counterparts, the labels those of Universal Dependencies, except that a preposition heads its object (`pobj`).
"""

from typing import Literal

from treebp.data.embedded.dice import Dice
from treebp.data.embedded.grammar import Grammar
from treebp.data.embedded.syntax import to_sentence
from treebp.data.sentence import Sentence

Split = Literal["train", "dev", "test"]
SIZES: dict[Split, int] = {"train": 3000, "dev": 300, "test": 500}


def embedded_treebank(split: Split, *, seed: int = 1, nonprojective: float = 0.0) -> list[Sentence]:
    """Generate a split of the embedded treebank: 3,000, 300 or 500 sentences of 5 to 30 words, one root each.

    The same arguments give the same sentences on every platform and Python version.

    Args:
        split: "train", "dev" or "test".
        seed: of the generator.
        nonprojective: expected share of sentences with an extraposed modifier, whose arc is non-projective.

    Raises:
        ValueError: for another split, or a share outside 0 to 1.

    Example:
        >>> sentences = embedded_treebank("dev")
        >>> len(sentences)
        300
        >>> " ".join(sentences[0].forms)
        'With a camera , Mr. Brown thought a lawyer described novels on taxes on the climate with this old ladder .'

    """
    if split not in SIZES:
        raise ValueError(f"unknown split {split!r}: choose one of {', '.join(SIZES)}")
    if not 0.0 <= nonprojective <= 1.0:
        raise ValueError(f"nonprojective is a share of the sentences, from 0 to 1, not {nonprojective}")
    dice = Dice(f"{split} {seed}")
    grammar = Grammar(dice)
    sentences: list[Sentence] = []
    while len(sentences) < SIZES[split]:
        sentence = to_sentence(grammar.sentence(extraposed=dice.chance(nonprojective)))
        if 5 <= len(sentence) <= 30:
            sentences.append(sentence)
    return sentences
