import click
import pytest

from judgesmith.cli.shared.options import seed_option, together
from judgesmith.programs.judging.registry import known_families


def test_options_added_together_are_listed_in_their_order():
    options = (click.option("--first"), seed_option, click.option("--last"))

    @click.command("judge")
    @lambda function: together(function, *options)
    def command():
        pass

    assert [one.name for one in command.params] == ["first", "seed", "last"]


@pytest.mark.parametrize(("given", "seed"), [([], 0), (["--seed", "7"], 7)])
def test_the_seed_is_0_unless_another_is_said(given, seed):
    seen = []

    @click.command("judge")
    @seed_option
    def command(seed):
        seen.append(seed)

    command.main(given, standalone_mode=False)
    assert seen == [seed]


def test_the_help_names_every_kind_of_judge_there_is(run):
    own = [one.name for one in known_families() if one.judge.startswith("judgesmith.")]
    said = " ".join(run("compile", "--help").out.split())
    assert f"Judge family: {', '.join(own)}." in said


def settings_of(*words):
    """What ``compile`` is given by these words, and by no project file."""
    from judgesmith.cli.main import command_of

    made = command_of("compile").make_context(
        "compile", ["data.csv", "-o", "judge", "--project", "none", *words]
    )
    return made.params


def test_an_expert_setting_is_the_option_of_its_name():
    given = settings_of("--set", "rounds=3", "--set=explain=none", "--set", "screen=true")
    assert (given["n_rounds"], given["explain"], given["screen"]) == (3, "none", True)
    assert settings_of("--rounds", "3")["n_rounds"] == 3
    assert settings_of("--set", "lexical=no")["lexical"] is False
    assert settings_of("--set", "screen=false")["screen"] is False


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("roundz=3", "did you mean rounds"),
        ("rounds", "KEY=VALUE"),
        ("screen=maybe", "true or false"),
    ],
)
def test_a_wrong_expert_setting_is_refused(run, setting, said):
    done = run("compile", "sample", "-o", "judge", "--set", setting, "--json")
    assert (done.status, done.fault["where"]) == (2, "--set")
    assert said in done.fault["error"] + str(done.fault["hint"])


def test_expert_options_are_listed_by_key_alone(run):
    out = run("compile", "--help").out
    assert "--set KEY=VALUE" in out
    assert "--rounds" not in out
    assert " rounds," in " ".join(out.split())
