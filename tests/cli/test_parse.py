"""``treebp parse``: streams, options, and what becomes of the text around the trees."""

import re
import subprocess
import threading
from pathlib import Path

import pytest
from tiny import SETTINGS, command, treebp, write_treebank

from treebp.data.conll import read_conll
from treebp.data.embedded import embedded_treebank
from treebp.parsing.config import Config
from treebp.parsing.parser import Parser
from treebp.training import fit

CONLLU = """\
# sent_id = 1
# text = We'll see.
1-2\tWe'll\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=Yes
1\tWe\twe\tPRON\tPRP\t_\t_\t_\t_\tA=b
2\t'll\twill\tVERB\tMD\t_\t_\t_\t_\t_
3\tsee\tsee\tVERB\tVB\t_\t_\t_\t_\t_
3.1\t_\t_\t_\t_\t_\t_\t_\t_\t_
4\t.\t.\t.\t.\t_\t_\t_\t_\t_

"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a treebank and a model."""
    folder = tmp_path_factory.mktemp("parse")
    write_treebank(folder)
    parser = fit(embedded_treebank("train")[:40], embedded_treebank("dev")[:10], Config(**SETTINGS), threads=1)
    parser.save(folder / "en.model")
    return folder


def test_standard_input_to_standard_output_and_file_to_file_agree(folder: Path) -> None:
    text = (folder / "test.conllu").read_text()
    piped = treebp("parse", "en.model", folder=folder, stdin=text)
    assert piped.returncode == 0
    written = treebp("parse", "en.model", "test.conllu", "-o", "parsed.conllu", "--threads", "1", folder=folder)
    assert (written.returncode, written.stdout) == (0, "")
    assert (folder / "parsed.conllu").read_text() == piped.stdout

    gold, parsed = list(read_conll(folder / "test.conllu")), list(read_conll(folder / "parsed.conllu"))
    expected = Parser.load(folder / "en.model").parse(gold)
    assert [sentence.heads for sentence in parsed] == [parse.heads.tolist() for parse in expected]
    words = sum(map(len, gold))
    for result in (piped, written):
        assert result.stderr.startswith(f"{len(gold)} sentences, {words} words, ")
        assert result.stderr.endswith(" words/s\n")


def test_everything_but_the_tree_stays_and_marginals_and_alternatives_are_added(folder: Path) -> None:
    plain = treebp("parse", "en.model", "-", folder=folder, stdin=CONLLU).stdout
    before, after = (
        [line.split("\t")[:6] + line.split("\t")[8:] for line in text.splitlines()] for text in (CONLLU, plain)
    )
    assert before == after
    assert [line.split("\t")[6] for line in plain.splitlines() if line[:1].isdigit() and line[1] == "\t"].count(
        "0"
    ) == 1

    rich = treebp("parse", "en.model", "--marginals", "--kbest", "2", folder=folder, stdin=CONLLU).stdout.splitlines()
    assert [line.split(" accuracy=")[0] for line in rich[2:4]] == ["# alternative 1", "# alternative 2"]
    assert rich[5].split("\t")[9].startswith("A=b|HeadProb=")
    assert 0.0 <= float(rich[6].split("\t")[9].removeprefix("HeadProb=")) <= 1.0


def test_known_and_forbidden_heads_are_obeyed_if_asked_for(folder: Path) -> None:
    def first_head(misc: str, *options: str) -> str:
        text = CONLLU.replace("A=b", misc)
        parsed = treebp("parse", "en.model", *options, folder=folder, stdin=text).stdout
        return next(line.split("\t")[6] for line in parsed.splitlines() if line.startswith("1\t"))

    free = first_head("A=b")
    others = sorted({"0", "2", "3", "4"} - {free})
    for head in others:
        assert first_head(f"Head={head}", "--constraints") == head
        assert first_head(f"Head={head}") == free
    assert first_head(f"A=b|NoHead={free}", "--constraints") in others
    assert first_head(f"NoHead={free},{','.join(others[1:])}", "--constraints") == others[0]


