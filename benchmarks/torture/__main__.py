"""Run topics one after another, print their rows, exit 1 when a promise did not hold."""

import argparse
import importlib
import os
import pkgutil
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests" / "unit" / "support"


def topics() -> list[str]:
    """Return the names of the modules that are topics."""
    names = [found.name for found in pkgutil.iter_modules([str(HERE)])]
    return sorted(name for name in names if not name.startswith("_"))


def measured(topic: str, *, quick: bool) -> list[str]:
    """Return the rows of a topic; one that did not come to its end is a broken promise too."""
    from benchmarks.torture import row

    try:
        return list(importlib.import_module(f"benchmarks.torture.{topic}").run(quick))
    except Exception as error:
        traceback.print_exc()
        return [row("the topic runs to its end", f"{type(error).__name__}: {error}", False)]


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.torture", description=__doc__)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"of {', '.join(topics())}")
    parser.add_argument("--quick", action="store_true", help="the same at a small size")
    options = parser.parse_args()
    unknown = sorted(set(options.topics) - set(topics()))
    if unknown:
        parser.error(f"no topic {', '.join(unknown)}; there are {', '.join(topics())}.")

    # Topics import the loopback server from here, and nothing may look up prices on the network.
    sys.path.insert(0, str(TESTS))
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from benchmarks.torture import BROKEN, HEAD

    n_broken = 0
    for topic in options.topics or topics():
        started = time.monotonic()
        print(f"\n## {topic}\n\n" + "\n".join(HEAD), flush=True)
        lines = measured(topic, quick=options.quick)
        print("\n".join(lines))
        print(f"\n{time.monotonic() - started:.0f} seconds", flush=True)
        n_broken += sum(line.endswith(BROKEN) for line in lines)
    print(f"\n{n_broken} promises broken" if n_broken else "\nevery promise held")
    return 1 if n_broken else 0


if __name__ == "__main__":
    sys.exit(main())
