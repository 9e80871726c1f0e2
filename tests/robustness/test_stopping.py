"""Signals, locks and kills: heard at once, nothing half-written left, and nothing lost."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from place import furnish, restore, snapshot

from zygote import Zygote, shared_zygote

TRAIN = ["train", "train.conllu", "--dev", "dev.conllu", "--config", "run.toml", "--threads", "1", "-o", "new.model"]
PART = ".*.part"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


@pytest.fixture
def zygote() -> Zygote:
    return shared_zygote()


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    furnish(folder)
    words = "".join(f"{k}\ta\ta\tDET\tDT\t_\t_\t_\t_\t_\n" for k in range(1, 1501))
    (folder / "long.conllu").write_text(f"{words}\n" * 20)
    return folder


@pytest.fixture
def place(furnished: Path) -> Iterator[Path]:
    before = snapshot(furnished)
    yield furnished
    restore(furnished, before)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "treebp", *arguments]


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_heard_in_the_middle_of_long_sentences(
    place: Path, zygote: Zygote, number: int, threads: str
) -> None:
    before = snapshot(place)
    arguments = ["parse", "en.model", "long.conllu", "-o", "new", "--threads", threads]
    outcome = zygote.run(arguments, place, kill_after=1.0, kill_by=number)
    assert outcome.status == 128 + number, outcome.err
    assert outcome.err.startswith("treebp: ")
    assert outcome.err.count("\n") == 1
    assert outcome.seconds < 2.5
    assert snapshot(place) == before


def test_the_first_signal_during_training_says_how_to_continue_and_continuing_gives_the_same_bytes(
    place: Path, zygote: Zygote
) -> None:
    arguments = [*TRAIN, "--epochs", "12"]
    assert zygote.run(arguments, place).status == 0
    whole = (place / "new.model").read_bytes()
    assert zygote.run([*arguments, "--force"], place).status == 0
    assert (place / "new.model").read_bytes() == whole
    for path in place.glob("new.model*"):
        path.unlink()
    stopped = zygote.run(arguments, place, kill_after=0.5, kill_by=signal.SIGTERM)
    if stopped.status != 0:  # or the machine is very fast
        assert stopped.status == 128 + signal.SIGTERM
        assert "to continue: treebp train train.conllu" in stopped.err
        assert not list(place.glob(PART))
        assert zygote.run([*arguments, "--resume"], place).status == 0
    assert (place / "new.model").read_bytes() == whole
    assert not list(place.glob("*.checkpoint"))


def test_one_of_two_trainings_on_one_output_is_refused(place: Path, zygote: Zygote) -> None:
    log = place / "new.model.log.jsonl"
    for more in ([], ["--resume"], ["--force"]):
        with open(log, "ab") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            outcome = zygote.run([*TRAIN, "--resume", *more], place)
        assert (outcome.status, outcome.out) == (1, b"")
        assert (
            outcome.err == f"treebp: {log.name}: another treebp is writing there: wait for it, or choose another name\n"
        )
        assert log.exists()
        assert not (place / "new.model").exists()
    assert zygote.run([*TRAIN, "--resume"], place).status == 0


def test_a_killed_training_leaves_no_lock(place: Path, zygote: Zygote) -> None:
    killed = zygote.run([*TRAIN, "--epochs", "500"], place, kill_after=1.0, kill_by=signal.SIGKILL)
    assert killed.status == -signal.SIGKILL
    assert zygote.run([*TRAIN, "--force"], place).status == 0
    assert not list(place.glob(PART))


def test_a_reader_that_stops_early_gets_141_and_no_bar(place: Path) -> None:
    arguments = command("parse", "en.model", *["test.conllu"] * 200)
    with subprocess.Popen(arguments, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_bar_never_lands_among_the_output(place: Path) -> None:
    import pty

    controller, terminal = pty.openpty()
    arguments = command("parse", "en.model", *["test.conllu"] * 50)
    result = subprocess.run(arguments, cwd=place, stdout=subprocess.PIPE, stderr=terminal, check=True)
    os.close(terminal)
    shown = os.read(controller, 4096)
    os.close(controller)
    assert result.stdout.startswith(b"# text = ")
    assert shown.startswith(b"300 sentences, ")
    assert b"\x1b" not in shown


@pytest.mark.parametrize("arguments", [["parse", "en.model"], ["debug-data", "-"]])
def test_a_terminal_is_told_that_it_is_waited_for(place: Path, arguments: list[str]) -> None:
    import pty

    controller, terminal = pty.openpty()
    with subprocess.Popen(
        command(*arguments), cwd=place, stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"reading from the terminal, to its end (Ctrl-D)\n"
        process.terminate()
    assert process.returncode == 128 + signal.SIGTERM
    os.close(terminal)
    os.close(controller)


def test_kernels_are_compiled_where_nothing_can_be_kept(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from numba.core import caching\n\n\n"
        "def nowhere(*_):\n    raise RuntimeError('cannot cache function: no locator available')\n\n\n"
        "caching.FunctionCache.__init__ = nowhere\n"
        "from rich.console import Console\n"
        "from treebp.cli._progress import announce_compilation\n"
        "from treebp.kernels._jit import kernel\n\n\n"
        "@kernel\ndef double(x):\n    return 2 * x\n\n\n"
        "announce_compilation(Console(), double)\n"
        "print(double(21))\n"
    )
    result = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert "set NUMBA_CACHE_DIR" in result.stdout
    assert result.stdout.endswith("\n42\n")


def test_python_m_treebp_and_completion() -> None:
    run = subprocess.run(command("--version"), capture_output=True, text=True, check=True)
    assert run.stdout.startswith("treebp ")
    environment = {**os.environ, "_TREEBP_COMPLETE": "complete_bash", "COMP_WORDS": "treebp pa", "COMP_CWORD": "1"}
    program = "from treebp.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.split() == ["parse"]
