"""How benchmarks/peers.py talks to a system in a process, and an environment, of its own: lines of JSON.

Only the standard library: the peers' environments have nothing of ours.
"""

import json
import math
import os
import sys
from collections.abc import Callable
from time import process_time
from typing import Any


def serve(handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer every request on standard input by a line on standard output, or with what went wrong."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not be taken for an answer
    for line in sys.stdin:
        try:
            answer = handle(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def cpu_seconds(function: Callable[[], object], least: float) -> float:
    """CPU seconds per call, called as often as takes the given time at least."""
    began = process_time()
    function()
    once = process_time() - began
    if once >= least:
        return once
    calls = math.ceil(least / max(once, 1e-9))
    began = process_time()
    for _ in range(calls):
        function()
    return (process_time() - began) / calls
