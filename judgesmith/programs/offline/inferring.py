"""Offline answers of task inference: observations, criteria, and completeness."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import numpy as np

from judgesmith.programs.features import CONTEXT_FEATURES, lexical_features
from judgesmith.programs.features.qualities import FACETS, quality_of
from judgesmith.programs.features.texts import CASELESS_NOTE, CHARACTER_NOTE, TextCache
from judgesmith.programs.lm.records import Prefix
from judgesmith.programs.offline.prior import facet_values
from judgesmith.programs.offline.requests import (
    Answer,
    Fields,
    Question,
    UnreadableRequest,
    answers_signature,
)


@dataclass(frozen=True, slots=True)
class TaskType:
    """One type of task."""

    name: str
    source: str
    response: str
    evaluated: str
    relationship: str
    aspects: tuple[str, ...]


ASPECTS: Mapping[str, str] = {
    "accuracy": "Are the names, numbers and other particulars in the {response} right?",
    "additions": "Is the {response} free of statements that the {source} gives no ground for?",
    "adequacy": "Does the {response} carry over the whole meaning of the {source}?",
    "clarity": "Can a reader understand the {response} at the first reading?",
    "coherence": "Do the sentences of the {response} follow from each other as one ordered whole?",
    "completeness": "Does the {response} leave out nothing that a reader would miss?",
    "conciseness": "Does the {response} say what it says in few words, and nothing twice?",
    "consistency": "Does the {response} agree with itself from beginning to end?",
    "context use": "Does the {response} take up what was said before, and the last turn most?",
    "coverage": "Are all the values and relations of the {source} stated in the {response}?",
    "creativity": "Does the {response} bring events or ideas that are its own?",
    "engagingness": "Does the {response} say something particular that invites an answer?",
    "faithfulness": "Is everything that the {response} states supported by the {source}?",
    "fluency": "Is the {response} correct and natural language, without faults of grammar?",
    "groundedness": "Does the {response} use the material it was given, and use it rightly?",
    "helpfulness": "Is the {response} of use to the person who wrote the {source}?",
    "instruction following": "Does the {response} do what the {source} asks for, in its form?",
    "logic": "Does what happens in the {response} follow from what happened before?",
    "meaning preservation": "Does the {response} mean the same as the {source}?",
    "naturalness": "Would a person have written the {response} this way?",
    "readability": "Is the {response} easy to read, in sentences of a fitting length?",
    "relevance": "Does the {response} keep to what matters in the {source}?",
    "rewording": "Does the {response} find words of its own instead of copying the {source}?",
    "sentence structure": "Are the sentences of the {response} complete, in order and linked?",
    "simplicity": "Is the {response} plainer than the {source}, in its words and its sentences?",
    "specificity": "Does the {response} name particulars rather than what fits any {source}?",
    "style": "Do tone and register of the {response} fit the {source} and its readers?",
    "terminology": "Are names and terms of the {source} rendered rightly and always alike?",
    "understandability": "Does the {response} make sense by itself and where it stands?",
}
"""What each quality asks, by name; ``{source}`` and ``{response}`` are the task's own words."""

