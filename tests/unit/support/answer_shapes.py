"""The same answer in 150 shapes in which chat models write it, all of them with one JSON value.

``SHAPES`` are what stands around the value, and how it is written; ``shaped`` rewrites an answer
in the layout that is asked for. ``GARBAGE`` is what holds no answer. Nothing of the project is
imported, so that a server can use it.
"""

import json
import re
from itertools import product

HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\]$", re.MULTILINE)
END = "[[ ## completed ## ]]"

AROUND = {
    "bare": "{}",
    "fenced": "```json\n{}\n```",
    "fenced without a name": "```\n{}\n```",
    "prefix": "Sure, here is the JSON:\n\n{}",
    "prefix and fence": "Sure, here is the JSON:\n\n```json\n{}\n```",
    "on one line": "Here you go: {} Let me know if anything is unclear!",
    "suffix": "{}\n\nI hope this helps!",
    "fence and suffix": "```json\n{}\n```\n\nLet me know if you need more detail.",
    "prefix, fence and suffix": "Certainly! Below is my assessment.\n\n```json\n{}\n```\n\nBest!",
    "thought": '<think>\nIt is short. Perhaps {"score": 3}?\n</think>\n{}',
    "long prose": "I read the source, then the response.\n\n1. I compared [every] statement.\n"
    "2. I looked at the 3 sentences one by one.\n\nOn a scale of 0-100, this leads to:\n\n{}",
    "headings": "### Evaluation\n\n**Result**\n\n{}\n\n---\n",
    "marker": "{}\n\n" + END,
    "prefix and marker": "Here is my answer.\n\n```json\n{}\n```\n\n" + END,
    "another language": "Gerne, hier ist das Ergebnis:\n\n```json\n{}\n```\nViele Grüße",
}


def _plain(fields):
    return json.dumps(fields)


def _pretty(fields):
    return json.dumps(fields, indent=2, ensure_ascii=False)


def _reversed(fields):
    return json.dumps(dict(reversed(fields.items())))


def _capitals(fields):
    return json.dumps({name.capitalize(): value for name, value in fields.items()})


def _more(fields):
    return json.dumps({**fields, "confidence": "high"})


def _trailing_comma(fields):
    return json.dumps(fields, indent=1)[:-2] + ",\n}"


def _wrapped(fields):
    return json.dumps({"result": fields})


def _listed(fields):
    return json.dumps([fields])


def _in_words(fields):
    scores = {
        name: f"{value}" if isinstance(value, int | float) else value
        for name, value in fields.items()
    }
    return json.dumps(scores, indent=4)


def _python(fields):
    said = json.dumps(fields)
    return re.sub(r'"(yes|no)"', lambda found: str(found[1] == "yes"), said)


DIALECTS = {
    "plain": _plain,
    "indented": _pretty,
    "other order": _reversed,
    "capitals": _capitals,
    "more keys": _more,
    "trailing comma": _trailing_comma,
    "wrapped": _wrapped,
    "in a list": _listed,
    "numbers as texts": _in_words,
    "Python": _python,
}

SHAPES = {
    f"{dialect}, {around}": (text, write)
    for (around, text), (dialect, write) in product(AROUND.items(), DIALECTS.items())
}

GARBAGE = ("", "I'm sorry, I cannot judge this.", '{"', "Error 503", '{"score": ', "It depends.")


def fields_of(answer):
    """Return the fields of an answer in the layout that is asked for, as JSON has them."""
    parts = HEADER.split(answer)
    found = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        value = text.replace(END, "").strip()
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    found.pop("completed", None)
    return found


def shaped(answer, name):
    """Return an answer in another shape; as it is if it has no fields."""
    fields = fields_of(answer)
    text, write = SHAPES[name]
    return text.replace("{}", write(fields)) if fields else answer
