"""Which type of task texts belong to, and in which language, seen from their form alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgesmith.programs.features import lexical_features
from judgesmith.programs.features.words import CASELESS_NOTE, CHARACTER_NOTE, Text
from judgesmith.programs.offline.task_types import UNKNOWN

# Words that hardly a sentence of the language does without, and that the others do not have.
_COMMON = {
    "English": "the of and to is was that it with for are this by from have be which not you",
    "German": "der das und ist nicht ein eine zu den mit sich auf für dem auch wir ich sie wird",
    "French": "le les des et est une dans pour pas qui sur au ce avec sont vous nous il du",
    "Spanish": "el los las y es una por con del para se su como más pero al fue muy está",
    "Italian": "il di che è un per non sono della con si ma gli alla nel più anche una questo",
    "Portuguese": "o os do da em um uma não com para que se por mais na no foi são ao",
    "Dutch": "het een en van dat niet zijn op te voor met aan er ook maar wordt deze werd naar",
}
_LISTS = {name: frozenset(words.split()) for name, words in _COMMON.items()}
_READ_WORDS = 4000
_FEW = 0.08  # of running text, a quarter to a half are such words; names and lists have fewer

# A request opens with what is to be done. Imperatives that seldom open a plain sentence.
_REQUEST = re.compile(
    r"""\s*(?:please\s+|kindly\s+)?(?:
        write|rewrite|rephrase|give|explain|describe|identify|generate|list|create|summari[sz]e
        |translate|classify|suggest|compare|convert|provide|compose|answer|name|tell|determine
        |categori[sz]e|edit|construct|design|make|find|calculate|compute|propose|outline|choose
        |select|come\s+up|add|complete|what|which|who|when|where|why|how|can\s+you|could\s+you
        |given|you\s+(?:are|will)\s+(?:be\s+)?given|in\s+this\s+task|your\s+task)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_LAST = re.compile(r"[?？]\W*$")
_VERDICT = frozenset(
    {"entailment", "contradiction", "neutral", "entailed", "contradicted", "yes", "no", "true"}
    | {"false", "unknown", "maybe", "not entailment"}
)
_IMAGE = re.compile(r"\s*\S+\.(?:jpe?g|png|gif|webp|bmp)\s*", re.IGNORECASE)
_ALIKE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One rated example as a question shows it."""

    source: str
    context: str | None
    response: str
    score: float


def shown_examples(records: Sequence[Any]) -> list[Shown]:
    """Return the records that are rated examples; others are passed over."""
    found = []
    for one in records:
        if not isinstance(one, Mapping):
            continue
        source, context = one.get("source", ""), one.get("context")
        response, score = one.get("response"), one.get("score")
        if not (isinstance(source, str) and isinstance(response, str)):
            continue
        if isinstance(score, bool) or not isinstance(score, int | float):
            continue
        context = context if isinstance(context, str) else None
        found.append(Shown(source=source, context=context, response=response, score=float(score)))
    return found


def language_of(texts: Sequence[str]) -> str:
    """Return the language that texts are written in, or nothing where that cannot be told.

    Examples
    --------
    >>> language_of(["Das ist nicht der Weg, den wir gehen."]), language_of(["1 2 3"])
    ('German', '')
    """
    words = Text("\n".join(text[:_READ_WORDS] for text in texts)).words[:_READ_WORDS]
    if not words:
        return ""
    counts = {name: sum(word in known for word in words) for name, known in _LISTS.items()}
    best, second = sorted(counts.values(), reverse=True)[:2]
    if best < 3 or best < _FEW * len(words) or 2 * best < 3 * second:
        return ""
    return max(counts, key=counts.__getitem__)


def types_of(examples: Sequence[Shown]) -> list[str]:
    """Return the type of task that each example has the form of.

    Languages are told from all examples together, because one sentence has few common words.
    """
    languages = [
        language_of([one.source for one in examples]),
        language_of([one.response for one in examples]),
    ]
    abroad = all(languages) and languages[0] != languages[1]
    return [_type_of(one, abroad=abroad) for one in examples]


def _type_of(one: Shown, *, abroad: bool) -> str:
    features = lexical_features(one.source, one.context, one.response)
    if features.form == "data":
        return "data-to-text"
    if _IMAGE.fullmatch(one.source):
        return "image description"
    if one.source.strip() and one.response.strip(" .!\n").casefold() in _VERDICT:
        return "textual entailment"
    if abroad or Text(one.source).script != Text(one.response).script:
        return "translation"
    if features.form == "dialogue":
        return "dialogue"
    if features.form == "collection":
        return "summarization"
    if _REQUEST.match(one.source) or _ASKS_LAST.search(one.source):
        return "question answering"
    if features.form == "rewriting":
        return _rewriting(features)
    names = {
        "summary": "summarization",
        "continuation": "story generation",
        "translation": "translation",
    }
    return names.get(features.form, UNKNOWN)


def _rewriting(features: Any) -> str:
    """Return simplification where the new wording is shorter, plainer, or more cut up."""
    if features["similarity"] > _ALIKE:
        return "simplification"  # who is asked for other words does not return the same ones
    plainer = features["ease_gain"] > 0.02
    shorter = features["ratio"] < -0.1
    return "simplification" if plainer or shorter else "paraphrase"


def limits_of(texts: Sequence[str]) -> list[str]:
    """Return what the offline model does not see in these texts, in sentences.

    Parameters
    ----------
    texts : sequence of str
        Responses, or sources and responses.

    Examples
    --------
    >>> limits_of(["The bridge is closed, and the road to it was not mended."])
    []
    >>> limits_of(["橋は閉鎖された。"])
    ['1 of 1 texts are written without spaces: characters are read in place of words.']
    """
    read = [Text(text) for text in texts if text.strip()]
    found = []
    for note in (CHARACTER_NOTE, CASELESS_NOTE):
        n = sum(one.script == note for one in read)
        if n:
            verb = "are written" if note == CHARACTER_NOTE else "are in"
            found.append(f"{n} of {len(read)} texts {verb} {note.removeprefix('written ')}.")
    language = language_of(texts)
    if language not in ("", "English") and not found:
        found.append(
            f"the texts look {language}: words are counted as in any language with spaces, but "
            "of faults of grammar only few are known beyond English, and requests are "
            "recognised in English alone."
        )
    return found