TASK_TYPES: Mapping[str, TaskType] = {
    name: TaskType(name, source, response, evaluated, relationship, tuple(aspects.split(", ")))
    for name, source, response, evaluated, relationship, aspects in (
        (
            *("summarization", "source text", "summary"),
            "how well a shorter text gives what a longer one says",
            "is a shorter text that is to give the main content of a longer one",
            "relevance, faithfulness, coherence, fluency, completeness, "
            "conciseness, clarity, specificity, consistency, accuracy",
        ),
        (
            *("dialogue", "conversation", "reply"),
            "how well a turn continues a conversation",
            "is the next turn of a conversation, and may draw on further material",
            "context use, engagingness, naturalness, groundedness, coherence, "
            "understandability, fluency, specificity, relevance, consistency",
        ),
        (
            *("data-to-text", "data", "text"),
            "how well sentences put given data into words",
            "puts given data, such as slots or triples, into words",
            "coverage, faithfulness, fluency, naturalness, accuracy, "
            "additions, sentence structure, relevance, clarity, conciseness",
        ),
        (
            *("simplification", "original", "simplified text"),
            "how well a text is rewritten to be easier",
            "is a rewritten version that is to say the same in easier language",
            "meaning preservation, simplicity, fluency, readability, clarity, "
            "faithfulness, completeness, sentence structure, conciseness, coherence",
        ),
        (
            *("paraphrase", "original", "rewording"),
            "how well a text is said again in other words",
            "is a rewritten version that is to say the same in other words",
            "meaning preservation, fluency, rewording, naturalness, clarity, "
            "faithfulness, completeness, style, conciseness, coherence",
        ),
        (
            *("story generation", "beginning", "story"),
            "how well a story goes on from its beginning",
            "is a story that goes on from the beginning it was given",
            "coherence, logic, relevance, fluency, consistency, "
            "engagingness, creativity, naturalness, specificity, clarity",
        ),
        (
            *("translation", "original", "translation"),
            "how well a text is rendered in another language",
            "is to say in another language what the source says",
            "adequacy, fluency, accuracy, terminology, additions, "
            "completeness, style, sentence structure, naturalness, clarity",
        ),
        (
            *("question answering", "request", "answer"),
            "how well a question is answered or an instruction carried out",
            "answers a question or carries out an instruction",
            "instruction following, accuracy, helpfulness, relevance, completeness, "
            "clarity, coherence, fluency, specificity, conciseness",
        ),
        (
            *("textual entailment", "pair of texts", "verdict"),
            "whether the relation between two texts is named rightly",
            "names how two statements relate, in one word or two",
            "accuracy, logic, consistency, relevance, clarity, "
            "instruction following, faithfulness, completeness, specificity, style",
        ),
        (
            *("image description", "image", "description"),
            "how well words describe an image",
            "describes an image that the source only names",
            "accuracy, completeness, fluency, specificity, relevance, "
            "additions, clarity, naturalness, conciseness, coherence",
        ),
        (
            *("text generation", "source", "response"),
            "how well a text answers what it was written for",
            "was written for the source, in a way that its form does not tell",
            "relevance, fluency, coherence, faithfulness, clarity, "
            "specificity, completeness, naturalness, consistency, conciseness",
        ),
    )
}
"""The types by name; the last is what is said where the form of the texts decides nothing."""

UNKNOWN = "text generation"


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
_CACHE = TextCache(max_characters=1_000_000)  # each batch reads what the ones before it read
_FEW = 0.08  # of running text, a quarter to a half are such words; names and lists have fewer
_RARE = 0.03  # of responses known to be English, a sixth or more are its common words
_MANY = 100
_A_SHARE = 0.05
_NEARLY = 0.9
_LETTERS = 500

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
    """One rated example from a prompt."""

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


def language_of_texts(texts: Sequence[str]) -> str:
    """Return the language of texts; an empty text if it is unclear."""
    words = _CACHE.read("\n".join(text[:_READ_WORDS] for text in texts)).words[:_READ_WORDS]
    if not words:
        return ""
    read = Counter(words)
    counts = {
        name: sum(read[word] for word in known & read.keys()) for name, known in _LISTS.items()
    }
    best, second = sorted(counts.values(), reverse=True)[:2]
    if best < 3 or best < _FEW * len(words) or 2 * best < 3 * second:
        return ""
    return max(counts, key=counts.__getitem__)


def _languages(examples: Sequence[Shown]) -> list[str]:
    """Return the languages of sources and responses where they are known to differ."""
    one = language_of_texts([shown.source for shown in examples])
    other = language_of_texts([shown.response for shown in examples])
    return [one, other] if one and other and one != other else []


def types_of(examples: Sequence[Shown]) -> list[str]:
    abroad = len(_languages(examples)) > 1
    return [_type_of(one, abroad=abroad) for one in examples]


def _type_of(one: Shown, *, abroad: bool) -> str:
    features = lexical_features(one.source, one.context, one.response)
    if features.form == "data":
        return "data-to-text"
    if _IMAGE.fullmatch(one.source):
        return "image description"
    if one.source.strip() and one.response.strip(" .!\n").casefold() in _VERDICT:
        return "textual entailment"
    if abroad or _CACHE.read(one.source).script != _CACHE.read(one.response).script:
        return "translation"
    if features.form == "dialogue":
        return "dialogue"
    if features.form == "collection":
        return "summarization"
    if _REQUEST.match(one.source) or _ASKS_LAST.search(one.source):
        return "question answering"
    if features.form == "rewriting":
        # A simplification of several sentences keeps more than half of their words.
        is_cut = features["ratio"] < _HALF and len(_CACHE.read(one.source).sentences) > 2
        return "summarization" if is_cut else _rewriting(features)
    names = {"summary": "summarization", "continuation": "story generation"}
    return "translation" if features.form == "translation" else names.get(features.form, UNKNOWN)


