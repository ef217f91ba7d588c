"""Options that say which rows something is learned from, and how much is tried on them."""

from __future__ import annotations

from collections.abc import Callable

import click
from click.core import ParameterSource

from judgesmith.cli.numbers import Number, WholeNumber
from judgesmith.cli.options import Command, seed_option, together


def holdout_option(default: float, *, none: bool) -> Callable[[Command], Command]:
    """Return what adds ``--holdout``, with 0 allowed where nothing need be held out."""
    nothing = "; 0 uses all and reports nothing" if none else ""
    return click.option(
        "--holdout",
        type=Number(0, 1, above=not none, below=True),
        default=default,
        show_default=True,
        help=f"Share of sources that nothing is learned from, kept for the report{nothing}.",
    )


def demonstration_options(command: Command) -> Command:
    """Add the options of the search for demonstrations."""
    return together(
        command,
        click.option(
            "--demonstrations",
            "n_demonstrations",
            type=WholeNumber(0),
            default=3,
            show_default=True,
            help="Rated examples shown in a prompt; 0 searches none.",
        ),
        click.option(
            "--rounds",
            "n_rounds",
            type=WholeNumber(1),
            default=11,
            show_default=True,
            help="Sets of demonstrations that are tried.",
        ),
    )


def _trials(context: click.Context, option: click.Parameter, value: int) -> int:
    """Return how many are tried: more where it was not said and everybody is screened."""
    said = context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
    if said or not context.params.get("screen"):
        return value
    from judgesmith.experiments.compile.settings import SCREENED_TRIALS

    return SCREENED_TRIALS


def search_options(command: Command) -> Command:
    """Add the options of the search of the whole protocol."""
    return together(
        command,
        click.option(
            "--trials",
            "n_trials",
            type=WholeNumber(1),
            default=30,
            show_default="30; 108 with --screen",
            callback=_trials,
            help="Configurations that --optimizer protocol tries, with --demonstrations at most; "
            "or rewrites that --optimizer reflective asks for.",
        ),
        click.option(
            "--screen",
            is_flag=True,
            is_eager=True,  # the default of --trials depends on it
            help="Let --optimizer protocol judge all configurations on few rows first, learn from "
            "all of them which options help, and judge only the best on all rows.",
        ),
        click.option(
            "--draws",
            "n_draws",
            type=WholeNumber(1),
            default=3,
            show_default=True,
            help="Sets of demonstrations of each kind, with --optimizer protocol.",
        ),
        click.option(
            "--vary-samples",
            is_flag=True,
            help="Let --optimizer protocol try 3 and 5 answers per question, at as many calls.",
        ),
        click.option(
            "--models",
            metavar="NAME,…",
            help="Models that compete with --model in --optimizer protocol, under one budget.",
        ),
        click.option(
            "--storage",
            metavar="URL",
            envvar="JUDGESMITH_STORAGE",
            help="Database in which --optimizer protocol keeps its study, and in which several "
            "processes share the work; also read from JUDGESMITH_STORAGE, where nobody sees its "
            "password [default: a journal beside the ledger].",
        ),
    )


def discernment_options(command: Command) -> Command:
    """Add the options of objectives that look at changed versions of texts."""
    return together(
        command,
        click.option(
            "--task",
            type=click.Choice(
                ["summarization", "story_completion", "question_answering", "translation"]
            ),
            help="Whose kinds of change d_min and d_avg look at [default: what fits most texts].",
        ),
        click.option("--kinds", metavar="KIND,…", help="These kinds of change instead."),
        click.option(
            "--holdout-kinds",
            metavar="KIND,…",
            help="Kinds of change that are kept out of the search, and reported apart.",
        ),
        click.option(
            "--versions",
            type=WholeNumber(0),
            default=1,
            show_default=True,
            help="Changed versions that are judged of each row, kinds taking turns; 0 for all.",
        ),
    )


def names_in(text: str | None) -> tuple[str, ...]:
    """Return the names between commas."""
    return tuple(one.strip() for one in (text or "").split(",") if one.strip())


def learning_options(command: Command) -> Command:
    """Add the options that ``compile`` and ``infer`` share: they read the same rows alike."""
    return together(
        command,
        click.option(
            "--inference",
            type=click.Choice(["batches", "single"]),
            default="batches",
            show_default=True,
            help="Infer from mini-batches until they teach no more, or from a single one.",
        ),
        holdout_option(0.3, none=True),
        click.option(
            "--split-rows", is_flag=True, help="Split rows, not sources, as some papers do."
        ),
        click.option(
            "--percent-of-max",
            is_flag=True,
            help="Show scores as percent of the highest point, not of the whole range.",
        ),
        seed_option("Of all that is drawn."),
    )
