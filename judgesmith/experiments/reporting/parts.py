"""Parts that sections of a report share: tables, numbers and bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgesmith.experiments.page_markup import Markup, element, joined
from judgesmith.experiments.runs.cell_result import Estimated

LONGEST_NAME = 200


def table(
    caption: str, header: Sequence[str], lines: Iterable[Sequence[str]], *, words: int = 1
) -> Markup:
    """Return a table with a caption, whose first ``words`` columns are words, the first a heading.

    Examples
    --------
    >>> "<caption>Ages</caption>" in table("Ages", ["who", "age"], [["a", "3"]])
    True
    """
    kinds = ["word" if place < words else "num" for place in range(len(header))]
    head = (
        element("th", name, scope="col", class_=kind) if name else element("td", class_=kind)
        for name, kind in zip(header, kinds, strict=True)
    )
    rows = []
    for first, *rest in lines:
        cells = (element("td", one, class_=kind) for one, kind in zip(rest, kinds[1:], strict=True))
        rows.append(element("tr", element("th", first, scope="row"), *cells))
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *(joined(one, "\n") for one in rows)),
    )
    return scrolling(whole, caption)


def scrolling(whole: Markup, label: str) -> Markup:
    """Return what may be wider than the screen so that fingers and keys can move it."""
    return element(
        "div", whole, class_="scroll", tabindex="0", role="group", aria_label=label[:LONGEST_NAME]
    )


def estimate(one: Estimated | None, *, signed: bool = False) -> str:
    """Return a number and its interval.

    Examples
    --------
    >>> estimate(Estimated(value=0.5, low=0.25, high=0.75))
    '0.50 [0.25, 0.75]'
    >>> estimate(None)
    'undefined'
    """
    if one is None or one.value is None:
        return "undefined"
    form = "+.2f" if signed else ".2f"
    if one.low is None or one.high is None:
        return f"{one.value:{form}}"
    return f"{one.value:{form}} [{one.low:{form}}, {one.high:{form}}]"


def bar(one: Estimated | None) -> Markup:
    r"""Return a correlation as a bar from 0, between -1 and 1; its number is told beside it.

    Examples
    --------
    >>> print(bar(Estimated(value=0.5)).replace("><", ">\n<"))
    <span class="bar" aria-hidden="true">
    <i style="left:50.0%;width:25.0%">
    </i>
    <b style="left:50%">
    </b>
    </span>
    """
    if one is None or one.value is None:
        return Markup("")
    value = max(-1.0, min(1.0, one.value))
    left, width = 50 + 50 * min(value, 0.0), 50 * abs(value)
    filled = element("i", style=f"left:{left:.1f}%;width:{width:.1f}%")
    zero = element("b", style="left:50%")
    return element("span", filled, zero, class_="bar", aria_hidden="true")


def share_bar(share: float) -> Markup:
    """Return a share as a bar from 0 to 1; its number is told beside it.

    Examples
    --------
    >>> "width:25.0%" in share_bar(0.25)
    True
    """
    width = 100 * max(0.0, min(1.0, share))
    filled = element("i", style=f"left:0.0%;width:{width:.1f}%")
    return element("span", filled, class_="bar", aria_hidden="true")


def points(value: float | None) -> str:
    """Return a score as people read it."""
    return "none" if value is None else f"{value:.4g}"