_HALF = math.log(0.5)


def _rewriting(features: Any) -> str:
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
        Responses, or sources and responses. Of each the beginning is read.

    Examples
    --------
    >>> limits_of(["The bridge is closed, and the road to it was not mended."])
    []
    >>> limits_of(["橋は閉鎖された。"])[0].partition(":")[0]
    'the texts are written without spaces'
    """
    read = [_CACHE.read(text[:_READ_WORDS]) for text in texts if text.strip()]
    found = []
    for note in (CHARACTER_NOTE, CASELESS_NOTE):
        n = sum(one.script == note for one in read)
        if n:
            where = note if note == CHARACTER_NOTE else f"in {note}"
            found.append(
                f"{_texts(n, len(read), 'are', 'is')} {where}, and faults of grammar are not known."
            )
    spaced = [one.text for one in read if one.words and not one.script]
    n, looks = _looks(spaced)
    if n:
        found.append(
            f"{_texts(n, len(read), *looks)}: words are counted as in any language with spaces, "
            "but of faults of grammar only few are known beyond English, and requests are "
            "recognised in English alone."
        )
    return found


def limits_between(sources: Sequence[str], responses: Sequence[str]) -> list[str]:
    """Return what is not seen because responses are in another language than their sources."""
    own, other = (_mostly(texts) for texts in (sources, responses))
    languages = [language_of_texts(texts) for texts in (sources, responses)]
    missed = "what is kept, lost or added between them is seen by"
    if own is not None and other is not None and own != other:
        return [
            "sources and responses are in different scripts, so that they share no words: "
            f"{missed} numbers alone."
        ]
    if all(languages) and languages[0] != languages[1]:
        return [
            f"the sources look {languages[0]} and the responses {languages[1]}, so that they share "
            f"few words: {missed} numbers and names alone."
        ]
    return []


def _texts(n: int, n_all: int, several: str, one: str) -> str:
    if n == n_all:
        return f"the texts {several}"
    return f"{n} of {n_all} texts {one if n == 1 else several}"


def _looks(texts: Sequence[str]) -> tuple[int, tuple[str, str]]:
    """Return how many texts in scripts with spaces and capitals look not English, and how."""
    few = min(max(2, _A_SHARE * len(texts)), len(texts))
    alphabets = Counter(filter(None, map(_alphabet, texts)))
    if alphabets and alphabets.total() >= few:
        names = f"in {_or(alphabets, 'other')} letters"
        return alphabets.total(), (f"are {names}", f"is {names}")
    each = Counter(language_of_texts([one]) for one in texts)
    n_english, n_untold = each.pop("English", 0), each.pop("", 0)
    whole = language_of_texts(texts)
    if whole not in ("", "English") and not n_english and each[whole] >= _NEARLY * each.total():
        return len(texts), (f"look {whole}", f"looks {whole}")
    if each and each.total() >= few:
        names = _or(each, "another language")
        return each.total(), (f"look {names}", f"looks {names}")
    if not whole and n_untold == len(texts) and _no_english(texts):
        look = "not look like English sentences"
        return len(texts), (f"do {look}", f"does {look}")
    return 0, ("", "")


def _or(names: Counter[str], others: str) -> str:
    """Return the most frequent names, as in "French or German"; three at most."""
    most = [name for name, _ in names.most_common(3)]
    return " or ".join([*most, *([others] if len(names) > len(most) else [])])


def _no_english(texts: Sequence[str]) -> bool:
    words = _CACHE.read("\n".join(texts)).words[:_READ_WORDS]
    return len(words) >= _MANY and sum(w in _LISTS["English"] for w in words) < _RARE * len(words)


def _alphabet(text: str) -> str:
    """Return the alphabet of most letters, as in Cyrillic; nothing for Latin ones and none."""
    names: Counter[str] = Counter()
    for letter, n in Counter(text[:_LETTERS]).items():
        if letter.isalpha():
            names[unicodedata.name(letter, " ").split(" ")[0]] += n
    most = max(names, key=names.__getitem__, default="LATIN")
    return "" if most == "LATIN" else most.title()


def _mostly(texts: Sequence[str]) -> str | None:
    read = [_CACHE.read(text[:_READ_WORDS]) for text in texts]
    found = Counter(x.script or _alphabet(x.text) for x in read if any(map(str.isalpha, x.words)))
    return max(found, key=found.__getitem__, default=None)


_FORM = re.compile(
    r"In (\d+) of (\d+) examples so far the texts have the form of ([\w-]+(?: \w+)?) \("
)
_WENT = re.compile(r"With the scores of these (\d+) examples went ([^;]+);")
_PAIR = re.compile(r"(\w+) ([+-]\d\.\d\d)")

# What more of a feature is, in words; only what can be said in a few.
_MORE = {
    "ratio": "more words for the length of the source",
    "coverage": "more copied in runs",
    "new_bigrams": "more wording of their own",
    "recall_content": "more of the source's content words",
    "known_content": "a larger share of content words from the source",
    "unknown_names": "more names that the material lacks",
    "unknown_numbers": "more numbers that the material lacks",
    "repeated_bigrams": "more repetition",
    "sentence_words": "longer sentences",
    "ease": "easier words and sentences",
    "broken_pairs": "more neighbouring words that grammar keeps apart",
    "unfinished": "no proper end",
    "slots_covered": "more of the given values",
    "context_words": "more words of the further material",
    "last_turn": "more words of the last turn",
    "lower_start": "more sentences that begin without a capital",
}
_TELLING = 0.4  # a correlation worth a sentence over a handful of rows
_STRONG = 0.5
_KNOWN = 0.25
_N_TELLING = 2


@answers_signature(inputs="examples", outputs="observations complete", optional="earlier")
def _observe(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    examples = shown_examples(json_list(fields["examples"], "examples"))
    if not examples:
        raise UnreadableRequest("the field examples has no rated example.")
    types = Counter(types_of(examples))
    went = _correlations(examples)
    earlier = fields.get("earlier") or ""
    complete = bool(earlier) and _adds_nothing(types, went, earlier)
    found = [] if complete else _sentences(examples, types, went, earlier)
    return {
        "observations": [json.dumps(found, ensure_ascii=False)],
        "complete": ["yes" if complete else "no"],
    }


def _sentences(
    examples: Sequence[Shown], types: Counter[str], went: Mapping[str, float], earlier: str
) -> list[str]:
    n = len(examples)
    # Counted over all examples so far: an observation is new only if its words are.
    known, n_known = votes_in(earlier)
    votes = known + types
    sentences = [
        f"In {count} of {n_known + n} examples so far the texts have the form of {name} "
        f"({with_article(TASK_TYPES[name].response)} for {with_article(TASK_TYPES[name].source)})."
        for name, count in votes.most_common()
        if name in types
    ]
    sources = [len(one.source.split()) for one in examples]
    responses = [len(one.response.split()) for one in examples]
    sentences.append(
        f"Half of the sources have {median(sources):.0f} words or more, half of the responses "
        f"{median(responses):.0f}."
    )
    n_context = sum(one.context is not None for one in examples)
    if n_context:
        sentences.append(f"Further material stands beside the source in {n_context} of {n}.")
    if len(languages := _languages(examples)) > 1:
        sentences.append(f"The sources look {languages[0]}, the responses {languages[1]}.")
    scores = [one.score for one in examples]
    sentences.append(
        f"Scores run from {min(scores):.0f} to {max(scores):.0f} of 100, {fmean(scores):.0f} in "
        "the mean."
    )
    if went:
        pairs = ", ".join(f"{facet} {r:+.2f}" for facet, r in went.items())
        sentences.append(
            f"With the scores of these {n} examples went {pairs}; correlations over so few rows "
            "are hints."
        )
    else:
        sentences.append(f"With the scores of these {n} examples nothing countable went.")
    sentences += _telling(examples)
    sentences += [
        f"A limit of the offline model is that {limit}"
        for limit in limits_of([one.response for one in examples])
    ]
    return sentences


def _correlations(examples: Sequence[Shown]) -> dict[str, float]:
    """Return how each facet of quality went with the scores; undefined ones are left out."""
    values = np.array(
        [facet_values(lexical_features(one.source, one.context, one.response)) for one in examples]
    )
    scores = np.array([one.score for one in examples])
    columns = zip(FACETS, values.T, strict=True)
    found = {facet: _correlation(column, scores) for facet, column in columns}
    return {facet: round(r, 2) for facet, r in found.items() if r is not None}


def _telling(examples: Sequence[Shown]) -> list[str]:
    """Return the features that went most clearly with the scores, in sentences."""
    vectors = [lexical_features(one.source, one.context, one.response) for one in examples]
    scores = np.array([one.score for one in examples])
    found = []
    for name, words in _MORE.items():
        told = [one.with_context or name not in CONTEXT_FEATURES for one in vectors]
        r = _correlation(np.array([one[name] for one in vectors])[told], scores[told])
        if r is not None and abs(r) >= _TELLING:
            found.append((abs(r), r, words, sum(told)))
    found.sort(key=lambda one: -one[0])
    return [
        f"Responses with {words} score {'higher' if r > 0 else 'lower'} here "
        f"(r = {r:+.2f} over {n} examples)."
        for _, r, words, n in found[:_N_TELLING]
    ]


def _correlation(values: np.ndarray, scores: np.ndarray) -> float | None:
    """Return Pearson's correlation; None where one side is constant or there are under 3 rows."""
    if len(scores) < 3:
        return None
    x, y = values - values.mean(), scores - scores.mean()
    norm = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / norm if norm > 1e-9 else None


