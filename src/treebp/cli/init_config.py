"""``treebp init-config``: all settings of a training run, explained."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from treebp.cli._files import check_files


def init_config(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="TOML file to write, or - for standard output.")
    ] = Path("-"),
    scorer: Annotated[
        str, typer.Option(metavar="hashed|neural|sum", help="What scores arcs: features, a network, or both.")
    ] = "hashed",
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Write a file with all settings, their meaning and their defaults, for treebp train --config.

    Example: treebp init-config -o run.toml
    """
    from treebp.data.files import write_text

    check_files(outputs=[output], force=force, streams=True)
    write_text(output, "".join(_lines(scorer)))


def _lines(scorer: str) -> Iterator[str]:
    from treebp.parsing.config import Config

    config = Config().override([f"scorer={scorer}"])
    meanings, kinds = _attribute_docstrings(Config), get_type_hints(Config)
    yield "# A training run of treebp: treebp train TRAIN -o MODEL --config THIS_FILE\n"
    for line in config.to_toml().splitlines(keepends=True):
        key = line.split(" = ")[0]
        yield "\n"
        if key in meanings:
            yield f"# {meanings[key]}\n"
        if choices := _choices(kinds[key]):
            yield f"# {choices}\n"
        yield line


def _attribute_docstrings(cls: type) -> dict[str, str]:
    """The strings that stand below the attributes in a class's source, each as one line."""
    (definition,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(definition, ast.ClassDef)
    docstrings = {}
    for attribute, following in pairwise(definition.body):
        match attribute, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                docstrings[name] = " ".join(text.split())
    return docstrings


def _choices(kind: Any) -> str:
    if get_origin(kind) is tuple:
        return _choices(get_args(kind)[0]).replace("One of", "Any of")
    return f"One of {', '.join(map(repr, get_args(kind)))}." if get_origin(kind) is Literal else ""
