"""How a chat model answers the questions of judges and of task inference: politely and messily.

``reply`` is a function of the request alone, and of how often that was asked. It scores a response
that speaks of ``quality 73`` with 73, and with a little more or less on every criterion
(``points``), and writes the answer in one of the ways below (``HABITS``): the one that the response
names, as in ``(habit bold)`` or, for one question only, ``(habit overall=bold)``; else one that
follows from its text (``habit``). ``judgement_by_rule`` says what must become of all that. Nothing
of the project is imported, so that a server can use it.
"""

import hashlib
import json
import re

READ = ("plain", "bold", "labelled", "unit", "decimal", "wide digits", "as json", "fenced")
READ += ("chatter", "headings", "code", "late")
UNREAD = {
    "refusal": "the answer lacks the field",
    "empty": "the answer lacks the field",
    "two answers": "twice",
    "over": "outside 0..100",
    "under": "outside 0..100",
    "not applicable": "expected one number",
    "range": "expected one number",
    "cut": "could not be read",
    "cut number": "cut off at the model's limit",
    "echo": "twice",
}
"""Ways to write a score that nobody can read, and what the reason says."""

READ_ALL = ("plain", "bold", "decimal", "as json", "fenced", "chatter", "headings", "late")
READ_ALL += ("json fence", "trailing commas", "single quotes", "wrapped", "by name", "other case")
READ_ALL += ("extra criteria", "in words", "any order", "quotation")
GAPS = ("missing", "one twice", "one over", "one unread", "cut")
"""Ways to assess criteria that leave the last one without a score, or, cut, all but the first."""

UNREAD_ALL = ("refusal", "empty", "two answers", "two lists", "prose", "echo", "cut number")

HABITS = {
    "score": (*READ, *UNREAD),
    "assess": (*READ_ALL, *GAPS, *UNREAD_ALL),
    "observe": ("plain", "bullets", "json fence", "wrapped", "chatter", "single quotes"),
    "describe": ("plain", "chatter", "headings", "late"),
    "propose": ("plain", "json fence", "wrapped", "by name", "trailing commas", "late"),
    "check": ("plain", "chatter", "refusal"),
    "merge": ("plain", "chatter", "late"),
    "select": ("plain", "bullets", "other case", "json fence", "outside"),
}

SORRY = "I'm sorry, but I can't help with rating this text."
PROPOSED = {
    "Faithfulness": "Does every statement follow from the source?",
    "Coverage": "Are the main points of the source there?",
    "Fluency": "Is every sentence well formed?",
    "Brevity": "Is nothing said that is not needed?",
    "Word_Choice": "Are the words apt?",
}

_TAIL = "Respond with the corresponding output fields"
_HEADER = re.compile(r"\[\[ ## (\w+) ## \]\]")
_TAG = re.compile(r"\]\]\n<(verbatim-[0-9a-f]+)>\n")
_DIRECTIVE = re.compile(r"\(habit (?:(\w+)=)?([a-z ]+)\)")
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
_MARK = "[[ ## completed ## ]]"


def habit(kind, response, criterion=""):
    """Return how one question about a response is answered."""
    family = kind if kind in HABITS else "score"
    for only, name in _DIRECTIVE.findall(response):
        if only in ("", kind) and name in HABITS[family]:
            return name
    if _DIRECTIVE.search(response):
        return "plain"
    known = HABITS[family]
    return known[_number(f"{kind}|{criterion}|{response}") % len(known)]


def points(response, criterion="", name="plain"):
    """Return the score that is meant, on a criterion or on the whole."""
    said = re.search(r"quality (\d+)", response)
    base = int(said[1]) if said else 5 + _number(response) % 91
    if criterion:
        base += _number(criterion) % 9 - 4
    base = min(max(base, 0), 100)
    return base + (0.5 if base < 100 else -0.5) if name == "decimal" else base


def score_by_rule(kind, response, criterion=""):
    """Return the score that a question must give, how often it is asked, and why it gives none."""
    name = habit(kind, response, criterion)
    if name in UNREAD:
        return None, 2, UNREAD[name]
    return points(response, criterion, name), 1 + (name == "late"), ""


def criteria_by_rule(protocol, response):
    """Return what must be said of the criteria, and how often they are asked about."""
    names = protocol.rubric.names
    if protocol.criteria_calls == "separate":
        found = {name: score_by_rule("criterion", response, name) for name in names}
        scores = {name: score for name, (score, _, _) in found.items()}
        return scores, sum(n for _, n, _ in found.values())
    name = habit("assess", response)
    if name in UNREAD_ALL:
        return dict.fromkeys(names), 2
    scores = {one: points(response, one, name) for one in names}
    if name in GAPS:
        lost = names[1:] if name == "cut" else names[-1:]
        scores |= dict.fromkeys(lost)
    return scores, 1 + (name in (*GAPS, "late"))


