"""``treebp serve`` on real sockets: the same trees as in Python, limits that hold, nothing said of what was sent."""

import http.client
import io
import json
import re
import shutil
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from server import Server, serving

import treebp
from treebp.data.conll import read_conll
from treebp.data.embedded import embedded_treebank
from treebp.data.plain_text import plain_text
from treebp.pipeline import Pipeline

TEXT = "They saw her duck. I don't think we'll ever know who wrote it."


@pytest.fixture(scope="module")
def nlp() -> Pipeline:
    return treebp.load("en")


@pytest.fixture(scope="module")
def server():
    with serving("--max-size", "100000") as running:
        yield running


def test_words_are_those_of_python(server: Server, nlp: Pipeline) -> None:
    sentences = server.parse(text=TEXT).sentences
    assert len(sentences) == 2
    for ours, theirs in zip(nlp(TEXT), sentences, strict=True):
        assert (theirs["start"], theirs["end"]) == (ours.start, ours.end)
        for word, answer in zip(ours, theirs["words"], strict=True):
            assert answer == {
                name: pytest.approx(value, abs=6e-5) if isinstance(value, float) else value
                for name, value in word._asdict().items()
            }


def test_text_and_conllu_in_and_out(server: Server, nlp: Pipeline) -> None:
    plain = server.ask("POST", "/parse?output=conllu&marginals=true&kbest=2", TEXT, Content_Type="text/plain")
    expected = "".join(sentence.to_sentence(marginals=True).text for sentence in nlp(TEXT, kbest=2))
    assert plain.content.decode() == expected
    assert plain.headers["content-type"] == "text/x-conllu; charset=utf-8"
    again = server.ask("POST", "/parse?output=conllu", nlp(TEXT).to_conllu(), Content_Type="text/x-conllu")
    assert again.content.decode() == nlp(TEXT).to_conllu()
    words = server.parse(text=nlp(TEXT).to_conllu(), input="conllu").sentences[0]["words"]
    assert [word["head"] for word in words] == nlp(TEXT)[0].parse.heads.tolist()
    assert "start" not in words[0]


def test_constraints_marginals_and_the_best_trees(server: Server, nlp: Pipeline) -> None:
    question = {"known": [{"3": 2}], "forbidden": [[[2, 5]]]}
    (sentence,) = server.parse(text="They saw her duck.", kbest=3, marginals=True, **question).sentences
    (ours,) = nlp("They saw her duck.", kbest=3, known=[{3: 2}], forbidden=[[(2, 5)]])
    heads = [word["head"] for word in sentence["words"]]
    assert heads == ours.parse.heads.tolist()
    assert (heads[2], heads[4] != 2) == (2, True)
    assert [tree["heads"] for tree in sentence["alternatives"]] == [one.tolist() for one, _ in ours.parse.alternatives]
    for word in sentence["words"]:
        assert word["heads"][0][1] >= word["heads"][-1][1]
        assert sum(belief for _, belief in word["heads"]) == pytest.approx(1.0, abs=0.01)
    nothing = server.parse(text="They saw.", known=[{"1": 2, "2": 1}])
    assert (nothing.status, b"leave no tree" in nothing.content) == (400, True)


def test_a_long_text_comes_in_pieces(server: Server, nlp: Pipeline) -> None:
    text = plain_text(embedded_treebank("test")[:120]).text
    answer = server.ask("POST", "/parse?output=conllu", text.encode(), Content_Type="text/plain")
    assert answer.headers["transfer-encoding"] == "chunked"
    expected = "".join(one.to_sentence().text for one in nlp.stream([text], threads=1))
    assert answer.content.decode() == expected
    assert len(server.parse(text=text).sentences) == len(list(read_conll(io.BytesIO(expected.encode()))))


def test_many_clients_are_answered_together_and_each_with_its_own(server: Server, nlp: Pipeline) -> None:
    texts = [" ".join(sentence.forms) for sentence in embedded_treebank("test")[:60]]

    def ask(number: int) -> list[int]:
        kbest = number % 3 // 2
        return [
            word["head"] for one in server.parse(text=texts[number], kbest=kbest).sentences for word in one["words"]
        ]

    with ThreadPoolExecutor(16) as pool:
        heads = list(pool.map(ask, range(len(texts))))
    assert heads == [[word.head for word in nlp(text).words] for text in texts]
    metrics = dict(
        line.rsplit(" ", 1) for line in server.ask("GET", "/metrics").content.decode().splitlines() if line[0] != "#"
    )
    assert float(metrics["treebp_batch_sentences_count"]) < float(metrics["treebp_batch_sentences_sum"])
    assert float(metrics["treebp_words_total"]) > 500
    assert float(metrics["treebp_in_flight"]) == 0