@pytest.mark.parametrize("options", [[], ["--kbest", "2"]])
def test_the_speed_counts_no_loading(folder: Path, options: list[str]) -> None:
    def words_per_second(times: int) -> float:
        (folder / "some.conllu").write_text((folder / "test.conllu").read_text() * times)
        arguments = command("parse", "en.model", "some.conllu", "--threads", "1", *options)
        said = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=True).stderr
        return float(re.findall(r"([\d,]+) words/s", said)[0].replace(",", ""))

    # Loading takes as long as thousands of words.
    assert max(words_per_second(1) for _ in range(3)) > words_per_second(50) / 8.0


@pytest.mark.parametrize("option", [["--marginals"], ["--kbest", "2"]])
def test_marginals_need_conllu_which_standard_input_is_taken_for(folder: Path, option: list[str]) -> None:
    text = "1\tTrees\ttree\tNN\tNNS\t_\t_\t_\t_\t_\n"
    (folder / "old.conll").write_text(text)
    result = treebp("parse", "en.model", "old.conll", *option, folder=folder)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "treebp: old.conll:1: --marginals, --kbest and --constraints need CoNLL-U; "
        "if this is, let the file's name end in .conllu\n"
    )
    assert treebp("parse", "en.model", "old.conll", folder=folder).returncode == 0
    assert treebp("parse", "en.model", *option, folder=folder, stdin=text).returncode == 0


def test_sentences_come_out_while_more_are_expected(folder: Path) -> None:
    text = (folder / "test.conllu").read_bytes()
    arguments = command("parse", "en.model", "--threads", "1")
    with subprocess.Popen(
        arguments, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stop = threading.Event()

        def feed() -> None:
            while not stop.is_set():
                process.stdin.write(text)
            process.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        assert process.stdout.readline().startswith(b"# text = ")  # the input has not ended
        stop.set()
        rest = process.stdout.read()
        feeder.join()
    assert process.returncode == 0
    assert rest.endswith(b"\n\n")


def test_bad_data_names_the_line_and_leaves_no_output(folder: Path) -> None:
    (folder / "bad.conllu").write_text((folder / "test.conllu").read_text() + "1\tonly three\tcolumns\n")
    result = treebp("parse", "en.model", "bad.conllu", "-o", "bad.out", folder=folder)
    line = (folder / "test.conllu").read_text().count("\n") + 1
    assert result.returncode == 1
    assert result.stderr.startswith(f"treebp: bad.conllu:{line}")
    assert result.stderr.count("\n") == 1
    assert not list(folder.glob("*bad.out*"))


def test_output_is_replaced_only_by_force(folder: Path) -> None:
    (folder / "old.conllu").write_text("precious")
    arguments = ["parse", "en.model", "test.conllu", "-o", "old.conllu"]
    refused = treebp(*arguments, folder=folder)
    assert (refused.returncode, (folder / "old.conllu").read_text()) == (2, "precious")
    assert "old.conllu exists: choose another name, or add --force" in refused.stderr
    assert treebp(*arguments, "--force", folder=folder).returncode == 0
    assert len(list(read_conll(folder / "old.conllu"))) == 10


def test_what_is_no_model_is_refused_in_one_line(folder: Path) -> None:
    for name, message in (
        ("test.conllu", "test.conllu is damaged or not a treebp model"),
        ("none", "none: No such file"),
    ):
        result = treebp("parse", name, "test.conllu", folder=folder)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert message in result.stderr


def test_a_reader_that_stops_early_causes_no_message(folder: Path) -> None:
    (folder / "long.conllu").write_text((folder / "test.conllu").read_text() * 50)
    arguments = command("parse", "en.model", "long.conllu")
    with subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_encoding_holds_for_input_and_output(folder: Path) -> None:
    (folder / "latin.conllu").write_bytes("1\tné\t_\tVERB\t_\t_\t_\t_\t_\t_\n".encode("latin-1"))
    arguments = ["parse", "en.model", "latin.conllu", "-o", "latin.out", "--encoding", "latin-1"]
    assert treebp(*arguments, folder=folder).returncode == 0
    assert (folder / "latin.out").read_bytes().startswith("1\tné\t".encode("latin-1"))