def judgement_by_rule(protocol, response):
    """Return score, scores by criterion, number of questions, and a part of the reason."""
    if protocol.variant != "fine":
        kind = "grade" if protocol.variant == "vanilla" else "rate"
        score, n, why = score_by_rule(kind, response)
        return score, {}, n, why
    scores, n = criteria_by_rule(protocol, response)
    given = [one for one in scores.values() if one is not None]
    if not given:
        return None, {}, n, "the criteria have no scores"
    if protocol.overall == "mean":
        whole = len(given) == len(scores)
        mean = sum(given) / len(given) if whole else None
        return mean, scores, n, "" if whole else "the score is the mean of the criteria"
    score, n_overall, why = score_by_rule("overall", response)
    return score, scores, n + n_overall, why


def reply(body, turn=1):
    """Return the answer to a request that came for the ``turn``-th time, and why it ended."""
    message = body["messages"][-1]["content"]
    if not isinstance(message, str):
        message = "".join(part.get("text", "") for part in message)
    asked, _, tail = message.rpartition(_TAIL)
    outputs = [name for name in dict.fromkeys(_HEADER.findall(tail)) if name != "completed"]
    kind, criteria = _kind(asked, outputs)
    response = _response(asked)
    criterion = criteria[0] if kind.startswith("assess_") else ""
    name = habit("criterion" if criterion else kind, response or asked, criterion)
    if name == "late":
        name = "refusal" if turn == 1 else "plain"
    if kind == "assess":
        return _assessed(response, criteria, name)
    if "score" in outputs:
        return _scored(response, criterion, name, outputs)
    return _inferred(kind, asked, name)


def _kind(asked, outputs):
    """Return which question it is, and the criteria in it."""
    lines = re.search(r"\[\[ ## criteria ## \]\]\n(.*?)\n\n\[\[", asked, re.DOTALL)
    criteria = [line.partition(":")[0] for line in lines[1].split("\n")] if lines else []
    single = re.match(r".*?\[\[ ## criterion ## \]\]\n([^\n]*?):", asked, re.DOTALL)
    for kind, field in (
        ("assess", "assessments"),
        ("observe", "observations"),
        ("describe", "task_type"),
        ("propose", "criteria"),
        ("check", "missing"),
        ("select", "names"),
    ):
        if field in outputs:
            return kind, criteria
    if "score" not in outputs:
        return "merge", []
    before = asked.partition("[[ ## source ## ]]")[0]
    if single and "[[ ## criterion ## ]]" in before:
        return "assess_", [single[1]]
    if criteria:
        return "rate", criteria
    return ("overall" if "[[ ## assessments ## ]]\n<verbatim" in asked else "grade"), []


def _response(asked):
    tag = _TAG.search(asked)
    if tag is None:
        return ""
    opening = f"[[ ## response ## ]]\n<{tag[1]}>\n"
    return asked.rpartition(opening)[2].partition(f"\n</{tag[1]}>")[0]


def _number(text):
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


def _sections(fields, header="[[ ## {} ## ]]", end=_MARK):
    parts = [f"{header.format(name)}\n{value}" for name, value in fields.items()]
    return "\n\n".join([*parts, end])


def _scored(response, criterion, name, outputs):
    meant = points(response, criterion, name)
    why = f"It reads like {meant} to me.\nThe end is abrupt, though."
    said = {
        "bold": f"**{meant}/100**",
        "labelled": f"**Score:** {meant} out of 100",
        "unit": f"{meant} points.",
        "wide digits": str(meant).translate(_WIDE),
        "over": "120",
        "under": "-5",
        "not applicable": "N/A",
        "range": "80-90",
        "code": f"`{meant}`",
        "cut number": "8",
    }.get(name, str(meant))
    everything = {"explanation": why, "score": said}
    fields = {field: everything[field] for field in outputs}
    match name:
        case "refusal":
            return SORRY, "stop"
        case "empty":
            return "", "stop"
        case "cut":
            return f"[[ ## {outputs[0]} ## ]]\nThe response"[: 18 + len(outputs[0])], "length"
        case "cut number":
            rest = {field: fields[field] for field in outputs if field != "score"}
            return _sections({**rest, "score": "8"}, end="").rstrip(), "length"
        case "two answers":
            return _sections(fields) + "\n\nAlternatively:\n\n" + _sections(fields), "stop"
        case "echo":
            quoted = f"It claims:\n[[ ## score ## ]]\n100\n\n{_MARK}\n\nI disagree."
            return quoted + "\n\n" + _sections(fields), "stop"
        case "as json":
            plain = {**fields, "score": meant}
            return f"```json\n{json.dumps(plain, indent=2)}\n```", "stop"
        case "fenced":
            return f"```\n{_sections(fields)}\n```", "stop"
        case "chatter":
            text = f"Sure! Here is my verdict.\n\n{_sections(fields)}\n\nAnything else?"
            return text, "stop"
        case "headings":
            return _sections(fields, header="### **[[ ## {} ## ]]**"), "stop"
    return _sections(fields), "stop"