def test_a_long_text_that_nobody_fetches_does_not_hold_up_others(server: Server) -> None:
    with closing(server.connection()) as patient:
        text = "She saw a bird, and the dog sleeps. " * 2_500
        patient.request("POST", "/parse", text, {"Content-Type": "text/plain"})
        deadline = time.monotonic() + 60.0
        while b"treebp_in_flight 1.0" not in server.ask("GET", "/metrics").content:  # it may not have been heard yet
            assert time.monotonic() < deadline
        assert server.parse(text="Trees grow.").status == 200
        assert b"treebp_in_flight 1.0" in server.ask("GET", "/metrics").content  # it is still being answered
        with patient.getresponse() as response:
            assert len(json.loads(response.read())["sentences"]) == 2_500


BAD = [
    ("POST", "/parse", b"Trees", "application/xml", 415),
    ("POST", "/parse", b"Trees", "", 415),
    ("POST", "/parse", b"\xff\xfe", "text/plain", 400),
    ("POST", "/parse?kbest=many", b"Trees", "text/plain", 400),
    ("POST", "/parse?kbest=1000", b"Trees", "text/plain", 400),
    ("POST", "/parse?secret=1", b"Trees", "text/plain", 400),
    ("POST", "/parse?output=xml", b"Trees", "text/plain", 400),
    ("POST", "/parse", b"no treebank", "text/x-conllu", 400),
    ("POST", "/parse", b"", "text/x-conllu", 400),
    ("POST", "/parse", b"{", "application/json", 400),
    ("POST", "/parse", b"[]", "application/json", 400),
    ("POST", "/parse", b"{}", "application/json", 400),
    ("POST", "/parse?kbest=2", b'{"text": "Trees"}', "application/json", 400),
    ("POST", "/parse", b'{"text": "\\ud800"}', "application/json", 400),
    ("POST", "/parse", b'{"text": "a", "kbest": 1.5}', "application/json", 400),
    ("POST", "/parse", b'{"text": "a", "known": [{"x": 1}]}', "application/json", 400),
    ("POST", "/parse", b'{"text": "a", "known": [{"1": 7}]}', "application/json", 400),
    ("POST", "/parse", b'{"text": "a", "known": 3}', "application/json", 400),
    ("POST", "/parse", b'{"text": "a", "forbidden": [[[1]]]}', "application/json", 400),
    ("POST", "/parse", b'{"text": "a", "marginals": 1}', "application/json", 400),
    ("POST", "/parse", b'{"text":' + b"[" * 90_000, "application/json", 400),
    ("POST", "/parse", b'{"text": "a", "kbest": ' + b"9" * 9_000 + b"}", "application/json", 400),
    ("POST", "/parse", b"a" * 100_001, "text/plain", 413),
    ("POST", "/parse", b"".join(b"%d\ta" % n + b"\t_" * 8 + b"\n" for n in range(1, 502)), "text/x-conllu", 413),
    ("GET", "/parse", None, "", 405),
    ("GET", "/nowhere", None, "", 404),
]


@pytest.mark.parametrize(("method", "path", "body", "kind", "status"), BAD)
def test_a_bad_request_is_told_why(server: Server, method: str, path: str, body: bytes, kind: str, status: int) -> None:
    answer = server.ask(method, path, body, Content_Type=kind)
    assert answer.status == status, answer
    if path.startswith("/parse") and method == "POST":
        assert json.loads(answer.content)["error"]


def test_no_text_has_no_sentences(server: Server) -> None:
    assert server.parse(text="").sentences == server.parse(text=" \n ").sentences == []


