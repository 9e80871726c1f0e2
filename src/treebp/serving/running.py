"""Listening: sockets, applications, and uvicorn between them."""

import os
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack

import uvicorn

from treebp.data.sentence import Sentence
from treebp.pipeline import Pipeline
from treebp.serving.processes import run_in_processes
from treebp.serving.protocol import limited_protocol
from treebp.serving.questions import Limits

_GRACE_SECONDS = 2  # after which a connection is cut that the application should have ended by itself


def serve(
    pipeline: Pipeline,
    *,
    name: str,
    host: str,
    port: int,
    limits: Limits,
    token: str | None,
    processes: int,
    tell: Callable[[str], None],
) -> None:
    """Answer requests until a signal comes; those that are there then are still answered.

    Nothing that a client sends is written anywhere. ``tell`` hears the server's address.

    Raises:
        ValueError: if the address cannot be had.

    """
    sys.setswitchinterval(5e-4)  # kernels that come back must not wait long for the thread that talks to clients
    sentence = Sentence.from_columns(["a"] * 4)
    settled: dict[int, int]
    for settled in ({}, {1: 2}):  # loads kernels before the first client waits for them
        list(pipeline.parser.parse([sentence], threads=1, kbest=2, known=[settled]))
    if pipeline.tokeniser is not None:
        pipeline.tokeniser.tokenise("Trees grow.")
    if sys.platform != "linux" or pipeline.parser.config.scorer != "hashed":
        processes = 1  # elsewhere connections would not be shared out; PyTorch has threads of its own, and no forks
    processes = min(processes, limits.in_flight)

    def answer(listener: socket.socket) -> None:
        config = uvicorn.Config(
            make_app(pipeline, name=name, limits=limits, token=token, processes=processes),
            http=limited_protocol(limits.seconds + _GRACE_SECONDS, limits.size),
            ws="none",
            log_config=None,
            log_level="critical",  # what is worth telling, the application tells
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(limits.seconds + _GRACE_SECONDS),
        )
        uvicorn.Server(config).run(sockets=[listener])

    with ExitStack() as stack:
        listeners = [stack.enter_context(listener) for listener in _listening(host, port, processes)]
        if processes > 1:  # their numbers come together in files, if this is said before the library is imported
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = stack.enter_context(tempfile.TemporaryDirectory())
        from treebp.serving.app import make_app

        shown, number = listeners[0].getsockname()[:2]
        tell(f"http://{f'[{shown}]' if ':' in shown else shown}:{number}")
        if processes > 1:
            run_in_processes(answer, listeners)
        else:
            answer(listeners[0])


def _listening(host: str, port: int, count: int) -> list[socket.socket]:
    """Sockets at one address, among which the system shares out connections."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, address = found[0][0], found[0][4]
        listeners = [socket.create_server(address[:2], family=family, backlog=2048)]
        if count > 1:
            address = listeners[0].getsockname()  # which nobody else has: now it can be shared
            listeners.pop().close()
            for _ in range(count):
                listeners.append(socket.create_server(address[:2], family=family, backlog=2048, reuse_port=True))
        return listeners
    except (OSError, OverflowError) as error:
        raise ValueError(f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}") from None
