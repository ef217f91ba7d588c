"""The judges on the front of several objectives, kept beside the one that was taken.

Each is whole, so that another one can be taken later without asking a model anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, FiniteFloat, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.families import AnyProtocol
from judgesmith.programs.plain_data import ModelName, Plain, PredictorName
from judgesmith.programs.saved_checks import check_agreement, check_questions
from judgesmith.programs.templates import Template

if TYPE_CHECKING:
    from judgesmith.programs.saved import SavedJudge


class FrontMember(BaseModel):
    """A judge that no other one beats on all objectives.

    Parameters
    ----------
    number : int
        Of its trial; 0 is what the search started from.
    picked : dict of str to str
        Its configuration; empty for the start.
    model : str
        The model it was found with.
    calls : float
        Calls per item, on average, on the rows that it was chosen by.
    values : dict
        Every objective by name, as estimates on these rows, before scores were learned to be
        aggregated.
    knee : bool
        Whether it is at the knee, and so the judge that ``compile`` took.
    agreement : dict
        Agreement of the judge as it is here, by ``selection``: the rows it was chosen by.
    protocol : JudgeProtocol
        Everything that was tuned, and every learned number.
    questions : dict of str to Template
        Every model call as it is rendered, up to the item, by predictor.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    picked: Mapping[str, str]
    model: ModelName
    calls: FiniteFloat
    values: Plain
    knee: bool
    agreement: Plain
    protocol: AnyProtocol
    questions: Mapping[PredictorName, Template]

    @model_validator(mode="after")
    def _asks_what_it_reads(self) -> Self:
        check_questions(self.protocol, self.questions)
        check_agreement({**self.agreement, "criteria": {"front": {"values": {"all": self.values}}}})
        return self


def taken(judge: SavedJudge, number: int) -> SavedJudge:
    """Return another judge of the front, as it would have been saved.

    Nothing is asked. On the rows held out it was never judged, so no agreement is told there:
    ``evaluate`` does it, and knows which rows it was made from.

    Parameters
    ----------
    judge : SavedJudge
        With a front.
    number : int
        Which of its members.

    Raises
    ------
    ValueError
        If there is no front, or no such member.
    """
    if not judge.front:
        raise InputError(
            "the judge has no front to take from: it was not compiled for several objectives, as "
            "in --objective 'q, -calls'."
        )
    found = [one for one in judge.front if one.number == number]
    if not found:
        numbers = ", ".join(str(one.number) for one in judge.front)
        raise InputError(f"the front holds number {numbers}; got {number}.")
    (member,) = found
    if number == _taken_number(judge):
        return judge
    run = f"{str(judge.settings.get('run')).partition(',')[0]}, number {number}"
    unknown = dict.fromkeys(("uncompiled", "heldout", "gain", "optimism", "objective"))
    return judge.model_copy(
        update={
            "protocol": member.protocol,
            "questions": member.questions,
            "model": member.model,
            "agreement": {**unknown, "criteria": {}, **member.agreement},
            "golden": (),
            "settings": {**judge.settings, "run": run, "taken": number},
        }
    )


def front_lines(judge: SavedJudge) -> Iterator[str]:
    """Yield the front as a table in Markdown; nothing where there is none."""
    from judgesmith.programs.card import agreement_text

    if not judge.front:
        return
    names = list(judge.front[0].values)
    models = len({one.model for one in judge.front}) > 1
    current = _taken_number(judge)
    yield "## Front"
    yield ""
    yield "No other judge that was tried is as good on every objective and better on one. Values"
    yield "are on the rows that the judges were chosen by, before scores were learned to be"
    yield "aggregated; `judgesmith take FOLDER NUMBER -o OTHER` takes another one."
    yield ""
    heads = ["number", *names, "calls per item", *(["model"] if models else []), "picked"]
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' for _ in heads)} |"
    for one in judge.front:
        marks = ["the knee"] * one.knee + ["this judge"] * (one.number == current)
        number = f"{one.number} ({', '.join(marks)})" if marks else str(one.number)
        picked = ", ".join(f"{name} {option}" for name, option in one.picked.items())
        cells = [
            number,
            # Dollars per item are far below one, and 0.000 would say nothing.
            *(agreement_text(one.values.get(n), ".3g" if "usd" in n else ".3f") for n in names),
            f"{one.calls:.3g}",
            *([one.model] if models else []),
            picked or "as it was",
        ]
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
    yield ""


def _taken_number(judge: SavedJudge) -> int | None:
    """Return which member of its front a judge is: the one taken from it, else the knee."""
    knee = next((one.number for one in judge.front if one.knee), None)
    number: int | None = judge.settings.get("taken", knee)
    return number
