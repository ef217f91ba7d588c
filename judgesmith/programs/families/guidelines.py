"""Guidelines: rules of judging that raters' own words give, proposed in batches, then merged."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgesmith.programs.judging.program import Calls, ModelReply, PromptRequest, answered, asked
from judgesmith.results.progress import OnProgress, tell
from judgesmith.signatures.config import Sampling
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause
from judgesmith.signatures.rubric import Guideline, folded

if TYPE_CHECKING:
    import dspy

ROWS_AT_ONCE = 10  # of which one question shows raters' words
FEWEST_ROWS_BEHIND = 2  # what the words of one row alone say is no guideline
LONGEST_PART = 1000  # characters shown of each text; what is left out of its middle is marked


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedRow:
    """A training row with its rating, a rater's words, and the id by which people find it."""

    item: RatedItem
    id: str
    rating: str
    words: str

    def shown(self, number: int) -> dict[str, Any]:
        """Return the row as questions show it."""
        texts = {name: _cut(text) for name, text in self.item.texts.items() if text}
        return {"row": number, **texts, "rating": self.rating, "rater's words": self.words}


@dataclass(slots=True)
class _Found:
    """Guidelines so far, by folded text, each with the numbers of its rows."""

    rows: Sequence[ExplainedRow]
    known: dict[str, tuple[str, set[int]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    n_refused: int = 0

    def add(self, text: str, numbers: set[int]) -> None:
        line = " ".join(text.split())
        try:
            line = Guideline(text=line).text
        except ValueError:
            self.n_refused += 1
            return
        _, rows = self.known.setdefault(folded(line), (line, set()))
        rows |= numbers

    @property
    def listed(self) -> list[tuple[str, set[int]]]:
        return list(self.known.values())


def guidelines_from(
    rows: Sequence[ExplainedRow],
    *,
    most: int,
    lm: dspy.LM,
    on_progress: OnProgress | None = None,
) -> tuple[tuple[Guideline, ...], list[str]]:
    """Return what several rows' words say in common, by how many they are, and notes."""
    import dspy

    from judgesmith.programs.judging.dspy_executor import ask_of
    from judgesmith.programs.lm.limits import STOPPING
    from judgesmith.signatures.questions.task_inference import MergeGuidelines, ProposeGuidelines

    asks = {"propose": dspy.Predict(ProposeGuidelines), "merge": dspy.Predict(MergeGuidelines)}

    def reply(ask: PromptRequest) -> ModelReply:
        found = ask_of(lm, asks[ask.predictor], ask, Sampling(temperature=0.0))
        tell(on_progress, 1)
        return found

    with STOPPING.attended():
        found: _Found = answered(_steps(rows), reply)
    several = [one for one in found.listed if len(one[1]) >= FEWEST_ROWS_BEHIND]
    several.sort(key=lambda one: -len(one[1]))
    left = len(found.known) - len(several[:most])
    notes = [
        *found.notes,
        f"{len(several[:most])} guidelines were inferred from raters' words in {len(rows)} "
        f"training rows; {left} more had fewer than {FEWEST_ROWS_BEHIND} rows or came after the "
        f"first {most}, and {found.n_refused} were no sentence that a rubric can hold.",
    ]
    return tuple(
        Guideline(text=text, rows=tuple(rows[one - 1].id for one in sorted(numbers)))
        for text, numbers in several[:most]
    ), notes


def n_questions(n_rows: int) -> int:
    """Return how many questions guidelines take at most, each asked once more if need be."""
    return -(-n_rows // ROWS_AT_ONCE) + 1 if n_rows else 0


Asking = Generator[PromptRequest, ModelReply, Any]


def _steps(rows: Sequence[ExplainedRow]) -> Asking:
    found = _Found(rows)
    shown = [one.shown(number) for number, one in enumerate(rows, start=1)]
    for start in range(0, len(shown), ROWS_AT_ONCE):
        yield from _proposed(found, shown[start : start + ROWS_AT_ONCE])
    if len(found.known) > 1:
        found = yield from _merged(found)
    return found


def _proposed(found: _Found, shown: Sequence[Mapping[str, Any]]) -> Asking:
    numbers = {one["row"] for one in shown}
    inputs = {
        "examples": _json(shown),
        "earlier": "\n".join(f"- {text}" for text, _ in found.listed) or None,
    }
    said = yield from _said(found, "propose", inputs)
    for one in said:
        found.add(one.text, numbers & set(one.rows))


def _merged(found: _Found) -> Asking:
    candidates = dict(enumerate(found.listed, start=1))
    shown = [{"number": number, "text": text} for number, (text, _) in candidates.items()]
    said = yield from _said(found, "merge", {"candidates": _json(shown)})
    merged = _Found(found.rows, notes=found.notes, n_refused=found.n_refused)
    left = set(candidates)
    for one in said:
        meant = left & set(one.merges)
        if meant:
            n_known = merged.n_refused
            merged.add(one.text, set().union(*(candidates[each][1] for each in meant)))
            left -= meant if merged.n_refused == n_known else set()
    for number in sorted(left):
        merged.add(*candidates[number])
    return merged


def _said(found: _Found, predictor: str, inputs: Mapping[str, str | None]) -> Asking:
    """Return the guidelines of an answer; none, with a note, where it cannot be read."""
    ask = PromptRequest(predictor=predictor, inputs=inputs)
    said = yield from asked(ask, lambda fields: fields["guidelines"], again=1, calls=Calls())
    if isinstance(said, Cause):
        found.notes.append(f"guidelines: one answer taught nothing: {said}")
        return []
    return said


def _cut(text: str) -> str:
    text, half = unix_lines(text), LONGEST_PART // 2
    return text if len(text) <= LONGEST_PART else f"{text[:half]} … {text[-half:]}"


def _json(records: Sequence[Mapping[str, Any]]) -> str:
    text = "[" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in records) + "]"
    return text.encode("utf-8", "replace").decode()  # half of a character can be sent to no model
