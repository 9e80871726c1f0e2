"""Templates that look at the positions of a sequence: each at itself, and at others up to some distance.

In the language of ``treebp.features.templates`` the position is ``p``, the one before it ``p-1``, the second behind it
``p+2``: ``"p.word p-1.word"``. Which attributes there are is up to the model.
"""

from collections.abc import Sequence

import numpy as np

from treebp.features.templates import parse_templates
from treebp.kernels.sequences import Windows

_FARTHEST = 9


def compile_windows(templates: Sequence[str], attributes: Sequence[str], seed: int) -> Windows:
    """The templates as kernels take them, after an empty one whose feature is always there.

    Args:
        templates: as above, all different.
        attributes: their names, in the order in which positions have their values.
        seed: of their hashes, so that families of templates do not collide.

    Raises:
        ValueError: for a template that is wrong.

    Example:
        >>> compile_windows(["p.word", "p-1.word p.word"], ["word"], seed=0).atoms
        array([[ 0,  0],
               [ 0, -1]])

    """
    distances = {"p": 0, **{f"p{k:+d}": k for k in range(-_FARTHEST, _FARTHEST + 1) if k}}
    parsed = parse_templates(templates, list(distances), "sequence", attributes)
    atoms: dict[tuple[int, int], int] = {}
    rows = np.full((len(parsed) + 1, max(map(len, parsed.values()), default=0)), -1, np.int64)
    for row, slots in zip(rows[1:], parsed.values(), strict=True):
        for column, slot in enumerate(slots):
            atom = attributes.index(slot.attribute), distances[slot.token]
            row[column] = atoms.setdefault(atom, len(atoms))
    seeds = seed + np.arange(len(rows))
    return Windows(np.array(list(atoms), np.int64).reshape(-1, 2), rows, seeds.astype(np.uint64))
