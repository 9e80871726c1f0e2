import io

import pytest

from treebp.data.errors import TreebankError
from treebp.data.findings import Finding, find_problems
from treebp.data.inventory import Inventory, take_inventory


def block(*heads: object, tag: str = "NOUN", label: str = "dep", word: str = "w", fine: str = "_") -> str:
    rows = [f"{i}\t{word}{i}\t_\t{tag}\t{fine}\t_\t{head}\t{label}\t_\t_\n" for i, head in enumerate(heads, 1)]
    return "".join(rows) + "\n"


def inventory_of(text: str, name: str = "train") -> Inventory:
    stream = io.BytesIO(text.encode())
    stream.name = name
    return take_inventory(stream)


def levels_and_whats(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.level, finding.what) for finding in findings]


def test_every_kind_of_tree_is_counted() -> None:
    multiword = "1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + block(0, 1).rstrip("\n") + "\n2.1\tx" + "\t_" * 8 + "\n\n"
    text = block(2, 0) + block(0, 0) + block(2, 1) + block("_", 0) + block(3, 4, 0, 3) + multiword
    inventory = inventory_of(text)
    assert (inventory.path, inventory.format) == ("train", "conllu")
    assert (inventory.sentences, inventory.words) == (6, 14)
    assert inventory.lengths == {2: 5, 4: 1}
    assert inventory.labels == {"dep": 14}
    assert inventory.coarse_tags == {"NOUN": 14}
    assert inventory.fine_tags == {"_": 14}
    assert inventory.several_roots == 1
    assert inventory.cyclic == 1
    assert inventory.incomplete == 1
    assert (inventory.nonprojective, inventory.nonprojective_arcs) == (1, 1)
    assert (inventory.multiword_tokens, inventory.empty_nodes) == (1, 1)


def test_what_cannot_be_read_is_still_an_error() -> None:
    with pytest.raises(TreebankError, match="train:1:7"):
        inventory_of(block(5))


def test_a_clean_pair_of_files_has_no_findings() -> None:
    train = block(2, 0, fine="NN", label="a") + block(0, 1, fine="NN", label="b", word="v")
    assert find_problems(inventory_of(train), inventory_of(block(0, fine="NN", label="a"), "dev")) == []


def test_trees_that_the_parser_treats_specially() -> None:
    other = block(0, 1, fine="NN", label="a", word="o")
    odd = block(0, 0, fine="NN") + block(2, 1, fine="NN", word="v") + block("_", fine="NN")
    odd += block(3, 4, 0, 3, fine="NN", word="u")
    assert levels_and_whats(find_problems(inventory_of(odd + other))) == [
        ("error", "train: 1 sentence with a cycle"),
        ("error", "train: 1 sentence without all heads"),
        ("note", "train: 1 sentence of 5 with several roots"),
        ("note", "train: 1 non-projective sentence (20.0 %), with 9.09 % of all arcs"),
    ]


def test_a_file_to_parse_needs_no_heads() -> None:
    train = block(0, fine="NN", label="a") + block(0, 1, fine="NN", label="_")
    blind = block("_", "_", "_", fine="NN", label="_")
    assert levels_and_whats(find_problems(inventory_of(train), inventory_of(blind, "test"))) == [
        ("warning", "test: 1 sentence without all heads"),
        ("note", "train: 2 words with the label '_'"),
    ]


def test_multiword_tokens_repetitions_and_missing_columns() -> None:
    multiword = "1-1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n" + block(0)
    assert levels_and_whats(find_problems(inventory_of(multiword + block(0)))) == [
        ("note", "train: 1 multiword token and 0 empty nodes"),
        ("note", "train: no fine tags (column 5)"),
        ("note", "train: one label only, 'dep'"),
        ("note", "train: 1 sentence repeated within the file"),
    ]
    assert levels_and_whats(find_problems(inventory_of(block(0, tag="_", label="_") + block(0, 1, tag="_")))) == [
        ("warning", "train: no part-of-speech tags"),
        ("note", "train: 1 word with the label '_'"),
    ]


def test_differences_between_train_and_dev() -> None:
    train = block(0, fine="NN", label="a") + block(0, 1, fine="NN", label="b")
    shared = block(0, fine="NN", label="a")
    foreign = "".join(block(0, 1, fine="XX", tag="N", label=f"l{i}", word=str(i)) for i in range(10))
    assert levels_and_whats(find_problems(inventory_of(train), inventory_of(foreign + shared * 2, "dev"))) == [
        (
            "warning",
            "dev: 20 words with a label that train lacks: 'l0', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7' and 2 more",
        ),
        ("warning", "dev: 20 words with a coarse tag that train lacks: 'N'"),
        ("warning", "dev: 20 words with a fine tag that train lacks: 'XX'"),
        ("warning", "dev: 2 sentences of 12 also in train"),
        ("warning", "dev is conllx, train is conllu"),
    ]
