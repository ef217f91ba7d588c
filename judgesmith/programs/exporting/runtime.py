"""The runtime of an exported judge, below two literals: ``ABOUT``, its origin, and ``JUDGE``.

It sends the bytes that the package sends, and reads what the package reads, or asks once more.
"""

import argparse
import hashlib
import json
import math
import os
import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean, median, multimode, pstdev
from typing import Any

import openai

Data = Mapping[str, Any]
Row = dict[str, Any]
ABOUT: Data = globals().get("ABOUT", {})
JUDGE: Data = globals().get("JUDGE", {})


def judge(
    source: str, response: str, context: str | None = None, *, client: Any = None, model: str = ""
) -> Row:
    """Judge one response to a source; ``score`` is None, never 0, where ``problem`` says why.

    ``client`` is one of openai's; None makes it as the environment says. ``model`` is asked instead
    of the judge's own. Raises ModelError if it cannot be asked at all, such as with a wrong key.
    """
    texts = {"source": source, "context": context, "response": response}
    return row_of(JUDGE, texts, Server(client, model))


def main(arguments: list[str] | None = None) -> int:
    """Judge every line of standard input, or of a file; return 0, or 2 for input that cannot be."""
    parser = argparse.ArgumentParser(description=ABOUT["says"])
    parser.add_argument("items", nargs="?", default="-", help="file of JSON lines [default: -]")
    usual = ABOUT["model"].replace("%", "%%")
    parser.add_argument("--model", default="", help=f"model to ask [default: {usual}]")
    parser.add_argument("--base-url", help="address of a server with OpenAI's protocol")
    parser.add_argument("--concurrency", type=int, default=8, help="texts at the same time")
    options = parser.parse_args(arguments)
    if options.concurrency < 1:
        parser.error("--concurrency is 1 or more.")
    unscored: list[Row] = []
    try:
        items = list(_items(options.items))
        server = Server(None, options.model, options.base_url)
        with ThreadPoolExecutor(options.concurrency) as pool:
            try:
                rows = pool.map(lambda item: row_of(JUDGE, item, server), items)
                for item, row in zip(items, rows, strict=True):
                    ids = {name: item[name] for name in ("source_id", "system_id")}
                    told = {**ids, **row, "judge": ABOUT["judge"], "target": ABOUT["target"]}
                    sys.stdout.write(json.dumps(told) + "\n")
                    unscored += [row] if row["score"] is None else []
            finally:
                pool.shutdown(cancel_futures=True)
    except BrokenPipeError:  # whoever reads the rows has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, ModelError, openai.OpenAIError) as fault:
        sys.stderr.write(f"error: {' '.join(str(fault).split())}\n")
        return 2
    if unscored:
        count = f"{len(unscored)} of {len(items)} rows without a score; the first, because"
        sys.stderr.write(f"{count} {' '.join(unscored[0]['problem'].split())}\n")
    return 0


def _items(place: str) -> Iterator[Row]:
    with sys.stdin.buffer if place == "-" else open(place, "rb") as file:  # noqa: PTH123
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:  # some programs begin a file with a mark that it is UTF-8
                item = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError:
                raise ValueError(f"line {number}: expected UTF-8; convert the file.") from None
            except (ValueError, RecursionError):
                item = None
            if not isinstance(item, dict):
                wanted = "a JSON object with source, response and perhaps context"
                raise ValueError(f"line {number}: expected {wanted}.")
            for name in ("source", "context", "response", "source_id", "system_id"):
                value, is_id = item.setdefault(name, None), name.endswith("_id")
                if is_id:
                    if type(value) is int or (type(value) is float and value.is_integer()):
                        value = str(int(value))  # table libraries make 3.0 of 3
                    item[name] = value = "" if value is None else value
                if not isinstance(value, str) and (value is not None or name != "context"):
                    got = "nothing" if value is None else type(value).__name__
                    wanted = "an id" if is_id else "a text"
                    raise ValueError(f"line {number}: {name}: expected {wanted}; got {got}.")
            yield item


