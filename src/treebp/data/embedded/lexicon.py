"""The words of the embedded treebank, by kind and in order of frequency."""

from typing import NamedTuple


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# What a noun denotes decides what it can be done to and what it can attach to.
NOUNS = {
    kind: _words(words)
    for kind, words in {
        "person": "teacher farmer doctor student lawyer artist sailor nurse banker painter writer driver soldier judge "
        "singer baker guard poet engineer widow actor tailor pilot clerk",
        "animal": "dog horse cat bird cow fox wolf goat bear duck lion rabbit pony monkey parrot squirrel",
        "building": "house hotel castle barn church museum school factory cottage library palace tower temple mill",
        "document": "book letter report story article novel essay diary poem note lecture paper survey speech",
        "food": "apple cake pie egg potato sausage pear tart cookie plum carrot onion melon pancake",
        "tool": "hammer knife spoon telescope brush ladder rope stick camera shovel needle pencil fork torch axe saw",
        "place": "kitchen street station market forest park corridor harbour field cellar meadow beach island village",
        "time": "morning evening summer weekend winter afternoon night autumn spring holiday month year",
        "feature": "chimney balcony courtyard staircase terrace fence porch gate window roof fountain door",
        "mark": "tail paw spot stripe horn wing ear bell collar feather mane whisker",
        "clothing": "hat coat scarf uniform suit glove dress cape apron jacket helmet ring",
        "detail": "handle button pocket strap ribbon buckle hook lining label knob",
        "topping": "cream sauce berry nut seed spice syrup herb",
        "topic": "war tax election climate crime strike merger disease treaty scandal reform drought trial budget",
    }.items()
}
IRREGULAR_PLURALS = {"knife": "knives", "wolf": "wolves", "scarf": "scarves"}

NAMES = _words(
    "Anna Peter Maria John Clara Thomas Ruth David Helen Martin Laura Simon Julia Oscar Nora Victor Edith Hugo"
)
SURNAMES = _words("Brown Miller Stone Fisher Baker Marsh Wood Hill Carter Lane Young Bishop")
TITLES = _words("Mr. Dr. Mrs. Captain Professor")

ADJECTIVES = _words(
    "old small new young large red quiet famous strange green poor heavy proud dark cheap honest wild rich narrow "
    "bright tired clever modern lonely rusty gentle ancient broken noisy pale curious simple wooden elegant"
)
MANNER_ADVERBS = _words(
    "quickly slowly quietly carefully often suddenly gladly secretly rarely calmly proudly usually bravely "
    "politely nervously"
)
# An adverb of time modifies the verb whose auxiliaries agree with it.
PAST_ADVERBS = _words("yesterday recently earlier previously formerly")
FUTURE_ADVERBS = _words("tomorrow soon shortly eventually later")

# After reported speech a clause of reason modifies the act of reporting, one of circumstance what is reported.
REASON_CONJUNCTIONS = _words("because although unless")
CIRCUMSTANCE_CONJUNCTIONS = _words("when whenever wherever")


class Verb(NamedTuple):
    """A verb's principal forms and the kinds of noun that it takes as object."""

    lemma: str
    past: str
    participle: str
    objects: tuple[str, ...]


def _verbs(objects: str, *entries: str) -> tuple[Verb, ...]:
    """Make verbs from entries such as `see saw seen`; a single form is regular."""
    verbs = []
    for entry in entries:
        lemma, *forms = entry.split()
        past, participle = forms or [_regular_past(lemma)] * 2
        verbs.append(Verb(lemma, past, participle, _words(objects)))
    return tuple(verbs)


def _regular_past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    return lemma + "ed"


def with_s(lemma: str) -> str:
    """Return the plural of a noun, or a verb's third person singular.

    Example:
        >>> [with_s(word) for word in ["dog", "church", "diary", "knife"]]
        ['dogs', 'churches', 'diaries', 'knives']

    """
    if lemma in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[lemma]
    if lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + ("es" if lemma.endswith(("s", "x", "ch", "sh", "o")) else "s")


TRANSITIVE = (
    *_verbs(
        "person animal building document",
        "see saw seen",
        "find found found",
        "watch",
        "describe",
        "remember",
        "photograph",
        "admire",
        "mention",
        "draw drew drawn",
        "recognise",
        "forget forgot forgotten",
        "discover",
        "ignore",
    ),
    *_verbs("person animal", "follow", "help", "meet met met", "greet", "chase", "catch caught caught", "call"),
    *_verbs("building tool clothing", "buy bought bought", "sell sold sold", "repair", "clean", "paint", "own"),
    *_verbs("document", "read read read", "write wrote written", "publish", "finish", "translate"),
    *_verbs("food", "eat ate eaten", "cook", "bake", "serve", "taste"),
)
INTRANSITIVE = _verbs(
    "",
    "arrive",
    "sleep slept slept",
    "wait",
    "smile",
    "laugh",
    "work",
    "sing sang sung",
    "travel travelled travelled",
    "stay",
    "disappear",
    "fall fell fallen",
    "appear",
    "rest",
    "dance",
)
DITRANSITIVE = _verbs(
    "document food tool clothing",
    "give gave given",
    "send sent sent",
    "show showed shown",
    "offer",
    "lend lent lent",
    "hand",
    "bring brought brought",
    "promise",
)
REPORTING = _verbs(
    "",
    "say said said",
    "claim",
    "know knew known",
    "believe",
    "think thought thought",
)
SUBJECT_CONTROL = _verbs("", "want", "try", "decide", "refuse", "plan planned planned", "need", "hesitate")
OBJECT_CONTROL = _verbs("person", "ask", "tell told told", "persuade", "force", "order", "teach taught taught")
