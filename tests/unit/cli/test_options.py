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
