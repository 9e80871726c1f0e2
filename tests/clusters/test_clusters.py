"""The same work on a cluster, here one of two processes: the same bytes, whatever happens to the workers."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

import treebp
from treebp.cli._parse_on_cluster import Shard
from treebp.clusters.cluster import run_on_cluster
from treebp.data.conll import read_conll, write_conll
from treebp.data.embedded import embedded_treebank

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))

from tiny import OPTIONS, write_treebank
from tiny import treebp as run_treebp

FILES = [f"part{number}.conllu.gz" for number in range(3)]


@pytest.fixture(scope="module", autouse=True)
def quiet_ray():
    """Ray tells nobody that it was used, and warns of nothing that concerns these tests."""
    before = dict(os.environ)
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    sentences = embedded_treebank("test")[:90]
    for number, name in enumerate(FILES):
        write_conll(folder / name, sentences[30 * number : 30 * number + 30])
    (folder / "notes.txt").write_text("They saw her duck. It rains.\n")
    rows = {"id": [1, 2, 3], "text": ["They saw her duck. It rains.", None, "Trees grow."]}
    parquet.write_table(pyarrow.table(rows), folder / "rows.parquet")
    return folder


@pytest.mark.filterwarnings("ignore")
def test_files_are_the_same_as_without_a_cluster_and_are_done_once(corpus: Path) -> None:
    (corpus / "alone").mkdir()
    alone = run_treebp("parse", "en", *FILES, "notes.txt", "-o", "alone", "--marginals", folder=corpus)
    assert alone.returncode == 0, alone.stderr
    (corpus / "broken.conllu").write_text("no treebank\n")
    arguments = [
        "*.conllu*",
        "notes.txt",
        "rows.parquet",
        "-o",
        "out",
        "--marginals",
        "--ray",
        "local",
        "--threads",
        "2",
    ]
    first = run_treebp("parse", "en", *arguments, folder=corpus)
    assert first.returncode == 1
    assert first.stderr.startswith("6 files, 0 of them done already\n")
    assert "treebp: failed: " in first.stderr
    assert "broken.conllu:1" in first.stderr
    assert sorted(path.name for path in (corpus / "out").iterdir()) == sorted(
        [*FILES, "notes.conllu", "rows.parquet", "treebp-parse.json"]
    )
    for name in (*FILES, "notes.conllu"):
        assert (corpus / "out" / name).read_bytes() == (corpus / "alone" / name).read_bytes()
    nlp = treebp.load("en")
    rows = parquet.read_table(corpus / "out" / "rows.parquet").to_pydict()
    assert rows["id"] == [1, 2, 3]
    assert rows["conllu"] == [nlp(text or "").to_conllu(marginals=True) for text in rows["text"]]

    (corpus / "broken.conllu").write_bytes(gzip.decompress((corpus / FILES[0]).read_bytes()))
    kept = (corpus / "out" / FILES[1]).stat().st_mtime_ns
    again = run_treebp("parse", "en", *arguments, folder=corpus)
    assert again.returncode == 0, again.stderr
    words = sum(map(len, embedded_treebank("test")[:30]))
    assert again.stderr == f"6 files, 5 of them done already\nbroken.conllu: 30 sentences, {words} words\n"
    assert (corpus / "out" / FILES[1]).stat().st_mtime_ns == kept

    other = run_treebp("parse", "en", *arguments, "--kbest", "2", folder=corpus)
    assert (other.returncode, "were parsed otherwise" in other.stderr) == (1, True)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_costs_nothing(corpus: Path, tmp_path: Path) -> None:
    def make_worker():
        from treebp.cli._parse_on_cluster import ShardParser
        from treebp.cli._parse_run import ParseOptions
        from treebp.models import find_model

        worker = ShardParser(str(find_model("en")), ParseOptions(False, 0, None, False, False, None, 1, "utf-8"))

        def work(shard):
            dies = shard.source.endswith("part1.conllu.gz") and not os.path.exists(shard.target + ".tried")
            if dies:  # in the middle of the file
                open(shard.target + ".tried", "w").close()
                original = worker._pipeline.parser.parse

                def parse(*arguments, **options):
                    for number, one in enumerate(original(*arguments, **options)):
                        if number == 10:
                            os.kill(os.getpid(), signal.SIGKILL)
                        yield one

                object.__setattr__(worker._pipeline.parser, "parse", parse)
            if shard.source.endswith("part2.conllu.gz"):
                os.kill(os.getpid(), signal.SIGKILL)  # whenever it is tried
            return worker(shard)

        return work

    shards = [Shard(str(corpus / name), str(tmp_path / name)) for name in FILES]
    outcomes = {one.job.source: one for one in run_on_cluster("local", make_worker, shards, workers=2)}
    nlp = treebp.load("en")
    for shard in shards[:2]:
        assert outcomes[shard.source].failure is None
        expected = [parse.to_sentence() for parse in nlp.parser.parse(read_conll(shard.source))]
        assert list(read_conll(shard.target)) == expected
    assert outcomes[shards[2].source].failure == "its worker died, 3 times"
    assert sorted(path.name for path in tmp_path.iterdir()) == [*FILES[:2], "part1.conllu.gz.tried"]


def test_an_experiment_is_the_same_on_a_cluster(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.conllu").rename(tmp_path / f"mine.{split}.conllu")
    arguments = ["experiment", "figure3", "--quick", "--data", ".", "--treebanks", "mine", *OPTIONS, "--jobs", "2"]
    alone = run_treebp(*arguments, "-o", "alone", folder=tmp_path)
    assert alone.returncode == 0, alone.stderr
    together = run_treebp(*arguments, "-o", "together", "--ray", "local", folder=tmp_path)
    assert together.returncode == 0, together.stderr
    results = [
        sorted(
            json.dumps({key: value for key, value in json.loads(line).items() if "seconds" not in key})
            for line in (tmp_path / folder / "figure3.jsonl").read_text().splitlines()
        )
        for folder in ("alone", "together")
    ]
    assert results[0] == results[1]
    assert len(results[0]) == 9


def test_what_is_missing_is_told(corpus: Path) -> None:
    nowhere = run_treebp("parse", "en", "*.nothing", "-o", "out2", "--ray", "local", folder=corpus)
    assert (nowhere.returncode, nowhere.stderr) == (1, "treebp: *.nothing: no such file\n")
    stdin = run_treebp("parse", "en", "-o", "out2", "--ray", "local", folder=corpus)
    assert stdin.returncode == 2
    code = "import sys; sys.modules['ray'] = None; from treebp.cli import main; main()"
    arguments = [sys.executable, "-c", code, "parse", "en", "notes.txt", "-o", "out3", "--ray", "local"]
    done = subprocess.run(arguments, cwd=corpus, capture_output=True, text=True)
    assert done.stderr.endswith("treebp: --ray needs more packages: pip install 'treebp[ray]'\n")
