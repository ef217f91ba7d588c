"""A judge as it is served: bound to its model, with what it is called and what it may be asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.asking import Asker, Bindable, calls_per_item, with_own_models
from judgesmith.programs.by_source import Sources, sources_of
from judgesmith.programs.families import family_of
from judgesmith.programs.models import AnyModel
from judgesmith.programs.models.naming import refuse_unnamed
from judgesmith.programs.readable import Readable
from judgesmith.programs.running import OneByOne, beginning, judges_sources
from judgesmith.programs.saved_kinds import AnySaved, saved_leaves
from judgesmith.programs.saved_record import SavedRecord
from judgesmith.programs.scored_row import score_row
from judgesmith.programs.serving.desk import Job
from judgesmith.programs.serving.refusals import Refusal
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    from judgesmith.programs.holding import AnyJudge

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class _AnyAnswer(Readable):
    """Ends nothing: whoever asked is told of each answer that could not be read."""

    def add(self, judgement: Judgement) -> None:
        """Take note of nothing."""


class ServedJudge:
    """What one name on the server stands for.

    Parameters
    ----------
    name : str
        What clients call it: letters, digits, ``_``, ``.`` and ``-``, 64 at most.
    judge : saved judge or judge
        Of any kind.
    lms : dspy.LM or StackModel
        The model, and all others that the judge holds; without any it asks DSPy's current one, or
        the offline model.

    Raises
    ------
    InputError
        If it cannot be called so, or its models are those of a saved judge that nobody named.

    Examples
    --------
    >>> from judgesmith.programs.direct import Direct
    >>> served = ServedJudge("plain", Direct())
    >>> served.described()["models"], served.described()["calls_per_item"]
    (['offline'], 1)
    """

    def __init__(self, name: str, judge: AnySaved | AnyJudge, *lms: AnyModel) -> None:
        if not _NAME.fullmatch(name):
            raise InputError(
                "a judge is served under a name of letters, digits, _, . and -, at most 64; got "
                f"{name[:80]!r}. Give it one: NAME=FOLDER."
            )
        judge, lm = with_own_models(judge, lms[0] if lms else None)
        self.lms = lms or (lm,)
        refuse_unnamed(self.lms)  # here, not when clients ask
        self.name = name
        self.judge = judge
        self.lm = lm
        self.asker = Asker.of(judge, lm)
        self.compares = judges_sources(judge)
        self._nature = _Nature.of(judge)
        self.fingerprint = self._nature.fingerprint
        self.target = str(getattr(judge, "target", "")) or None
        self._marks = {"judge": self.fingerprint, "target": self.target}
        self._work = OneByOne(self.asker, _AnyAnswer())
        self._may_begin = beginning(0 if self.compares else calls_per_item(judge), lm)

    def jobs(self, items: Sequence[RatedItem]) -> list[Job]:
        """Return what is to be done for items of one request, in the order of ``rows``."""
        if not self.compares:
            return [self.job(item) for item in items]
        assert not isinstance(self.judge, Bindable)
        groups = sources_of(items)
        protocol = self.judge.protocol
        n_calls = family_of(protocol.judge).most_calls_of(protocol, max(map(len, groups)))
        work = Sources(self.judge, self.asker, items)
        work.readable = _AnyAnswer()
        may_begin = beginning(n_calls, self.lm)
        return [
            Job(work=work, unit=group, size=len(group), may_begin=may_begin) for group in groups
        ]

    def job(self, item: RatedItem) -> Job:
        """Return what is to be done for one item by itself."""
        return Job(work=self._work, unit=item, size=1, may_begin=self._may_begin)

    def check_single(self) -> None:
        """Refuse to judge items one by one where all responses to a source are needed at once.

        Raises
        ------
        Refusal
            If that is so.
        """
        if self.compares:
            raise Refusal(
                422,
                "compares",
                f"the judge {self.name!r} compares the responses to a source: one by itself has "
                "no rank.",
                where="judge",
                hint=f"send all responses to a source together to /v1/judges/{self.name}/batch.",
            )

    def rows(self, items: Sequence[RatedItem], found: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the rows of items, in order, of what their jobs came to."""
        if not self.compares:
            return [self.row(item, one) for item, one in zip(items, found, strict=True)]
        rows: dict[int, dict[str, Any]] = {}
        for places, judgements in zip(sources_of(items), found, strict=True):
            for place, judgement in zip(places, judgements, strict=True):
                rows[place] = self.row(items[place], judgement)
        return [rows[place] for place in range(len(items))]

    def row(self, item: RatedItem, judgement: Judgement) -> dict[str, Any]:
        """Return the row that ``judgesmith score`` would write."""
        return score_row(item, judgement) | self._marks

    def described(self) -> dict[str, Any]:
        """Return what clients are told of the judge, as plain data."""
        protocols = self._nature.protocols
        first = protocols[0]
        families = [family_of(name) for name in dict.fromkeys(one.judge for one in protocols)]
        judge = self.judge
        return {
            "name": self.name,
            "fingerprint": self.fingerprint,
            "target": self.target,
            "kind": self._nature.kind,
            "families": [one.name for one in families],
            "models": list(dict.fromkeys(str(one.model) for one in self.lms)),
            "scale": self._nature.scale.model_dump(mode="json"),
            "task": first.rubric.task,
            "criteria": [one.model_dump(mode="json") for one in first.rubric.criteria],
            "compares": self.compares,
            "reads_references": any(one.reads_references for one in families),
            "calls_per_item": None if self.compares else calls_per_item(judge),
            "agreement": _headline(judge.agreement) if isinstance(judge, SavedRecord) else None,
        }


@dataclass(frozen=True, kw_only=True)
class _Nature:
    """What is told of a judge, whether it is saved or alive."""

    kind: str
    fingerprint: str
    scale: Scale
    protocols: tuple[JudgeProtocol, ...]

    @classmethod
    def of(cls, judge: AnySaved | AnyJudge) -> _Nature:
        """Return what is told of ``judge``; of a saved one without DSPy."""
        if isinstance(judge, SavedRecord):
            return cls(
                kind=str(getattr(judge, "kind", "judge")),
                fingerprint=judge.fingerprint,
                scale=judge.scale,
                protocols=tuple(one.protocol for one in saved_leaves(judge)),
            )
        from judgesmith.programs.holding import JudgeOfJudges, fingerprint_of, leaves_of, scale_of

        holds = isinstance(judge, JudgeOfJudges)
        return cls(
            kind=type(judge).__name__.lower() if holds else str(getattr(judge, "kind", "judge")),
            fingerprint=fingerprint_of(judge),
            scale=scale_of(judge),
            protocols=tuple(one.protocol for one in leaves_of(judge)),
        )


def _headline(agreement: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return one estimate of agreement with people on held-out rows, None where there is none."""
    heldout = agreement.get("heldout") or {}
    for level in ("dataset", "sample", "system"):
        for statistic, estimate in (heldout.get(level) or {}).items():
            if estimate is not None:
                return {"level": level, "statistic": statistic, **estimate}
    return None
