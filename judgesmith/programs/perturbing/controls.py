"""What makes no text worse: blank space, where it changes nothing that is read."""

from __future__ import annotations

from itertools import pairwise

from judgesmith.programs.perturbing.case import Case, Change, Found
from judgesmith.signatures.perturbation import Skipped


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
