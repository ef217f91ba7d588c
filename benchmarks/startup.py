"""How long it takes to be there: ``judgesmith --help``, ``import judgesmith``, one row scored.

python benchmarks/startup.py
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WAYS = {
    "python -c pass": ["-c", "pass"],
    "import judgesmith": ["-c", "import judgesmith"],
    "judgesmith --help": ["-m", "judgesmith", "--help"],
    "judgesmith compile --help": ["-m", "judgesmith", "compile", "--help"],
    "import dspy": ["-c", "import dspy"],
}


def seconds(arguments: list[str]) -> float:
    """Return how long a fresh interpreter takes with ``arguments``."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def scoring(folder: Path) -> list[str]:
    """Return what scores one row with a compiled judge, whose answers are then on record."""
    row, judge = folder / "row.jsonl", folder / "judge"
    row.write_text('{"source": "The bridge opened on Monday.", "response": "It opened Monday."}\n')
    options = ["--ledger", str(folder / "ledger.sqlite")]
    base = ["-m", "judgesmith"]
    seconds([*base, "compile", "sample", "-o", str(judge), "--optimizer", "none", *options])
    return [*base, "score", str(judge), str(row), "-o", str(folder / "scores.jsonl"), *options]


def main() -> None:
    """Measure in turns and print medians."""
    with tempfile.TemporaryDirectory() as folder:
        ways = {**WAYS, "judgesmith score, one row": scoring(Path(folder))}
        rounds = [{name: seconds(arguments) for name, arguments in ways.items()} for _ in range(7)]
    for name in ways:
        print(f"{name:26} {statistics.median(one[name] for one in rounds):.3f} s")


if __name__ == "__main__":
    main()
