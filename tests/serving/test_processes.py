"""Processes that answer at one address: all count together, one that dies is replaced, none outlives the first."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from server import serving

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is one process only")

PROGRAM = """
import os, sys, time
from pathlib import Path
from treebp.serving.processes import run_in_processes

def work(share):
    Path(sys.argv[1], share).write_text(str(os.getpid()))
    time.sleep(60)

run_in_processes(work, ["one", "other"])
"""


def until(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.05)
    pytest.fail("it has not come to pass")


def is_alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def test_a_process_that_dies_is_replaced_and_none_outlives_the_first(tmp_path: Path) -> None:
    def numbers() -> list[int]:
        return [int((tmp_path / name).read_text() or 0) for name in ("one", "other") if (tmp_path / name).exists()]

    with subprocess.Popen([sys.executable, "-c", PROGRAM, tmp_path], stderr=subprocess.PIPE, text=True) as first:
        until(lambda: len(numbers()) == 2 and all(numbers()))
        one, other = numbers()
        os.kill(one, signal.SIGKILL)
        until(lambda: numbers()[0] not in (0, one))
        assert numbers()[1] == other
        assert is_alive(other)
        now = numbers()
        first.kill()
        until(lambda: not any(map(is_alive, now)))
        assert first.stderr is not None
        assert first.stderr.read() == "a process has ended by itself, with status 9: another one takes its place\n"


def test_processes_count_together() -> None:
    with serving("--processes", "3") as server:
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        until(lambda: len(children.read_text().split()) == 3)
        for _ in range(12):  # each on a connection of its own, for whichever process
            assert server.parse(text="Trees grow.").status == 200

        def metrics() -> str:
            return server.ask("GET", "/metrics").content.decode()

        nothing_in_flight = re.compile(r"^treebp_in_flight 0\.0$", flags=re.MULTILINE)
        until(lambda: nothing_in_flight.search(metrics()) is not None)  # who answered last may not be back yet
        for _ in range(6):
            found = metrics()
            assert re.search(r'^treebp_requests_total\{status="200"\} 12\.0$', found, flags=re.MULTILINE)
            assert nothing_in_flight.search(found)
        taken = subprocess.run(
            [sys.executable, "-m", "treebp", "serve", "en", "--port", str(server.port)], capture_output=True, text=True
        )
        assert taken.returncode == 1
        assert f"cannot listen on 127.0.0.1:{server.port}" in taken.stderr
