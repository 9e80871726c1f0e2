"""The small phrases of the embedded treebank: nouns with their determiners, subjects, verbs with their auxiliaries."""

from treebp.data.embedded.dice import Dice
from treebp.data.embedded.lexicon import ADJECTIVES, NAMES, NOUNS, SURNAMES, TITLES, Verb, with_s
from treebp.data.embedded.syntax import GrammarWord

TENSES = {"past": 0.62, "present": 0.14, "future": 0.09, "perfect": 0.08, "past perfect": 0.07}


def particle(form: str, tag: str) -> GrammarWord:
    """Make a word that is its own lemma."""
    return GrammarWord(form, form, tag)


def noun_phrase(dice: Dice, kind: str, *, more: bool = False) -> GrammarWord:
    """Draw a noun of a kind with determiner and adjectives; with `more`, a plural compared by "more ... than"."""
    lemma = dice.pick(NOUNS[kind])
    plural = more or dice.chance(0.45)
    noun = GrammarWord(with_s(lemma) if plural else lemma, lemma, "NNS" if plural else "NN", kind, plural)
    if more:
        noun.take_before("amod", GrammarWord("more", "many", "JJR"))
    elif not (plural and dice.chance(0.6)):
        noun.take_before(*_determiner(dice, plural))
    # Without the adjective the tag next to the noun would give "more" away to a model that looks at single arcs.
    for probability in (1.0 if more else 0.1, 0.03):
        if dice.chance(probability):
            noun.take_before("amod", particle(dice.pick(ADJECTIVES), "JJ"))
    return noun


def _determiner(dice: Dice, plural: bool) -> tuple[str, GrammarWord]:
    """Draw a number, a possessive or an article, and its label."""
    if plural and dice.chance(0.25):
        return "nummod", particle(dice.pick(("two", "three", "four", "five", "seven")), "CD")
    if dice.chance(0.15):
        form, owner = dice.pick((("his", "he"), ("her", "she"), ("their", "they")))
        return "nmod:poss", GrammarWord(form, owner, "PRP$")
    return "det", particle(dice.pick(("the", "some", "these") if plural else ("the", "a", "this", "every")), "DT")


def subject_phrase(dice: Dice) -> GrammarWord:
    """Draw a subject, a person or an animal: a noun phrase, a pronoun or a name."""
    shape = dice.weighted({"noun": 0.45, "pronoun": 0.25, "name": 0.2, "title": 0.1})
    if shape == "pronoun":
        form = dice.pick(("he", "she", "they", "we"))
        return GrammarWord(form, form, "PRP", "person", plural=form in ("they", "we"))
    if shape == "noun":
        return noun_phrase(dice, dice.weighted({"person": 0.8, "animal": 0.2}))
    form = dice.pick(NAMES if shape == "name" else SURNAMES)
    name = GrammarWord(form, form, "NNP", "person")
    if shape == "title":
        name.take_before("compound", particle(dice.pick(TITLES), "NNP"))
    return name


def verb_form(verb: Verb, tense: str, *, plural: bool) -> GrammarWord:
    """Make a verb form that agrees in number, preceded by its auxiliaries, or by "to" in the infinitive."""
    word = GrammarWord(verb.past, verb.lemma, "VBD")
    if tense == "infinitive":
        word.form, word.tag = verb.lemma, "VB"
        word.take_before("mark", particle("to", "TO"))
    elif tense == "present":
        word.form, word.tag = (verb.lemma, "VBP") if plural else (with_s(verb.lemma), "VBZ")
    elif tense == "future":
        word.form, word.tag = verb.lemma, "VB"
    elif tense != "past":
        word.form, word.tag = verb.participle, "VBN"
    for auxiliary in _auxiliaries(tense, plural):
        word.take_before("aux", auxiliary)
    return word


def _auxiliaries(tense: str, plural: bool) -> list[GrammarWord]:
    if tense == "future":
        return [particle("will", "MD")]
    if tense == "future perfect":
        return [particle("will", "MD"), particle("have", "VB")]
    if tense == "past perfect":
        return [GrammarWord("had", "have", "VBD")]
    if tense == "perfect":
        return [particle("have", "VBP") if plural else GrammarWord("has", "have", "VBZ")]
    return []
