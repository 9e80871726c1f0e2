"""A server of the English model on a free port of the loopback address, and a client for it."""

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple


class Answer(NamedTuple):
    status: int
    content: bytes
    headers: dict[str, str]

    @property
    def sentences(self) -> list[dict[str, Any]]:
        assert self.status == 200, self
        return json.loads(self.content)["sentences"]


class Server(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        with closing(self.connection()) as connection:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            with connection.getresponse() as response:
                return Answer(response.status, response.read(), dict(response.getheaders()))

    def parse(self, **question: Any) -> Answer:
        return self.ask("POST", "/parse", json.dumps(question), Content_Type="application/json")


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    """A server that has said nothing but its address when it ends."""
    code = "from treebp.cli import main; main()"
    arguments = [sys.executable, "-c", code, "serve", "en", "--port", "0", *options]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            if line.startswith("compiling kernels"):  # nothing else has, so far
                line = process.stderr.readline()
            address = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)
            assert address, line
            yield Server(process, int(address[1]))
        finally:
            process.send_signal(signal.SIGTERM)
            said = process.stderr.read()
            process.wait(30)
    assert said == "treebp: stopped by a signal\n"
    assert process.returncode == 128 + signal.SIGTERM