def row_of(judge: Data, texts: Data, server: "Server") -> Row:
    """Return what a judge says of one text, unscored where the model did not answer."""
    names = ("source", "response", "context")
    texts = {name: texts[name] and re.sub("\r\n?", "\n", texts[name]) for name in names}
    try:
        found = _judged(judge, texts, server)
    except ModelError as fault:
        if fault.ends_the_run:
            raise
        how = "could not be reached" if fault.passing else "refused the request"
        found = _said(None, problem=f"the model {how}: {fault}")
    return {name: one for name, one in found.items() if name != "raw"}


def _said(score: Any, words: str = "", criteria: Any = None, problem: str | None = None) -> Row:
    found = {"score": score, "explanation": words, "criteria": criteria or {}, "errors": []}
    return {**found, "problem": problem, "raw": score}


def _judged(judge: Data, texts: Data, server: "Server") -> Row:
    if judge["kind"] == "panel":
        return _of_panel(judge, texts, server)
    if judge["kind"] == "calibrated":
        return _calibrated(judge["calibration"], _judged(judge["judge"], texts, server))
    for name, text in texts.items():
        if re.search("[\ud800-\udfff]", text or ""):
            lone = "half of a character (a lone surrogate), which no model can receive"
            return _said(None, problem=f"the {name} holds {lone}")
    samples = [Sample(judge, texts, server, n).judged() for n in range(judge["samples"])]
    return _aggregated(judge["aggregation"], _reduced(judge, samples))


def _reduced(judge: Data, samples: list[Row]) -> Row:
    """Return the judgement that several samples make, in the words of the nearest."""
    scored = [one for one in samples if one["score"] is not None]
    if len(scored) < 2:
        return (scored or samples)[0]

    def joined(several: list[Row], score: float | None = None) -> Row:
        if not (given := [one for one in several if one["score"] is not None]):
            return several[0]
        if score is None:
            points = [one["score"] for one in given]
            points = multimode(points) if judge["reduction"] == "mode" else points
            score = float(median(points) if judge["reduction"] == "median" else fmean(points))
        near = min(given, key=lambda one: (round(abs(one["score"] - score), 9), one["score"]))
        return {"score": score, "explanation": near["explanation"]}

    criteria = {n: joined([one["criteria"][n] for one in scored]) for n in scored[0]["criteria"]}
    given = [one["score"] for one in criteria.values() if one["score"] is not None]
    is_mean = judge["whole"] is None and judge.get("combine") is None
    of_criteria = judge["reduction"] != "mean" and given and is_mean
    whole = joined(scored, fmean(given) if of_criteria else None)
    return _said(whole["score"], whole["explanation"], criteria)


def _aggregated(learned: Data, found: Row) -> Row:
    if found["problem"] is not None:
        return found
    if learned["kind"] == "overall":
        return _decided(learned, found)
    scores = {f"criterion:{name}": one["score"] for name, one in found["criteria"].items()}
    values: list[Any] = [{"overall": found["raw"], **scores}.get(x) for x in learned["terms"]]
    if None in values:
        term = learned["terms"][values.index(None)]
        why = f"there is no number for {term}, which the judge needs."
        return {**found, "score": None, "problem": why}
    if learned["kind"] == "mean":
        return _decided(learned, {**found, "score": fmean(values)})
    numbers = zip(values, learned["centers"], learned["spreads"], strict=True)
    steps = [_within((v - c) / s, learned["limit"]) for v, c, s in numbers]
    total = sum(step * weight for step, weight in zip(steps, learned["weights"], strict=True))
    step_of = dict(zip(learned["terms"], steps, strict=True))
    for one in learned.get("products", []):
        step = (step_of[one["first"]] * step_of[one["second"]] - one["center"]) / one["spread"]
        total += _within(step, learned["limit"]) * one["weight"]
    score = _within(total + learned["intercept"], learned["scale"])
    return _decided(learned, {**found, "score": score})


