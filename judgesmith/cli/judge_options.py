"""Options that say what kind of judge a run starts from, and what is decided about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from judgesmith.cli.faults import OptionError, blaming
from judgesmith.cli.options import Command, given_options, together

if TYPE_CHECKING:
    from judgesmith.programs import JudgeFamily
    from judgesmith.signatures.config import JudgeConfig

_JUDGES = (
    "active-critic",
    "direct",
    "exemplar",
    "g-eval",
    "explain-eval",
    "gptscore",
    "reference",
    "pairs",
    "prometheus",
    "checklist",
    "themis",
    "auto-j",
    "annotator",
    "distilled",
)
"""All kinds, as their families are called."""

LINES = ("steps", "questions")
"""Options that name a file with lines by criterion, called as the part of the protocol is."""

_FIELDS = ("variant", "criteria_calls", "explain", *LINES)
"""Options that are parts of the protocol, in families that have them."""

_ASKING = ("model_name", "api_base", "models", "roles", "rubric", "criteria", "inference")
"""Options about a model, and what it is told, in families that ask one."""

_EXAMPLES = ("n_demonstrations", "n_rounds", "n_draws", "partial_demos")
"""Options about graded examples, in families that show some."""


def judge_options(command: Command) -> Command:
    """Add the options that say which judge a run starts from."""
    return together(
        command,
        click.option(
            "--judge",
            "family",
            default="active-critic",
            show_default=True,
            metavar="NAME",
            help=f"The kind of judge: {', '.join(_JUDGES)}.",
        ),
        click.option(
            "--variant",
            type=click.Choice(["vanilla", "coarse", "fine"]),
            default="fine",
            show_default=True,
            help="Graded examples alone; task and criteria in one question; or criteria first, "
            "then the whole.",
        ),
        click.option(
            "--criteria-calls",
            type=click.Choice(["joint", "separate"]),
            default="joint",
            show_default=True,
            help="Score all criteria in one call, or each in its own.",
        ),
        click.option(
            "--explain",
            type=click.Choice(["before", "after", "none"]),
            default="before",
            show_default=True,
            help="Explanations before their scores, after them, or none.",
        ),
        click.option(
            "--answer-tokens",
            type=click.IntRange(min=1),
            help="Tokens that a judge's answer may have at most [default: as many as the model "
            "gives].",
        ),
        click.option(
            "--steps",
            metavar="FILE",
            help="YAML with evaluation steps of a g-eval judge, by criterion: a list each. Those "
            "of the other criteria are written by the model.",
        ),
        click.option(
            "--questions",
            metavar="FILE",
            help="YAML with the questions of a checklist judge, by criterion, as for --steps.",
        ),
        click.option(
            "--choose",
            "chosen",
            multiple=True,
            metavar="CHOICE=OPTION",
            help="Decide one more of the judge's choices, such as answers=1-5, or set what is not "
            "searched, such as beam=4; repeatable.",
        ),
    )


def family_named(name: str) -> JudgeFamily:
    """Return the family of that name, refusing options that it has nothing of."""
    from judgesmith.programs import family_of

    with blaming("--judge"):
        family = family_of(name)
    lacking = [one for one in _FIELDS if one not in family.protocol_class.model_fields]
    lacking += [] if family.has_demonstrations else _EXAMPLES
    lacking += [] if family.asks else _ASKING
    if given := given_options(*lacking):
        raise OptionError(
            f"{given[0]} does not apply to a {name} judge, which {family.about}.",
            option=given[0],
            hint="drop one of the two.",
        )
    return family


def picked_of(chosen: Sequence[str]) -> dict[str, str]:
    """Return what ``--choose`` decides, by choice."""
    picked: dict[str, str] = {}
    for one in chosen:
        name, equals, option = (part.strip() for part in one.partition("="))
        if not (name and equals and option):
            raise OptionError(f"expected CHOICE=OPTION; got {one!r}.", option="--choose")
        if name in picked:
            raise OptionError(f"{name} is chosen twice.", option="--choose", hint="drop one.")
        if re.search(r",\s*\w+\s*=", option):
            raise OptionError(
                f"one choice at a time, such as --choose {name}={option.partition(',')[0]}; "
                f"give --choose again for each further one; got {one!r}.",
                option="--choose",
            )
        picked[name] = option
    return picked


def protocol_of(
    family: JudgeFamily, parts: Mapping[str, Any], picked: Mapping[str, str]
) -> JudgeConfig:
    """Return the protocol that the options describe."""
    from judgesmith.programs.judging.judge import decided_by_names
    from judgesmith.signatures.plain_data import record_faults

    known = family.protocol_class.model_fields
    own = {name: one for name, one in parts.items() if name in known}
    with record_faults():
        protocol = family.protocol_class.model_validate(own)
    if not picked:
        return protocol
    with blaming("--choose"):
        decided: JudgeConfig = decided_by_names(family.judge_of(protocol), picked).protocol
        return decided


def lines_of(files: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the parts of a protocol that files hold by criterion, of those that are named."""
    from judgesmith.programs.judging.ask_once import QUESTIONS, STEPS

    kinds = {"steps": STEPS, "questions": QUESTIONS}
    return {name: kinds[name].load(path) for name, path in files.items() if path is not None}


def check_lines(
    parts: Mapping[str, Any], names: Sequence[str], *, files: Mapping[str, str | None]
) -> None:
    """Refuse lines for what is no criterion."""
    for part, path in files.items():
        unknown = [name for name in parts.get(part, ()) if name not in (*names, "overall")]
        if unknown:
            raise OptionError(
                f"{path}: {part} for {unknown[0][:80]!r}, which is no criterion; there are "
                f"{', '.join(names)}.",
                option=str(path),
            )
