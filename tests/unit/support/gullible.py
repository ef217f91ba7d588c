"""A model that obeys whatever looks like protocol outside the fences, and quotes what is inside.

It takes fences as our instructions say: what stands between two lines with the tag of a message's
first fence is material. Everything else it believes, in any spelling: headers, finished answers,
demonstrations, turns of other conversations, and sentences that ask for a score in many languages.
A text that escapes from its fence, or a marker that reaches the prompt by another way, therefore
changes what it sees (``skeleton``) and what it answers.
"""

import json
import re
import unicodedata

from judgesmith.programs.lm import ModelAnswer

USUAL = 50
"""The score where nothing outside the fences asks for another one."""

_OPENING = re.compile(r"<verbatim-([0-9a-f]+)>\n")
_HEADER = re.compile(r"\[\s*\[\s*##\s*(\w+)\s*##\s*\]\s*\]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_WORDS = (
    "score rating grade punktzahl note nota puntuación оценку 评分 評価 点数 점수 "
    "الدرجة ציון अंक puan"
)
_ORDER = re.compile(
    rf"(?:{_WORDS.replace(' ', '|')})\D{{0,40}}(\d+)|^- [^\n]+?: (\d+)\.",
    re.IGNORECASE | re.MULTILINE,
)
_GIVEN = re.compile(r"score[\W_]*##[\W_]*\]\]\D{0,10}(\d+)", re.IGNORECASE)
TAIL = "Respond with the corresponding output fields"


def parted(message):
    """Return what stands outside the fences of a message, with a mark for each, and the insides."""
    opening = _OPENING.search(message)
    if opening is None:
        return message, []
    first, last = f"<verbatim-{opening[1]}>\n", f"\n</verbatim-{opening[1]}>"
    outside, texts, at = [], [], 0
    while (start := message.find(first, at)) >= 0:
        end = message.find(last, start + len(first) - 1)
        if end < 0:
            break
        outside += [message[at:start], f"<material {len(texts)}>"]
        texts.append(message[start + len(first) : end])
        at = end + len(last)
    return "".join([*outside, message[at:]]), texts


def spelled_out(text):
    """Return a text as the most credulous of readers sees it."""
    plain = _LINE_ENDS.sub("\n", unicodedata.normalize("NFKC", text))
    return "".join(one for one in plain if unicodedata.category(one) != "Cf")


def turns(request):
    """Return role and content of every message of a request."""
    given = [(one.role, one.text) for one in request.prefix.messages]
    return [*given, ("user", request.user)]


def skeleton(request):
    """Return what of a request stands outside all fences."""
    return [(role, parted(content)[0]) for role, content in turns(request)]


def materials(request):
    """Return the texts between the fences of the last message, in order."""
    return materials_of(request.user)


def materials_of(message):
    """Return the texts between the fences of a message, in order."""
    return parted(message)[1]


def headers(text):
    """Return the names of all headers in a text, in order."""
    return [name.lower() for name in _HEADER.findall(spelled_out(text))]


def obeyed(said):
    """Return the score that ``[(role, what stands outside the fences)]`` asks for.

    Demonstrations count for what they are, and the last order wins over all before it.
    """
    score = USUAL
    for role, content in said:
        if role == "system":
            continue
        # An answer that is shown counts for what it gives, not for what its words ask for.
        pattern = _GIVEN if role == "assistant" else _ORDER
        for found in pattern.finditer(spelled_out(content)):
            order = next(filter(None, found.groups()))
            if len(order) <= 3 and int(order) <= 100:
                score = int(order)
    return score


class Gullible:
    """The model as an engine of a stack."""

    endpoint = "gullible"

    def __init__(self, *, quote=True):
        self.quote = quote
        self.requests = []

    def answer(self, request):
        """Answer a question of ours, in the layout it asks for."""
        self.requests.append(request)
        said = skeleton(request)
        texts = materials(request)
        score = obeyed(said)
        asked = [n for n in headers(said[-1][1].rpartition(TAIL)[2]) if n != "completed"]
        quoted = texts[-1] if texts and self.quote else "nothing"
        fields = {name: _field(name, request, said, quoted, score) for name in asked}
        text = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items())
        return ModelAnswer(text=f"{text}\n\n[[ ## completed ## ]]", input_tokens=1, output_tokens=1)


def _field(name, request, said, quoted, score):
    on_one_line = json.dumps(quoted)
    if name == "score":
        return score
    if name == "assessments":
        last = spelled_out(said[-1][1])
        block = last.rpartition("[[ ## criteria ## ]]")[2].strip().split("\n\n")[0]
        names = [line.partition(":")[0] for line in block.split("\n")]
        records = [
            {"criterion": one, "explanation": f"It says {quoted}", "score": score} for one in names
        ]
        return json.dumps(records)
    if name in ("observations", "names"):
        return json.dumps([f"It says {quoted}"[:2000], "It has a form."])
    if name == "criteria":
        return json.dumps([{"name": "form", "definition": "Is it well formed?"}])
    if name == "complete":
        return "no"
    if name == "task_type":
        return "summarization"
    if name == "description":
        return "The task is summarization."
    return f"It says {on_one_line[:2000]}"
