"""How long it takes to be there: ``judgesmith --help`` and ``import judgesmith``.

python benchmarks/startup.py
"""

import statistics
import subprocess
import sys
import time

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


def main() -> None:
    """Measure in turns and print medians."""
    rounds = [{name: seconds(arguments) for name, arguments in WAYS.items()} for _ in range(7)]
    for name in WAYS:
        print(f"{name:26} {statistics.median(one[name] for one in rounds):.3f} s")


if __name__ == "__main__":
    main()
