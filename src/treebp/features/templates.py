"""The language of feature templates, for arcs, for parts of several arcs and for labels alike.

A template is written as its slots, each a token and an attribute of it: ``"h.word m.fine"``. Which tokens there are
depends on what the template is for: a head ``h`` and its modifier ``m``, say. A minus or a plus behind a token means
the word before or behind it. A star marks the slot for whose values the weights stand side by side in memory. Every
mistake raises a ValueError that names the template.

``cluster6`` and ``cluster4`` are the clusters whose names begin with the same six and the same four letters.

Templates come in sections: each says which groups a user must have asked for to get its templates.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

TemplateGroup = Literal["words", "tags", "coarse", "between", "prefixes", "lemmas", "morphology", "clusters"]
ATTRIBUTES = ("word", "fine", "coarse", "prefix", "lemma", "morphology", "cluster", "cluster6", "cluster4")


class Slot(NamedTuple):
    """One value that a template looks at."""

    token: str
    attribute: str
    starred: bool


class Section(NamedTuple):
    """Templates that are used when all of some groups are asked for."""

    needs: tuple[TemplateGroup, ...]
    templates: tuple[str, ...]


def parse_template(
    template: str, tokens: Collection[str], kind: str, attributes: Sequence[str] = ATTRIBUTES
) -> tuple[Slot, ...]:
    """The slots of a template for some kind of part ("arc", say, for messages), given the tokens that it may name.

    Example:
        >>> parse_template("h.word m.fine*", ["h", "m"], "arc")
        (Slot(token='h', attribute='word', starred=False), Slot(token='m', attribute='fine', starred=True))
        >>> parse_template("h.word c.word", ["h", "m"], "arc")
        Traceback (most recent call last):
            ...
        ValueError: arc template 'h.word c.word': there is no token 'c', only h, m

    """
    slots: list[Slot] = []
    for text in template.split(" "):
        token, dot, attribute = text.partition(".")
        starred, attribute = attribute.endswith("*"), attribute.removesuffix("*")
        if not (token and dot and attribute):
            raise template_error(kind, template, f"the slot {text!r} is not of the form token.attribute")
        if token not in tokens:
            raise template_error(kind, template, f"there is no token {token!r}, only {', '.join(tokens)}")
        if attribute not in attributes:
            raise template_error(kind, template, f"there is no attribute {attribute!r}, only {', '.join(attributes)}")
        if any((slot.token, slot.attribute) == (token, attribute) for slot in slots):
            raise template_error(kind, template, f"it looks twice at {token}.{attribute}")
        slots.append(Slot(token, attribute, starred))
    if sum(slot.starred for slot in slots) > 1:
        raise template_error(kind, template, "it has more than one star")
    return tuple(slots)


def parse_templates(
    templates: Iterable[str], tokens: Collection[str], kind: str, attributes: Sequence[str] = ATTRIBUTES
) -> dict[str, tuple[Slot, ...]]:
    """The slots of several templates, which must all be different, in whatever order their slots are written."""
    parsed: dict[str, tuple[Slot, ...]] = {}
    seen: dict[frozenset[tuple[str, str]], str] = {}
    for template in templates:
        slots = parse_template(template, tokens, kind, attributes)
        looked_at = frozenset((slot.token, slot.attribute) for slot in slots)
        if looked_at in seen:
            raise template_error(kind, template, f"it looks at the same as {seen[looked_at]!r}: leave one out")
        seen[looked_at] = template
        parsed[template] = slots
    return parsed


def chosen(sections: Sequence[Section], groups: Iterable[str]) -> list[str]:
    """The templates that the groups ask for, in order."""
    wanted = set(groups)
    return [template for section in sections if wanted.issuperset(section.needs) for template in section.templates]


def with_tag(tag: str, templates: Iterable[str]) -> tuple[str, ...]:
    """Templates written with ``T`` for a tag, "fine" or "coarse".

    Example:
        >>> with_tag("fine", ["h.T m.word", "m.T*"])
        ('h.fine m.word', 'm.fine*')

    """
    return tuple(template.replace(".T", f".{tag}") for template in templates)


def template_error(kind: str, template: str, what: str) -> ValueError:
    """The error that says what is wrong with which template."""
    return ValueError(f"{kind} template {template!r}: {what}")
