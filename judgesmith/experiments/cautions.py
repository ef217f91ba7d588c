"""What a description gives reason to mind, in sentences.

Every threshold here is a rule of thumb for when to speak up. None of them changes a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgesmith.experiments.rating_summary import RatingSummary

if TYPE_CHECKING:
    from judgesmith.experiments.describing import Description

NEAR_ZERO = 0.1
NEAR_ONE = 0.9
MOSTLY_TIED = 0.5
LENGTH_MATTERS = 0.3
FEW_ITEMS = 40
FEW_SOURCES = 10


def cautions(found: Description) -> tuple[str, ...]:
    """Return warnings about a set, those on ratings first."""
    # Criteria of one form often share a trait: it is said once, with all their names.
    names: dict[str, list[str]] = {}
    for one in found.summaries:
        for trait in _traits(one):
            names.setdefault(trait, []).append(one.name)
    on_ratings = [f"{', '.join(those)}: {trait}" for trait, those in names.items()]
    return (*on_ratings, *_on_preferences(found), *_on_target(found), *_on_texts(found))


def _on_preferences(found: Description) -> Iterator[str]:
    if found.mirrored:
        yield (
            f"{', '.join(found.mirrored)}: the ratings of every source's two texts mirror each "
            "other: these are preferences between the two, and say nothing across sources."
        )


def _traits(one: RatingSummary) -> Iterator[str]:
    if one.n_levels == 1:
        yield f"all values are {one.low:g}; nothing can agree or disagree with that."
        return
    if one.icc_single < NEAR_ZERO:
        yield (
            f"ICC of one rater {one.icc_single:.2f}, of the mean {one.icc_mean:.2f}; "
            "a criterion near zero cannot be a useful target."
        )
    elif one.icc_single > NEAR_ONE:
        yield (
            f"ICC of one rater {one.icc_single:.2f} is unusual for people who rated "
            "independently; the human ceiling may be too high."
        )
    if one.no_ceiling is not None:
        yield (
            f"no ceiling: {one.no_ceiling}. How well raters agree is unknown, and so is how well "
            "a judge could do."
            if not one.n_several
            else f"no ceiling: {one.no_ceiling}."
        )
    lone = one.raters.get(1, 0)
    if one.n_several and lone:
        yield (
            f"{_count(lone, 'item')} with a single rating where others have several; it may "
            "be a mean already, and is left out of rater agreement."
        )
    if one.tied > MOSTLY_TIED:
        top = f", {one.at_top:.0%} of items are at the top" if one.at_top > MOSTLY_TIED else ""
        yield (
            f"{one.tied:.0%} of all pairs of items are tied{top}; rank correlations rest on "
            "the others."
        )


def _on_target(found: Description) -> Iterator[str]:
    target = found.target
    if target is None:
        if not found.criteria:
            yield (
                "nothing is rated; a judge can score these texts, and be chosen by what it notices "
                "when they are changed (compile --objective d_avg), but not by agreement."
            )
        return
    for reason, n in found.unrated_reasons.items():
        yield f"{target.name}: no value for {n} of {found.n_items} items, {reason}."
    if target.n_rated < FEW_ITEMS:
        known = f"tells a correlation of .5 to ±{found.half_width:.2f} at best"
        yield (
            f"{target.name}: rated on {_count(target.n_rated, 'item')} only, which "
            f"{'tells nothing of a correlation' if math.isnan(found.half_width) else known}."
        )
    if abs(found.length_correlation) > LENGTH_MATTERS:
        longer = "higher" if found.length_correlation > 0 else "lower"
        yield (
            f"{target.name}: longer responses are rated {longer} (Spearman "
            f"{found.length_correlation:.2f}); a judge may learn length alone."
        )


def _on_texts(found: Description) -> Iterator[str]:
    texts, n = found.texts, found.n_items
    if found.n_sources < FEW_SOURCES:
        yield (
            f"only {_count(found.n_sources, 'source')}; intervals rest on sources and will be "
            "wide or undefined."
        )
    if found.n_systems < 2:
        named = "one system" if found.n_systems else "no system"
        yield f"{named} is named; agreement on systems cannot be measured."
    if texts.empty_sources == n:
        yield "there are no source texts; the judge sees responses alone."
    elif texts.empty_sources:
        yield f"{_count(texts.empty_sources, 'item')} with an empty source."
    if texts.empty_responses:
        yield f"{_count(texts.empty_responses, 'item')} with an empty response."
    if texts.rated_differently:
        yield (
            f"{_count(texts.rated_differently, 'item')} with the texts of an earlier item but "
            "other ratings."
        )
    if texts.shared_responses:
        yield (
            f"{_count(texts.shared_responses, 'response')} given to several sources "
            f"({_count(texts.items_with_shared_response, 'item')}); parts without a common "
            "source can still share them."
        )
    if texts.sources_with_several_ids:
        yield (
            f"{_count(texts.sources_with_several_ids, 'source text')} under several ids; splits "
            "keep them together."
        )


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
