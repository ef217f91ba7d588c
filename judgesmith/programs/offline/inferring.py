"""How the offline model infers a task: observations, criteria, and when to stop."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from judgesmith.programs.features import CONTEXT_FEATURES, lexical_features
from judgesmith.programs.features.qualities import FACETS, family_of
from judgesmith.programs.lm.records import Prefix
from judgesmith.programs.offline.prior import facet_values
from judgesmith.programs.offline.requests import (
    Fields,
    Piece,
    Question,
    UnreadableRequest,
    answers_signature,
)
from judgesmith.programs.offline.task_form import (
    ASPECTS,
    TASK_TYPES,
    UNKNOWN,
    Shown,
    language_of,
    limits_of,
    shown_examples,
    types_of,
)

Answer = Mapping[str, Sequence[Piece]]

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
        raise UnreadableRequest("the field examples holds no rated example.")
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
    languages = [
        language_of([one.source for one in examples]),
        language_of([one.response for one in examples]),
    ]
    if all(languages) and languages[0] != languages[1]:
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
    found = {
        facet: r
        for facet, column in zip(FACETS, values.T, strict=True)
        if (r := _correlation(column, scores)) is not None
    }
    return {facet: round(r, 2) for facet, r in found.items()}


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


def json_list(text: str | None, name: str) -> list[Any]:
    try:
        found = json.loads(text or "", strict=False)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise UnreadableRequest(f"the field {name} holds no JSON list.")
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
        weights = family_of(name, ASPECTS[name]).weights
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
    given = [
        one
        for one in json_list(fields["descriptions"], "descriptions")
        if isinstance(one, dict) and isinstance(one.get("description"), str)
    ]
    if not given:
        raise UnreadableRequest("the field descriptions holds no description.")
    types = Counter(str(one.get("task_type", "")) for one in given)
    winner = types.most_common(1)[0][0]
    latest = [one["description"] for one in given if str(one.get("task_type", "")) == winner][-1]
    return {"description": [latest]}


@answers_signature(inputs="candidates fewest most", outputs="names", optional="task")
def _select(prefix: Prefix, question: Question, fields: Fields) -> Answer:
    """Answer ``SelectCriteria``: by mean place, two of a family at most."""
    fewest, most = (_number(fields[name], name) for name in ("fewest", "most"))
    given = [
        one
        for one in json_list(fields["candidates"], "candidates")
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    ]
    ordered = sorted(given, key=_mean_place)
    names: list[str] = []
    families: Counter[str] = Counter()
    for one in ordered:
        family = family_of(one["name"], str(one.get("definition", ""))).name
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
        raise UnreadableRequest(f"the field {name} holds no whole number; got {text!r}.")
    return int(text or "")
