"""Criteria that a global benchmark is not built for, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from judgesmith.errors import InputError

Why = Literal["no_human_rating", "no_anchor", "anchors_inverted", "pilot_unrated", "pilot_inverted"]


@dataclass(frozen=True, kw_only=True)
class Dropped:
    """A criterion that is left out.

    Attributes
    ----------
    criterion : str
        Its name.
    why : str
        No text that people rated can anchor a rating; of those that could, the rater found none
        so; the comparator prefers the lower rated of two anchors; no text of the pilot could be
        rated; or in the pilot better ratings had more errors.
    ratings : tuple of float
        Those without an anchor, where it is that.
    """

    criterion: str
    why: Why
    ratings: tuple[float, ...] = ()

    @property
    def fact(self) -> str:
        """Return what was found, without what to do."""
        several = len(self.ratings) > 1
        named = f"rating{'s' if several else ''} {', '.join(f'{one:g}' for one in self.ratings)}"
        return {
            "no_human_rating": f"people gave no text the {named}, and nothing else can anchor "
            f"{'them' if several else 'it'}",
            "no_anchor": f"people and the rater together find no text nearest to the {named}",
            "anchors_inverted": "of two anchors the comparator prefers the one with the lower "
            "rating more often than the other",
            "pilot_unrated": "no text of the pilot could be rated, so that nobody knows how many "
            "errors make which rating",
            "pilot_inverted": "in the pilot, texts with a higher rating had more errors than some "
            "with a lower one: the comparator may not see these errors",
        }[self.why]

    @property
    def sentence(self) -> str:
        """Return that it is left out, why, and what to do."""
        keep = "use another comparator, or keep it all the same (--keep-inverted)"
        remedy = {
            "no_human_rating": "rate more texts, or say on what scale people rated "
            f"(--scale {self.criterion}=LOW..HIGH)",
            "no_anchor": "rate more texts, or take another rater",
            "anchors_inverted": keep,
            "pilot_unrated": "use another comparator",
            "pilot_inverted": keep,
        }[self.why]
        return f"{self.criterion} is left out: {self.fact}; {remedy}."

    def to_dict(self) -> dict[str, Any]:
        """Return what the report says of it."""
        return {"why": self.why, "ratings": list(self.ratings), "problem": self.sentence}


def nothing_left(dropped: Iterable[Dropped]) -> InputError:
    """Return the error that no criterion is left, with every reason."""
    reasons = "\n  ".join(one.sentence for one in dropped)
    return InputError(
        f"no criterion is left to build a global benchmark for:\n  {reasons}\n"
        "Change what is said above, or take --perspective local."
    )
