"""What makes no text worse: blank space, and sentences that say nothing."""

from __future__ import annotations

from itertools import pairwise

from judgesmith.programs.perturbing.case import NOT_ENGLISH, Case, Change, Found, drawn, too_few
from judgesmith.programs.perturbing.sentences import joined_by
from judgesmith.signatures.perturbation import Skipped

_EMPTY = (
    "All of this is worth knowing.",
    "That is how things stand.",
    "So much can be said of it.",
    "This is as good a place as any to say so.",
)


def padding(case: Case) -> Found:
    """Set every sentence on a line of its own, with an empty line before and after the text."""
    text, sentences = case.passage.text, case.passage.sentences
    if not sentences:
        return Skipped(reason="no word")
    changes: list[Change] = [(0, 0, "\n")]
    for one, other in pairwise(sentences):
        if "\n" not in text[one[1] : other[0]]:
            changes.append((one[1], other[0], "\n"))
    return [*changes, (len(text), len(text), "\n")]


def empty_sentences(case: Case) -> Found:
    """Put an English sentence without any content after k sentences, or every second one.

    Notes
    -----
    What the text says stays; it gets longer. Whoever judges brevity may rightly score it lower.
    """
    sentences = case.passage.sentences
    if not case.passage.may_be_english:
        return NOT_ENGLISH
    k = case.wanted(len(sentences))
    if len(sentences) < k:
        return too_few(k, "sentences")
    between = joined_by(case)
    places = [end for _, end in drawn(sentences, k, case.rng)]
    return [(place, place, between + _EMPTY[case.rng.randrange(len(_EMPTY))]) for place in places]
