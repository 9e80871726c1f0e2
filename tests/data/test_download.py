"""Downloads from a server on the loopback address that misbehaves on request."""

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from treebp.cli import app
from treebp.data import download
from treebp.data.download import DownloadError, cache_folder, download_treebank

TRAIN = b"1\tTrees\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n" * 5000
FILES = {
    "en_tiny-ud-train.conllu": TRAIN,
    "en_tiny-ud-test.conllu": TRAIN[:100],
    "LICENSE.txt": b"\nCreative Commons\nmore\n",
    "README.md": b"# Summary\n\nLicense: CC BY-SA 4.0\nGenre: web\n",
    "stats.xml": b"<stats/>",
}


class Mirror:
    """A contents API with the files above; `cuts` says after how many bytes of a file each connection breaks."""

    def __init__(self) -> None:
        self.files = dict(FILES)
        self.hashes = {name: self.git_hash(content) for name, content in FILES.items()}
        self.cuts: dict[str, list[int]] = {}
        self.ranges = True
        self.requests: list[tuple[str, str | None]] = []
        self.listing: bytes | None = None

    @staticmethod
    def git_hash(content: bytes) -> str:
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    def listing_for(self, base: str) -> bytes:
        return (
            self.listing
            or json.dumps(
                [
                    {
                        "name": name,
                        "size": len(FILES[name]),
                        "sha": self.hashes[name],
                        "download_url": f"{base}/raw/{name}",
                    }
                    for name in self.files
                ]
            ).encode()
        )


