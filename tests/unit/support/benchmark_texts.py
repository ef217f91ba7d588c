"""A few articles, each with summaries that are worth one, two or three points."""

from judgesmith.signatures import RatedItem, Scale

PLACES = ("Rome", "Leeds", "Oslo", "Turin")


def sentences(place, n):
    return (
        f"Ann Bell opened the old bridge in {place} on 12 May 19{n}9.",
        f"It had been closed for {n + 2} years, because some people said it was unsafe.",
        "They have not used it since then, and most of the workers left the town.",
        f"The city of {place} wants to build another one before the winter.",
    )


def rated(place, n, rating):
    """Return a summary that is worth one, two or three points."""
    good = sentences(place, n)
    return {
        1: f"{place} {place} the the bridge in in 1987 cats , they is",
        2: f"{good[0]} {good[0]} The the city want.",
        3: f"{good[0]} {good[1]}",
    }[rating]


def rows(criteria=("fluency", "relevance"), places=PLACES):
    """Return three rated summaries of each of a few articles, with two references."""
    for n, place in enumerate(places):
        parts = sentences(place, n)
        for rating in (1, 2, 3):
            yield RatedItem(
                source_id=f"s{n}",
                system_id=f"m{rating}",
                source=" ".join(parts),
                response=rated(place, n, rating),
                references=(" ".join(parts[:3]), f"{parts[3]} {parts[0]}"),
                human=dict.fromkeys(criteria, (rating,)),
                scale=dict.fromkeys(criteria, Scale(low=1, high=3)),
                extra={"task": "summarization"},
            )
