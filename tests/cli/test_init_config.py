"""``treebp init-config``: a file that explains and changes nothing."""

from dataclasses import fields
from pathlib import Path

from tiny import treebp

from treebp.parsing.config import Config


def test_the_file_explains_the_defaults(tmp_path: Path) -> None:
    assert treebp("init-config", "-o", "run.toml", folder=tmp_path).returncode == 0
    text = (tmp_path / "run.toml").read_text()
    assert Config.from_toml(text) == Config()
    lines = text.splitlines()
    for field in fields(Config):
        assert sum(line.startswith(f"{field.name} = ") for line in lines) == 1
    iterations = lines.index("iterations = 4")
    assert lines[iterations - 1] == "# Iterations of belief propagation, in training and in parsing."
    objective = lines.index('objective = "l2"')
    assert lines[objective - 1] == "# One of 'cll', 'l2', 'ar', 'l2+ar'."
    factors = lines.index('factors = ["grandparent", "sibling"]')
    assert lines[factors - 1] == (
        "# Any of 'grandparent', 'sibling', 'consecutive-sibling', 'grand-sibling', 'tri-sibling'."
    )
    assert max(map(len, lines)) <= 120
    assert treebp("init-config", folder=tmp_path).stdout == text
    of_network = treebp("init-config", "--scorer", "neural", folder=tmp_path).stdout
    assert of_network == text.replace('scorer = "hashed"', 'scorer = "neural"')


def test_an_existing_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("precious")
    refused = treebp("init-config", "-o", "run.toml", folder=tmp_path)
    assert (refused.returncode, (tmp_path / "run.toml").read_text()) == (2, "precious")
    assert treebp("init-config", "-o", "run.toml", "--force", folder=tmp_path).returncode == 0
    assert (tmp_path / "run.toml").read_text() != "precious"
