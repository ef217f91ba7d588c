"""Published numbers beside the same numbers recomputed from ratings and recorded answers.

Prints the table of ``docs/published.md``; status 1 if a number differs by more than its tolerance.

    python benchmarks/published.py
    JUDGESMITH_DATA=/elsewhere/data python benchmarks/published.py
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(
    0, str(ROOT / "tests" / "unit" / "support")
)  # beside the tests that compare the same numbers

from recomputing import RECIPES, Data  # noqa: E402


def in_words(values: Sequence[float], digits: int) -> str:
    """Return numbers with so many decimals."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


def main() -> int:
    """Recompute and print."""
    data = Data(Path(os.environ.get("JUDGESMITH_DATA", ROOT.parent / "shared" / "data")))
    checks = json.loads((data.folder / "checks.json").read_text(encoding="utf-8"))["checks"]
    print("| entry | published | recomputed | largest difference |\n| --- | --- | --- | --- |")
    n_apart = 0
    for check in checks:
        published = check["published"]
        published = published if isinstance(published, list) else [published]
        found = RECIPES[check["id"]](data)
        apart = max(abs(a - b) for a, b in zip(found, published, strict=True))
        n_apart += apart > check["tolerance"]
        digits = max(len(str(float(value)).partition(".")[2].rstrip("0")) for value in published)
        cells = [check["id"], in_words(published, digits), in_words(found, digits)]
        print(f"| {' | '.join(cells)} | {apart:.1g} |")
    print(f"\n{len(checks)} entries, {n_apart} further apart than their tolerance")
    return int(n_apart > 0)


if __name__ == "__main__":
    sys.exit(main())
