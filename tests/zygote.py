"""Commands in tens of milliseconds: a process that has loaded everything forks a child for each of them.

As a program it reads requests as lines of JSON and answers with the exit status and the seconds taken. `Zygote` starts
it and speaks to it; all tests of a process share one.
"""

import atexit
import functools
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

SMALL = {
    "weight_bits": 14,
    "pruner_weight_bits": 14,
    "pruner_epochs": 1,
    "pruner_folds": 2,
    "label_weight_bits": 10,
    "rate": 0.05,
    "epochs": 2,
}


@dataclass(frozen=True)
class Outcome:
    """What a command came to: its exit status, negative if a signal ended it and None if it ran out of time."""

    status: int | None
    out: bytes
    err: str
    seconds: float


class Zygote:
    """The process, with kernels loaded; it ends with the one that started it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._scratch = Path(self._folder.name)
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self.close)
        self._answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        *,
        stdin: bytes | None = b"",
        stdout: str | None = "",
        stderr: str | None = "",
        limit: float = 60.0,
        kill_after: float | None = None,
        kill_by: int = signal.SIGTERM,
        memory: int | None = None,
        file_size: int | None = None,
    ) -> Outcome:
        """Run a command in a folder.

        Args:
            arguments: of treebp.
            folder: to run in.
            stdin: what to read; None for a closed stream.
            stdout: a device to write to; "" to return what is written, None for a closed stream. So is stderr.
            limit: seconds before it is killed.
            kill_after: seconds after which it gets the signal ``kill_by``.
            memory: bytes beyond what it has at the start.
            file_size: the largest file that it may write, in bytes.

        """
        source, out, err = (self._scratch / name for name in ("stdin", "stdout", "stderr"))
        source.write_bytes(stdin or b"")
        for path in (out, err):
            path.write_bytes(b"")
        request = {
            "arguments": list(arguments),
            "folder": str(folder),
            "environment": dict(os.environ),
            "streams": [
                None if stdin is None else str(source),
                None if stdout is None else stdout or str(out),
                None if stderr is None else stderr or str(err),
            ],
            "limit": limit,
            "kill_after": kill_after,
            "kill_by": int(kill_by),
            "memory": memory,
            "file_size": file_size,
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status, seconds = self._answer()
        return Outcome(status, out.read_bytes(), err.read_bytes().decode(errors="replace"), seconds)

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that runs the commands has ended")
        return json.loads(line)


@functools.cache
def shared_zygote() -> Zygote:
    """The one of this process."""
    return Zygote()


def _load() -> None:
    """Have all modules and kernels at hand that commands use; no thread may be left, or forking is not safe."""
    from typer.testing import CliRunner

    import treebp.cli._bench_report
    import treebp.cli._experiment_display
    import treebp.cli._inventory_report
    import treebp.cli._score_report
    import treebp.cli._training_display
    import treebp.data.penn
    import treebp.drawing.inspect_page  # noqa: F401
    from treebp.cli import app
    from treebp.data.embedded import embedded_treebank
    from treebp.parsing.config import Config
    from treebp.training import fit

    train, dev = embedded_treebank("train")[:20], embedded_treebank("dev")[:4]
    parser = fit(train, dev, Config(**SMALL), threads=1)
    list(parser.parse(dev, threads=1, kbest=2, known=[{1: 2}] * 4))
    for arguments in (["parse", "none"], ["evaluate", os.devnull, os.devnull], ["--help"]):
        CliRunner().invoke(app, arguments)  # typer loads much on first use
    gc.freeze()


def _serve(requests: IO[str], answers: IO[str]) -> None:
    for line in requests:
        request = json.loads(line)
        began = time.perf_counter()
        child = os.fork()
        if child == 0:
            _become(request)
        status = _wait(child, began, request)
        print(json.dumps([status, time.perf_counter() - began]), file=answers, flush=True)


def _wait(child: int, began: float, request: dict[str, Any]) -> int | None:
    kill_after, pause = request["kill_after"], 0.002
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        passed = time.perf_counter() - began
        if kill_after is not None and passed >= kill_after:
            os.kill(child, request["kill_by"])
            kill_after = None
        if passed > request["limit"]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(pause if kill_after is None else min(pause, max(kill_after - passed, 0.0)))
        pause = min(1.3 * pause, 0.05)


def _become(request: dict[str, Any]) -> None:
    """Be the command, from its first line to its end."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the command itself listens
    status = 1
    try:
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        for number, (name, path) in enumerate(zip(("stdin", "stdout", "stderr"), request["streams"], strict=True)):
            if path is None:
                os.close(number)
                setattr(sys, name, None)
                continue
            descriptor = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND)
            os.dup2(descriptor, number)
            os.close(descriptor)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
        if request["memory"] is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + request["memory"]
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        if request["file_size"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_size"],) * 2)
        sys.argv = ["treebp", *request["arguments"]]

        from treebp.cli import main

        main()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 0
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            status = 120  # what Python itself leaves with then
    os._exit(status)


if __name__ == "__main__":
    commands, replies = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    _load()
    print(json.dumps([0, 0.0]), file=replies, flush=True)
    _serve(commands, replies)
