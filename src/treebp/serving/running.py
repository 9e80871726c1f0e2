"""Listening: a socket, an application, and uvicorn between them."""

import socket
import sys
from collections.abc import Callable

import uvicorn

from treebp.data.sentence import Sentence
from treebp.pipeline import Pipeline
from treebp.serving.app import make_app
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
    threads: int,
    tell: Callable[[str], None],
) -> None:
    """Answer requests until a signal comes; those that are there then are still answered.

    Nothing that a client sends is written anywhere. ``tell`` hears the server's address.

    Raises:
        ValueError: if the address cannot be had.

    """
    sys.setswitchinterval(5e-4)  # kernels that come back must not wait long for the thread that talks to clients
    app = make_app(pipeline, name=name, limits=limits, token=token, threads=threads)
    sentence = Sentence.from_columns(["a"] * 4)
    settled: dict[int, int]
    for settled in ({}, {1: 2}):  # loads kernels before the first client waits for them
        list(pipeline.parser.parse([sentence], threads=1, kbest=2, known=[settled]))
    if pipeline.tokeniser is not None:
        pipeline.tokeniser.tokenise("Trees grow.")
    config = uvicorn.Config(
        app,
        http=limited_protocol(limits.seconds + _GRACE_SECONDS, limits.size),
        ws="none",
        log_config=None,
        log_level="critical",  # what is worth telling, the application tells
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(limits.seconds + _GRACE_SECONDS),
    )
    with _listening(host, port) as listener:
        shown, number = listener.getsockname()[:2]
        tell(f"http://{f'[{shown}]' if ':' in shown else shown}:{number}")
        uvicorn.Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        return socket.create_server(found[0][4][:2], family=found[0][0], backlog=2048)
    except (OSError, OverflowError) as error:
        raise ValueError(f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}") from None
