"""What happens to Judgesmith when things go wrong, as figures: one module per topic.

    python -m benchmarks.torture                 every topic, at full size
    python -m benchmarks.torture faults budgets --quick

Run it from the root of the repository. Every topic has ``run(quick) -> list[str]``, which returns
rows of a Markdown table made with ``row``; the command exits 1 when a promise did not hold. What
is promised, and which test holds it at a small size, is in docs/guarantees.md. A module whose name
starts with an underscore is a helper of topics.
"""

from benchmarks.torture._rows import BROKEN, HEAD, row

__all__ = ["BROKEN", "HEAD", "row"]
