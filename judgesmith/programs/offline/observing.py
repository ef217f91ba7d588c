"""Observations of rated examples: made of counts and our own words, and read back from them.

Nothing in an observation is quoted from an example, so nothing that a text says can reach a
later question, and later answers can read what they were made of.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from judgesmith.programs.features import CONTEXT_FEATURES, lexical_features
from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, answers_signature
from judgesmith.programs.offline.clue import FACETS
from judgesmith.programs.offline.prior import facet_values
from judgesmith.programs.offline.reader import Fields, Question, UnreadableRequest
from judgesmith.programs.offline.task_form import (
    Shown,
    language_of,
    limits_of,
    shown_examples,
    types_of,
)
from judgesmith.programs.offline.task_types import TASK_TYPES

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
    """Answer ``ObserveExamples``."""
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
    """Return a noun with its article.

    Examples
    --------
    >>> with_article("summary"), with_article("original"), with_article("data")
    ('a summary', 'an original', 'data')
    """
    if noun == "data":
        return noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def json_list(text: str | None, name: str) -> list[Any]:
    """Return the JSON list that a field holds.

    Raises
    ------
    UnreadableRequest
        If it holds none.
    """
    try:
        found = json.loads(text or "", strict=False)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise UnreadableRequest(f"the field {name} holds no JSON list.")
    return found
