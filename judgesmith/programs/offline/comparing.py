"""How the offline model compares, plans, checks and writes exemplars: by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp
from statistics import NormalDist, fmean

from judgesmith.programs.features import lexical_features
from judgesmith.programs.features.qualities import Facet, family_of
from judgesmith.programs.features.words import Text, TextCache
from judgesmith.programs.lm.records import Prefix
from judgesmith.programs.offline.judging import read_criteria
from judgesmith.programs.offline.prior import (
    criterion_belief,
    criterion_terms,
    facet_values,
    limited,
    overall_belief,
    overall_terms,
)
from judgesmith.programs.offline.requests import (
    Fields,
    Piece,
    Question,
    Score,
    Words,
    answers_signature,
)
from judgesmith.signatures.items import text_key

_CACHE = TextCache(max_characters=2_000_000)  # sources recur, responses do not
_FEW_STEMS = 3  # content stems below which a sentence is too short to be about anything
_STRAY = 0.25  # share of a sentence's content known from the material, at most
_AT_HOME = 0.5  # share of the other sentences' content known from it, at least
_LETTERS = 5  # words shorter than this are one letter apart by chance


def straying_sentences(source: str, context: str | None, response: str) -> int:
    """Return how many sentences are about something else than the material and the other ones."""
    material = _stems(source, context)
    own = Text(response)
    known: list[tuple[int, int]] = []
    for start, end in own.sentences:
        stems = {stem for stem in own.stems[start:end] if stem}
        known.append((len(stems & material), len(stems)))
    strays = [n >= _FEW_STEMS and found <= _STRAY * n for found, n in known]
    home = [pair for pair, stray in zip(known, strays, strict=True) if not stray]
    n_home = sum(n for _, n in home)
    if not n_home or sum(found for found, _ in home) < _AT_HOME * n_home:
        return 0
    return sum(strays)


def misspelt_words(source: str, context: str | None, response: str) -> int:
    """Return how many words are one letter off a word of the material and are not in it."""
    own = Text(response)
    known = _CACHE.read(source).word_set | (_CACHE.read(context).word_set if context else set())
    spelt = [word for word in known if len(word) >= _LETTERS - 1]
    strange = {
        word
        for word, written in zip(own.words, own.originals, strict=True)
        if len(word) >= _LETTERS and word not in known and written == word and word.isalpha()
    }
    return sum(any(one_letter_off(word, other) for other in spelt) for word in strange)


def one_letter_off(word: str, other: str) -> bool:
    """Say whether words with the same ending differ by one letter, or two that changed places."""
    n, m = len(word), len(other)
    if word[-1] != other[-1] or not -1 <= n - m <= 1 or word == other:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(n, m))
    if n < m:
        return word[at:] == other[at + 1 :]
    if n > m:
        return word[at + 1 :] == other[at:]
    swapped = word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]
    return swapped or word[at + 1 :] == other[at + 1 :]


def _stems(*texts: str | None) -> frozenset[str]:
    def found() -> Iterator[Iterable[str]]:
        for text in texts:
            if text:
                yield _CACHE.read(text).stem_counts

    return frozenset().union(*found())


_NEAR = 10.0  # points that two texts must differ by before one is likely the better one
_SPREAD = 25.0  # of the answer on 0 (B) over 50 (tie) to 100 (A)


@answers_signature(
    inputs="source response_a response_b", outputs="better", optional="task criteria context"
)
def _compare(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``CompareTwo``: no place is preferred, and what would get the same points is a tie."""
    lead = _points(fields, "response_a") - _points(fields, "response_b")
    return {"better": [Score(100 * NormalDist(0, _NEAR).cdf(lead), _SPREAD)]}


def _points(fields: Fields, name: str) -> float:
    """Return what a text would get as a whole, 0 to 100."""
    text = fields.get(name) or ""
    if not any(map(str.isalnum, text)):
        return 0.0
    features = lexical_features(fields.get("source") or "", fields.get("context"), text)
    facets = facet_values(features)
    terms = criterion_terms(facets)
    implied = [
        limited(criterion_belief(family_of(criterion, definition)).predict(terms)[0])
        for criterion, definition in read_criteria(fields.get("criteria") or "")
    ]
    whole = overall_terms(features, facets, fmean(implied) if implied else None)
    return limited(overall_belief().predict(whole)[0])


