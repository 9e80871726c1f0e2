"""``treebp parse --ray``: many files on many machines, each of them a job of its own."""

import os
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from json import dumps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from treebp.cli._errors import complain
from treebp.cli._parse_run import ParseOptions, ParseRun, targets_of
from treebp.models import find_model

if TYPE_CHECKING:
    from treebp.pipeline import Pipeline

_RECORD = "treebp-parse.json"  # in the output's folder: how its files were parsed


class Shard(NamedTuple):
    """A file to parse and the file to write, both as fsspec names them."""

    source: str
    target: str


class Report(NamedTuple):
    """What came of a shard."""

    sentences: int
    words: int
    skipped: int
    warnings: list[str]


def parse_on_cluster(
    model: Path, sources: list[str], output: str, options: ParseOptions, address: str, force: bool
) -> None:
    """Parse each file to one of its name in a folder; those that are there already are done."""
    from treebp.clusters.cluster import run_on_cluster

    fsspec = _fsspec()
    system, folder = fsspec.core.url_to_fs(output)
    system.makedirs(folder, exist_ok=True)
    inputs = _expanded(sources)
    shards = [
        Shard(files[0], target)
        for target, files in targets_of(inputs, f"{_full_name(system, folder).rstrip('/')}/").items()
    ]
    if {shard.source for shard in shards} & {shard.target for shard in shards}:
        raise typer.BadParameter("inputs are never replaced: choose another folder.", param_hint="--output")
    _check_record(system, folder, model, options, force=force)
    done = set() if force else {os.path.basename(path) for path in system.ls(folder, detail=False)}
    missing = [shard for shard in shards if os.path.basename(shard.target) not in done]
    typer.echo(f"{len(shards)} files, {len(shards) - len(missing)} of them done already", err=True)
    make_worker = partial(ShardParser, os.path.abspath(find_model(model)), replace(options, threads=1))
    failures, skipped, warned = 0, 0, set[str]()
    for outcome in run_on_cluster(address, make_worker, missing, workers=options.threads):
        if outcome.result is None:
            failures += 1
            complain(f"failed: {outcome.job.source}: {outcome.failure}")
            continue
        skipped += outcome.result.skipped
        for warning in set(outcome.result.warnings) - warned:
            warned.add(warning)
            complain(warning)
        name = os.path.basename(outcome.job.target)
        typer.echo(f"{name}: {outcome.result.sentences:,} sentences, {outcome.result.words:,} words", err=True)
    if skipped:
        complain(f"warning: sentences longer than --max-length are left as they are: {skipped}")
    if failures:
        raise typer.Exit(1)


def _expanded(sources: list[str]) -> list[str]:
    """All files that patterns stand for, with full names, in order."""
    fsspec = _fsspec()
    found = []
    for source in sources:
        system, path = fsspec.core.url_to_fs(source)
        paths = sorted(system.glob(path)) if any(mark in path for mark in "*?[") else [path]
        paths = [path for path in paths if system.isfile(path)]
        if not paths:
            raise FileNotFoundError(2, "no such file", source)
        found += [_full_name(system, path) for path in paths]
    return found


def _full_name(system: Any, path: str) -> str:
    """The name that means this file on any machine."""
    return str(system.unstrip_protocol(path)).removeprefix("file://")


def _check_record(system: Any, folder: str, model: Path, options: ParseOptions, *, force: bool) -> None:
    """Write how the folder's files are parsed; ValueError if some were parsed otherwise, which cannot be told later."""
    how = {key: value for key, value in asdict(options).items() if key != "threads"}
    digest = sha256(find_model(model).read_bytes()).hexdigest()
    record = dumps({"treebp": version("treebp"), "model": digest, **how}, indent=1) + "\n"
    path = f"{folder.rstrip('/')}/{_RECORD}"
    if not force and system.exists(path) and system.cat_file(path).decode() != record:
        raise ValueError(f"{path}: files there were parsed otherwise: choose another folder, or add --force")
    system.pipe_file(path, record.encode())


class ShardParser:
    """A worker: reads the model once, then parses files."""

    def __init__(self, model: str, options: ParseOptions) -> None:
        from treebp.pipeline import load

        self._pipeline = load(model)
        self._options = options

    def __call__(self, shard: Shard) -> Report:
        """Parse a file; the other one appears when it is complete."""
        from treebp.data.conll import write_conll

        fsspec = _fsspec()
        source_system, source = fsspec.core.url_to_fs(shard.source)
        target_system, target = fsspec.core.url_to_fs(shard.target)
        warnings: list[str] = []
        with TemporaryDirectory() as folder:
            if "file" not in source_system.protocol:
                remote, source = source, os.path.join(folder, os.path.basename(source))
                source_system.get_file(remote, source)
            made = os.path.join(folder, "parsed" + os.path.basename(target))
            run = ParseRun(self._pipeline, self._options, warn=warnings.append)
            if source.endswith(".parquet"):
                sentences = _parse_table(self._pipeline, self._options, source, made, run.advance)
            else:
                sentences = write_conll(made, run.parsed(source), encoding=self._options.encoding)
            # A name that another attempt at the same shard uses again: one that was cut short leaves nothing behind.
            part = f"{os.path.dirname(target)}/.{os.path.basename(target)}.part"
            target_system.put_file(made, part)
            target_system.mv(part, target)
        return Report(sentences, run.words, run.skipped, warnings)


def _parse_table(
    pipeline: "Pipeline", options: ParseOptions, source: str, target: str, advance: Callable[[Any], None]
) -> int:
    """Parse the column "text" of a Parquet file, add the trees as a column "conllu", and count the sentences."""
    from itertools import islice

    import pyarrow
    from pyarrow import parquet

    if pipeline.tokeniser is None:
        raise ValueError(f"{source}: this model has no tokeniser, so it cannot read plain text")
    count = 0
    table = parquet.ParquetFile(source)
    if "text" not in table.schema_arrow.names:
        raise ValueError(f"{source}: there is no column named text")
    schema = table.schema_arrow.append(pyarrow.field("conllu", pyarrow.string()))
    with parquet.ParquetWriter(target, schema) as writer:
        for batch in table.iter_batches(256):
            texts = [text or "" for text in batch.column("text").to_pylist()]
            found = [
                [one.to_sentence(number, ranges=options.ranges) for number, one in enumerate(own, 1)]
                for own in map(pipeline.tokeniser.tokenise, texts)
            ]
            sentences = [sentence for own in found for sentence in own]
            parses = pipeline.parser.parse(sentences, threads=1, kbest=options.kbest)
            written = (parse.to_sentence(marginals=options.marginals) for parse in parses)
            trees = ["".join(sentence.text for sentence in islice(written, len(own))) for own in found]
            writer.write_batch(
                pyarrow.record_batch([*batch.columns, pyarrow.array(trees, pyarrow.string())], schema=schema)
            )
            for sentence in sentences:
                advance(sentence)
            count += len(sentences)
    return count


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError:
        raise ValueError("--ray needs more packages: pip install 'treebp[ray]'") from None
    return fsspec
