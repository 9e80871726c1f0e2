"""The parser stands on the library: one belief propagation, one of each objective, decoder and message kernel."""

import ast
import sys
from collections import defaultdict
from dataclasses import replace
from graphlib import TopologicalSorter
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from numba.core.dispatcher import Dispatcher
from typer.testing import CliRunner

import treebp
from small_parser import TINY
from treebp.bp.propagation import propagate
from treebp.cli import app
from treebp.data.conll import write_conll
from treebp.objectives.decoders import log_odds
from treebp.objectives.losses import annealed_risk_of_arcs, l2_of_arcs
from treebp.training import fit

ROOT = Path(treebp.__file__).parent


def name_of(path):
    parts = (ROOT.name, *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


TREES = {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}


# What the commands reach.


def count_calls(function, monkeypatch):
    """A list that grows with each call of a function, wherever in the package it was imported to."""
    calls = []

    def counted(*arguments, **options):
        calls.append(1)
        return function(*arguments, **options)

    homes = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("treebp.") and vars(module).get(function.__name__) is function
    ]
    assert homes
    for module in homes:
        monkeypatch.setattr(module, function.__name__, counted)
    return calls


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output


@pytest.fixture
def folder(tmp_path, monkeypatch, train, dev):
    monkeypatch.chdir(tmp_path)
    write_conll(tmp_path / "train.conllu", train[:12])
    write_conll(tmp_path / "dev.conllu", dev[:4])
    (tmp_path / "run.toml").write_text(TINY.to_toml(), encoding="utf-8")
    return tmp_path


def train_command(*options):
    run("train", "train.conllu", "--dev", "dev.conllu", "--config", "run.toml", "--threads", 1, *options)


@pytest.mark.parametrize("objective", ["cll", "l2", "ar"])
@pytest.mark.parametrize("factors", ["grandparent,sibling", "consecutive-sibling", "grand-sibling", "tri-sibling"])
def test_train_and_parse_reach_belief_propagation(folder, monkeypatch, objective, factors):
    calls = count_calls(propagate, monkeypatch)
    train_command("--objective", objective, "--factors", factors, "--epochs", 1, "-o", "en.model")
    assert len(calls) >= 2  # training sentences, and development data at once
    calls.clear()
    run("parse", "en.model", "dev.conllu", "--threads", 1, "-o", "parsed.conllu")
    assert len(calls) == 2  # a sentence that loads the kernels, and the file


@pytest.mark.parametrize("function", [l2_of_arcs, annealed_risk_of_arcs])
@pytest.mark.parametrize("inference", ["bp", "exact"])
def test_training_reaches_the_librarys_objectives(folder, monkeypatch, function, inference):
    calls = count_calls(function, monkeypatch)
    objective = "l2" if function is l2_of_arcs else "ar"
    options = ("--inference", inference, "--factors", "grandparent", "--epochs", 1)
    train_command("--objective", objective, *options, "-o", "en.model")
    assert calls
    calls.clear()
    train_command("--objective", "cll", *options, "-o", "other.model")
    assert not calls


def test_parsing_reaches_the_librarys_decoder(folder, monkeypatch):
    calls = count_calls(log_odds, monkeypatch)
    train_command("--set", "decoder=log-odds", "--size", "inf", "--epochs", 1, "-o", "en.model")
    assert len(calls) == 2  # after the epoch, and with the model that is written
    calls.clear()
    run("parse", "en.model", "dev.conllu", "--threads", 1, "-o", "parsed.conllu")
    assert len(calls) == 2


# One sentence's way through the parser.


