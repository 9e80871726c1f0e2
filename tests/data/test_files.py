import bz2
import gzip
import io
import lzma
import os
import sys
from pathlib import Path

import pytest

from treebp.data.errors import TreebankError
from treebp.data.files import name_of, open_writing, read_lines, read_text

TEXT = "".join(f"line {number} ž\u2028\r\n" for number in range(5000)).encode()
COMPRESS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
DECOMPRESS = {".gz": gzip.decompress, ".xz": lzma.decompress, ".bz2": bz2.decompress, "": bytes}


@pytest.mark.parametrize("suffix", DECOMPRESS)
def test_suffix_decides_on_compression_both_ways(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    with open_writing(path) as stream:
        stream.write(TEXT)
    assert DECOMPRESS[suffix](path.read_bytes()) == TEXT
    assert list(read_lines(path)) == [line + b"\n" for line in TEXT.split(b"\n")[:-1]]
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", COMPRESS)
def test_the_same_text_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        with open_writing(path) as stream:
            stream.write(TEXT)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("suffix", COMPRESS)
def test_truncated_file_is_a_treebank_error_with_a_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(COMPRESS[suffix](TEXT)[:-10])
    lines = []
    with pytest.raises(TreebankError, match="damaged or cut short here") as caught:
        lines.extend(read_lines(path))
    assert caught.value.path == str(path)
    assert caught.value.line == len(lines) + 1


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("damage", [b"plain text, not compressed", b"\xff" * 40])
def test_what_is_not_compressed_is_a_treebank_error(tmp_path: Path, suffix: str, damage: bytes) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(damage)
    with pytest.raises(TreebankError, match="damaged"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", COMPRESS)
def test_damage_in_the_middle_is_a_treebank_error(tmp_path: Path, suffix: str) -> None:
    packed = bytearray(COMPRESS[suffix](TEXT))
    packed[len(packed) // 2] ^= 0xFF
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(packed)
    with pytest.raises(TreebankError, match="damaged"):
        list(read_lines(path))


def test_missing_file_is_the_systems_own_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_lines(tmp_path / "none.txt"))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such folder") as caught, open_writing(tmp_path / "no" / "a.txt"):
        pass
    assert caught.value.filename == str(tmp_path / "no")


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(TypeError, match="bytes"), open_writing(path) as stream:
        stream.writelines([b"new", "no bytes"])
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_keeps_pointing_to_the_rewritten_file(tmp_path: Path) -> None:
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    link.symlink_to(path)
    with open_writing(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_devices_are_written_directly() -> None:
    with open_writing(os.devnull) as stream:
        stream.write(b"gone")
    assert not os.path.isfile(os.devnull)


def test_standard_streams(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\r\nb")))
    assert list(read_lines("-")) == [b"a\r\n", b"b"]
    assert not sys.stdin.closed
    with open_writing("-") as stream:
        stream.write(b"\xff\r\n")
    assert capfdbinary.readouterr().out == b"\xff\r\n"


def test_open_streams_are_used_and_stay_open(tmp_path: Path) -> None:
    with open(tmp_path / "a.txt", "w", encoding="utf-8") as text:
        text.write("first\n")
        with open_writing(text) as stream:
            stream.write(b"second\r\n")
        assert not text.closed
    with open(tmp_path / "a.txt", encoding="utf-8") as text:
        assert name_of(text) == str(tmp_path / "a.txt")
        assert list(read_lines(text)) == [b"first\n", b"second\r\n"]
        assert not text.closed


def test_text_stream_without_bytes_below_is_refused() -> None:
    with pytest.raises(TypeError, match="binary stream"):
        list(read_lines(io.StringIO("text")))


def test_text_is_read_in_pieces_with_every_character() -> None:
    text = "\ufeffone\r\ntwo\rdrei ä\u2028\U0001f600\n" * 9000
    pieces = list(read_text(io.BytesIO(text.encode())))
    assert len(pieces) > 2
    assert "".join(pieces) == text


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"\xff", "1: byte 0xff at offset 0"),
        (b"a\nb\xc3", "2: byte 0xc3 at offset 3"),
        (b"\xe2\x82a", "1: byte 0xe2 at"),
    ],
)
def test_bytes_that_are_no_text_are_named(data: bytes, place: str) -> None:
    with pytest.raises(TreebankError, match=f"<stream>:{place}"):
        list(read_text(io.BytesIO(data)))


def test_a_character_may_lie_across_two_pieces() -> None:
    for shift in range(4):
        text = "x" * (2**16 - shift) + "\U0001f600" * 3
        assert "".join(read_text(io.BytesIO(text.encode()))) == text
        with pytest.raises(TreebankError, match=f"at offset {2**16 - shift} is"):
            list(read_text(io.BytesIO(text.encode()[: 2**16 - shift] + b"\xf0\x9f\x98a")))


def test_utf_16_and_damaged_archives_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TreebankError, match="UTF-16"):
        list(read_text(io.BytesIO("text".encode("utf-16"))))
    (tmp_path / "a.txt.gz").write_bytes(b"\x1f\x8b\x08 damaged")
    with pytest.raises(TreebankError, match=r"a\.txt\.gz:1: the compressed file is damaged"):
        list(read_text(tmp_path / "a.txt.gz"))
