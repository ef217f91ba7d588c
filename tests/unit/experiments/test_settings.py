import inspect
import runpy
from pathlib import Path

import pytest
from pydantic import ValidationError

from judgesmith import InputError
from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.specs.parts import OptimizerSpec
from judgesmith.programs import DirectJudge
from judgesmith.signatures import ActiveCriticConfig

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def data():
    return read_items("sample")


@pytest.mark.parametrize(
    "changed",
    [
        {"target": "fluency"},
        {"aggregate": "median"},
        {"protocol": ActiveCriticConfig(variant="vanilla")},
        {"optimizer": "none"},
        {"objective": "pearson"},
        {"holdout": 0.0},
        {"n_demonstrations": 2},
        {"n_rounds": 3},
        {"criteria": "human"},
        {"criteria": "given"},
        {"inference": {"inference": "single"}},
        {"inference": {"without": ("task",)}},
        {"learn_weights": False},
        {"partial_demos": True},
        {"percent_of_max": True},
        {"earlier": "0123456789ab"},
        {"lexical": True},
        {"lexical": False},
        {"seed": 1},
        {"texts": False},
        {"split_rows": True},
    ],
    ids=str,
)
def test_every_setting_is_part_of_the_fingerprint(data, changed):
    usual = CompileSettings().fingerprint(data, "offline")
    assert CompileSettings(**changed).fingerprint(data, "offline") != usual


def test_one_target_may_be_given_as_it_is():
    assert CompileSettings(target="fluency").target == ("fluency",)
    assert CompileSettings(target=["a", "b"]).target == ("a", "b")


@pytest.mark.parametrize(
    ("settings", "source"),
    [
        ({}, "inferred"),
        ({"target": ("a", "b")}, "human"),
        ({"criteria": "human"}, "human"),
        ({"optimizer": "none"}, "given"),
        ({"optimizer": "none", "criteria": "inferred"}, "inferred"),
        ({"protocol": ActiveCriticConfig(variant="vanilla")}, "given"),
        ({"protocol": ActiveCriticConfig(variant="coarse")}, "inferred"),
        ({"protocol": ActiveCriticConfig(rubric={"criteria": {"wit": "Is it funny?"}})}, "given"),
    ],
    ids=str,
)
def test_where_the_rubric_comes_from_is_settled_by_what_is_said(settings, source):
    assert CompileSettings(**settings).criteria_from == source


def test_data_and_model_are_part_of_the_fingerprint(data):
    usual = CompileSettings().fingerprint(data, "offline")
    assert usual == CompileSettings(seed=0).fingerprint(data, "offline")
    assert CompileSettings().fingerprint(data.subset(range(100)), "offline") != usual
    assert CompileSettings().fingerprint(data, "openai/m") != usual
    assert CompileSettings().fingerprint(data, "offline", "http://localhost:1") != usual


@pytest.mark.parametrize(
    "wrong",
    [
        {"holdout": 1.0},
        {"n_rounds": 0},
        {"optimiser": "random"},
        {"target": ("a", "a")},
        {"inference": {"without": ("criteria",)}},
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(InputError) as fault:
        CompileSettings(**wrong)
    assert not any(word in str(fault.value) for word in ("pydantic", "validation", "Input should"))


def test_a_wrong_value_is_told_in_the_words_that_a_file_is_told_in():
    with pytest.raises(InputError) as fault:
        CompileSettings(holdout="half", optimiser="random", n_rounds=0)
    assert str(fault.value) == (
        "holdout: expected a number; got 'half'; n_rounds: expected greater than or equal to 1; "
        "got 0; optimiser: there is no such field"
    )
    with pytest.raises(ValidationError) as of_file:
        CompileSettings.model_validate({"holdout": "half"})
    assert of_file.value.errors()[0]["loc"] == ("holdout",)
    assert "holdout" in inspect.signature(CompileSettings).parameters


class TestTheFamily:
    def test_can_be_named_and_shows_no_examples_that_it_has_none_of(self):
        settings = CompileSettings(judge="direct")
        assert (settings.protocol.judge, settings.n_demonstrations) == ("direct", 0)
        assert settings == CompileSettings.model_validate(dict(settings))

    def test_is_told_by_the_protocol_alone(self, data):
        named, given = (
            CompileSettings(judge="direct"),
            CompileSettings(protocol=DirectJudge().protocol),
        )
        assert named.fingerprint(data, "offline") == given.fingerprint(data, "offline")
        usual = CompileSettings(judge="active-critic")
        assert usual.fingerprint(data, "offline") == CompileSettings().fingerprint(data, "offline")

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"judge": "dirct"}, "did you mean direct"),
            (
                {"judge": "direct", "protocol": ActiveCriticConfig()},
                "and the protocol is of active-critic",
            ),
            ({"judge": "direct", "n_demonstrations": 2}, "leave n_demonstrations out"),
            ({"judge": "direct", "partial_demos": True}, "leave partial_demos out"),
            ({"judge": "direct", "protocol": {"variant": "fine"}}, "variant"),
        ],
    )
    def test_refuses_what_it_has_nothing_of(self, given, said):
        with pytest.raises(InputError, match=said):
            CompileSettings(**given)


def test_a_choice_that_no_search_has_cannot_be_fixed():
    with pytest.raises(ValueError, match="no 'sampels'; did you mean samples"):
        CompileSettings(optimizer="protocol", fixed=("sampels",))
    assert CompileSettings(optimizer="protocol", fixed=("demonstrations",)).fixed


def test_screening_tries_more_and_is_unsaid_where_there_is_none():
    assert CompileSettings(optimizer="protocol", screen=True).n_trials == 108
    assert CompileSettings(optimizer="protocol", screen=True, n_trials=7).n_trials == 7
    assert "screen" not in CompileSettings(optimizer="protocol").model_dump()
    with pytest.raises(ValueError, match=r"optimizer='protocol'.*random; leave screen out"):
        CompileSettings(screen=True)


def test_the_page_of_settings_is_written_from_the_fields():
    writer = runpy.run_path(str(ROOT / ".ci" / "settings_page.py"))
    assert writer["PAGE"].read_text(encoding="utf-8") == writer["page"]()


def test_fields_of_a_specification_have_the_types_and_defaults_of_the_settings():
    assert OptimizerSpec.model_fields["rounds"].default == CompileSettings().n_rounds
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        OptimizerSpec.model_validate({"rounds": 0})
    with pytest.raises(ValidationError, match="valid integer"):
        OptimizerSpec.model_validate({"rounds": "2"})
