"""Published numbers beside the same numbers recomputed from ratings and recorded answers."""

import json
from collections.abc import Iterator, Sequence

from recomputing import RECIPES, Data

from benchmarks.harness import Row, benchmark, data_file


def in_words(values: Sequence[float], digits: int) -> str:
    """Return numbers with so many decimals."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


@benchmark(quick={"most": 3}, formats={"largest difference": ".1g"})
def published(*, most: int | None = None) -> Iterator[Row]:
    """Published numbers beside the same numbers recomputed from ratings and recorded answers."""
    checks_file = data_file("checks.json")
    data = Data(checks_file.parent)
    checks = json.loads(checks_file.read_text(encoding="utf-8"))["checks"]
    for check in checks[:most]:
        given = check["published"]
        given = given if isinstance(given, list) else [given]
        found = RECIPES[check["id"]](data)
        apart = max(abs(a - b) for a, b in zip(found, given, strict=True))
        digits = max(len(str(float(value)).partition(".")[2].rstrip("0")) for value in given)
        yield {
            "entry": check["id"],
            "published": in_words(given, digits),
            "recomputed": in_words(found, digits),
            "largest difference": apart,
            "held": bool(apart <= check["tolerance"]),
        }
