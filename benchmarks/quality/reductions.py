"""What twenty answers to a question come to, on file: mean, median and mode beside each other.

Seven forms of a prompt, four criteria. Every form has a row: the agreement of the mean averaged
over the criteria, by how much median and mode agree better or worse, and in how many of the
criteria the interval of that difference leaves out zero.
"""

from collections.abc import Iterator
from statistics import fmean
from typing import Annotated, Any

from benchmarks.harness import Row, benchmark, records
from judgesmith.metrics import PairedEstimate
from judgesmith.metrics.correlation import agreement_difference
from judgesmith.programs.judging.scoring import Reduction, one_of

CRITERIA = ("naturalness", "coherence", "engagingness", "groundedness")
OTHERS: tuple[Reduction, ...] = ("median", "mode")
RECORDED = "topical_chat_chatgpt_20samples"


def differences(
    own: list[dict[str, Any]], people: dict[tuple[str, str], Any], reduction: Reduction, level: Any
) -> Iterator[PairedEstimate]:
    """Yield, by criterion, how much better a reduction agrees than the mean."""
    for criterion in CRITERIA:
        rows = [row for row in own if row["criterion"] == criterion]
        given = [[one for one in row["scores"] if one is not None] for row in rows]
        kept = [place for place, scores in enumerate(given) if scores]
        human = [fmean(people[rows[k]["source_id"], rows[k]["system_id"]][criterion]) for k in kept]
        yield agreement_difference(
            human,
            [one_of(given[k], reduction) for k in kept],
            [one_of(given[k], "mean") for k in kept],
            sources=[rows[k]["source_id"] for k in kept],
            statistic="kendall" if level == "sample" else "pearson",
            level=level,
            seed=0,
        )


@benchmark(
    quick={"most": 1},
    formats=dict.fromkeys(OTHERS, "+.3f") | {"mean": ".3f"},
)
def reductions(*, most: Annotated[int | None, "forms of the prompt"] = None) -> Iterator[Row]:
    """What twenty answers to a question come to: mean, median and mode beside each other."""
    people = {(row["source_id"], row["system_id"]): row["human"] for row in records("topical_chat")}
    rows = records(f"recorded/{RECORDED}")
    for level, called in (("dataset", "Pearson over all"), ("sample", "tau-b within dialogues")):
        for judge in sorted({row["judge"] for row in rows})[:most]:
            own = [row for row in rows if row["judge"] == judge]
            several = {one: list(differences(own, people, one, level)) for one in OTHERS}
            mean = fmean(one.second for one in next(iter(several.values())))
            row: Row = {"agreement": called, "judge": judge, "mean": mean}
            for reduction, found in several.items():
                plain = sum(one.low > 0 or one.high < 0 for one in found)
                row[reduction] = fmean(one.value for one in found)
                row[f"{reduction}, clear"] = f"{plain} of {len(found)}"
            yield row