def names_in(code):
    """The names that a function's code, or that of a function within it, looks up."""
    inner = (names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def called_by(kernel):
    """The kernels and intrinsics of the package that a kernel calls."""
    for name in names_in(kernel.__code__):
        found = kernel.__globals__.get(name)
        modules = [found] if isinstance(found, ModuleType) else []
        for one in [found, *(vars(module).get(other) for module in modules for other in names_in(kernel.__code__))]:
            function = getattr(one, "py_func", None) or getattr(one, "_defn", None)
            if function is not None and function.__module__.startswith("treebp."):
                yield function


def stations(work):
    """The modules whose functions are called, kernels being followed to all kernels that are compiled into them."""
    entered = {}

    def notice(frame, event, _):
        path = Path(frame.f_code.co_filename)  # which a compiled kernel's frame has too
        if event == "call" and path.is_relative_to(ROOT):
            entered.setdefault(name_of(path), set()).add(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        work()
    finally:
        sys.setprofile(before)
    kernels = [
        found.py_func
        for module, names in entered.items()
        for found in map(vars(sys.modules[module]).get, names)
        if isinstance(found, Dispatcher)
    ]
    seen = set()
    while kernels:
        kernel = kernels.pop()
        if kernel not in seen:
            seen.add(kernel)
            kernels += called_by(kernel)
    return entered.keys() | {kernel.__module__ for kernel in seen}


def test_a_sentence_passes_fewer_files_than_in_version_0_1(train, dev):
    parser = fit(train[:40], dev[:4], replace(TINY, factors=("grandparent", "sibling"), labels=True), threads=1)
    passed = []
    for sentence in train[:8]:
        list(parser.parse([sentence], threads=1))  # compiled, and with what is kept for the next sentence
        passed.append(stations(lambda own=sentence: list(parser.parse([own], threads=1))))
    assert all({"treebp.bp.propagation", "treebp.kernels.eisner", "treebp.kernels.labels"} <= own for own in passed)
    assert max(map(len, passed)) < 26  # version 0.1.0's, by the same count
    page = Path(__file__).parents[1].joinpath("docs", "architecture.md").read_text(encoding="utf-8")
    files = {f"{name.partition('.')[2].replace('.', '/')}.py" for name in set().union(*passed)}
    assert [file for file in sorted(files) if f"`{file}`" not in page] == []


# One implementation of everything.


def functions(tree):
    """All functions of a module but those that only declare a type, by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body and not all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in body):
                yield node, body


def homes(*words):
    """Where functions, other than methods, whose name has one of some words are defined: {module: names}.

    But for `treebp.torch`, whose names are those of the library, for tensors.
    """
    found = defaultdict(set)
    for module, tree in TREES.items():
        if module.startswith("treebp.torch."):
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and any(f"_{word}_" in f"_{node.name}_" for word in words):
                found[module].add(node.name)
    return dict(found)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("l2",),
            {"treebp.objectives.losses": {"l2_distance", "l2_of_arcs"}, "treebp.training.circuit": {"l2"}},
        ),
        (
            ("risk",),
            {
                "treebp.objectives.losses": {"annealed_risk", "annealed_risk_of_arcs"},
                "treebp.training.circuit": {"annealed_risk"},
            },
        ),
        (
            ("likelihood",),
            {
                "treebp.objectives.losses": {"log_likelihood"},
                "treebp.training.circuit": {"likelihood", "head_likelihood"},
            },
        ),
        (("recall",), {"treebp.objectives.losses": {"expected_recall"}}),
        (
            ("mbr", "decode"),
            {"treebp.objectives.decoders": {"mbr_decode", "log_odds_decode"}, "treebp.parsing.model": {"decode"}},
        ),
        (("propagate",), {"treebp.bp.propagation": {"propagate"}}),
    ],
)
def test_objectives_decoders_and_propagation_have_one_home(words, expected):
    assert homes(*words) == expected


@pytest.mark.parametrize(
    "objective",
    [
        "l2",
        "annealed_risk",
        "likelihood",
        "head_likelihood",
    ],
)
def test_the_parsers_objectives_compute_nothing_themselves(objective):
    (found,) = [node for node, _ in functions(TREES["treebp.training.circuit"]) if node.name == objective]
    assert not [node for node in ast.walk(found) if isinstance(node, ast.BinOp | ast.AugAssign | ast.UnaryOp)]


def mentions(tree):
    """All names that a module uses, with the dots or without."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def test_every_kernel_that_sends_messages_is_defined_once_and_has_one_user():
    senders = homes("send")
    kernels = {name: module for module, names in senders.items() if ".kernels." in module for name in names}
    assert len(kernels) == sum(len(names) for module, names in senders.items() if ".kernels." in module) > 10
    users = defaultdict(set)
    for module, tree in TREES.items():
        for name in kernels.keys() & set(mentions(tree)):
            # Commands ask whether the kernels are compiled; they do not call them.
            if module != kernels[name] and ".cli." not in module:
                users[name].add(module)
    assert users.keys() == kernels.keys()
    for name, found in users.items():
        assert {module.split(".")[1] for module in found} <= {"bp", "kernels"}, name
        assert len([module for module in found if module.startswith("treebp.bp.")]) <= 1, name


@pytest.mark.parametrize("search", ["best_projective", "best_arborescence"])
def test_all_decoders_share_the_search_for_the_best_tree(search):
    (home,) = [module for module, names in homes(search).items() if search in names]
    assert [module for module, tree in TREES.items() if module != home and search in mentions(tree)] == [
        "treebp.bp.groups.trees",  # for listed arcs
        "treebp.kernels.tree_queries",  # for a matrix of scores
    ]


def test_no_function_of_some_length_stands_in_two_places():
    bodies = defaultdict(list)
    for module, tree in TREES.items():
        for node, body in functions(tree):
            if sum(isinstance(one, ast.stmt) for statement in body for one in ast.walk(statement)) >= 3:
                bodies["\n".join(map(ast.dump, body))].append(f"{module}.{node.name}")
    assert [found for found in bodies.values() if len(found) > 1] == []


def test_a_class_has_its_name_to_itself():
    """But for twins: `treebp.torch` and `treebp.cuda` have for tensors what the library has for arrays."""
    found = defaultdict(list)
    for module, tree in TREES.items():
        if not module.startswith(("treebp.torch.", "treebp.cuda.")):
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(module)
    assert {name: modules for name, modules in found.items() if len(modules) > 1} == {}


# The import graph.


def imported(tree):
    """The modules that a module imports, anywhere but for the sake of types."""
    checking = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole way"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in TREES else node.module for name in names]
        if id(node) not in checking:
            yield from (name for name in names if name in TREES)


GRAPH = {name: {other for other in imported(tree) if other != name} for name, tree in TREES.items()}


def test_no_modules_import_each_other_in_a_circle():
    assert len(list(TopologicalSorter(GRAPH).static_order())) == len(TREES)


def test_every_module_is_reached_from_a_command_or_a_public_name():
    reached = set()
    waiting = ["treebp.__main__", "treebp.spacy", *(name for name in TREES if name.startswith("treebp.cli"))]
    waiting += [f"treebp.{home}" for home in treebp._HOMES]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [*GRAPH[name], *([name.rpartition(".")[0]] if "." in name else [])]
    assert TREES.keys() - reached == set()