def _adds_nothing(types: Counter[str], went: Mapping[str, float], earlier: str) -> bool:
    """Say whether a batch shows the known type, and no strong tie that is not yet known."""
    votes, _ = votes_in(earlier)
    if not votes or votes.most_common(1)[0][0] != types.most_common(1)[0][0]:
        return False
    known, _ = pooled(earlier)
    return all(
        known.get(facet, 0.0) * np.sign(r) >= _KNOWN
        for facet, r in went.items()
        if abs(r) >= _STRONG
    )


def votes_in(observations: str) -> tuple[Counter[str], int]:
    """Return how many examples had the form of each type, by first appearance; and of how many."""
    votes: Counter[str] = Counter()
    n_all = 0
    for count, n, name in _FORM.findall(observations):
        n_all = max(n_all, int(n))
        if name in TASK_TYPES:
            votes[name] = max(votes[name], int(count))
    return votes, n_all


def pooled(observations: str) -> tuple[dict[str, float], int]:
    """Return the mean correlation of each facet over batches, weighted by rows; and all rows."""
    sums: dict[str, float] = {}
    rows: Counter[str] = Counter()
    n_all = 0
    for count, pairs in _WENT.findall(observations):
        n_all += int(count)
        for facet, r in _PAIR.findall(pairs):
            sums[facet] = sums.get(facet, 0.0) + float(r) * int(count)
            rows[facet] += int(count)
    return {facet: sums[facet] / rows[facet] for facet in rows if rows[facet]}, n_all


