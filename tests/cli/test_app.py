"""The command line as a whole: help, exit codes, and one line for every mistake."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from treebp.cli import app

COMMANDS = [
    command.name or command.callback.__name__.replace("_", "-")
    for command in app.registered_commands
    if command.callback
]
TREE = "( (S (NP-SBJ (NNS Trees)) (VP (VBP grow)) (. .)))\n"


def treebp(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from treebp.cli import main; main()", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def brackets(tmp_path: Path) -> Path:
    path = tmp_path / "wsj_0001.mrg"
    path.write_text(TREE)
    return path


def test_help_groups_the_commands_and_is_shown_without_arguments() -> None:
    result = treebp()
    assert result.returncode == 0
    for text in ("Parser", "evaluate", "Data", "debug-data", "convert", "download", "Example: treebp "):
        assert text in result.stdout
    assert result.stdout == treebp("--help").stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example_of_its_own_command(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"Example: treebp {command} " in result.stdout


def test_help_loads_nothing_slow() -> None:
    code = "import sys, treebp.cli; print(sorted({'numba', 'numpy', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_version() -> None:
    assert treebp("--version").stdout.startswith("treebp 0.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert"], "treebp: Missing argument 'INPUT'. See: treebp convert --help\n"),
        (["convrt"], "treebp: No such command 'convrt'. Did you mean 'convert'? See: treebp --help\n"),
        (["--dbug"], "See: treebp --help\n"),
        (["convert", "a", "-o", "b", "--encodin", "x"], "See: treebp convert --help\n"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], message: str) -> None:
    result = treebp(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith(message)
    assert result.stderr.count("\n") == 1


def test_convert_writes_the_dependencies(brackets: Path, tmp_path: Path) -> None:
    output = tmp_path / "wsj_0001.conll"
    assert treebp("convert", brackets, "-o", output).returncode == 0
    assert [line.split("\t")[6] for line in output.read_text().splitlines() if line] == ["2", "0", "2"]
    assert treebp("convert", "-", "-o", "-", stdin=TREE).stdout == output.read_text()


def test_bad_data_is_one_line_with_its_place_exit_code_1_and_no_output(brackets: Path, tmp_path: Path) -> None:
    brackets.write_text(TREE + "( (NN a)\n")
    result = treebp("convert", brackets, "-o", tmp_path / "out.conll")
    assert result.returncode == 1
    assert result.stderr == f"treebp: {brackets}:2:1: this bracket is never closed\n"
    assert os.listdir(tmp_path) == [brackets.name]


def test_missing_file(tmp_path: Path) -> None:
    result = treebp("convert", tmp_path / "none.mrg", "-o", "-")
    assert (result.returncode, result.stderr) == (1, f"treebp: {tmp_path / 'none.mrg'}: No such file or directory\n")


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    result = treebp("--debug", "convert", tmp_path / "none.mrg", "-o", "-")
    assert result.returncode == 1
    assert result.stderr.startswith("Traceback")
    assert "FileNotFoundError" in result.stderr


def test_download_refuses_a_path_as_name() -> None:
    result = treebp("download", "../UD_English-EWT")
    assert result.returncode == 1
    assert "not the name of a treebank" in result.stderr


def test_a_reader_that_stops_early_causes_no_message(brackets: Path) -> None:
    brackets.write_text(TREE * 20_000)
    command = [sys.executable, "-c", "from treebp.cli import main; main()", "convert", str(brackets), "-o", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_is_exit_code_130_with_a_short_message(tmp_path: Path) -> None:
    pipe = tmp_path / "slow.mrg"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", "from treebp.cli import main; main()", "convert", str(pipe), "-o", "-"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process, open(pipe, "w") as writer:
        writer.write(TREE)
        writer.flush()
        time.sleep(0.3)  # opening the pipe above waited until the command reads from it
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == "treebp: interrupted\n"
        assert process.wait() == 130
