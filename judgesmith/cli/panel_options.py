"""Options of ``judgesmith panel``: how scores become one, and who merges the errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.model_options import ModelAt, ModelChoice
from judgesmith.cli.options import Command

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

SUPERVISOR = "--supervisor"
PART = "supervisor"
SAME = "same"
BY_RULE = "rule"
OUTLIERS = ("auto", "deviation", "median", "none")


def panel_options(command: Command) -> Command:
    """Add ``--score``, ``--supervisor``, ``--outliers`` and ``--subsets``."""
    for option in (
        click.option(
            "--subsets",
            is_flag=True,
            help="Also tell how well every subset of the JUDGEs agrees; nothing more is asked.",
        ),
        click.option(
            "--outliers",
            type=click.Choice(OUTLIERS),
            metavar=f"[{'|'.join(OUTLIERS)}]",
            help="Whose errors are left out of the list [default: auto: judges whose score stands "
            "two levels from the median of the others, from six on two standard deviations from "
            "the mean].",
        ),
        click.option(
            SUPERVISOR,
            metavar=f"MODEL|{SAME}|{BY_RULE}",
            help="Make one list of the errors that the JUDGEs find in a text: this model does, or "
            f"that of the first JUDGE ({SAME}), or a rule without a model.",
        ),
        click.option(
            "--score",
            type=click.Choice(("learned", "mean", "median")),
            metavar="[learned|mean|median]",
            default="learned",
            show_default=True,
            help="What the scores of the JUDGEs become: weighed as the ratings say, or plainly "
            "their mean or median.",
        ),
    ):
        command = option(command)
    return command


def check_supervisor(given: str | None, outliers: str | None) -> None:
    """Refuse a supervisor that there cannot be, and outliers where there is none."""
    from judgesmith.programs.lm import engine_for
    from judgesmith.programs.lm.factory import check_provider

    if outliers is not None and given is None:
        raise OptionError(
            "--outliers says whose errors are left out of one list, and none is made.",
            option="--outliers",
            hint=f"name who makes it with --supervisor, a model, {SAME} or {BY_RULE}.",
        )
    if given is not None and given not in (SAME, BY_RULE):
        if "/" not in given and given != "offline":
            raise OptionError(
                f"errors are merged by {SAME} (the model of the first judge), {BY_RULE} (none), "
                f"or a model such as offline or openai/gpt-4o-mini; got {given!r}.",
                option=SUPERVISOR,
            )
        with blaming(SUPERVISOR):
            check_provider(given)
            engine_for(given)


def supervising_model(
    given: str | None,
    members: Mapping[str, AnySaved],
    parts: Mapping[str, ModelAt],
    choice: ModelChoice,
) -> tuple[str, dict[str, ModelAt]]:
    """Return the model that supervises, ``rule``, or nothing; and the models of all parts.

    A supervisor that is named asks that model whatever ``--model`` says, and one that is the same
    as the first judge's asks where that judge does.
    """
    if given in (None, BY_RULE):
        return given or "", {**parts}
    own = parts.get(PART)
    if own is None and given == SAME:
        own = parts.get(next(iter(members)))
    elif own is None:
        own = ModelAt(str(given))
    if own is None:
        return choice.model_name or next(iter(members.values())).models[0], {**parts}
    return own.name, {**parts, PART: own}


def refuse_too_many(members: Mapping[str, AnySaved]) -> None:
    """Refuse panels with too many subsets."""
    from judgesmith.experiments.panel.notes import MOST_MEMBERS

    if len(members) > MOST_MEMBERS:
        raise OptionError(
            f"{len(members)} judges have {2 ** len(members) - 1:,} subsets; at most "
            f"{MOST_MEMBERS} judges are compared so.",
            option="--subsets",
        )
