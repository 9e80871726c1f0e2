"""From templates to the arrays with which kernels hash features, and the weights that the hashes choose from.

See ``treebp.kernels.features`` for the hash itself. A template's feature is the exclusive or of one hash per position;
a *view* is a set of positions that templates may look at together. What a view has no position for, no template may
name: it would be dropped in silence.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, IntArray
from treebp.features.templates import ATTRIBUTES, Section, Slot, chosen, parse_templates, template_error
from treebp.kernels.features import ROLE, SLOTS, Templates

_AROUND = ("", "-", "+")  # the token itself, and the words before and behind it


class View(NamedTuple):
    """Positions that templates may look at together, as their letters, with the seed of their hashes.

    ``star`` has the letters whose slot may have a star; the places within a line are free there. ``needs_star`` says
    that there must be one.
    """

    letters: str
    seed: int
    star: str = ""
    needs_star: bool = False


@dataclass(frozen=True, eq=False)
class HashedTemplates:
    """All templates of a kind of part: which views there are, and the templates, section by section.

    Attributes:
        kind: for messages: "arc", say.
        views: in the order in which kernels take them.
        always: letters of the view whose first template is the empty one, whose feature is always there.
        alone: letters of positions that have no words around them.
        sections: the templates, by groups.

    """

    kind: str
    views: tuple[View, ...]
    always: str
    sections: tuple[Section, ...]
    alone: str = ""

    def compile(self, groups: Iterable[str]) -> Templates:
        """The templates that the groups ask for, as kernels take them. Raises ValueError for one that is wrong."""
        parsed = parse_templates(chosen(self.sections, groups), self._tokens, self.kind)
        by_view: dict[str, list[tuple[Slot, ...]]] = {view.letters: [] for view in self.views}
        by_view[self.always].append(())
        for template, slots in parsed.items():
            by_view[self._view(template, slots).letters].append(slots)
        blocks = [(view, role, by_view[view.letters]) for view in self.views for role in range(len(view.letters))]
        counts = [len(templates) for _, _, templates in blocks]
        return Templates(
            np.concatenate([_rows(templates, view.letters[role]) for view, role, templates in blocks]),
            np.concatenate([view.seed + role * ROLE + np.arange(len(t)) for view, role, t in blocks]).astype(np.uint64),
            np.cumsum([0, *counts[:-1]]).astype(np.uint64),
        )

    @property
    def _tokens(self) -> list[str]:
        letters = sorted({letter for view in self.views for letter in view.letters})
        return [letter + side for letter in letters for side in (_AROUND if letter not in self.alone else ("",))]

    def _view(self, template: str, slots: tuple[Slot, ...]) -> View:
        """The view that a template belongs to; ValueError if there is none, or the template does not fit into it."""
        letters = {slot.token[0] for slot in slots}
        view = next((view for view in self.views if set(view.letters) == letters), None)
        if view is None:
            sets = ", ".join(" ".join(view.letters) for view in self.views)
            raise template_error(
                self.kind,
                template,
                f"it looks at {' '.join(sorted(letters))}; what can be looked at together is: {sets}",
            )
        for letter in view.letters:
            count = sum(slot.token[0] == letter for slot in slots)
            if count > SLOTS:
                raise template_error(self.kind, template, f"{count} slots at {letter}: at most {SLOTS} are possible")
        starred = [slot for slot in slots if slot.starred]
        for slot in starred:
            if slot.token not in view.star:
                where = " or ".join(view.star) if view.star else "no token"
                raise template_error(self.kind, template, f"a star at {slot.token}, where {where} can have one")
        if view.needs_star and not starred:
            raise template_error(self.kind, template, f"it needs a star at {view.star}")
        if starred and any(slot.token[0] in self.alone and not slot.starred for slot in slots):
            raise template_error(self.kind, template, f"only the starred slot can be at {self.alone}")
        return view


def new_weights(bits: int) -> AnyArray:
    """2**bits zeros, float32, that begin where a line of the processor's caches does: each 16 of them share one.

    They are to be changed in place, lest they move to where lines are split.
    """
    count = 1 << bits
    memory = np.zeros(count + 16, np.float32)
    start = -memory.ctypes.data % 64 // 4
    return memory[start : start + count]


def _rows(templates: list[tuple[Slot, ...]], letter: str) -> IntArray:
    """What templates look at around one of their positions (templates, SLOTS + 1): numbers of its atoms."""
    width = len(ATTRIBUTES)
    halves, nothing = 3 * width, 4 * width
    rows = np.full((len(templates), SLOTS + 1), nothing, dtype=np.int64)
    for row, slots in zip(rows, templates, strict=True):
        for column, slot in enumerate(_slots_at(letter, slots)):
            number = ATTRIBUTES.index(slot.attribute)
            row[column] = _AROUND.index(slot.token[1:]) * width + number
            if slot.starred:
                row[column], row[SLOTS] = halves + number, number
    return rows


def _slots_at(letter: str, slots: tuple[Slot, ...]) -> Iterator[Slot]:
    return (slot for slot in slots if slot.token[0] == letter)