@pytest.fixture
def mirror() -> Iterator[tuple[Mirror, str]]:
    state = Mirror()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            base = f"http://127.0.0.1:{self.server.server_address[1]}"
            path = urlsplit(self.path).path
            name = path.rpartition("/")[2]
            wanted = self.headers["Range"]
            state.requests.append((self.path, wanted))
            if path == "/UD_English-Tiny/contents":
                self.answer(200, state.listing_for(base))
            elif path.startswith("/raw/") and name in state.files:
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
                cuts = state.cuts.get(name)
                self.answer(206 if start else 200, state.files[name][start:], cuts.pop(0) if cuts else None)
            else:
                self.send_error(404)

        def answer(self, status: int, content: bytes, cut: int | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:cut])

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield state, f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_files_checksums_licence_and_progress(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    _, base = mirror
    seen = []
    treebank = download_treebank(
        "UD_English-Tiny", to=tmp_path, base_url=base + "/", progress=lambda *report: seen.append(report)
    )
    assert treebank.folder == tmp_path / "UD_English-Tiny"
    assert [path.name for path in treebank.files] == ["en_tiny-ud-train.conllu", "en_tiny-ud-test.conllu"]
    assert treebank.files[0].read_bytes() == TRAIN
    assert treebank.licence == "CC BY-SA 4.0"
    sums = dict(line.split("  ")[::-1] for line in (treebank.folder / "SHA256SUMS").read_text().splitlines())
    assert sums.keys() == FILES.keys() - {"stats.xml"}
    assert sums["en_tiny-ud-train.conllu"] == hashlib.sha256(TRAIN).hexdigest()
    assert ("en_tiny-ud-train.conllu", len(TRAIN), len(TRAIN)) in seen


def test_what_is_there_is_not_fetched_again(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    folder = download_treebank("UD_English-Tiny", to=tmp_path, base_url=base).folder
    (folder / "en_tiny-ud-test.conllu").write_bytes(b"changed")
    state.requests.clear()
    with pytest.raises(ValueError, match=r"en_tiny-ud-test\.conllu is not what was downloaded"):
        download_treebank("UD_English-Tiny", to=tmp_path, base_url=base)
    assert (folder / "en_tiny-ud-test.conllu").read_bytes() == b"changed"
    state.requests.clear()
    download_treebank("UD_English-Tiny", to=tmp_path, base_url=base, force=True)
    assert [path for path, _ in state.requests] == ["/UD_English-Tiny/contents", "/raw/en_tiny-ud-test.conllu"]


def test_what_was_downloaded_is_brought_up_to_date(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    folder = download_treebank("UD_English-Tiny", to=tmp_path, base_url=base).folder
    newer = FILES["LICENSE.txt"].replace(b"more", b"less")
    state.files["LICENSE.txt"], state.hashes["LICENSE.txt"] = newer, state.git_hash(newer)
    download_treebank("UD_English-Tiny", to=tmp_path, base_url=base)
    assert (folder / "LICENSE.txt").read_bytes() == newer


def test_a_revision_is_asked_for_and_kept_apart(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    treebank = download_treebank("UD_English-Tiny", to=tmp_path, base_url=base, revision="r2.14")
    assert state.requests[0][0] == "/UD_English-Tiny/contents?ref=r2.14"
    assert treebank.folder.name == "UD_English-Tiny@r2.14"


def test_a_cut_connection_is_resumed_where_it_broke(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    state.cuts = {"en_tiny-ud-train.conllu": [70_000, 1_000]}
    treebank = download_treebank("UD_English-Tiny", to=tmp_path, base_url=base)
    assert treebank.files[0].read_bytes() == TRAIN
    ranges = [wanted for path, wanted in state.requests if path.endswith("train.conllu")]
    assert ranges == [None, "bytes=70000-", "bytes=71000-"]


def test_a_server_without_ranges_sends_the_file_anew(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    state.ranges = False
    state.cuts = {"en_tiny-ud-train.conllu": [70_000]}
    assert download_treebank("UD_English-Tiny", to=tmp_path, base_url=base).files[0].read_bytes() == TRAIN


def test_a_connection_that_keeps_breaking_leaves_a_part_for_the_next_run(
    mirror: tuple[Mirror, str], tmp_path: Path
) -> None:
    state, base = mirror
    state.cuts = {"en_tiny-ud-train.conllu": [1000] + [0] * (download.ATTEMPTS - 1)}
    with pytest.raises(DownloadError, match=r"cut after 1,000 of .* run the same command again"):
        download_treebank("UD_English-Tiny", to=tmp_path, base_url=base)
    folder = tmp_path / "UD_English-Tiny"
    assert [path.name for path in folder.iterdir()] == ["en_tiny-ud-train.conllu.part"]
    assert download_treebank("UD_English-Tiny", to=tmp_path, base_url=base).files[0].read_bytes() == TRAIN
    assert state.requests[-4:][0][1] == "bytes=1000-"


def test_a_truncated_file_never_gets_its_name(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    state.files["en_tiny-ud-test.conllu"] = FILES["en_tiny-ud-test.conllu"][:50]
    with pytest.raises(DownloadError, match="cut after 50 of 100 bytes"):
        download_treebank("UD_English-Tiny", to=tmp_path, base_url=base)
    assert not (tmp_path / "UD_English-Tiny" / "en_tiny-ud-test.conllu").exists()


def test_a_damaged_file_is_thrown_away(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    state.files["en_tiny-ud-test.conllu"] = b"x" * 100
    with pytest.raises(DownloadError, match="wrong checksum"):
        download_treebank("UD_English-Tiny", to=tmp_path, base_url=base)
    assert not list(tmp_path.rglob("en_tiny-ud-test.conllu*"))


def test_an_unknown_treebank_leaves_no_folder(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"404 .*check the name"):
        download_treebank("UD_English-None", to=tmp_path, base_url=mirror[1])
    assert not list(tmp_path.iterdir())


def test_no_server(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="check the connection"):
        download_treebank("UD_English-Tiny", to=tmp_path, base_url="http://127.0.0.1:1")


@pytest.mark.parametrize(
    "name",
    ["../UD_English-EWT", "UD_English-EWT/..", "UD_English-EWT/../x", "English-EWT", "UD_English", "", "UD_A-B\n"],
)
def test_a_bad_name_is_refused_before_anything_is_asked(name: str, mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not the name of a treebank"):
        download_treebank(name, to=tmp_path, base_url=mirror[1])
    assert not mirror[0].requests


@pytest.mark.parametrize("revision", ["../x", "", "a b", "-x", "r2&x=1"])
def test_a_bad_revision_is_refused(revision: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a revision"):
        download_treebank("UD_English-EWT", to=tmp_path, revision=revision)


def test_only_web_addresses_are_opened(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    with pytest.raises(ValueError, match="not a web address"):
        download_treebank("UD_English-Tiny", to=tmp_path, base_url=tmp_path.as_uri())
    entry = {"name": "en_tiny-ud-test.conllu", "size": 1, "sha": "0", "download_url": "file:///etc/hostname"}
    state.listing = json.dumps([entry]).encode()
    with pytest.raises(ValueError, match="not a web address"):
        download_treebank("UD_English-Tiny", to=tmp_path, base_url=base)


@pytest.mark.parametrize(
    ("listing", "reason"),
    [
        (b"<html>", "not a list of files"),
        (b'{"message": "moved"}', "not a list of files"),
        (b'[{"name": "a.txt"}]', "no CoNLL-U file"),
        (b'[{"name": "../en_tiny-ud-test.conllu"}]', "no CoNLL-U file"),
        (b'[{"name": "en_tiny-ud-test.conllu"}]', "not a list of files"),
    ],
)
def test_a_strange_listing(listing: bytes, reason: str, mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    mirror[0].listing = listing
    with pytest.raises(DownloadError, match=reason):
        download_treebank("UD_English-Tiny", to=tmp_path, base_url=mirror[1])


def test_without_a_readme_the_licence_is_the_first_line_of_its_text(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    state, base = mirror
    del state.files["README.md"]
    assert download_treebank("UD_English-Tiny", to=tmp_path, base_url=base).licence == "Creative Commons"
    del state.files["LICENSE.txt"]
    assert download_treebank("UD_English-Tiny", to=tmp_path, base_url=base).licence == "not stated"


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "treebp"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "treebp"


def test_the_command_shows_licence_and_files(mirror: tuple[Mirror, str], tmp_path: Path) -> None:
    arguments = ["download", "UD_English-Tiny", "--to", str(tmp_path), "--base-url", mirror[1]]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "licence: CC BY-SA 4.0"
    assert [Path(line).name for line in lines[1:]] == ["en_tiny-ud-train.conllu", "en_tiny-ud-test.conllu"]
