"""What an annotator asks: where a response is wrong in one respect, how badly, and how good it is.

The words that a model is sent stand here; their layout is ``programs/forms/annotator.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.rubric import Criterion, folded
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.whole_or_each import WholeOrEachProtocol

Shown = Literal["source+context", "source", "response"]
"""Which texts stand beside the response: the source and what it rests on, the source, or none."""

SHOWN: tuple[Shown, ...] = ("source+context", "source", "response")

LEVELS = Scale.categorical("Unacceptable", "Poor", "Fair", "Good", "Excellent")
"""The overall score in words; 1 to 5 in numbers."""

POINTS = Scale(low=1, high=5)
"""The overall score in numbers."""

SEVERITIES = ("Neutral", "Minor", "Moderate", "Major", "Critical")
"""How bad an error is, in words for 1 to 5."""

MOST_ERRORS = 8
"""How many errors an annotator names at most; of more the most severe are kept."""

# What a reader of the response alone can tell. A name that is not here gets all there is.
_ABOUT_LANGUAGE = ("fluen", "gramma", "spell", "orthogr", "punctuat", "readab", "legib", "typo")

_WORST = "it fails in this respect, and its errors leave little of use"
_BEST = "it leaves nothing to wish for in this respect"

_RULES = (
    "Go by what is shown here; do not rest a verdict on what you know from elsewhere.",
    "Call an error whatever hurts the response in this respect, be it small.",
    "Name what is wrong only if you can say why; if nothing is, name no error and give {best}.",
    "Give less than {best} only where you name at least one error.",
)
_IGNORED = "Leave these to others, however bad they are: {names}."
_SEVERITY_POINTS = "a whole number from 1 (hardly matters) to 5 (ruins the response)"


class AnnotatorProtocol(WholeOrEachProtocol):
    """The whole of an annotator but its model.

    Parameters
    ----------
    judge : str
        Always ``annotator``.
    asks : {"criteria", "overall"}
        One question for each criterion, whose mean is the score, or one about the whole.
    answers : Scale
        What the overall score is on: ``LEVELS``, five words, or ``POINTS``, 1 to 5.
    severity : {"points", "words"}
        How errors are graded: 1 to 5, or the five words of ``SEVERITIES``. Kept as 1 to 5.
    rules : {"on", "off"}
        Whether the model is told what counts as an error, which of the other criteria to leave
        alone, and that score and list are to agree.
    shown : {"fitting", "source+context", "source", "response"}
        Which texts are shown beside the response. Fitting: none for criteria of language alone,
        by their names, such as fluency and grammar; source and context for all others.
    shows : dict of str to str
        The same for single criteria, by name; goes before ``shown``.
    ignores : dict of str to tuple of str
        By criterion, the names of neighbours to leave alone; by default the others of the rubric.
        A text is taken apart at its commas; ``none`` is no neighbour.
    rubric, instructions, samples, reduction, temperature, max_tokens, aggregation
        See ``JudgeProtocol``.

    Raises
    ------
    ValueError
        If the scale is another one, demonstrations are shown, or probabilities are to weigh scores.

    Examples
    --------
    >>> own = AnnotatorProtocol(shows={"style": "source"})
    >>> [own.shown_for(Criterion(name=one, definition="Is it?")) for one in ("fluency", "style")]
    ['response', 'source']
    """

    by_criterion: ClassVar[tuple[str, ...]] = ("shows", "ignores")

    judge: Literal["annotator"] = "annotator"
    answers: Scale = LEVELS
    severity: Literal["points", "words"] = "points"
    rules: Literal["on", "off"] = "on"
    shown: Literal["fitting", "source+context", "source", "response"] = "fitting"
    shows: Mapping[str, Shown] = Field(default_factory=dict)
    ignores: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)

    @field_validator("ignores", mode="before")
    @classmethod
    def _names_with_commas(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {name: _listed(one) if isinstance(one, str) else one for name, one in given.items()}

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if self.answers not in (LEVELS, POINTS):
            raise InputError(
                f"an annotator answers on {', '.join(LEVELS.labels)}, or on {POINTS}; got "
                f"{', '.join(self.answers.labels) or self.answers}."
            )
        if self.demonstrations:
            raise InputError("an annotator is shown no demonstrations.")
        if self.weighting != "none":
            raise InputError(
                "an annotator lists errors before its score, after which one level has nearly all "
                "probability: weighting must be none; choose samples instead."
            )
        return self

    def shown_for(self, criterion: Criterion | None) -> Shown:
        """Return which texts stand beside the response; None asks about the whole."""
        if criterion is not None and criterion.name in self.shows:
            return self.shows[criterion.name]
        if self.shown != "fitting":
            return self.shown
        words = folded(criterion.name).split() if criterion is not None else ()
        is_language = any(word.startswith(_ABOUT_LANGUAGE) for word in words)
        return "response" if is_language else "source+context"

    def rules_for(self, criterion: Criterion | None) -> str:
        """Return the rules as they are told, one per line; empty where there are none.

        Examples
        --------
        >>> rubric = {"criteria": {"wit": "Is it funny?", "tact": "Is it kind?"}}
        >>> own = AnnotatorProtocol(rubric=rubric)
        >>> print(own.rules_for(own.rubric.criteria[0]).rpartition("- ")[2])
        Leave these to others, however bad they are: tact.
        """
        if self.rules == "off":
            return ""
        best = self.answers.labels[-1] if self.answers.labels else f"{self.answers.high:g}"
        rules = [one.format(best=best) for one in _RULES]
        if criterion is not None:
            others = tuple(name for name in self.rubric.names if name != criterion.name)
            if names := self.ignores.get(criterion.name, others):
                rules.append(_IGNORED.format(names=", ".join(names)))
        return "\n".join(f"- {one}" for one in rules)

    def meaning_of(self, criterion: Criterion) -> str:
        """Return a criterion with what the lowest and the highest score mean."""
        names = self.answers.labels or (f"{self.answers.low:g}", f"{self.answers.high:g}")
        ends = {names[0]: criterion.worst or _WORST, names[-1]: criterion.best or _BEST}
        said = [f"{level} means: {text.rstrip('.')}." for level, text in ends.items()]
        return f"{criterion.name}: {' '.join(' '.join([criterion.definition, *said]).split())}"

    @property
    def grades(self) -> str:
        """What an error's severity is asked for on, as it stands in the JSON that is asked for."""
        words = f'"one of {", ".join(SEVERITIES)}"'
        return _SEVERITY_POINTS if self.severity == "points" else words


def _listed(text: str) -> tuple[str, ...]:
    names = tuple(name for one in text.split(",") if (name := one.strip()))
    return () if names == ("none",) else names
