"""The anchors of a benchmark: existing texts that people and a model rate alike."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.benchmark.models import refuse_unfinished
from judgesmith.experiments.benchmark.plan import Plan, compare_anchors
from judgesmith.experiments.benchmark.settings import rating_levels
from judgesmith.metrics.anchors import Anchors, anchor_values, choose_anchors
from judgesmith.metrics.comparators import ComparatorAccuracy, comparator_accuracy
from judgesmith.metrics.records import plain
from judgesmith.programs.families.modules import ActiveCritic
from judgesmith.programs.families.samples_apart import judged_samples
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.results.progress import OnProgress
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.rubric import Criterion, Rubric
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    import dspy


def model_ratings(
    items: Sequence[RatedItem],
    criterion: Criterion,
    scale: Scale,
    n: int,
    *,
    task: str = "",
    lm: dspy.LM | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
) -> list[tuple[float, ...]]:
    """Return ``n`` ratings of each text on one criterion, at temperature 1, analysis first."""
    answers = Scale(low=scale.low, high=scale.high, kind="integer")
    rubric = Rubric(task=task, criteria=(criterion,))
    judge = ActiveCritic(variant="coarse", rubric=rubric, answers=answers, temperature=1.0)
    found = judged_samples(judge, items, n, lm=lm, concurrency=concurrency, on_progress=on_progress)
    refuse_unfinished(one.cause for several in found for one in several)
    return [tuple(_points(one.score, answers) for one in several) for several in found]


def _points(score: float | None, scale: Scale) -> float:
    return math.nan if score is None else round(scale.points(PERCENT.fraction(score)), 9)


LOOKED_AT = 8
"""How many times as many texts the model rates as there are to be anchors of each rating."""


class NoAnchorError(InputError):
    """Ratings that no text anchors."""

    def __init__(self, ratings: tuple[float, ...]) -> None:
        named = ", ".join(f"{one:g}" for one in ratings)
        super().__init__(
            f"no text anchors the rating{'s' if len(ratings) > 1 else ''} {named}.",
            hint="rate more texts, let another model rate them, or "
            "build the benchmark from its local perspective.",
        )
        self.ratings = ratings


@dataclass(frozen=True, kw_only=True)
class AnchorTexts:
    """The anchors of one criterion."""

    criterion: Criterion
    scale: Scale
    items: tuple[tuple[RatedItem, ...], ...]
    chosen: Anchors
    accuracy: ComparatorAccuracy

    @property
    def levels(self) -> tuple[float, ...]:
        return self.chosen.levels

    def rows(self) -> Iterator[dict[str, Any]]:
        for own, several in zip(self.chosen.of, self.items, strict=True):
            for anchor, item in zip(own, several, strict=True):
                yield {
                    "criterion": self.criterion.name,
                    "rating": anchor.rating,
                    "value": round(anchor.value, 9),
                    "source_id": item.source_id,
                    "system_id": item.system_id,
                    "human": list(item.human[self.criterion.name]),
                    "response": item.response,
                }

    def to_dict(self) -> dict[str, Any]:
        said: dict[str, Any] = {
            name: value for name, value in self.chosen.to_dict().items() if name != "anchors"
        }
        per_rating = [len(several) for several in self.items]
        return {**said, "per_rating": per_rating, "accuracy": plain(self.accuracy)}


def anchor_texts(plan: Plan, criterion: Criterion) -> AnchorTexts:
    """Return the anchors of a criterion, which the rater has rated and the comparator compared.

    Of all rated rows the rater is shown those that people rated nearest to each rating,
    ``LOOKED_AT`` times as many as are wanted, of equally near ones such as have different sources.
    One that people rated farther off could only be a better anchor if the rater disagreed with
    them on nearly all of these.
    """
    name, settings = criterion.name, plan.settings
    scale = plan.dataset.scales.get(name)
    levels = rating_levels(name, scale)
    assert scale is not None
    looked_at = texts_looked_at(plan.dataset, name, levels, settings.n_anchors)
    items = [plan.dataset[index] for index in looked_at]
    human = [item.human[name] for item in items]
    with plan.models.step("anchors rated", "rater") as lm:
        rated = model_ratings(
            items,
            criterion,
            scale,
            settings.n_samples,
            task=plan.task,
            lm=lm,
            concurrency=plan.models.concurrency,
            on_progress=plan.tells(f"anchors rated ({name})", len(items)),
        )
    groups = plan.dataset.groups
    chosen = choose_anchors(
        anchor_values(human, rated, levels),
        levels=levels,
        human=human,
        sources=[int(groups[index]) for index in looked_at],
        ids=[f"{item.source_id} {item.system_id}" for item in items],
        per_rating=settings.n_anchors,
    )
    if chosen.empty:
        raise NoAnchorError(chosen.empty)
    texts = tuple(tuple(items[one.text] for one in own) for own in chosen.of)
    with plan.models.step("comparator checked", "comparator") as lm:
        said, pairs, levels_of = compare_anchors(texts, plan.comparator(criterion, lm))
    refuse_unfinished([said.tally.cause])
    accuracy = comparator_accuracy(said.signs, pairs, levels_of=levels_of, disagreed=said.disagreed)
    return AnchorTexts(
        criterion=criterion, scale=scale, items=texts, chosen=chosen, accuracy=accuracy
    )


def texts_looked_at(
    dataset: DataSet, name: str, levels: Sequence[float], n_anchors: int
) -> list[int]:
    """Return the rows, in order, that the rater is shown; see ``anchor_texts``."""
    rated = {
        index: given
        for index, item in enumerate(dataset)
        if (given := item.human.get(name)) and item.response.strip()
    }

    def nearest(level: float) -> list[int]:
        n_before: Counter[tuple[float, int]] = Counter()
        ranked = []
        for index, given in rated.items():
            farness = round(sum(abs(one - level) for one in given) / len(given), 9)
            own = (farness, int(dataset.groups[index]))
            ranked.append((farness, n_before[own], index))
            n_before[own] += 1
        return [index for *_, index in sorted(ranked)[: LOOKED_AT * n_anchors]]

    return sorted({index for level in levels for index in nearest(level)})
