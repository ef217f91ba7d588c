"""The prompt formats of annotators: how errors are requested, and how answers are read."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
)

from judgesmith.errors import InputError
from judgesmith.programs.judging.answers import (
    read_record,
    shaped,
    typed,
    values_in,
    without_thoughts,
)
from judgesmith.programs.judging.prompts import VERBATIM, PromptFormat, register_prompt_format
from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.signatures.scale import PERCENT, Level, Scale, is_percent, read_points, whole

Shown = Literal["source+context", "source", "response"]
"""Which texts stand beside the response: the source and what it rests on, the source, or none."""

SHOWN: tuple[Shown, ...] = ("source+context", "source", "response")

LEVELS = Scale.categorical("Unacceptable", "Poor", "Fair", "Good", "Excellent")
"""The overall score in words; 1 to 5 in numbers."""

POINTS = Scale(low=1, high=5)  # the overall score in numbers

SEVERITIES = ("Neutral", "Minor", "Moderate", "Major", "Critical")
"""How bad an error is, in words for 1 to 5."""

MOST_ERRORS = 8  # how many errors an annotator names at most; of more the most severe are kept
_LONGEST = 400  # characters of a line that are looked at for a grade
_MOST = 200  # errors that are read; eight are asked for

# Grades: how bad an error is, how good the whole.

_SEVERITY_WORDS = {
    **{word.casefold(): grade for grade, word in enumerate(SEVERITIES, start=1)},
    **dict(zip(("very low", "low", "medium", "high", "very high"), range(1, 6), strict=True)),
    "severe": 4,
}
_SEVERITY = re.compile(
    rf"(?<!\w)(?<!not )(?:{'|'.join(sorted(_SEVERITY_WORDS, key=len, reverse=True))})(?!\w)", re.I
)
_WORDS = "|".join(LEVELS.labels)
_POINTS = r"\d+(?:\.\d+)?(?![\d.]*\d)"
_OF_FIVE = r"(?:\s*(?:/|out of|of)\s*5\b)?"
_NUMBER = re.compile(rf"(?<![\w.,/-])({_POINTS}){_OF_FIVE}(?![\w%/])(?!\s*[-–]\s*\d)")
_LEVEL = re.compile(
    rf"({_WORDS}|{_POINTS}){_OF_FIVE}(?:[\s*_\"']*\(?({_POINTS}|{_WORDS}){_OF_FIVE}\)?)?", re.I
)
_REASONS = re.compile(r"[*_\"'`)]*(?:\s*(?:[:;.,!–—\n]|because\b|since\b|\Z)|\s[-(])")
_RIVAL = re.compile(rf"\W*(?:\d|(?:{_WORDS})\b)", re.I)
_AROUND = " \t\r\n*_`\"'()[]{}<>.:;,!“”|"


def severity_in(said: object) -> float | None:
    """Return the severity of an error, 1 to 5; None if it cannot be read."""
    text = str(said)[:_LONGEST]
    if any(map(str.isdigit, text)):
        given = {float(one[1]) for one in _NUMBER.finditer(text)}
    else:
        given = {float(_SEVERITY_WORDS[one[0].casefold()]) for one in _SEVERITY.finditer(text)}
    return given.pop() if len(given) == 1 and min(given) >= 1 and max(given) <= 5 else None


def level_in(text: str, answers: Scale) -> Level:
    """Return the overall score that opens a text, as ``answers`` writes it."""
    line = text[:_LONGEST].strip(_AROUND)
    if is_percent(answers):
        points = read_points(re.split(r"[:;.,–—]\s|\s-\s|\bbecause\b", line, maxsplit=1)[0])
        if points not in PERCENT:
            raise InputError(f"the model answered {points:g}, outside {PERCENT}.")
        return whole(points)
    found = _LEVEL.match(line)
    behind = "" if found is None else line[found.end() :]
    given = set() if found is None else {_points_of(one) for one in found.groups() if one}
    n_levels = len(LEVELS.labels)
    is_alone = _REASONS.match(behind) and not _RIVAL.match(behind)
    if len(given) == 1 and is_alone and not 1 <= min(given) <= n_levels:
        raise InputError(f"the model answered {min(given):g}, outside 1..{n_levels}.")
    if len(given) != 1 or not is_alone or (answers.labels and min(given) % 1):
        allowed = ", ".join(answers.labels) or str(answers)
        raise InputError(f"the overall score is not one of {allowed} alone: {line[:80]!r}.")
    points = given.pop()
    return answers.labels[int(points) - 1] if answers.labels else whole(points)


def _points_of(level: str) -> float:
    names = [one.casefold() for one in LEVELS.labels]
    return names.index(level.casefold()) + 1.0 if level.casefold() in names else float(level)


# What an answer states, before anything of it is looked for in the response.

_NONE = re.compile(
    r"[\W_]*(?:there (?:are|is|were|was) )?(?:i (?:found|see|find) )?(?:no|none|zero|not any)\s*"
    r"(?:(?:clear|major|significant|notable|obvious|specific|apparent|real) )?"
    r"(?:errors?|issues?|problems?|mistakes?|faults?|annotations?)?"
    r"(?: (?:was|were|is|are|have been|could be))?(?: (?:found|detected|identified|present|seen))?"
    r"(?: (?:in|with|for) (?:the|this) [\w ]{1,40})?[\W_]*"
    r"|[\W_]*(?:n/?a|not applicable)[\W_]*",
    re.IGNORECASE,
)
_PAIRS = dict(zip("\"“„«「『‘'`", ['"', "”", "“”", *"»」』’'`"], strict=True))
_OPENING = '"“„«「『`'


def says_none(text: str) -> bool:
    return len(text) <= _LONGEST and _NONE.fullmatch(text) is not None


def closing_of(text: str) -> int | None:
    """Return where the quotation that opens ``text`` ends, mark included; None where none opens."""
    closes = _PAIRS.get(text[:1])
    if closes is None:
        return None
    for place in range(1, len(text)):
        if text[place] in closes:
            following = text[place + 1 : place + 2]
            if not (following.isalnum() and text[place - 1].isalnum()):
                return place + 1
    return None


def quoted_in(text: str) -> Iterator[str]:
    """Yield what stands between marks of quotation in a text, without the marks."""
    at = 0
    while at < len(text):
        if text[at] in _OPENING and (end := closing_of(text[at:])) is not None:
            inner = text[at + 1 : at + end - 1].strip()
            if inner:
                yield inner
            at += end
        else:
            at += 1


def _in_marks(place: object) -> object:
    if isinstance(place, list) and all(isinstance(one, str) for one in place):
        return " and ".join(f'"{one}"' for one in place)
    return "" if place is None else place


class StatedError(BaseModel):
    """One error as it is stated; its location is empty where nothing stands for its place."""

    model_config = ConfigDict(frozen=True, validate_by_name=True)

    location: Annotated[
        StrictStr,
        BeforeValidator(_in_marks),
        Field(validation_alias=AliasChoices("location", "span", "quote")),
    ]
    explanation: Annotated[StrictStr, BeforeValidator(_in_marks)] = ""
    severity: Annotated[float | None, BeforeValidator(severity_in)] = None

    @property
    def is_none(self) -> bool:
        said = self.explanation or self.location
        return not said or (says_none(said) and (not self.location or says_none(self.location)))


class Stated(BaseModel):
    """A whole answer: errors in their order, the score as the scale writes it, words about it."""

    model_config = ConfigDict(frozen=True)

    errors: tuple[StatedError, ...]
    score: Level
    explanation: str


_ERRORS = TypeAdapter(tuple[StatedError, ...])


def errors_text(errors: Sequence[StatedError]) -> str:
    return _ERRORS.dump_json(tuple(errors)).decode()


def errors_of(text: str) -> tuple[StatedError, ...]:
    return _ERRORS.validate_json(text)


def stated_in(answer: str, answers: Scale) -> Stated:
    text = _END_TOKEN.sub("", without_thoughts(_SURROGATE.sub("\ufffd", answer)))
    opened = _OPENS.search(text)
    if opened is not None:
        before = text[: opened.start()].splitlines()
        if not any(label == "location" for line in before for label, *_ in _parts(line)):
            return _in_json(text, answers)
    return _in_lines(text, answers)


_SURROGATE = re.compile("[\ud800-\udfff]")
_END_TOKEN = re.compile(r"</s>|<\|\w{1,20}\|>|<(?:eos|end_of_turn)>")

# The answer that is asked for: one JSON object.

_OPENS = re.compile(r"""^[ \t]*+(?:\{|\[\s*+[{\]])|:[ \t]*+\{\s*+["'“‘]""", re.MULTILINE)


def _listed(errors: object) -> object:
    if errors in (None, "", {}) or (isinstance(errors, str) and says_none(errors)):
        return []
    return shaped(errors, list[StatedError], "errors")


class _Answer(BaseModel):
    errors: Annotated[list[StatedError], BeforeValidator(_listed)]
    explanation: StrictStr = ""
    overall_score: StrictStr | StrictInt | StrictFloat


def _in_json(text: str, answers: Scale) -> Stated:
    found = read_record(text, dict.fromkeys(_Answer.model_fields, Any), answers)
    if found is None:
        raise InputError("there is no object with errors and overall_score in it, but other JSON.")
    said: _Answer = typed(found, _Answer)
    score = level_in(str(said.overall_score), answers)
    around = text
    for start, end, _ in reversed(values_in(text)):
        around = f"{around[:start]}\n{around[end:]}"
    for line in around.splitlines():
        for label, words, _ in _parts(line):
            other = level_in(words, answers) if words and label in ("score", "grade") else score
            if other != score:
                raise InputError(f"it gives two overall scores, {score} and {other}.")
    errors = tuple(one for one in said.errors[:_MOST] if not one.is_none)
    return Stated(errors=errors, score=score, explanation=said.explanation)


# The fallback: lines with labels.

_NAMES = {
    "words": r"(?:score|overall|rating)[ _-]+(?:score[ _-]+)?(?:explanation|reason(?:ing)?"
    r"|justification|rationale)|(?:explanation|reason|justification) (?:of|for) (?:the )?score",
    "score": r"(?:the |my )?(?:overall|final)(?:[ _-]quality)?(?:[ _-](?:score|rating|grade))?"
    r"(?: is)?",
    "grade": r"(?:the |my )?(?:score|rating)(?: is)?",
    "severity": r"(?:error )?severity(?:[ _-](?:level|score|rating))?",
    "location": r"(?:error )?(?:location|span|quote|excerpt)",
    "explanation": r"(?:error )?(?:explanation|description|reason)",
    "errors": r"(?:list of |identified )?(?:errors|annotations|issues)(?: found)?",
}
_MARKS = r"[\s*_`]*+"
_START = re.compile(
    r"(?i)[\s>#*_`•+–-]*+"
    r"(?P<number>(?:[(（]?\d{1,3}[.):．）](?!\d)|(?:error|issue|annotation)\s#?\d{1,3}\b)"
    rf"{_MARKS}[.:)–-]?{_MARKS})?"
    rf"(?:(?:{'|'.join(f'(?P<{label}>{name})' for label, name in _NAMES.items())})"
    rf"{_MARKS}(?:\([^()\n]{{0,60}}\){_MARKS})?(?:[:：=]|(?<= is )|\Z)[*\s]*+)?"
)
_INSIDE = re.compile(
    rf"(?i)(?:[|;,(\[–—·]\s*+|(?<=[.!?\"”»'’)])\s++|(?<!\s)\s-\s)[*_`]*+"
    rf"(?:(?P<severity>{_NAMES['severity']})|(?P<explanation>{_NAMES['explanation']})"
    rf"|(?P<location>{_NAMES['location']})){_MARKS}[:：=][*\s]*+"
)
_BULLET = re.compile(r"\s*(?:[-*•+–]\s|\||<\w)")  # also a row of a table, or a tag
_COUNT = re.compile(r"\(?\d{1,3}(?: \w+){0,3}[.:)]*")  # of errors, before they are listed
# What stands behind a quotation without labels: why it is wrong, and how severe that is.
_ITEM = re.compile(
    r"(?i)[\s*_`]*(?:[:–—→-]>?|\Z|(?=[(\[]))\s*(?P<explanation>.*?)[\s,;(\[]*"
    r"(?:severity[\s:=]*(?P<said>[\w/]+)|(?<=[(\[])(?P<graded>[\w/]+))?[\s)\].]*"
)


def _parts(line: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the parts of a line: its label or "", what it says, and whether a number opens it."""
    found = next(_START.finditer(line))
    label = next((name for name in _NAMES if found[name] is not None), "")
    rest, begins = line[found.end() :].strip().rstrip("*").rstrip(), found["number"] is not None
    if label in ("", "location", "explanation", "severity"):
        start = (closing_of(rest) or 0) if label in ("", "location") else 0
        at = 0
        for further in _INSIDE.finditer(rest, start):
            yield label, _bare(rest[at : further.start()]), begins
            label, at, begins = further.lastgroup or "", further.end(), False
        rest = _bare(rest[at:]) if at else rest
    yield label, rest, begins


def _bare(text: str) -> str:
    text = text.strip().rstrip("|;,").strip()
    return text[:-1].strip() if text[-1:] in (")", "]") and "(" not in text else text


class _Lines:  # reads an answer line by line
    def __init__(self) -> None:
        self.errors: list[StatedError] = []
        self.scores: list[str] = []
        self.words: list[str] = []  # about the score
        self.draft: dict[str, str] = {}  # the error that is being read
        self.field = ""  # what the next line without a label goes on with
        self.overall = self.none = False  # lines are about the whole; there are no errors

    def take(self, label: str, text: str, begins: bool, bulleted: bool) -> None:
        if label == "grade" and self.draft and "severity" not in self.draft:
            raise InputError("a score in it may be that of an error, or the overall score.")
        is_reason = label == "explanation" and self.overall and not self.draft and not begins
        if label in ("score", "grade", "words") or is_reason:
            self.close()
            self.overall, is_score = True, label in ("score", "grade")
            (self.scores if is_score else self.words).extend([text] if text else [])
            self.field = "words" if not is_score else "" if text else "score"
        elif label == "errors":
            self.close()
            self.overall = False
            if not _COUNT.fullmatch(text):
                self._without_label(text, begins=True, bulleted=False)
        elif label:
            is_next = "location" not in self.draft or not {"severity", label}.isdisjoint(self.draft)
            if label == "location" in self.draft or (begins and is_next):
                self.close()
            self.overall = False
            before = self.draft.get(label)
            if before is None or label == "explanation":
                self.draft[label] = f"{before} {text}" if before else text
            self.field = label if label != "severity" or not text else ""
        else:
            self._without_label(text, begins=begins, bulleted=bulleted)

    def _without_label(self, text: str, *, begins: bool, bulleted: bool) -> None:
        place = self.draft.get("location", "")
        is_open = (
            self.field == "location" and place[:1] in tuple(_OPENING) and not closing_of(place)
        )
        if not text.strip("-*_=#`~—– "):
            if begins and not self.overall:
                self.close()
            self.field = self.field if self.field in ("score", "words", "severity") else ""
        elif says_none(text):
            self.none = True
        elif self.field == "score":
            self.take("score", text, begins, bulleted)
        elif self.overall:
            self.words.append(text)
        elif begins or (bulleted and self.field != "explanation"):
            self.close()
            self._item(text.lstrip("*_"))
        elif self.field == "explanation" or is_open:
            self.draft[self.field] = f"{self.draft[self.field]}\n{text}".strip()
        else:
            self.field = ""

    def _item(self, text: str) -> None:
        quoted = closing_of(text)
        said = None if quoted is None else _ITEM.fullmatch(text[quoted:])
        if said is None:
            raise InputError(f"an error in it has no labels: {text[:80]!r}.")
        self.draft = {"location": text[:quoted], "explanation": said["explanation"].strip()}
        if graded := said["said"] or said["graded"]:
            self.draft["severity"] = graded

    def close(self) -> None:
        draft, self.draft, self.field = self.draft, {}, ""
        place = draft.get("location", "").strip()
        if draft.get("severity") and not (place or draft.get("explanation")):
            raise InputError("an error in it has a severity and nothing else.")
        if len(place) <= len("…") + 2 and not any(map(str.isalnum, place)):
            place = ""  # dots or a dash, as in the form that was shown
        one = StatedError.model_validate(draft | {"location": place})
        self.none = self.none or (one.is_none and bool(one.location or one.explanation))
        self.errors += [] if one.is_none else [one]


def _in_lines(text: str, answers: Scale) -> Stated:
    read = _Lines()
    for line in text.splitlines():
        for label, said, begins in _parts(line):
            read.take(label, said, begins, _BULLET.match(line) is not None)
    read.close()
    if not read.scores:
        raise InputError(f"there is no overall score in it: {' '.join(text.split())[:80]!r}.")
    levels = list(dict.fromkeys(level_in(one, answers) for one in read.scores))
    if len(levels) > 1:
        raise InputError(f"it gives two overall scores, {levels[0]} and {levels[1]}.")
    if not read.errors and not read.none:
        raise InputError(
            "it names no errors that can be read, nor does it say that there are none."
        )
    return Stated(errors=read.errors[:_MOST], score=levels[0], explanation=" ".join(read.words))


_BESIDE: dict[Shown, str] = {
    "source+context": """
## Source
{source}

## Further material
{context}
""",
    "source": """
## Source
{source}
""",
    "response": "",
}
_FIRST: dict[Shown, str] = {
    "source+context": "Read source and further material, then the response, and compare them.",
    "source": "Read the source, then the response, and compare them.",
    "response": "Read the response. You are shown nothing else, and need nothing else.",
}
_LAYOUT = """Find the errors of a response in one respect, and say how good it is in that respect.

## The task
{task}

## The respect
{criterion}

## How to proceed
1. <first>
2. Find every stretch of the response that is wrong in this respect. Say why, and how severe it is.
3. Give the response an overall score in this respect, for all of its errors together.
{rules}
<beside>
## Response
{response}

## Your answer
<answer>"""
_IN_JSON = """\
One JSON object and nothing else, in this form, with the errors in the order of the response. Name
<most> errors at most, the most severe. Where there is none, the list is empty: [].

{"errors": [
  {"location": "the words that are wrong, copied from the response letter by letter; null if \
something is missing",
   "explanation": "why they are wrong, in one or two sentences",
   "severity": {grades}},
  …],
 "explanation": "what decided the score, in one or two sentences",
 "overall_score": <levels>}
"""
_IN_LINES = """\
In plain text, in this form, with the errors in the order of the response. Name <most> errors at
most, the most severe. Where there is none, "Errors: No Error" stands in place of the list.

Errors:
1. Location: "the words that are wrong, copied from the response letter by letter; none if \
something is missing"
   Explanation: why they are wrong, in one or two sentences
   Severity: {grades}
2. Location: …

Score explanation: what decided the score, in one or two sentences
Overall score: <levels>
"""
_ANSWER_IN_JSON = '{"errors": {errors},\n "explanation": {explanation},\n "overall_score": {score}}'
_ANSWER_IN_LINES = "Errors:\n{errors}\n\nScore explanation: {explanation}\nOverall score: {score}"


def form_for(shown: Shown, answers: Scale) -> str:
    return f"annotator-{shown}-{'words' if answers.labels else 'points'}"


def _read(answer: str, *, answers: Scale) -> dict[str, Any]:
    found = stated_in(answer, answers)
    errors = errors_text(found.errors)
    return {"errors": errors, "explanation": found.explanation, "score": found.score}


def _form(shown: Shown, answers: Scale, *, in_lines: bool) -> PromptFormat:
    levels = ", ".join(answers.labels) or f"a whole number from {answers.low:g} to {answers.high:g}"
    if answers.labels and not in_lines:
        levels = f'"one of {levels}"'
    layout = _LAYOUT.replace("<first>", _FIRST[shown]).replace("<beside>", _BESIDE[shown])
    layout = layout.replace("<answer>", _IN_LINES if in_lines else _IN_JSON)
    outside = {"response": (), "source": ("source",), "source+context": ("source", "context")}
    return PromptFormat(
        name=form_for(shown, answers) + ("-plain" if in_lines else ""),
        instructions="You look for errors in texts that were written to some task. You are exact: "
        f"what you call wrong can be found in the text, word for word. {VERBATIM}",
        layout=layout.replace("<most>", str(MOST_ERRORS)).replace("<levels>", levels),
        answer=_ANSWER_IN_LINES if in_lines else _ANSWER_IN_JSON,
        outside=frozenset(("response", *outside[shown])),
        outputs={"errors": "text", "explanation": "text", "score": "points"},
        answers=answers,
        read=functools.partial(_read, answers=answers),
    )


ANNOTATORS = tuple(
    register_prompt_format(_form(shown, answers, in_lines=False))
    for shown in SHOWN
    for answers in (LEVELS, POINTS)
)
"""All of them. A saved judge that asks for plain text is read by the one of the same name."""

for _shown in SHOWN:
    for _answers in (LEVELS, POINTS):
        # By which the offline model knows the questions of judges that ask for plain text.
        register_prompt_format(_form(_shown, _answers, in_lines=True))


_DISTILLED_LAYOUT = """List the errors of an output in one respect, then grade it in that respect.

## Task
{task}

## Respect
{criterion}

## Input
{source}

## Further material
{context}

## Output
{response}

## Answer
List <most> errors at most, each with the words of the output that are wrong, a severity from 1 to
5 and an explanation. Then give an overall score, a whole number from 0 (worst) to 100 (best).
"""
_DISTILLED_ANSWER = "Errors:\n{errors}\n\nOverall score: {score}"


def answer_in_form(errors: Sequence[ErrorSpan], score: int) -> str:
    lines = []
    for number, one in enumerate(errors, start=1):
        if one.severity is None:
            raise InputError(f"error {number} has no severity.", hint="leave the example out.")
        place = "none" if one.start is None else f'"{_line(one.text)}"'
        lines.append(f"{number}. Location: {place}")
        lines.append(f"   Severity: {int(one.severity + 0.5)}")
        lines.append(f"   Explanation: {_line(one.explanation)}")
    listed = "\n".join(lines) or "No Error"
    return _DISTILLED_ANSWER.format(errors=listed, score=score)


def _line(text: str) -> str:
    return " ".join(text.split())


def _read_distilled(answer: str) -> dict[str, Any]:
    found = stated_in(answer, PERCENT)
    return {"errors": errors_text(found.errors), "score": found.score}


DISTILLED = register_prompt_format(
    PromptFormat(
        name="distilled",
        instructions=f"You point at the errors of texts, and grade them. {VERBATIM}",
        layout=_DISTILLED_LAYOUT.replace("<most>", str(MOST_ERRORS)),
        answer=_DISTILLED_ANSWER,
        outside=frozenset({"source", "context", "response"}),
        outputs={"errors": "text", "score": "points"},
        answers=PERCENT,
        read=_read_distilled,
    )
)