def _assessed(response, criteria, name):
    records = [
        {
            "criterion": one,
            "explanation": f'On {one}, it\'s "fine": [good], {{mostly}}.',
            "score": points(response, one, name),
        }
        for one in criteria
    ]
    last = records[-1]
    match name:
        case "refusal":
            return SORRY, "stop"
        case "empty":
            return "", "stop"
        case "bold":
            for one in records:
                one |= {"criterion": f"**{one['criterion']}**", "score": f"**{one['score']}/100**"}
        case "in words":
            for one in records:
                one["score"] = f"Score: {one['score']} out of 100"
        case "other case":
            for one in records:
                one["criterion"] = one["criterion"].upper().replace(" ", "_")
        case "extra criteria":
            records.insert(0, {"criterion": "Tone", "explanation": "Kind.", "score": "N/A"})
            records.append({"criterion": "Overall", "explanation": "Well.", "score": 999})
        case "any order":
            records.reverse()
        case "quotation":
            last["explanation"] = "It says [[ ## assessments ## ]] [] and <verbatim-0>."
        case "missing":
            records.pop()
        case "one twice":
            records.append({**last, "score": 5})
        case "one over":
            last["score"] = 120
        case "one unread":
            last["score"] = "N/A"
    plain = json.dumps(records, indent=1, ensure_ascii=False)
    texts = {
        "json fence": f"Here you are, as [asked]:\n```json\n{plain}\n```\nHope this helps [you]!",
        "trailing commas": plain.replace("\n }", ",\n }").replace("}\n]", "},\n]"),
        "single quotes": _single_quoted(records),
        "wrapped": json.dumps({"assessments": records}),
        "by name": json.dumps(
            {one["criterion"]: {k: one[k] for k in ("score", "explanation")} for one in records}
        ),
        "prose": "Both are fine: I would say [85] and {90}, perhaps.",
        "two lists": f"{plain}\n\nOr, more strictly:\n\n{plain}",
        "cut": f"{json.dumps(records[:1])[:-1]}, {json.dumps(records[-1])[:-20]}",
        "cut number": json.dumps(records)[: json.dumps(records).index('"score"') + 10],
        "echo": f'[{{"explanation": "It says:\n[[ ## assessments ## ]]\n{plain}"}}]',
    }
    sections = _sections({"assessments": texts.get(name, plain)})
    match name:
        case "as json":
            return f"```json\n{json.dumps({'assessments': records})}\n```", "stop"
        case "fenced":
            return f"```\n{sections}\n```", "stop"
        case "chatter":
            return f"Of course.\n\n{sections}\n\nLet me know!", "stop"
        case "headings":
            header = "**[[ ## {} ## ]]**"
            return _sections({"assessments": plain}, header=header), "stop"
        case "two answers":
            return f"{sections}\n\nOn second thoughts:\n\n{sections}", "stop"
        case "cut" | "cut number":
            return sections.removesuffix(_MARK).rstrip(), "length"
    return sections, "stop"


def _single_quoted(records):
    parts = [
        f"{{'criterion': '{one['criterion']}', 'explanation': 'fine', 'score': {one['score']}}}"
        for one in records
    ]
    return f"[{', '.join(parts)}]"


def _inferred(kind, asked, name):
    if name == "refusal":
        return SORRY, "stop"
    n_seen = asked.count('"score": ')
    task = "The task is summarization, which means evaluating summaries made from articles."
    listed = {
        "observe": [f"{n_seen} texts are shown.", f"Texts differ in length ({_number(asked)})."],
        "select": ["Fluency", "Faithfulness", "Coverage", "Word_Choice"],
    }.get(kind, [{"name": one, "definition": text} for one, text in PROPOSED.items()])
    if name == "other case":
        listed = [one.upper().replace("_", " ") for one in listed]
    if name == "outside":
        listed.insert(1, "Nobody Proposed This")
    plain = json.dumps(listed)
    texts = {
        "bullets": "\n".join(f"- {one}" for one in listed),
        "json fence": f"```json\n{plain}\n```",
        "wrapped": json.dumps({_FIELDS.get(kind, ""): listed}),
        "by name": json.dumps(PROPOSED),
        "trailing commas": plain[:-1] + ",]",
        "single quotes": "[" + ", ".join(f"'{one}'" for one in listed) + "]",
    }
    value = texts.get(name, plain)
    fields = {
        "observe": {"observations": value, "complete": "**No**, not yet."},
        "describe": {
            "task_type": "**Summarization**",
            "evaluated": "summaries",
            "relationship": "A response shortens its source.",
            "description": task,
        },
        "propose": {"criteria": value},
        "check": {"missing": "Nothing.", "complete": "No" if "in 1 batches" in asked else "Yes."},
        "merge": {"description": task},
        "select": {"names": value},
    }[kind]
    text = _sections(fields)
    if name == "headings":
        text = _sections(fields, header="### [[ ## {} ## ]]")
    return (f"Certainly!\n\n{text}\n\nGlad to help." if name == "chatter" else text), "stop"


_FIELDS = {"observe": "observations", "propose": "criteria", "select": "names"}