def _decided(learned: Data, found: Row) -> Row:
    """Return a judgement with its label, and its score in points of the labels."""
    rule = learned.get("decision")
    if rule is None:
        return found
    low, high = learned["scale"]["low"], learned["scale"]["high"]
    labels, share = rule["scale"]["labels"], (found["score"] - low) / (high - low)
    most = len(labels) - 1
    place = int(share >= rule["threshold"]) if most == 1 else min(int(share * most + 0.5), most)
    if most == 1:
        found = {**found, "probability": {labels[0]: 1 - share, labels[1]: share}}
    if rule["abstain"] is not None and rule["abstain"][0] <= share < rule["abstain"][1]:
        return {**found, "score": None, "problem": rule["unsure"].format(share)}
    return {**found, "score": rule["scale"]["low"] + share * most, "label": labels[place]}


def _within(points: float, ends: Data) -> float:
    return float(min(max(points, ends.get("low", -math.inf)), ends.get("high", math.inf)))


def _of_panel(panel: Data, texts: Data, server: "Server") -> Row:
    """Return the judgement of a panel; a member that cannot be asked leaves it to the others."""
    members: Mapping[str, Data] = panel["members"]
    order = sorted(members, key=lambda name: -members[name]["weight"])
    said, faults = dict[str, Row](), list[ModelError]()
    for name in order:
        try:
            said[name] = _judged(members[name]["judge"], texts, server)
        except ModelError as fault:
            if fault.ends_the_run:
                raise
            faults.append(fault)
            said[name] = _said(None, problem=f"the model could not be asked: {fault}")
    if len(faults) == len(order):
        raise faults[0]
    scores = {name: said[name]["score"] for name in order}
    extra: Row = {"members": scores, "voice": None, "disagreement": None}
    steps = [
        (_within((scores[name] - one["center"]) / one["spread"], panel["limit"]), one["weight"])
        for name, one in members.items()
        if scores[name] is not None
    ]
    if not steps:
        reasons = "; ".join(f"{name}: {said[name]['problem']}" for name in order)
        return {**_said(None, problem=f"no member of the panel gave a score: {reasons}"), **extra}
    total = sum(weight for _, weight in steps)
    mean = sum(step * weight for step, weight in steps) / total
    if len(steps) > 1:
        variance = sum(weight * (step - mean) ** 2 for step, weight in steps) / total
        extra["disagreement"] = panel["slope"] * math.sqrt(variance)
    extra["voice"] = voice = next(name for name in order if scores[name] is not None)
    score = _within(panel["intercept"] + panel["slope"] * mean, panel["scale"])
    return {**_said(score, said[voice]["explanation"], said[voice]["criteria"]), **extra}


def _calibrated(learned: Data, found: Row) -> Row:
    """Return a judgement on the scale of people, or why it is left to them."""
    score, words, criteria = found["score"], found["explanation"], found["criteria"]
    extra: Row = {"low": None, "high": None, "abstained": False, "doubt": None}
    if score is None:
        return {**_said(None, words, criteria, found["problem"]), **extra, "uncalibrated": None}
    xs, ys, scale, rule = (learned[n] for n in ("thresholds", "values", "scale", "abstention"))
    place = bisect_right(xs, score)
    points = ys[0] if place == 0 else ys[-1]
    if 0 < place < len(xs):
        rise = (ys[place] - ys[place - 1]) * (score - xs[place - 1])
        points = ys[place - 1] + rise / (xs[place] - xs[place - 1])
    points, why = _within(points, scale), None
    margin = math.inf if learned["margin"] is None else learned["margin"]
    extra |= {"low": _within(points - margin, scale), "high": _within(points + margin, scale)}
    if rule is not None:
        given = [one["score"] for one in criteria.values() if one["score"] is not None]
        spread = pstdev(given) if len(given) > 1 else None
        doubt = found.get("disagreement") if rule["doubt"] == "members" else spread
        why = rule["always"] or (rule["unknown"] if doubt is None else None)
        if why is None and rule["limit"] is not None and not doubt < rule["limit"]:
            why = rule["above"].format(doubt)
        extra |= {"doubt": doubt, "abstained": why is not None}
    return {**_said(None if why else points, words, criteria, why), **extra, "uncalibrated": score}


