"""Offline answers that change or write texts, by rules.

Imported when such an answer is first asked for: no judge needs the rules, and they load DSPy.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict

from judgesmith.programs.lm.records import Prefix
from judgesmith.programs.offline.judging import listed_criteria
from judgesmith.programs.offline.requests import Answer, Fields, Question, answers_signature
from judgesmith.programs.perturbing.catalogue import PERTURBATIONS
from judgesmith.programs.perturbing.error_kinds import InjectionJob
from judgesmith.programs.perturbing.injecting import (
    ReportedError,
    inject_each,
    known_sub_aspects,
    verified_errors,
)
from judgesmith.programs.perturbing.orders import GENERAL_STEPS, read_order
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.programs.perturbing.rules import perturb
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import InjectedError, Perturbed, SubAspect, Target

_LINE = re.compile(r"\d+\. ([^:]*)(?:: (.*))?")
_TRIES = 10


@answers_signature(
    inputs="criterion wanted text",
    outputs="errors changed",
    optional="task source context earlier refused",
)
def _inject(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``InjectErrors``: the first draw of rules whose report holds, or the text as it is."""
    job = _job(fields)
    if job is not None:
        first = _seed(fields)
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


def _job(fields: Fields) -> InjectionJob | None:
    """Return what a request asks for; None where there is nothing to change or to be told."""
    ((criterion, definition), *_) = listed_criteria(fields.get("criterion") or "quality")
    lines = [_LINE.fullmatch(line) for line in (fields.get("wanted") or "").split("\n")]
    sides = [
        SubAspect(criterion=criterion, name=line[1], definition=line[2] or "")
        for line in lines
        if line and line[1]
    ]
    if not sides or not (fields["text"] or "").strip():
        return None
    return InjectionJob(
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


def _reports(made: Target, job: InjectionJob) -> list[ReportedError]:
    """Return what is said of each new error: the words around all its places, then and now."""
    passage = Passage(made.text)
    found = []
    for number, one in enumerate(made.errors[job.target.n_errors :], start=1):
        was = one.removed[0] if len(one.removed) == 1 else ""
        now = passage.shown(passage.with_neighbours((one.spans[0][0], one.spans[-1][1])))
        said = ReportedError(number=number, was=was, now=now, explanation=one.explanation)
        found.append(said)
    return found


def _as_json(reported: Sequence[ReportedError]) -> str:
    return json.dumps([asdict(one) for one in reported], ensure_ascii=False)


@answers_signature(inputs="change", outputs="steps")
def _plan(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``WriteChangeSteps``: the same steps for every change."""
    return {"steps": ["\n".join(GENERAL_STEPS)]}


@answers_signature(inputs="change text", outputs="changed", optional="steps refused")
def _change(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``ChangeText``."""
    changed = text_changed(fields["text"] or "", fields["change"] or "", seed=_seed(fields))
    return {"changed": [changed]}


def _seed(fields: Fields) -> int:
    refused = (fields.get("refused") or "").encode()
    return int.from_bytes(hashlib.blake2b(refused, digest_size=4).digest())


def text_changed(text: str, order: str, *, seed: int) -> str:
    """Return a text changed by rule as an order says, or as it is where no rule can change it."""
    kind, amount = read_order(order) or ("", 1)
    ways = [one for one in PERTURBATIONS.values() if one.kind == kind]
    if not ways:
        return text
    found = perturb(RatedItem(response=text), ways[0], amount=amount, seed=seed)
    return found.text if isinstance(found, Perturbed) else text


_MOST_SENTENCES = 3
_MOST_CHARACTERS = 600  # of a text that has more than one sentence


@answers_signature(inputs="number source", outputs="reference", optional="task criteria context")
def _write_reference(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``WriteReference``."""
    number = (fields["number"] or "1").strip()
    place = int(number) if number.isdecimal() and len(number) < 10 else 1
    return {"reference": [extract_of(fields["source"] or "", place)]}


def extract_of(source: str, number: int) -> str:
    """Return up to three consecutive sentences of a source, from the n-th on."""
    passage = Passage(source[:20_000])
    sentences = [" ".join(passage.shown(one).split()) for one in passage.sentences]
    if not sentences:
        return "Nothing is given here."
    wanted = min(max(1, (len(sentences) + 1) // 2), _MOST_SENTENCES)
    first = (number - 1) % len(sentences)
    taken = [sentences[first]]
    for sentence in sentences[first + 1 : first + wanted]:
        if sum(map(len, taken)) + len(sentence) > _MOST_CHARACTERS:
            break
        taken.append(sentence)
    return " ".join(taken)


@answers_signature(inputs="criterion", outputs="sub_aspects", optional="task")
def _name_sub_aspects(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``NameSubAspects``."""
    ((name, definition), *_) = listed_criteria(fields.get("criterion") or "quality")
    sides = known_sub_aspects(name, definition)
    return {"sub_aspects": ["\n".join(f"{one.name}: {one.definition}" for one in sides)]}