def with_article(noun: str) -> str:
    if noun == "data":
        return noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _records(fields: Fields, name: str, key: str) -> list[dict[str, Any]]:
    """Return the records in a field that have a text under a key."""
    several = (one for one in json_list(fields[name], name) if isinstance(one, dict))
    return [one for one in several if isinstance(one.get(key), str)]


def json_list(text: str | None, name: str) -> list[Any]:
    try:
        found = json.loads(text or "", strict=False)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise UnreadableRequest(f"the field {name} has no JSON list.")
    return found


_READ = re.compile(r"(\d+) rated examples")
_ENOUGH_ROWS = 15
_EVIDENCE = 1.5  # how many places of ten a certain correlation is worth, in tens
_DOUBT_ROWS = 15.0  # rows at which a correlation counts half
_PER_FAMILY = 2
_GOOD_PLACE = 6.0


def _type_in(task: str | None, observations: str) -> str:
    said = (task or "").casefold()
    named = [name for name in TASK_TYPES if name != UNKNOWN and name in said]
    if named:
        return min(named, key=said.index)
    votes, _ = votes_in(observations)
    return votes.most_common(1)[0][0] if votes else UNKNOWN


# -- describing and proposing ---------------------------------------------------------------


@answers_signature(
    inputs="observations",
    outputs="task_type evaluated relationship description",
    optional="previous",
)
def _describe(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    task = TASK_TYPES[_type_in(None, fields["observations"] or "")]
    made = f"{with_article(task.response)} made from {with_article(task.source)}"
    relationship = f"the {task.response} {task.relationship}."
    description = (
        f"The task is {task.name}, which means evaluating {task.evaluated}, in {made}. "
        f"Between source and response, {relationship}"
    )
    return {
        "task_type": [task.name],
        "evaluated": [task.evaluated],
        "relationship": [relationship[0].upper() + relationship[1:]],
        "description": [description],
    }


@answers_signature(inputs="observations how_many", outputs="criteria", optional="task")
def _propose(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``ProposeCriteria``: the type's own qualities, moved by what went with the scores."""
    observations = fields["observations"] or ""
    task = TASK_TYPES[_type_in(fields.get("task"), observations)]
    went, n_rows = pooled(observations)
    trust = _EVIDENCE * n_rows / (n_rows + _DOUBT_ROWS)
    n_aspects = len(task.aspects)
    worth = {}
    for place, name in enumerate(task.aspects):
        weights = quality_of(name, ASPECTS[name]).weights
        evidence = sum(weight * went.get(facet, 0.0) for facet, weight in weights.items())
        worth[name] = (n_aspects - place) / n_aspects + trust * evidence
    order = sorted(task.aspects, key=lambda name: -worth[name])
    words = {"source": task.source, "response": task.response}
    proposed = [
        {"name": name, "definition": ASPECTS[name].format(**words)}
        for name in order[: _number(fields["how_many"], "how_many")]
    ]
    return {"criteria": [json.dumps(proposed, ensure_ascii=False)]}


@answers_signature(
    inputs="observations criteria read_so_far", outputs="missing complete", optional="task"
)
def _check(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``JudgeCompleteness``: fifteen examples that agree on the type are enough."""
    votes, n_observed = votes_in(fields["observations"] or "")
    share = votes.most_common(1)[0][1] / n_observed if n_observed else 0.0
    read = _READ.match(fields["read_so_far"] or "")
    n_read = int(read[1]) if read else n_observed
    if n_read < _ENOUGH_ROWS:
        missing = f"only {n_read} examples were read"
    elif 3 * share < 2:
        missing = "under two thirds of the examples have the form of one type of task"
    else:
        return {"missing": ["nothing that counting further rows would show"], "complete": ["yes"]}
    return {"missing": [missing], "complete": ["no"]}


# -- the ensembles --------------------------------------------------------------------------


@answers_signature(inputs="descriptions", outputs="description")
def _merge(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``MergeDescriptions``: the latest of the most frequent type has seen the most rows."""
    given = _records(fields, "descriptions", "description")
    if not given:
        raise UnreadableRequest("the field descriptions has no description.")
    types = Counter(str(one.get("task_type", "")) for one in given)
    winner = types.most_common(1)[0][0]
    latest = [one["description"] for one in given if str(one.get("task_type", "")) == winner][-1]
    return {"description": [latest]}


@answers_signature(inputs="candidates fewest most", outputs="names", optional="task")
def _select(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``SelectCriteria``: by mean place, two of a family at most."""
    fewest, most = (_number(fields[name], name) for name in ("fewest", "most"))
    given = _records(fields, "candidates", "name")
    ordered = sorted(given, key=_mean_place)
    names: list[str] = []
    families: Counter[str] = Counter()
    for one in ordered:
        family = quality_of(one["name"], str(one.get("definition", ""))).name
        if families[family] >= _PER_FAMILY:
            continue
        if len(names) >= fewest and _mean_place(one) > _GOOD_PLACE:
            continue
        families[family] += 1
        names.append(one["name"])
    return {"names": [json.dumps(names[:most], ensure_ascii=False)]}


def _mean_place(candidate: Mapping[str, Any]) -> float:
    """Return the mean place of a candidate; a set that lacks it counts as a place behind all."""
    places = candidate.get("places")
    if not isinstance(places, list) or not places:
        return 11.0
    return fmean(
        float(place) if isinstance(place, int) and not isinstance(place, bool) else 11.0
        for place in places
    )


def _number(text: str | None, name: str) -> int:
    if not (text or "").strip().isdigit():
        raise UnreadableRequest(f"the field {name} has no whole number; got {text!r}.")
    return int(text or "")