_WINDOW = re.compile(
    r"(?i)context (?:length|window|size)|maximum (?:context|input|prompt)|too many (?:input )?"
    r"tokens|(?:prompt|input|request) is too long|exceeds? .{0,40}(?:tokens|context)"
)
_ENDED = {"length": "it was cut off at the model's limit of tokens."}
_ENDED |= {"content_filter": "the server's content filter stopped it."}


class ModelError(Exception):
    """The model could not be asked: for a while, for this text, or at all."""

    def __init__(self, said: str, status: int | None, *, passing: bool, long: bool = False) -> None:
        super().__init__(said)
        one_text = 400 <= (status or 0) < 500 and status not in (401, 402, 403, 404, 405, 407)
        self.passing, self.too_long, self.ends_the_run = passing, long, not (passing or one_text)


class Server:
    """Who is asked: a client of OpenAI's protocol, and the model instead of each judge's own."""

    def __init__(self, client: Any, model: str = "", address: str | None = None) -> None:
        if client is None and not os.environ.get("OPENAI_API_KEY"):
            why = "any text will do for a server that needs no key."
            raise ValueError(f"set OPENAI_API_KEY in the environment; {why}")
        self.client: Any = client or openai.OpenAI(base_url=address, max_retries=5)
        self.model = model

    def completion(self, messages: list[dict[str, str]], options: Data, sample: int) -> Any:
        """Return one chat completion; the next of several samples is asked for in the same way."""
        try:
            return self.client.chat.completions.create(messages=messages, **options)
        except openai.OpenAIError as fault:
            status = getattr(fault, "status_code", None)
            said = f"{options['model']}: {getattr(fault, 'message', None) or fault}"
            if status is not None and f" {status} " not in f" {said} ":
                said = f"{said} (HTTP {status})"
            lost = isinstance(fault, openai.APIConnectionError | openai.APIResponseValidationError)
            passing = lost or (status or 0) >= 500 or status in (408, 409, 425, 429)
            long = status == 400 and bool(_WINDOW.search(said))
            raise ModelError(said, status, passing=passing, long=long) from fault


