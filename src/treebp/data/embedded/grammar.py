"""Clauses of the embedded treebank, and the attachments that one arc alone does not decide."""

from treebp.data.embedded.dice import Dice
from treebp.data.embedded.lexicon import (
    ADJECTIVES,
    CIRCUMSTANCE_CONJUNCTIONS,
    DITRANSITIVE,
    FUTURE_ADVERBS,
    INTRANSITIVE,
    MANNER_ADVERBS,
    OBJECT_CONTROL,
    PAST_ADVERBS,
    REASON_CONJUNCTIONS,
    REPORTING,
    SUBJECT_CONTROL,
    TRANSITIVE,
)
from treebp.data.embedded.phrases import TENSES, noun_phrase, particle, subject_phrase, verb_form
from treebp.data.embedded.syntax import GrammarWord

NOISE = 0.03  # share of ambiguous attachments that go against their preference

# What a preposition governs when it modifies a verb, and when it modifies a noun of some kind. The kinds on the two
# sides differ, the prepositions do not: only the preposition's object tells where the phrase belongs.
OBJECTS_IN_VERB_PHRASE = {"with": ("tool",), "in": ("place", "time"), "on": ("place", "time")}
OBJECTS_IN_NOUN_PHRASE = {
    "person": {"with": "clothing", "in": "clothing"},
    "animal": {"with": "mark"},
    "building": {"with": "feature"},
    "document": {"on": "topic", "in": "topic"},
    "food": {"with": "topping", "in": "topping"},
    "tool": {"with": "detail", "on": "detail"},
    "clothing": {"with": "detail", "in": "detail"},
}
OWNERS = {"animal": "person", "building": "person", "document": "person", "person": "building"}


