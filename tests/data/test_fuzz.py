"""Mutated CoNLL-U files are read exactly or refused with a TreebankError. See also benchmarks/fuzz_conll.py."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from treebp.data.conll import read_conll, write_conll
from treebp.data.errors import TreebankError
from treebp.data.evaluation import evaluate
from treebp.data.inventory import take_inventory

SEED = """\
# sent_id = 1
# text = Don't go, café!
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t0:root\t_
3.1\tnow\tnow\tADV\tRB\t_\t_\t_\t3:advmod\t_
4\t,\t,\tPUNCT\t,\t_\t5\tpunct\t_\t_
5\tcafé\tcafé\tNOUN\tNN\t_\t3\tvocative\t_\t_

# sent_id = 2
1\tno\tno\tINTJ\tUH\t_\t0\troot\t_\t_

""".encode()
PIECES = [
    *(b"\t", b"\n", b"\n\n", b"\r", b"\r\n", b" ", b"#", b"# x\n", b"-", b".", b"_", b"|", b"=", b"\0", b"\x85"),
    *(b"0", b"1", b"2", b"9", b"1-2\t", b"1.1\t", b"-1", b"99999999999999999999", "\u0661".encode(), b"1_0"),
    *("\ufeff".encode(), "\u2028".encode(), b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1b[31m"),
    b"1\tx\t_\tNN\t_\t_\t0\tdep\t_\t_\n",
]


@st.composite
def mutated_files(draw: st.DrawFn) -> bytes:
    """The seed after a few cuts, insertions, and moved or repeated lines."""
    data = SEED
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["insert", "cut", "replace", "truncate", "repeat", "move", "bytes"]))
        if kind == "truncate":
            data = data[:start]
        elif kind in ("repeat", "move"):
            lines = data.splitlines(keepends=True) or [b""]
            line = draw(st.integers(0, len(lines) - 1))
            copy = lines[line] if kind == "repeat" else lines.pop(line)
            lines.insert(draw(st.integers(0, len(lines))), copy)
            data = b"".join(lines)
        else:
            end = start if kind in ("insert", "bytes") else start + draw(st.integers(1, 12))
            new = b"" if kind == "cut" else draw(st.binary(max_size=8) if kind == "bytes" else st.sampled_from(PIECES))
            data = data[:start] + new + data[end:]
    return data


def check(data: bytes) -> None:
    """Read, write, count and score; fails unless all is right or a TreebankError names an existing line."""
    refusal = None
    try:
        take_inventory(io.BytesIO(data))
        sentences = list(read_conll(io.BytesIO(data)))
    except TreebankError as error:
        refusal = error
    if refusal is not None:
        assert refusal.path == "<stream>"
        assert refusal.line in range(1, data.count(b"\n") + 2)
        return
    copy = io.BytesIO()
    write_conll(copy, sentences)
    assert copy.getvalue() == data
    for sentence in sentences:
        assert sentence.with_parse(sentence.heads, sentence.labels).text == sentence.text
    if all(-1 not in sentence.heads for sentence in sentences):
        assert evaluate(sentences, sentences, punctuation="include").las == 100


@settings(max_examples=300)
@given(mutated_files())
def test_mutated_files_are_read_exactly_or_refused(data: bytes) -> None:
    check(data)


def test_the_seed_itself_is_read() -> None:
    assert [len(sentence) for sentence in read_conll(io.BytesIO(SEED))] == [5, 1]
    check(SEED)