class Sample:
    """One judgement of a text under way: the requests, and what is made of the answers."""

    def __init__(self, judge: Data, texts: Data, server: Server, sample: int) -> None:
        self.judge, self.texts, self.server, self.sample = judge, texts, server, sample

    def judged(self) -> Row:
        found, why = self._joint() if self.judge["joint"] else self._each()
        tolerant, lack, whole = (self.judge[name] for name in ("tolerant", "lack", "whole"))
        lacking = [name for name, one in found.items() if one["score"] is None]
        if tolerant and found and len(lacking) == len(found):
            return _said(None, problem=f"the criteria have no scores: {why}")
        if whole is not None:
            lines = "\n".join(self._line(name, one) for name, one in found.items())
            answer = self._asked(whole, self._percent, {**self.texts, "assessments": lines})
            if isinstance(answer, str):
                return _said(None, "", found, answer)
            return _said(answer["score"], answer["explanation"], found)
        if lacking:
            mean = f"the score is the mean of the criteria, of which some {lack}"
            return _said(None, "", found, f"{mean}: {why}")
        words = [f"{name}: {one['explanation']}" for name, one in found.items()]
        words = [line for line in words if tolerant and not line.endswith(": ")]
        if combine := self.judge.get("combine"):
            yes = {name: "yes" if one["score"] else "no" for name, one in found.items()}
            said = [f"{n}: {yes[n]}. {one['explanation']}".rstrip() for n, one in found.items()]
            score = _COMBINED[combine]([one["score"] for one in found.values()])
            return _said(score, "\n".join(said), found)
        return _said(fmean(one["score"] for one in found.values()), "\n".join(words), found)

    def _each(self) -> tuple[dict[str, Row], str]:
        found, problems = dict[str, Row](), list[str]()
        for name, questions in self.judge["criteria"].items():
            answers = [self._asked(one, self._percent, self.texts) for one in questions]
            if lacking := [one for one in answers if isinstance(one, str)]:
                found[name] = {"score": None, "explanation": f"no score: {lacking[0]}"}
                problems.append(f"{name}: {lacking[0]}")
                continue
            words = [one["explanation"] for one in answers]
            if questions[0]["checks"]:
                said = ["Yes." if one["score"] else "No." for one in answers]
                words = [f"{q['checks']} {x}" for q, x in zip(questions, said, strict=True)]
            mean = fmean(one["score"] for one in answers)
            found[name] = {"score": mean, "explanation": " ".join(words)}
        return found, "; ".join(problems if self.judge["tolerant"] else problems[:1])

    def _joint(self) -> tuple[dict[str, Row], str]:
        wanted = {_folded(name): name for name in self.judge["criteria"]}
        best: dict[str, Row] = {}

        def read(fields: Row) -> None:
            nonlocal best
            found, faults = dict[str, Row](), dict[str, str]()
            for one in fields["assessments"]:
                name = wanted.get(_folded(one["criterion"]), "")
                if name in found or name in faults:
                    found.pop(name, None)
                    faults[name] = f"the criterion {name} is assessed twice"
                elif name:
                    try:
                        found[name] = self._percent(one)
                    except ValueError as fault:
                        faults[name] = f"{name}: {str(fault).rstrip('.')}"
            missing = [name for name in wanted.values() if name not in {*found, *faults}]
            faults |= {missing[0]: f"no assessment of {', '.join(missing)}"} if missing else {}
            best = found if len(found) >= len(best) else best
            if faults:
                raise ValueError("; ".join(faults.values()))

        problem = self._asked(self.judge["joint"], read, self.texts) or ""
        lacking = {"score": None, "explanation": f"no score: {problem}"}
        return {name: best.get(name, lacking) for name in wanted.values()}, problem

    def _asked(self, question: Data, read: Callable[[Row], Any], texts: Data) -> Any:
        """Return what is read from the answer, or in words why it is of no use twice."""
        model, scale = self.server.model or self.judge["model"], self.judge["answers"]
        options, problem = {**self.judge["options"], "model": model}, ""
        if re.match(r"o\d|gpt-5(?!.*-chat)", model):  # it answers at a temperature of its own
            del options["temperature"]
            options = {n.replace("max_", "max_completion_"): one for n, one in options.items()}
        for which in (self.sample, self.judge["samples"] + self.sample):
            try:
                completion = self.server.completion(_messages(question, texts), options, which)
            except ModelError as fault:
                if not fault.too_long:
                    raise
                return f"the texts are longer than the model reads: {fault}"
            choices = getattr(completion, "choices", None)
            if not choices or choices[0].message is None:
                raise ModelError(f"{model}: the reply has no message", None, passing=True)
            said = [getattr(choices[0].message, name, None) for name in ("content", "refusal")]
            text, ended = "".join(x for x in said if isinstance(x, str)), choices[0].finish_reason
            try:
                fields = Reader(question["fields"], scale).read(text, cut=ended == "length")
            except ValueError as fault:
                problem = f"the model's answer could not be read: {_ENDED.get(ended, fault)}"
                continue
            try:
                return read(fields)
            except ValueError as fault:
                problem = str(fault)
        return problem

    def _percent(self, fields: Data) -> Row:
        scale, answer = self.judge["answers"], fields.get("score", fields.get("verdict"))
        if isinstance(answer, ValueError):
            raise answer
        low, high, labels = (scale[name] for name in ("low", "high", "labels"))
        points = low + labels.index(answer) if isinstance(answer, str) else answer
        if not low <= points <= high:
            raise ValueError(f"the model answered {points:g}, outside {scale['ends']}.")
        words = fields.get("explanation", fields.get("critique", ""))
        percent = points if scale["percent"] else 100 * ((points - low) / (high - low))
        is_left_out = words.strip() == "(left out of this example)"
        return {"score": percent, "explanation": "" if is_left_out else words}

    def _line(self, name: str, one: Row) -> str:
        if one["score"] is None:
            return f"- {name}: no score."
        low, high, labels = (self.judge["answers"][name] for name in ("low", "high", "labels"))
        points = level = low + (high - low) * (one["score"] / 100)
        if not self.judge["answers"]["percent"]:
            middle = abs(points - int(points)) == 0.5  # halves go to the middle
            level = int(points) + (points < (low + high) / 2) if middle else round(points)
        said = labels[int(level - low)] if labels else f"{level:g}"
        return f"- {name}: {said}. {' '.join(one['explanation'].split())}".rstrip()