class Grammar:
    """Draws sentences; `treebp.data.embedded` says what makes their attachments ambiguous."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice

    def sentence(self, *, extraposed: bool = False) -> GrammarWord:
        """Draw a sentence; `extraposed` makes one in which a modifier of the subject stands beyond the verb."""
        shapes = {"plain": 0.42, "reported": 0.42, "copular": 0.04, "coordinated": 0.12}
        shape = "extraposed" if extraposed else self.dice.weighted(shapes)
        if shape == "reported":
            root = self.reported_clause()
        elif shape == "copular":
            root = self.copular_clause()
        elif shape == "extraposed":
            root = self.extraposed_clause()
        else:
            tense = self.dice.weighted(TENSES)
            root = self.clause(tense)
            if shape == "coordinated":
                plural = root.before[0].plural
                self.coordinate(root, self.predicate(tense, plural=plural, simple=True))
            elif self.dice.chance(0.1):
                self.adverbial_clause(root, reason=self.dice.chance(0.5))
        if not extraposed and self.dice.chance(0.06):
            root.take_before("punct", particle(",", ","), outermost=True)
            preposition = self.dice.either(tuple(OBJECTS_IN_VERB_PHRASE))
            kind = self.dice.either(OBJECTS_IN_VERB_PHRASE[preposition])
            root.take_before("obl", self.prepositional_phrase(preposition, kind), outermost=True)
        root.take_after("punct", particle(".", "."))
        return root

    def clause(self, tense: str, *, simple: bool = False) -> GrammarWord:
        """Draw a subject with its predicate."""
        subject = subject_phrase(self.dice)
        if not simple and subject.tag in ("NN", "NNS") and self.dice.chance(0.2):
            self.modify([subject])
        verb = self.predicate(tense, plural=subject.plural, simple=simple)
        verb.take_before("nsubj", subject, outermost=True)
        return verb

    def predicate(self, tense: str, *, plural: bool, simple: bool = False) -> GrammarWord:
        """Draw a verb with its objects and adjuncts; `simple` leaves out infinitives, owners and clauses."""
        shapes = {"transitive": 0.7, "intransitive": 0.12, "ditransitive": 0.1}
        shape = self.dice.weighted(shapes if simple else {**shapes, "subject control": 0.06, "object control": 0.08})
        if shape.endswith("control"):
            return self.control(shape, tense, plural=plural)
        lexicon = {"transitive": TRANSITIVE, "intransitive": INTRANSITIVE, "ditransitive": DITRANSITIVE}[shape]
        entry = self.dice.pick(lexicon)
        verb = verb_form(entry, tense, plural=plural)
        if self.dice.chance(0.1):
            verb.take_before("advmod", particle(self.dice.pick(MANNER_ADVERBS), "RB"))
        if shape == "ditransitive":
            verb.take_after("iobj", noun_phrase(self.dice, "person"))
        nouns = []
        if entry.objects:
            nouns = self.object_phrase(self.dice.either(entry.objects), simple=simple)
            verb.take_after("obj", nouns[0])
        if not any(word.label == "acl:relcl" for noun in nouns for word in noun.after):
            self.adjuncts(verb, nouns)
        return verb

    def control(self, shape: str, tense: str, *, plural: bool) -> GrammarWord:
        """Draw a verb with an infinitive, and with the person who is to act if that is not the subject."""
        of_object = shape == "object control"
        verb = verb_form(self.dice.pick(OBJECT_CONTROL if of_object else SUBJECT_CONTROL), tense, plural=plural)
        if of_object:
            verb.take_after("obj", noun_phrase(self.dice, "person"))
        verb.take_after("xcomp", self.predicate("infinitive", plural=plural, simple=True))
        return verb

    def object_phrase(self, kind: str, *, simple: bool) -> list[GrammarWord]:
        """Draw an object, perhaps with "of" and an owner, and a modifier of either; returns the one or two nouns."""
        kinds = [kind]
        if not simple and kind in OWNERS and self.dice.chance(0.5):
            kinds.append(OWNERS[kind])
        # "More" calls for "than" on the same noun, whichever of the two that is.
        compared = self.dice.either(range(len(kinds))) if not simple and self.dice.chance(0.08) else None
        nouns = [noun_phrase(self.dice, kind, more=index == compared) for index, kind in enumerate(kinds)]
        if len(nouns) == 2:
            nouns[0].take_after("nmod", particle("of", "IN")).take_after("pobj", nouns[1])
        if compared is not None:
            than = self.prepositional_phrase("than", self.dice.either(kinds))
            nouns[compared].take_after("nmod", than)
        elif self.dice.chance(0.6):
            self.modify(nouns, simple=simple)
        return nouns

    def modify(self, nouns: list[GrammarWord], *, simple: bool = False) -> None:
        """Give one of the nouns of a phrase prepositional phrases, a relative clause or a conjunct."""
        noun = self.dice.either(nouns)
        shape = "phrase" if simple else self.dice.weighted({"phrase": 0.46, "relative": 0.3, "conjunct": 0.24})
        if shape == "relative":
            noun.take_after("acl:relcl", self.relative_clause(noun))
        elif shape == "conjunct":
            if self.dice.chance(0.4):
                noun.take_before("cc:preconj", particle("both", "CC"), outermost=True)
            other = self.dice.either(nouns) if self.dice.chance(NOISE) else noun
            self.coordinate(noun, noun_phrase(self.dice, other.kind))
        else:
            objects = OBJECTS_IN_NOUN_PHRASE[noun.kind]
            for probability in (1.0, 0.35):
                if self.dice.chance(probability):
                    preposition = self.dice.either(tuple(objects))
                    against = self.dice.chance(NOISE)
                    kind = OBJECTS_IN_VERB_PHRASE[preposition][0] if against else objects[preposition]
                    noun.take_after("nmod", self.prepositional_phrase(preposition, kind))

    def adjuncts(self, verb: GrammarWord, nouns: list[GrammarWord]) -> None:
        """Give a verb that has these nouns as its object prepositional phrases or an adverb, or nothing."""
        # Mostly with a preposition that the noun before it might have taken as well.
        rival = OBJECTS_IN_NOUN_PHRASE[nouns[-1].kind] if nouns and self.dice.chance(0.9) else {}
        for probability in (0.6, 0.3):
            if self.dice.chance(probability):
                preposition = self.dice.either(tuple(rival or OBJECTS_IN_VERB_PHRASE))
                kind = self.dice.either(OBJECTS_IN_VERB_PHRASE[preposition])
                if rival and self.dice.chance(NOISE):
                    kind = rival[preposition]
                verb.take_after("obl", self.prepositional_phrase(preposition, kind))
        if self.dice.chance(0.06):
            verb.take_after("advmod", particle(self.dice.pick(MANNER_ADVERBS), "RB"))

    def prepositional_phrase(self, preposition: str, kind: str) -> GrammarWord:
        """Draw a preposition with its object, a noun of the given kind."""
        word = particle(preposition, "IN")
        word.take_after("pobj", noun_phrase(self.dice, kind))
        return word

    def relative_clause(self, noun: GrammarWord) -> GrammarWord:
        """Draw a relative clause for a noun: "who" for persons, "which" for all else, now and then "that"."""
        person = (noun.kind == "person") != self.dice.chance(NOISE)
        pronoun = particle("who", "WP") if person else particle("which", "WDT")
        if self.dice.chance(0.1):
            pronoun = particle("that", "WDT")
        tense = "past" if self.dice.chance(0.8) else self.dice.weighted(TENSES)
        verb = self.predicate(tense, plural=noun.plural, simple=True)
        verb.take_before("nsubj", pronoun, outermost=True)
        return verb

    def coordinate(self, first: GrammarWord, second: GrammarWord) -> None:
        """Join a conjunct to a word by "and"."""
        second.take_before("cc", particle("and", "CC"), outermost=True)
        first.take_after("conj", second)

    def reported_clause(self) -> GrammarWord:
        """Draw a reporting verb with what is reported, and a modifier at the end that belongs to one of the two."""
        ending = self.dice.weighted({"adverb": 0.45, "clause": 0.5, "none": 0.05})
        tenses = ["past", self.dice.weighted(TENSES)]
        if ending == "adverb":
            tenses = list(self.dice.either((("future perfect", "past perfect"), ("past perfect", "future perfect"))))
        subject = subject_phrase(self.dice)
        report = verb_form(self.dice.pick(REPORTING), tenses[0], plural=subject.plural)
        report.take_before("nsubj", subject, outermost=True)
        reported = report.take_after("ccomp", self.clause(tenses[1], simple=True))
        if self.dice.chance(0.6):
            reported.take_before("mark", particle("that", "IN"), outermost=True)

        verb, tense = self.dice.either(((report, tenses[0]), (reported, tenses[1])))
        against = self.dice.chance(NOISE)
        if ending == "adverb":
            future = tense.startswith("future") != against
            verb.take_after("advmod", particle(self.dice.pick(FUTURE_ADVERBS if future else PAST_ADVERBS), "RB"))
        elif ending == "clause":
            self.adverbial_clause(verb, reason=(verb is report) != against)
        return report

    def adverbial_clause(self, verb: GrammarWord, *, reason: bool) -> None:
        """Give a verb a clause of reason or of circumstance."""
        clause = verb.take_after("advcl", self.clause(self.dice.weighted(TENSES), simple=True))
        form = self.dice.pick(REASON_CONJUNCTIONS if reason else CIRCUMSTANCE_CONJUNCTIONS)
        clause.take_before("mark", particle(form, "IN" if reason else "WRB"), outermost=True)

    def copular_clause(self) -> GrammarWord:
        """Draw a subject that is said to have a quality."""
        nouns = self.object_phrase(self.dice.either(tuple(OWNERS)), simple=False)
        quality = particle(self.dice.pick(ADJECTIVES), "JJ")
        quality.take_before("nsubj", nouns[0])
        plural = nouns[0].plural or any(word.label == "conj" for word in nouns[0].after)
        quality.take_before("cop", GrammarWord("were" if plural else "was", "be", "VBD"))
        if self.dice.chance(0.25):
            self.coordinate(quality, particle(self.dice.pick(ADJECTIVES), "JJ"))
        return quality

    def extraposed_clause(self) -> GrammarWord:
        """Draw a subject and a verb, then a relative clause or prepositional phrase that belongs to the subject."""
        subject = noun_phrase(self.dice, self.dice.either(tuple(OBJECTS_IN_NOUN_PHRASE)))
        verb = verb_form(self.dice.pick(INTRANSITIVE), "past", plural=subject.plural)
        verb.take_before("nsubj", subject, outermost=True)
        if self.dice.chance(0.4):
            verb.take_after("advmod", particle(self.dice.pick(PAST_ADVERBS), "RB"))
        if self.dice.chance(0.6):
            subject.take_after("acl:relcl", self.relative_clause(subject), beyond=verb)
        else:
            preposition, kind = self.dice.either(tuple(OBJECTS_IN_NOUN_PHRASE[subject.kind].items()))
            subject.take_after("nmod", self.prepositional_phrase(preposition, kind), beyond=verb)
        return verb
