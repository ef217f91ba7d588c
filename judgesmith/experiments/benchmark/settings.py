"""The settings that define a benchmark, next to data and models, and what it leaves out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, field_validator

from judgesmith.errors import InputError
from judgesmith.signatures.plain_data import SettingsModel, fingerprint_of
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    from judgesmith.signatures.perturbation import SubAspect

Perspective = Literal["global", "local"]

ROLES = ("writer", "injector", "rater", "comparator")
"""Who works on a benchmark: writes references, puts errors in, rates, compares."""

WRITTEN = 20
"""Texts per source that are written for a global benchmark, unless said otherwise."""

FEWEST_PILOT = 3
"""Sources of a pilot, where there are as many: one says little, and a tenth of few is less."""


class BenchmarkSettings(SettingsModel):
    """Everything but data and models that decides what a benchmark becomes.

    Parameters
    ----------
    perspective : {"global", "local"}
        Texts with a rating on the scale of the data, or sequences of which every text has one
        error more than the one before.
    criteria : tuple of str or None
        Which criteria of the data; None takes all but ``overall``.
    n_sources : int or None
        Sources to draw; None takes all.
    n_references : int
        Good texts per source to start from, at most. Local sequences start from one each.
    n_candidates : int or None
        Texts per source that the writer writes, among which references are chosen, too. None is
        20 in the global perspective, whose upper ratings need better texts than most references,
        and none in the local one.
    steps : int
        Local: errors put into a reference one after another, at most.
    per_rating : int
        Global: texts wanted per source, criterion and rating.
    spare : float
        Global: how many more are made than wanted, as a share.
    n_anchors : int
        Global: texts per criterion and rating that candidates are compared with.
    n_samples : int
        Global: ratings that the rater gives to each text that may become an anchor.
    pilot : float
        Global: share of the sources with which it is found how many errors make which rating.
    keep_inverted : bool
        Global: whether a criterion is kept on which the comparator prefers the lower rated of two
        anchors, or better ratings had more errors in the pilot.
    n_spot_checks : int
        Texts, or neighbours of a sequence, on the sheet for people.
    seed : int
        Of everything that is drawn.

    Examples
    --------
    >>> settings = BenchmarkSettings(perspective="global", per_rating=3)
    >>> settings.n_made
    4
    >>> BenchmarkSettings(perspective="local", steps=0)
    Traceback (most recent call last):
    ...
    judgesmith.InputError: steps: expected greater than or equal to 1; got 0
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    perspective: Perspective
    criteria: tuple[str, ...] | None = None
    n_sources: int | None = Field(default=None, ge=1)
    n_references: int = Field(default=5, ge=1)
    n_candidates: int | None = Field(default=None, ge=0)
    steps: int = Field(default=15, ge=1)
    per_rating: int = Field(default=3, ge=1)
    spare: float = Field(default=1 / 3, ge=0)
    n_anchors: int = Field(default=5, ge=1)
    n_samples: int = Field(default=10, ge=1)
    pilot: float = Field(default=0.1, gt=0, le=1)
    keep_inverted: bool = False
    n_spot_checks: int = Field(default=100, ge=0)
    seed: int = Field(default=0, ge=0)

    @field_validator("criteria")
    @classmethod
    def _some_criteria(cls, given: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if given == ():
            raise InputError("name one criterion at least, or leave the choice out for all.")
        return given

    @property
    def n_written(self) -> int:
        """Texts per source that the writer writes."""
        if self.n_candidates is None:
            return WRITTEN if self.perspective == "global" else 0
        return self.n_candidates

    @property
    def n_made(self) -> int:
        """Global: candidates made per source, criterion and rating."""
        # A third more than 3 is 4, whatever 1 / 3 is in binary.
        return math.ceil(round(self.per_rating * (1 + self.spare), 9))

    def n_pilot(self, n_sources: int) -> int:
        """Return how many of so many sources the pilot takes.

        Examples
        --------
        >>> BenchmarkSettings(perspective="global").n_pilot(100)
        10
        """
        return min(n_sources, max(FEWEST_PILOT, round(self.pilot * n_sources)))

    def fingerprint(
        self,
        data: str,
        models: Mapping[str, str],
        sub_aspects: Sequence[SubAspect] | None = None,
        rubric: str = "",
    ) -> str:
        """Return twelve hex digits that change with anything that can change the result.

        Parameters
        ----------
        data : str
            Digest of the rated data.
        models : dict of str to str
            Model and endpoint by role.
        sub_aspects : sequence of SubAspect or None
            Where somebody gave them.
        rubric : str
            What the criteria were said to mean, where somebody did.
        """
        decides = self.model_dump(mode="json")
        if not self.keep_inverted:
            del decides["keep_inverted"]  # runs that began before there was a choice go on
        said = None if sub_aspects is None else [one.model_dump() for one in sub_aspects]
        whole = [
            decides,
            data,
            dict(sorted(models.items())),
            said,
            rubric,
            version("judgesmith"),
        ]
        return fingerprint_of(whole)


MOST = 11
"""More ratings than this are no coarse scale, and each needs anchors of its own."""


def rating_levels(name: str, scale: Scale | None) -> tuple[float, ...]:
    """Return the ratings of a scale, the lowest first."""
    if scale is None:
        raise InputError(f"the scale of {name} is unknown.", hint=f"say --scale {name}=LOW..HIGH.")
    if not scale.higher_is_better:
        raise InputError(
            f"raters counted faults on {name}, where fewer are better; a global benchmark takes "
            "ratings of which more are better.",
            hint="choose other --criteria, or --perspective local.",
        )
    whole = scale.low.is_integer() and scale.high.is_integer()
    if not whole or scale.high - scale.low >= MOST:
        why = "too many" if whole else "not whole points"
        raise InputError(
            f"ratings of {name} are from {scale}, {why} for a global benchmark, which takes up to "
            f"{MOST} whole points.",
            hint=f"say --scale {name}=LOW..HIGH, or take --perspective local.",
        )
    return tuple(float(one) for one in range(int(scale.low), int(scale.high) + 1))


Why = Literal["no_human_rating", "no_anchor", "anchors_inverted", "pilot_unrated", "pilot_inverted"]


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A criterion that is left out."""

    criterion: str
    why: Why
    ratings: tuple[float, ...] = ()

    @property
    def fact(self) -> str:
        """Return what was found, without what to do."""
        several = len(self.ratings) > 1
        named = f"rating{'s' if several else ''} {', '.join(f'{one:g}' for one in self.ratings)}"
        return {
            "no_human_rating": f"no response has the {named} in human ratings, and nothing else "
            "can anchor "
            f"{'them' if several else 'it'}",
            "no_anchor": "human ratings and the model together find no response nearest to the "
            f"{named}",
            "anchors_inverted": "of two anchors the comparator prefers the one with the lower "
            "rating more often than the other",
            "pilot_unrated": "no text of the pilot could be rated, so the number of errors per "
            "rating is unknown",
            "pilot_inverted": "in the pilot, texts with a higher rating had more errors than some "
            "with a lower one: the comparator may not see these errors",
        }[self.why]

    @property
    def sentence(self) -> str:
        """Return that it is left out, why, and what to do."""
        keep = "use another comparator, or keep it all the same (--keep-inverted)"
        remedy = {
            "no_human_rating": "rate more responses, or give the scale of the ratings "
            f"(--scale {self.criterion}=LOW..HIGH)",
            "no_anchor": "rate more texts, or take another rater",
            "anchors_inverted": keep,
            "pilot_unrated": "use another comparator",
            "pilot_inverted": keep,
        }[self.why]
        return f"{self.criterion} is left out: {self.fact}; {remedy}."

    def to_dict(self) -> dict[str, Any]:
        return {"why": self.why, "ratings": list(self.ratings), "problem": self.sentence}


def no_criterion_left(dropped: Iterable[Dropped]) -> InputError:
    """Return the error that no criterion is left, with every reason."""
    reasons = "\n  ".join(one.sentence for one in dropped)
    return InputError(
        f"no criterion is left to build a global benchmark for:\n  {reasons}\n"
        "Change what is said above, or take --perspective local."
    )