_COMBINED: Mapping[str, Callable[[list[float]], float]] = {"all": min, "any": max, "mean": fmean}
_ALIKE = dict(zip("аαɑвьβсϲсԁеεҽƒоοзі", "aaabbbcccdeeef0031", strict=True))


def _messages(question: Data, texts: Data) -> list[dict[str, str]]:
    """Return the whole conversation for one item; a piece in a list is a text from outside."""
    turns, pieces = question["turns"], question["last"]
    outside = [texts[one[0]] for one in pieces if isinstance(one, list)]
    tag = _fence_tag([one for one in outside if one is not None], bytes.fromhex(question["key"]))
    said = []
    for one in pieces:
        if isinstance(one, list):
            text = texts[one[0]]
            one = "(none)" if text is None else f"<verbatim-{tag}>\n{text}\n</verbatim-{tag}>"
        said.append(one)
    return [*turns, {"role": "user", "content": "".join(said)}]


def _fence_tag(texts: list[str], key: bytes) -> str:
    """Return twelve hexadecimal digits that can be read in none of the texts."""
    parts = (unicodedata.normalize("NFKD", text.replace("｜", "")).casefold() for text in texts)
    read = ["".join(str(unicodedata.decimal(o, _ALIKE.get(o, o))) for o in text) for text in parts]
    read += [text.translate(str.maketrans("oil|", "0111")) for text in read]
    digits = [re.sub("[^0-9a-f]+", "", text) for text in read]
    for some in (texts[:1], texts):
        state = hashlib.blake2b(digest_size=6, key=key)
        for content in (text.encode("utf-8", "surrogatepass") for text in some):
            state.update(b"%d:%b" % (len(content), content))
        if not any(state.hexdigest() in one for one in digits):
            break
    while any(state.hexdigest() in one for one in digits):
        state.update(b"again")
    return state.hexdigest()


_HEADER = re.compile(r"(?m)^((?:[^\S\n]|[*_`#])*)\[\[ *## *(\w+) *## *\]\](.*)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WRAPPER = "(?i)answers?|data|evaluation|feedback|final(?:[ _]answer)?|json|judge?ment|outputs?"
_WRAPPER += "|response|results?|verdict"
_RIVALS = re.compile(  # words beside JSON that refuse, introduce a quotation, or name a number
    r"(?i)\d|won['’]t|will not|can['’]t|cannot|can not|unable|refus|declin|sorry|disregard|ignor"
    r"|不能|无法|抱歉|quot|inject|\b(?:says?|said|reads?|claims?|states?|contains?|includes?|asks?"
    r"|asked|demands?|ends?|begins?|tells?|told|wants?|has|instructs?|tries|pretends?)\b"
)
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])|\b(True|False|None)\b', re.DOTALL)
_PYTHON = {"True": "true", "False": "false", "None": "null"}


