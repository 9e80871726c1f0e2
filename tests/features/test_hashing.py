"""Templates as kernels take them: what each kind of part can look at, and that old models keep their weights."""

import zlib
from dataclasses import replace

import numpy as np
import pytest

from treebp.features.hashing import new_weights
from treebp.features.templates import ATTRIBUTES, Section
from treebp.kernels.features import SLOTS, position_keys
from treebp.parsing.label_templates import label_templates
from treebp.parsing.parts.arc import ARC_TEMPLATES
from treebp.parsing.parts.positions import OF_FOUR, OF_THREE

ALL = ("words", "tags", "coarse", "between", "prefixes", "lemmas", "morphology")


def compile_only(kind, *templates):
    return replace(kind, sections=(Section((), templates),)).compile([])


# Checksums of what version 0.1.0 looks up and of its templates of labels: its models are of use only with these.
@pytest.mark.parametrize(
    ("groups", "of_arcs", "of_pairs", "of_labels"),
    [
        (ALL, 3197901954, 2012358813, 4236530615),
        (("words", "tags"), 2411854518, 853310864, 16016094),
        (("coarse", "between", "lemmas"), 593748256, 4132090368, 3785795794),
        ((), 147742710, 3760526634, 258049978),
    ],
)
def test_old_models_keep_their_weights(groups, of_arcs, of_pairs, of_labels):
    tokens = np.zeros((9, len(ATTRIBUTES)), np.int64)
    tokens[:, :6] = np.random.default_rng(7).integers(0, 3000, (9, 6))  # what it knew of words

    def of_keys(templates):
        return zlib.crc32(position_keys(tokens, templates, 24).tobytes())

    def checksum(arrays):
        return zlib.crc32(b"".join(np.ascontiguousarray(array).astype(np.int64).tobytes() for array in arrays))

    assert of_keys(ARC_TEMPLATES.compile(groups)) == of_arcs
    assert of_keys(OF_THREE.compile(groups)) == of_pairs
    assert checksum(label_templates(groups)) == of_labels


@pytest.mark.parametrize(
    ("kind", "template", "message"),
    [
        (ARC_TEMPLATES, "a.word", "there is no token 'a', only b, h, h-, h+, m, m-, m+"),
        (ARC_TEMPLATES, "b-.fine h.fine m.fine", "there is no token 'b-'"),
        (ARC_TEMPLATES, "b.fine*", "it looks at b; what can be looked at together is: h, m, h m, h m b"),
        (ARC_TEMPLATES, "h.fine b.fine*", "it looks at b h; what can"),
        (ARC_TEMPLATES, "h.fine*", "a star at h, where no token can have one"),
        (ARC_TEMPLATES, "h.fine m.fine* b.fine", "a star at m, where b can have one"),
        (ARC_TEMPLATES, "h.fine m.fine b.fine", "it needs a star at b"),
        (ARC_TEMPLATES, "h.fine m.fine b.fine* b.coarse", "only the starred slot can be at b"),
        (ARC_TEMPLATES, "h.word h.fine h.coarse h-.fine h+.fine m.fine", "5 slots at h: at most 4"),
        (OF_THREE, "h.word", "there is no token 'h', only a, a-, a+, b,"),
        (OF_THREE, "c.word", "it looks at c; what can be looked at together is: a b c, b c, a c"),
        (OF_THREE, "a.word b.word", "it looks at a b; what can"),
        (OF_THREE, "b.word c.fine*", "a star at c, where no token can have one"),
        (OF_THREE, "a.word b.word c+.fine*", "a star at c+, where a or b or c can have one"),
        (OF_FOUR, "a.word b.word c.word", "it looks at a b c; what can be looked at together is: a b c d, c d,"),
        (OF_FOUR, "c.word d.word*", "a star at d, where no token"),
    ],
)
def test_what_cannot_be_looked_at_is_an_error_that_names_the_template(kind, template, message):
    with pytest.raises(ValueError, match=f"^{kind.kind} template ") as error:
        compile_only(kind, template)
    assert f"{template!r}: {message}" in str(error.value)


def test_the_same_template_twice_is_an_error():
    with pytest.raises(ValueError, match="it looks at the same as"):
        compile_only(OF_THREE, "b.word c.word", "c.word b.word")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("x.word", "there is no token 'x'"),
        ("c+.word m.fine*", "a star, where no token can have one"),
        ("m.fine c.fine s.fine", "it looks at every child c and every sibling s"),
        ("", "the slot '' is not"),
    ],
)
def test_label_templates_have_the_same_language(template, message):
    with pytest.raises(ValueError, match=r"^label template ") as error:
        label_templates(ALL, [template])
    assert f"{template!r}: {message}" in str(error.value)


def test_a_word_next_to_a_part_can_be_looked_at():
    rows, _, begin = compile_only(OF_THREE, "a.fine b-.word b.word c.fine*")
    width = len(ATTRIBUTES)
    word, fine, nothing = ATTRIBUTES.index("word"), ATTRIBUTES.index("fine"), 4 * width
    assert SLOTS == 4
    assert rows[begin[0]].tolist() == [fine, nothing, nothing, nothing, nothing]
    assert rows[begin[1]].tolist() == [width + word, word, nothing, nothing, nothing]
    assert rows[begin[2]].tolist() == [3 * width + fine, nothing, nothing, nothing, fine]


def test_seeds_of_all_blocks_differ():
    seeds = np.concatenate([kind.compile(ALL).seeds for kind in (ARC_TEMPLATES, OF_THREE, OF_FOUR)])
    assert len(set(seeds.tolist())) == len(seeds)


def test_weights_begin_with_a_cache_line():
    weights = new_weights(10)
    assert (weights.shape, weights.dtype) == ((1024,), np.float32)
    assert weights.ctypes.data % 64 == 0
    assert not weights.any()