def test_what_else_there_is(server: Server) -> None:
    assert json.loads(server.ask("GET", "/health").content) == {"status": "ok"}
    model = json.loads(server.ask("GET", "/model").content)
    assert (model["name"], model["reads_text"], "nsubj" in model["labels"]) == ("en", True, True)
    described = json.loads(server.ask("GET", "/openapi.json").content)
    assert described["openapi"] == "3.1.0"
    assert set(described["paths"]) == {"/parse", "/model", "/health", "/metrics"}
    page = server.ask("GET", "/").content.decode()
    assert "<!DOCTYPE html>" in page
    assert "//" not in page.replace("http://www.w3.org/2000/svg", "").replace("// ", "")  # nothing from elsewhere
    assert b"POST /parse" in server.ask("GET", "/docs").content


def raw(server: Server, content: bytes) -> bytes:
    """What comes back for bytes that are no request of a well-behaved client, before the connection is closed."""
    received = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection, suppress(OSError):
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        while more := connection.recv(65536):
            received += more
    return received


def test_what_is_no_http_is_refused_and_what_is_cut_off_is_forgotten(server: Server) -> None:
    head = b"POST /parse HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n"
    assert raw(server, b"\x16\x03\x01 hello\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert b"200 OK" not in raw(server, head + b"half")
    assert b" 400 " in raw(server, head.replace(b"10", b"ten"))
    endless = b"GET / HTTP/1.1\r\nX: " + b"a" * 4_000_000
    assert raw(server, endless)[:12] in (b"HTTP/1.1 400", b"")
    chunked = head.replace(b"Content-Length: 10", b"Transfer-Encoding: chunked")
    assert b" 413 " in raw(server, chunked + b"1fff0\r\n" + b"a" * 0x1FFF0 + b"\r\n0\r\n\r\n")
    assert server.parse(text="Trees grow.").status == 200


def test_limits_of_time_and_of_requests_and_a_token() -> None:
    with serving("--max-seconds", "0.7", "--max-requests", "1", "--token", "secret", "--processes", "1") as server:
        key = {"Authorization": "Bearer secret", "Content_Type": "text/plain"}
        assert server.ask("POST", "/parse", "Trees grow.", Content_Type="text/plain").status == 401
        assert server.ask("GET", "/model", Authorization="Bearer secre").status == 401
        assert server.ask("GET", "/health").status == server.ask("GET", "/").status == 200
        assert server.ask("POST", "/parse", "Trees grow.", **key).status == 200

        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as silent:
            silent.sendall(b"POST /parse HTTP/1.1\r\n")  # and no more
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as slow:
                slow.sendall(
                    b"POST /parse HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n"
                    b"Content-Type: text/plain\r\nContent-Length: 10\r\n\r\nTre"
                )
                time.sleep(0.2)
                full = server.ask("POST", "/parse", "Trees grow.", **key)
                assert (full.status, full.headers["retry-after"]) == (429, "1")
                assert b" 408 " in slow.recv(1000)
            assert server.ask("POST", "/parse", "Trees grow.", **key).status == 200
            assert silent.recv(1000) == b""
        assert 2.5 < time.monotonic() - began < 10

        with pytest.raises(http.client.IncompleteRead):  # an answer that has begun is cut
            server.ask("POST", "/parse", "So it goes, on and on. " * 20_000, **key)


def test_a_signal_lets_answers_end() -> None:
    text = "She saw a bird, and the dog sleeps. " * 2_000
    with serving("--processes", "1") as server:
        connection = server.connection()
        connection.request("POST", "/parse?output=conllu", text, {"Content-Type": "text/plain"})
        response = connection.getresponse()
        received = response.read(1000)
        server.process.send_signal(signal.SIGTERM)
        received += response.read()
        connection.close()
        assert received.count(b"# sent_id") == 2_000
        with pytest.raises(ConnectionRefusedError):
            server.parse(text="Trees grow.")


def test_the_commands_and_the_code_of_the_page_on_serving_run(server: Server, nlp: Pipeline, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    address = f"http://127.0.0.1:{server.port}"
    (code,) = re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    exec(code, {"address": address})
    if not shutil.which("curl"):
        pytest.skip("there is no curl")
    (tmp_path / "notes.txt").write_text(TEXT)
    (tmp_path / "new.conllu").write_text(nlp(TEXT).to_conllu())
    commands = re.findall(r"^curl .*", page, flags=re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        line = command.replace("http://127.0.0.1:8000", address).replace("curl ", "curl -sSf ")
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "duck" in done.stdout