class Reader:
    """Reads an answer: fields by how each is written, with scores on one scale."""

    def __init__(self, kinds: Data, scale: Data) -> None:
        self.kinds, self.scale = kinds, scale

    def read(self, text: str, cut: bool) -> Row:
        """Return the fields; ``cut`` says that the answer ran into its limit of tokens."""
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        thought = r"(?s)\A\s*+<((?i:think|thinking|thought|reasoning|analysis))>.*?</\1>"
        text = re.sub(thought, "", text, count=1)
        heads = list(_HEADER.finditer(text))
        sections: dict[str, str] = {}
        for head, stop in zip(heads, [*(one.start() for one in heads[1:]), None], strict=False):
            name, first = head[2].lower(), head[3].strip().removeprefix(head[1].strip("# \t\r\f\v"))
            if name in sections and name in self.kinds:
                raise ValueError(f"the answer gives the field {name} twice.")
            sections[name] = f"{first}\n{text[head.end() : stop]}".strip()
        end = next((one for one in heads if one[2].lower() == "completed"), None)
        ending = text[end.start(3) :].strip(" \t\r\n*_`#") if end else ""
        if cut and (text.rstrip()[-1:].isdigit() or ending):
            raise ValueError("it was cut off.")
        missing = [name for name in self.kinds if name not in sections]
        lacks = f"the answer lacks the field {', '.join(missing)}."
        if not missing:
            given = " ".join(sections[n] for n, kind in self.kinds.items() if kind != "text")
            if not set(_NUMBER.findall(given)) >= set(_NUMBER.findall(ending)):
                raise ValueError("the answer continues after its end, with another number.")
            return {name: self._section(name, sections[name]) for name in self.kinds}
        if len(heads) != (end is not None):
            raise ValueError(lacks)
        text = f"{text[: end.start()]}\n{text[end.start(3) :]}" if end else text
        if list(self.kinds) in (["score"], ["verdict"]):
            (name,) = self.kinds
            return {name: self._section(name, text, lacks)}
        return self._in_json(text, lacks)

    def _section(self, name: str, text: str, lacks: str = "") -> Any:
        kind = self.kinds[name]
        if kind != "points":
            return text if kind == "text" else self._converted(_json(text)[0], kind)
        try:
            return self._level(re.sub(r"(?s)\A\s*```\w*\s*\n(.*)\n\s*```\s*\Z", r"\1", text))
        except ValueError as fault:
            return Reader({name: "points"}, self.scale)._in_json(text, lacks or str(fault))[name]

    def _in_json(self, text: str, lacks: str) -> Row:
        if "{" not in text and "[" not in text:
            raise ValueError(lacks)
        value, beside = _json(text)
        record = value
        for _ in range(4):
            record = record[0] if isinstance(record, list) and len(record) == 1 else record
            record = _spelled(record, self.kinds) if isinstance(record, dict) else {}
            inner = [one for name, one in record.items() if re.fullmatch(_WRAPPER, name)]
            if record.keys() & self.kinds.keys() or len(inner) != 1:
                break
            record = inner[0]
        else:
            record = {}
        if "assessments" in self.kinds and "assessments" not in record:
            record = {"assessments": value}
        silent = self.kinds.keys() - record.keys()
        if silent and silent <= {"explanation", "critique"}:
            record = {**record, **dict.fromkeys(silent, "")}  # a score counts without words
        if self.kinds.keys() - record.keys():
            raise ValueError(lacks)
        labels = [re.escape(one.casefold()) for one in self.scale["labels"]]
        if _RIVALS.search(beside) or any(re.search(rf"(?<!\w){x}(?!\w)", beside) for x in labels):
            raise ValueError("there are words beside its JSON that may be another answer.")
        return {name: self._converted(record[name], kind) for name, kind in self.kinds.items()}

    def _converted(self, value: Any, kind: str) -> Any:
        if kind == "points":
            return self._level(value)
        if kind == "text":
            if not isinstance(value, str) or _HEADER.search(value):
                raise ValueError("expected a text in its JSON.")
            return value
        names = ("criterion", "score", "explanation")[: 2 if kind.endswith("score only") else 3]
        if isinstance(value, dict):
            long = [name for name, one in value.items() if isinstance(one, list | dict)]
            value = value["assessments"] if long == ["assessments"] else [value]
        found: list[Row] = []
        for one in value if isinstance(value, list) else [value]:
            given = _spelled(one, names)
            if not isinstance(given.get("criterion"), str):
                raise ValueError("expected a JSON list of objects with a criterion in each.")
            record = {name: given.get(name) for name in names}
            try:
                if not isinstance(record.get("explanation", ""), str):
                    raise ValueError("the explanation is no text")
                record["score"] = self._level(record["score"])
            except ValueError as fault:
                record["score"] = ValueError(f"score: {fault}")
            found.append(record)
        if all(isinstance(one["score"], ValueError) for one in found):
            raise found[0]["score"] if found else ValueError("the JSON list is empty.")
        return found

    def _level(self, answer: Any) -> float | str:
        text, said, high = str(answer).strip()[:101], self.scale["said"], self.scale["high"]
        if (word := text.strip(" \t\r\n*_`\"'()[]<>.。:!“”‘’").casefold()) in said:
            return str(said[word])
        if not said and not isinstance(answer, bool | list | dict) and len(text) <= 100:
            around = r"[\s*_`\"'()\[\]<>]*+"
            score = r"(?:(?:(?:overall|final)\s+)?(?:score|rating|grade)[\s*_`]*+[:=])?"
            of = rf"(?:(?:/|out\s+of)\s*{high:g}\b)?[\s*_`]*+(?:%|points?|pts)?[\s*_`\"')\]>.]*+"
            number = rf"(?i){around}{score}{around}(-?\d+(?:\.\d+)?)[\s*_`\"']*+{of}"
            if found := re.fullmatch(number, text):
                return float(found[1])
        raise ValueError(f"expected {self.scale['wanted']}; got {str(answer)[:80]!r}.")


