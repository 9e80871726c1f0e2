from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treebp.parsing.config import Config

OTHERS = Config(
    objective="l2+ar",
    factors=("grandparent",),
    inference="exact",
    iterations=7,
    schedule="parallel",
    damping=0.25,
    tolerance=1e-07,
    root="multiple",
    decoder="log-odds",
    templates=(),
    weight_bits=18,
    labels=False,
    word_clusters='of "words"\\in it.txt',
    label_weight_bits=9,
    label_epochs=7,
    label_rate=0.0625,
    prune_ratio=1e-05,
    length_bounds=True,
    rate=0.0625,
    temperature_end=2e-05,
    seed=2**32 - 1,
)


@pytest.mark.parametrize("config", [Config(), OTHERS, Config(tree="nonprojective", factors=())])
def test_toml_there_and_back(config, tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml(), encoding="utf-8")
    assert Config.load(path) == Config.from_toml(config.to_toml()) == config
    assert len(config.to_toml().splitlines()) == len(fields(Config))


@given(st.floats(1e-6, 1e3), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_numbers_survive_toml(rate, ratio, seed):
    config = Config(rate=rate, prune_ratio=ratio, seed=seed)
    assert Config.from_toml(config.to_toml()) == config


def test_keys_left_out_keep_their_defaults():
    assert Config.from_toml("") == Config()
    assert Config.from_toml("iterations = 2 # fewer\nrate = 1\n") == Config(iterations=2, rate=1.0)


def test_order_and_repetition_of_choices_do_not_matter():
    config = Config(factors=("sibling", "grandparent", "sibling"))
    assert config == Config(factors=("grandparent", "sibling"))


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("iterations=2", {"iterations": 2}),
        ("iterations = 2", {"iterations": 2}),
        ("rate=1e-2", {"rate": 0.01}),
        ("objective=cll", {"objective": "cll"}),
        ("objective='l2+ar'", {"objective": "l2+ar"}),
        ("decoder=log-odds", {"decoder": "log-odds"}),
        ("labels=false", {"labels": False}),
        ("factors=sibling", {"factors": ("sibling",)}),
        ("factors=sibling, grandparent", {"factors": ("grandparent", "sibling")}),
        ('factors=["sibling"]', {"factors": ("sibling",)}),
        ("factors=", {"factors": ()}),
        ("factors=[]", {"factors": ()}),
        (
            "factors=tri-sibling,grand-sibling,consecutive-sibling",
            {"factors": ("consecutive-sibling", "grand-sibling", "tri-sibling")},
        ),
        ("schedule=serial", {"schedule": "serial"}),
        ("damping=0", {"damping": 0.0}),
        ("tolerance=1e-3", {"tolerance": 0.001}),
    ],
)
def test_override(setting, expected):
    assert OTHERS.override(["inference=bp", setting]) == replace(OTHERS, inference="bp", **expected)


def test_nothing_to_override():
    assert OTHERS.override([]) == OTHERS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iterations = = 2", r"run\.toml: .*line 1"),
        ("iteratons = 2", r"run\.toml: unknown key 'iteratons'; the keys are .*iterations"),
        ("[bp]\niterations = 2", r"run\.toml: unknown key 'bp'"),
        ("iterations = 0", r"run\.toml: iterations = 0 is not between 1 and 1000"),
        ("iterations = 2.0", r"run\.toml: iterations = 2\.0 is not of type int"),
        ("iterations = true", r"iterations = True is not of type int"),
        ("labels = 1", r"labels = 1 is not of type bool"),
        ("rate = 'fast'", r"rate = 'fast' is not of type float"),
        ("rate = nan", r"rate = nan is not between 0 and 1000"),
        ("rate = inf", r"rate = inf is not between"),
        ("rate = -0.1", r"rate = -0\.1 is not between"),
        ("weight_bits = 64", r"weight_bits = 64 is not between 10 and 30"),
        ("objective = 'mle'", r"objective = 'mle' is none of 'cll', 'l2', 'ar', 'l2\+ar'"),
        ("objective = ['cll']", r"objective = \['cll'\] is none of"),
        ("factors = ['cousin']", r"factors = 'cousin' is none of 'grandparent', 'sibling', 'consecutive-sibling'"),
        ("factors = 3", r"factors = 3 is not a list"),
        ("schedule = 'random'", r"schedule = 'random' is none of 'serial', 'parallel'"),
        ("damping = 1.0", r"damping = 1\.0 is not between 0 and 0\.99"),
        ("tolerance = -1e-3", r"tolerance = -0\.001 is not between 0 and 1"),
        ("label_weight_bits = 0", r"label_weight_bits = 0 is not between 1 and 24"),
        ("label_epochs = 0", r"label_epochs = 0 is not between"),
        ("label_rate = 0.0", r"label_rate = 0\.0 is not between"),
        ("seed = -1", r"seed = -1 is not between"),
        ("held_out = 0.9", r"held_out = 0\.9 is not between 0\.01 and 0\.5"),
        ("inference = 'exact'", "knows no 'sibling' factors: leave them out, or use 'bp'"),
        ("inference = 'exact'\nfactors = ['grand-sibling']", "knows no 'grand-sibling' factors"),
        (
            "inference = 'exact'\nfactors = ['grandparent']\ntree = 'nonprojective'",
            "needs tree = 'projective' when there are 'grandparent' factors",
        ),
    ],
)
def test_what_is_wrong_is_said_with_the_file(text, message, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Config.load(path)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("iterations", "setting 'iterations' is not of the form key=value"),
        ("iterations=two", "setting: iterations = 'two' is not of type int"),
        ("depth=3", "setting: unknown key 'depth'"),
        ("factors=cousin", "setting: factors = 'cousin' is none of"),
    ],
)
def test_bad_settings(setting, message):
    with pytest.raises(ValueError, match=message):
        Config().override([setting])


def test_a_file_that_is_not_text_is_named(tmp_path):
    path = tmp_path / "run.toml"
    path.write_bytes(b"objective = \xff")
    with pytest.raises(ValueError, match=r"run\.toml"):
        Config.load(path)
