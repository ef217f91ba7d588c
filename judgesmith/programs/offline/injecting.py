"""How the offline model puts errors into a text: by the rules for each respect it is told."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, answers_signature
from judgesmith.programs.offline.judging import read_criteria
from judgesmith.programs.offline.reader import Fields, Question

if TYPE_CHECKING:
    from judgesmith.programs.benchmarking.injection_job import Job
    from judgesmith.programs.benchmarking.reported_errors import ReportedError
    from judgesmith.signatures.injection import Target

# The rules are imported by whoever asks for them: no judge does, and they take a while.

_LINE = re.compile(r"\d+\. ([^:]*)(?:: (.*))?")
_TRIES = 10


@answers_signature(
    inputs="criterion wanted text",
    outputs="errors changed",
    optional="task source context earlier refused",
)
def _inject(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``InjectErrors``: the first draw of rules whose report holds, or the text as it is."""
    from judgesmith.programs.benchmarking.injecting import inject_each
    from judgesmith.programs.benchmarking.injection_checks import verified_errors
    from judgesmith.signatures.injection import Target

    job = _job(fields)
    if job is not None:
        refused = (fields.get("refused") or "").encode()
        first = int.from_bytes(hashlib.blake2b(refused, digest_size=4).digest())
        for seed in range(first, first + _TRIES):
            ((_, made),) = inject_each([job], seed=seed)
            if not isinstance(made, Target):
                break
            reported = _reports(made, job)
            bound = [one.sub_aspect for one in made.errors[job.target.n_errors :]]
            if bound != [one.name for one in job.sub_aspects]:
                continue  # another respect took the turn of one that has no room
            held = verified_errors(made.text, reported, job.target, job.sub_aspects)
            if isinstance(held, Target):
                return {"errors": [_as_json(reported)], "changed": [made.text]}
    return {"errors": ["[]"], "changed": [fields["text"] or ""]}


def _job(fields: Fields) -> Job | None:
    """Return what a request asks for; None where there is nothing to change or to be told."""
    from judgesmith.programs.benchmarking.injection_job import Job
    from judgesmith.signatures.injection import SubAspect

    ((criterion, definition), *_) = read_criteria(fields.get("criterion") or "quality")
    lines = [_LINE.fullmatch(line) for line in (fields.get("wanted") or "").split("\n")]
    sides = [
        SubAspect(criterion=criterion, name=line[1], definition=line[2] or "")
        for line in lines
        if line and line[1]
    ]
    if not sides or not (fields["text"] or "").strip():
        return None
    return Job(
        key="",
        source=fields.get("source") or "",
        context=fields.get("context"),
        target=_with_earlier(fields["text"] or "", fields.get("earlier") or ""),
        criterion=criterion,
        definition=definition,
        sub_aspects=tuple(sides),
    )


def _with_earlier(text: str, earlier: str) -> Target:
    """Return a text whose earlier errors are wherever the words stand that are quoted of them."""
    from judgesmith.signatures.injection import InjectedError, Target

    errors = []
    for line in earlier.split("\n"):
        try:
            quoted = json.loads(line)
        except ValueError:
            continue
        place = text.find(quoted) if isinstance(quoted, str) and quoted else -1
        if place >= 0:
            span = (place, place + len(quoted))
            errors.append(InjectedError(sub_aspect="", kind="", spans=(span,), removed=()))
    return Target(text=text, errors=tuple(errors))


def _reports(made: Target, job: Job) -> list[ReportedError]:
    """Return what is said of each new error: the words around all its places, then and now."""
    from judgesmith.programs.benchmarking.reported_errors import ReportedError
    from judgesmith.programs.perturbing.passage import Passage

    words = Passage(made.text).words
    found = []
    for number, one in enumerate(made.errors[job.target.n_errors :], start=1):
        start, end = one.spans[0][0], one.spans[-1][1]
        first = max((word[0] for word in words if word[1] <= start), default=0)
        last = min((word[1] for word in words if word[0] >= end), default=len(made.text))
        found.append(
            ReportedError(
                number=number,
                was=one.removed[0] if len(one.removed) == 1 else "",
                now=made.text[first:last],
                explanation=one.explanation,
            )
        )
    return found


def _as_json(reported: Sequence[ReportedError]) -> str:
    return json.dumps(
        [
            {"number": one.number, "was": one.was, "now": one.now, "explanation": one.explanation}
            for one in reported
        ],
        ensure_ascii=False,
    )