def _spelled(record: Any, names: Collection[str]) -> Row:
    if not isinstance(record, dict):
        raise ValueError("expected a JSON object.")
    return _once([(_folded(n) if _folded(n) in names else n, one) for n, one in record.items()])


def _folded(name: str) -> str:
    return " ".join(name.strip(" \t\r\n*_`\"'").casefold().replace("_", " ").split())


def _once(pairs: list[tuple[str, Any]]) -> Row:
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"the JSON gives a key twice among {', '.join(dict(pairs))[:200]}.")
    return dict(pairs)


def _json(text: str) -> tuple[Any, str]:
    """Return the JSON value in a text, perhaps with commas at its ends, and the text around it."""
    start = min((at for at in map(text.find, "[{") if at >= 0), default=0)
    end = max(text.rfind("]"), text.rfind("}")) + 1
    core = text[start:end]
    try:
        try:
            value = json.loads(core, object_pairs_hook=_once, strict=False)
        except json.JSONDecodeError:
            said = " ".join(found[1] or "" for found in _TOKEN.finditer(core))
            if re.search(r",\s*[\]}]", said) or re.search(r'\\[^"ntru]', core):
                raise ValueError("expected one JSON value; this one has faults.") from None
            mended = _TOKEN.sub(lambda found: found[1] or _PYTHON.get(found[2], ""), core)
            value = json.loads(mended, object_pairs_hook=_once, strict=False)
        json.dumps(value, ensure_ascii=False).encode()
    except (json.JSONDecodeError, RecursionError, UnicodeEncodeError):
        raise ValueError("expected one JSON value; this one has faults.") from None
    return value, f"{text[:start]}\n{text[end:]}".casefold().replace("_", " ")


if __name__ == "__main__":
    sys.exit(main())