_NEAR_ACROSS = 1.0  # points that two texts must differ by before they are not alike
_SLOPE = 0.5  # points by which a verdict becomes clear

# What one fault costs, in points: clearly more than what a sentence's or a word's content adds.
_A_STRAY = 12.0
_A_SLIP = 4.0
_MOST_FAULTS = 8  # faults beyond this cost nothing more
_OF_THE_SURFACE = ("fluency", "clarity", "simplicity")  # families that spelling is a matter of

_KNOWN: dict[tuple[str, str], float] = {}
_MOST_KNOWN = 20_000


@answers_signature(
    inputs="criteria first_source first second_source second",
    outputs="better",
    optional="task first_context second_context",
)
def _compare_across(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``CompareAcross``: the verdict is turned where the texts change places."""
    lead = _points_across(fields, "first") - _points_across(fields, "second")
    first, second = _odds(lead - _NEAR_ACROSS), _odds(-lead - _NEAR_ACROSS)
    chances = {"first": first, "similar": max(1 - first - second, 0.0), "second": second}
    return {"better": [Words(chances)]}


def _points_across(fields: Fields, name: str) -> float:
    """Return what a text comes to on the criterion.

    Its score, less what its visible faults cost.
    """
    text = fields.get(name) or ""
    source, context = fields.get(f"{name}_source") or "", fields.get(f"{name}_context")
    criteria = fields["criteria"] or "quality"
    key = (criteria, text_key(source, context, text))
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            # Emptied as a whole: a cache without order needs no lock.
            _KNOWN.clear()
        _KNOWN[key] = _worked_out(criteria, source, context, text)
    return _KNOWN[key]


def _worked_out(criteria: str, source: str, context: str | None, text: str) -> float:
    if not any(map(str.isalnum, text)):
        return 0.0
    terms = criterion_terms(facet_values(lexical_features(source, context, text)))
    strays = min(straying_sentences(source, context, text), _MOST_FAULTS)
    misspelt = min(misspelt_words(source, context, text), _MOST_FAULTS)
    found = []
    for criterion, definition in read_criteria(criteria):
        family = family_of(criterion, definition)
        points = limited(criterion_belief(family).predict(terms)[0])
        points -= _A_STRAY * strays * (family.name not in _OF_THE_SURFACE)
        points -= _A_SLIP * misspelt * (family.name in _OF_THE_SURFACE)
        found.append(points)
    return fmean(found)


def _odds(points: float) -> float:
    return 1 / (1 + exp(-max(min(points / _SLOPE, 300.0), -300.0)))


_LEVEL = re.compile(r"(\d+) of (\d+)")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)", re.DOTALL | re.MULTILINE)
_MOST_WORDS = 60  # of a good text, which ends with a sentence
_ABOUT_NOTHING = ("whatever", "somewhere", "it", "was", "and", "then", "again", "anyhow", "they")
_NEAR_EXEMPLAR = 4.0  # points within which two texts count as alike
_EXEMPLAR_SLOPE = 8.0  # points that make a verdict clear


@answers_signature(
    inputs="criterion level source",
    outputs="exemplar",
    optional="task manner context worse better",
)
def _write(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteEnd`` and ``WriteBetween``: by the level alone, not by the texts beside it."""
    found = _LEVEL.match(fields["level"] or "")
    level, n = (int(found[1]), int(found[2])) if found else (1, 1)
    share = (level - 1) / (n - 1) if n > 1 else 1.0
    return {"exemplar": [text_of_quality(fields.get("source") or "", min(max(share, 0.0), 1.0))]}


def text_of_quality(source: str, share: float) -> str:
    """Return a text that keeps a share of the beginning of a source, and babbles for the rest."""
    words: list[str] = []
    for sentence in _SENTENCE.findall(source[:20_000]):
        more = sentence.split()
        if words and len(words) + len(more) > _MOST_WORDS:
            break
        words += more[:_MOST_WORDS]
    words = words or ["Nothing", "is", "given", "here."]
    n_kept = round(share * len(words))
    kept = words[:n_kept]
    lost = [_ABOUT_NOTHING[place % len(_ABOUT_NOTHING)] for place in range(len(words) - n_kept)]
    if kept and lost:
        kept[-1] = kept[-1].rstrip(".!?,;:") or kept[-1]
    return " ".join((*kept, *lost))


@answers_signature(
    inputs="criterion source first second", outputs="verdict", optional="task context"
)
def _compare_exemplars(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``CompareThree`` and ``CompareYesNo``: by what each text would score."""
    lead = _exemplar_points(fields, "second") - _exemplar_points(fields, "first")
    better, worse = _odds_exemplars(lead - _NEAR_EXEMPLAR), _odds_exemplars(-lead - _NEAR_EXEMPLAR)
    if "Yes" in question.answers.labels:
        first_wins = worse + (1 - better - worse) / 2  # one of two words has to be said
        return {"verdict": [Words({"Yes": first_wins, "No": 1 - first_wins})]}
    chances = {"Better": better, "Similar": 1 - better - worse, "Worse": worse}
    return {"verdict": [Words(chances)]}


def _exemplar_points(fields: Fields, name: str) -> float:
    """Return what a text would score on the criterion, 0 to 100."""
    text = fields.get(name) or ""
    if not any(map(str.isalnum, text)):
        return 0.0
    ((criterion, definition), *_) = read_criteria(fields.get("criterion") or "quality")
    features = lexical_features(fields.get("source") or "", fields.get("context"), text)
    belief = criterion_belief(family_of(criterion, definition))
    return limited(belief.predict(criterion_terms(facet_values(features)))[0])


def _odds_exemplars(points: float) -> float:
    return 1 / (1 + exp(-max(min(points / _EXEMPLAR_SLOPE, 300.0), -300.0)))


_CHECK_SPREAD = 45.0  # of a yes at 100 over a no at 0: at 75 points three answers in four are yes
_MOST = 3
_CHECKS: dict[Facet, str] = {
    "support": "Is the response faithful, with every statement supported by the source?",
    "coverage": "Does the response cover the main points of the source, so that it is complete?",
    "richness": "Is the response specific, with names, figures and exact words?",
    "fluency": "Is the response fluent, with whole sentences and correct grammar?",
    "flow": "Is the response coherent, each sentence following from those before it?",
    "ease": "Is the response easy to read, in plain words and short sentences?",
    "brevity": "Is the response concise, with nothing that could be left out?",
}


@answers_signature(inputs="criterion", outputs="questions", optional="task")
def _write_questions(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteQuestions``: one for each side of the quality, the heaviest first."""
    ((name, definition),) = read_criteria(fields.get("criterion") or "quality")[:1]
    weights = family_of(name, definition).weights
    heaviest = sorted(weights, key=lambda facet: -weights[facet])[:_MOST]
    return {"questions": ["\n".join(_CHECKS[facet] for facet in heaviest)]}


@answers_signature(inputs="question source response", outputs="score", optional="task context")
def _check(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``AnswerQuestion``: yes where the quality that is named would get over 50 points."""
    text = fields.get("response") or ""
    if not any(map(str.isalnum, text)):
        return {"score": [Score(0.0, 1.0)]}
    features = lexical_features(fields.get("source") or "", fields.get("context"), text)
    family = family_of("", fields.get("question") or "")
    mean, _ = criterion_belief(family).predict(criterion_terms(facet_values(features)))
    return {"score": [Score(limited(mean), _CHECK_SPREAD)]}


_PLANNED_CHECKS: dict[Facet, str] = {
    "support": "Look for every statement, name and number of the response in the material.",
    "coverage": "List what the source says most often, and see how much of it is there.",
    "richness": "Count the particulars: names, figures, exact words.",
    "fluency": "Look for broken sentences, doubled words and wrong marks.",
    "flow": "See whether each sentence follows from those before it, and nothing is said twice.",
    "ease": "See whether words are plain and sentences short.",
    "brevity": "Strike what could be left out without loss, and see how much remains.",
}


@answers_signature(inputs="criterion", outputs="steps", optional="task")
def _write_steps(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteSteps``: a check for each side of the quality, the heaviest first."""
    ((name, definition),) = read_criteria(fields.get("criterion") or "quality")[:1]
    weights = family_of(name, definition).weights
    heaviest = sorted(weights, key=lambda facet: -weights[facet])[:_MOST]
    steps = ["Read the source, then the response.", *(_PLANNED_CHECKS[facet] for facet in heaviest)]
    steps.append("Let the first of these checks weigh most, and score.")
    return {"steps": ["\n".join(steps)]}
