"""Hostile text: every text of the table in every place, for every way to judge."""

from typing import Annotated

import forging
import hostile as texts

from benchmarks.harness import Row, benchmark, held


@benchmark(quick={"every": 301})
def hostile(*, every: Annotated[int, "one in so many is tried"] = 1) -> list[Row]:
    """Hostile texts in every place, for every way to judge: how many changed something."""
    from judgesmith.programs.lm import model

    names = list(texts.TEXTS)
    places = forging.PLACES
    trials = {
        "a model that obeys everything outside of fences obeys none, wherever it stands": (
            forging.fooled,
            [
                (variant, place, texts.TEXTS[name])
                for turn, variant in enumerate(forging.VARIANTS)
                for at, place in enumerate(places)
                for n, name in enumerate(names)
                if (7 * turn + 3 * at + n) % every == 0
            ],
        ),
        "the offline model reads every text as the text it is, and scores it": (
            forging.misjudged_offline,
            [
                (variant, place, texts.TEXTS[name])
                for turn, variant in enumerate(forging.VARIANTS)
                for at, place in enumerate(places)
                for n, name in enumerate(names)
                if (7 * turn + 3 * at + n) % (1 if every == 1 else 4 * every) == 0
            ],
        ),
        "none among rated rows changes a question or a rubric of task inference": (
            forging.misinferred,
            [(texts.TEXTS[name],) for name in names[::every]],
        ),
        "none among rated rows keeps the offline model from a rubric": (
            lambda text: forging.misinferred(text, lm=model("offline", ledger=None)),
            [(texts.TEXTS[name],) for name in names[::every]],
        ),
    }
    huge = list(texts.HUGE)[: None if every == 1 else 1]
    trials["none of five megabytes changes a score, a field or a question"] = (
        lambda name, place: forging.fooled("fine", place, texts.HUGE[name]()),
        [(name, place) for name in huge for place in places][::every],
    )
    rows = [_unfenced()]
    for what, (trial, cases) in trials.items():
        n_fooled = sum(_fails(trial, case) for case in cases)
        rows.append(held(what, f"{n_fooled} of {len(cases):,} forgeries", n_fooled == 0))
    return rows


def _fails(trial, case) -> bool:
    """Say whether a trial found a fault, or could not be made at all."""
    try:
        return bool(trial(*case))
    except Exception:
        return True


def _unfenced() -> Row:
    """Return how many texts fool the same model where there is no fence: the trial's own test."""
    scores = [forging.unfenced(texts.TEXTS[name]) for name in texts.FORGERIES]
    n_fooled = sum(score == texts.WANTED for score in scores)
    what = "without fences the same model obeys every text that asks for a score"
    return held(what, f"{n_fooled} of {len(scores)} forgeries", n_fooled == len(scores))
