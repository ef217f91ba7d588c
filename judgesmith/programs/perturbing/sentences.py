"""Damage to whole sentences: put in another order, left out, said twice, cut off."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import pairwise
from random import Random

from judgesmith.programs.features.words import Text
from judgesmith.programs.perturbing.case import Case, Found, drawn_order, too_few
from judgesmith.programs.perturbing.catalogue import Every
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.perturbation import Skipped


def reordering(case: Case) -> Found:
    """Let k sentences change places so that none stays where it was, or all of them.

    What stands between sentences stays. Two sentences can only be exchanged, so that all needs
    three; sentences of one wording can stand in each other's place without a change, and
    are left alone.
    """
    sentences, shown = case.passage.sentences, case.passage.shown
    everything = isinstance(case.amount, Every)
    # One sentence alone has nowhere to go.
    k = max(len(sentences), 3) if everything else max(case.wanted(len(sentences)), 2)
    if len(sentences) < k:
        return too_few(k, "sentences")
    texts = [shown(sentence) for sentence in sentences]
    places = list(drawn_order(len(sentences), case.rng))
    if not everything:
        places = list({texts[place]: place for place in places}.values())[:k]
    if len(places) < k:
        return too_few(k, "different sentences")
    # In a circle that keeps equal texts together, whoever moves on by the longest run of equals
    # finds another text, unless one text has more than half of the places.
    first = {texts[place]: rank for rank, place in reversed(list(enumerate(places)))}
    circle = sorted(places, key=lambda place: first[texts[place]])
    runs = [texts[place] for place in circle]
    shift = max(Counter(runs).values())
    if 2 * shift > len(circle):
        return Skipped(reason="more than half of the sentences are the same")
    moved = circle[shift:] + circle[:shift]
    return [(*sentences[place], texts[other]) for place, other in zip(circle, moved, strict=True)]


def key_sentence_omission(case: Case) -> Found:
    """Leave out the sentence that holds most of what the source speaks of most.

    A sentence weighs as much as its distinct content words occur in source and text; of equals
    the first goes.
    """
    sentences = case.passage.sentences
    if len(sentences) < 2:
        return too_few(2, "sentences")
    counts = Text(case.item.source).stem_counts + Text(case.passage.text).stem_counts
    weights = [
        sum(counts[stem] for stem in Text(case.passage.shown(sentence)).stem_counts)
        for sentence in sentences
    ]
    return [left_out(case, weights.index(max(weights)))]


def left_out(case: Case, index: int) -> tuple[int, int, str]:
    """Return what removes a sentence and the blanks on one side of it."""
    sentences = case.passage.sentences
    start, end = sentences[index]
    if index + 1 < len(sentences):
        return start, sentences[index + 1][0], ""
    return sentences[index - 1][1], end, ""


def unsupported_addition(case: Case) -> Found:
    """Put a sentence from a text of another source after one of the sentences."""
    sentences = case.passage.sentences
    if not sentences:
        return too_few(1, "sentences")
    given = None if case.donors is None else case.donors.other_than(case.item, case.rng)
    if given is None:
        return Skipped(reason="no text of another source to take a sentence from")
    added = one_sentence(given, case.rng)
    if added is None or added in case.passage.text:
        return Skipped(reason="the text of another source has no sentence of its own")
    after = sentences[case.rng.randrange(len(sentences))][1]
    return [(after, after, joined_by(case) + added)]


def one_sentence(text: str, rng: Random) -> str | None:
    """Return a sentence of a text, drawn at random; None where it has none."""
    passage = Passage(text)
    if not passage.sentences:
        return None
    return passage.shown(passage.sentences[rng.randrange(len(passage.sentences))])


def repetition(case: Case) -> Found:
    """Say a sentence again, right after itself."""
    sentences = case.passage.sentences
    if not sentences:
        return too_few(1, "sentences")
    sentence = sentences[case.rng.randrange(len(sentences))]
    return [(sentence[1], sentence[1], joined_by(case) + case.passage.shown(sentence))]


def joined_by(case: Case) -> str:
    """Return what stands between sentences of the text: a blank, or nothing in some scripts."""
    sentences, text = case.passage.sentences, case.passage.text
    for one, other in pairwise(sentences):
        if "\n" not in text[one[1] : other[0]]:
            return text[one[1] : other[0]]
    return "" if Text(text).script.startswith("written without") else " "


def truncation(case: Case) -> Found:
    """Cut the text off in the middle of a sentence, with 40 to 80 % of its words left."""
    words, text = case.passage.words, case.passage.text
    if len(words) < 2:
        return too_few(2, "words")
    least, most = max(1, int(0.4 * len(words))), max(1, int(0.8 * len(words)))
    closed = {bisect_left(words, (end, end)) for _, end in case.passage.sentences}
    inside = [n for n in range(least, most + 1) if n < len(words) and n not in closed]
    kept = inside[case.rng.randrange(len(inside))] if inside else least
    return [(words[kept - 1][1], len(text), "")]
