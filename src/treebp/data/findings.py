"""What to know about treebank files before training on them, and what the parser will do about it."""

from dataclasses import dataclass
from typing import Literal

from treebp.data.inventory import Inventory


@dataclass(frozen=True)
class Finding:
    """Something to know before training on a treebank.

    Attributes:
        level: "error" if the parser refuses the file, "warning" if it costs accuracy or misleads, or "note".
        what: what was found, and where.
        consequence: what the parser does about it, or what to do.

    Example:
        >>> from treebp.data.findings import Finding
        >>> Finding("note", "train.conllu: 3 empty nodes", "They are copied to the output.").level
        'note'

    """

    level: Literal["error", "warning", "note"]
    what: str
    consequence: str


def find_problems(train: Inventory, *others: Inventory) -> list[Finding]:
    """Compare a training file with the files to parse, and say what the parser will do about each oddity.

    Args:
        train: the training file's inventory.
        others: those of the development and test files.

    Example:
        >>> from collections import Counter
        >>> from treebp.data.findings import find_problems
        >>> from treebp.data.inventory import Inventory
        >>> train = Inventory("train", labels=Counter(nsubj=2, root=2))
        >>> dev = Inventory("dev", labels=Counter(nsubj=1, vocative=1))
        >>> [finding.what for finding in find_problems(train, dev)]
        ["dev: 1 word with a label that train lacks: 'vocative'"]

    """
    findings = _tree_findings(train, is_train=True) + _train_findings(train)
    for other in others:
        findings += _tree_findings(other, is_train=False) + _differences(train, other)
    order = ["error", "warning", "note"]
    return sorted(findings, key=lambda finding: order.index(finding.level))


def _tree_findings(inventory: Inventory, *, is_train: bool) -> list[Finding]:
    path, sentences = inventory.path, inventory.sentences
    findings = []
    if inventory.cyclic:
        what = f"{path}: {_count(inventory.cyclic, 'sentence')} with a cycle"
        findings.append(Finding("error", what, "The parser refuses the file and names the first one: correct them."))
    if inventory.incomplete:
        what = f"{path}: {_count(inventory.incomplete, 'sentence')} without all heads"
        consequence = "Such a file can be parsed, but neither trained on nor scored against."
        findings.append(Finding("error" if is_train else "warning", what, consequence))
    if inventory.several_roots:
        what = f"{path}: {_count(inventory.several_roots, 'sentence')} of {sentences} with several roots"
        consequence = "If the training file has such trees, the parser may predict several roots; else one only."
        findings.append(Finding("note", what, consequence))
    if inventory.nonprojective:
        arcs = 100 * inventory.nonprojective_arcs / inventory.words
        what = (
            f"{path}: {_count(inventory.nonprojective, 'non-projective sentence')} "
            f"({100 * inventory.nonprojective / sentences:.1f} %), with {arcs:.2f} % of all arcs"
        )
        consequence = (
            "A projective parser cannot predict these arcs, and likelihood training (CLL) replaces each such "
            "tree by the closest projective one. From 1 % of all arcs on, treebp train chooses a non-projective one."
        )
        findings.append(Finding("note", what, consequence))
    if inventory.multiword_tokens or inventory.empty_nodes:
        what = (
            f"{path}: {_count(inventory.multiword_tokens, 'multiword token')} and "
            f"{_count(inventory.empty_nodes, 'empty node')}"
        )
        findings.append(Finding("note", what, "They are copied to the output as they are; only words get a head."))
    return findings


def _train_findings(train: Inventory) -> list[Finding]:
    findings = []
    if set(train.coarse_tags) | set(train.fine_tags) == {"_"}:
        what = f"{train.path}: no part-of-speech tags"
        findings.append(Finding("warning", what, "The parser has only the words to go by: tag the files first."))
    elif set(train.fine_tags) == {"_"}:
        what = f"{train.path}: no fine tags (column 5)"
        findings.append(Finding("note", what, "The coarse tags (column 4) are used in their place."))
    if len(train.labels) == 1:
        what = f"{train.path}: one label only, {next(iter(train.labels))!r}"
        findings.append(Finding("note", what, "Look at the unlabelled scores: the labelled ones add nothing."))
    elif train.labels["_"]:
        what = f"{train.path}: {_count(train.labels['_'], 'word')} with the label '_'"
        findings.append(Finding("note", what, "It is learnt and scored like any other label."))
    if repeated := train.sentences - len(train.texts):
        what = f"{train.path}: {_count(repeated, 'sentence')} repeated within the file"
        findings.append(Finding("note", what, "Each counts as often as it occurs."))
    return findings


def _differences(train: Inventory, other: Inventory) -> list[Finding]:
    findings = []
    tag_advice = "The parser has learnt nothing about these tags: is it the same tag set?"
    label_advice = "Labels that training has not shown cannot be predicted: these words cost LAS."
    for name, known, counts, consequence in (
        ("label", train.labels, other.labels, label_advice),
        ("coarse tag", train.coarse_tags, other.coarse_tags, tag_advice),
        ("fine tag", train.fine_tags, other.fine_tags, tag_advice),
    ):
        if unseen := {value: count for value, count in counts.items() if value not in known}:
            words = _count(sum(unseen.values()), "word")
            what = f"{other.path}: {words} with a {name} that {train.path} lacks: {_some(unseen)}"
            findings.append(Finding("warning", what, consequence))
    if shared := sum(count for text, count in other.texts.items() if text in train.texts):
        what = f"{other.path}: {_count(shared, 'sentence')} of {other.sentences} also in {train.path}"
        findings.append(Finding("warning", what, "Scores on them flatter the parser: remove them from training."))
    if train.format != other.format:
        what = f"{other.path} is {other.format}, {train.path} is {train.format}"
        findings.append(Finding("warning", what, "Their tags and labels probably differ: convert one of them."))
    return findings


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _some(counts: dict[str, int], most: int = 8) -> str:
    names = sorted(counts, key=lambda name: -counts[name])
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")
