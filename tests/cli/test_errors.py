"""What becomes of errors."""

import signal
import threading

import pytest
import typer

from treebp.cli._errors import errors_told
from treebp.cli._signals import Stopped


def test_a_signal_that_arrives_while_a_lock_is_taken_is_a_signal(capsys: pytest.CaptureFixture[str]) -> None:
    def stop() -> None:
        lock = threading.Lock()
        with lock:
            lock.release()
            raise Stopped(signal.SIGTERM)  # and giving the lock back raises a RuntimeError on top

    with pytest.raises(typer.Exit) as leaving, errors_told(debug=False):
        stop()
    assert leaving.value.exit_code == 128 + signal.SIGTERM
    assert "Traceback" not in capsys.readouterr().err


def test_an_unknown_error_stays_one() -> None:
    with pytest.raises(RuntimeError, match="ours"), errors_told(debug=False):
        raise RuntimeError("ours")
