"""What options say: a value that says the same again, or ``ValueError``; nothing else."""

import math

from draws import TEXTS, Draws

from judgesmith.data.columns import column_map
from judgesmith.data.rows import given_scales
from judgesmith.data.targets import rating_points
from judgesmith.optimizers.objectives.grammar import parse_objective
from judgesmith.programs.lm.budget import Price, price_of
from judgesmith.signatures import Scale

PIECES = (
    *TEXTS,
    *("source", "response", "score", "references", "a+b", "rater1", "overall"),
    *("1..5", "1:5", "0 to 1", "-1,1", "5..1", "1e308", "-1e308", "１", "٣", "mean"),
    *("q", "pearson", "spearman@sample", "kendall@system", "@dataset", "q@q", "0.15,0.6"),
    *("openai/gpt-4o-mini", "-2024-07-18", "ollama/", "/"),
)


def fuzz_one(data: bytes) -> None:
    """Read one text as everything that an option can hold."""
    draws = Draws(data)
    text = draws.text(6, among=PIECES)
    value = draws.plain()
    for read in (_objective, _columns, _scales, _scale, _price, _rating):
        try:
            read(text)
        except ValueError as fault:
            assert len(str(fault)) < 20_000
    price_of(text)
    try:
        _rating(value)
    except ValueError as fault:
        assert "number" in str(fault)


def _objective(text: str) -> None:
    found = parse_objective(text)
    assert parse_objective(str(found)) == found


def _columns(given) -> None:
    found = column_map(given)
    if isinstance(given, str):
        assert column_map(str(found)) == found


def _scales(given) -> None:
    found = given_scales(given)
    for scale in (found.default, *found.by_criterion.values()):
        if scale is not None:
            assert math.isfinite(scale.low)
            assert scale.low < scale.high < math.inf


def _scale(text: str) -> None:
    scale = Scale.parse(text)
    assert Scale.parse(str(scale)) == scale
    assert scale.fraction(scale.low) == 0
    assert scale.fraction(scale.high) == 1


def _price(text: str) -> None:
    price = Price.parse(text)
    assert price.usd(10, 10) >= 0


def _rating(answer) -> None:
    scale = Scale(low=1, high=5, kind="integer")
    assert rating_points(answer, scale) in scale
    assert math.isfinite(rating_points(answer, None))
