"""What the audits say of recorded judges on SummEval."""

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, benchmark, records
from judgesmith.metrics.audits import group_gaps, length_bias, position_bias, scale_use

CRITERIA = ("coherence", "consistency", "fluency", "relevance")
JUDGES = ("gpt-4-0314 rts", "gpt-3.5-turbo-0301 rts")


@benchmark(quick={"criteria": CRITERIA[:1]}, formats={"p": ".2f", "most used": "g"})
def audits(*, criteria: tuple[str, ...] = CRITERIA) -> Iterator[Row]:
    """What the audits say of recorded judges on SummEval."""
    rng = np.random.default_rng(0)
    rated = {(row["source_id"], row["system_id"]): row for row in records("summeval")}
    scores: dict = {}
    for row in records("recorded/summeval_likert_llms"):
        key = row["source_id"], row["system_id"]
        kind = row["judge"], row["criterion"]
        scores.setdefault(kind, {})[key] = np.array(row["scores"], dtype=float)[0]
    tables: tuple[list[Row], ...] = ([], [], [])
    for criterion in criteria:
        for judge in JUDGES:
            given = scores[judge, criterion]
            sources = [source for source, _ in given]
            predicted = np.array(list(given.values()))
            human = np.array([np.mean(rated[key]["human"][criterion]) for key in given])
            one = np.array([rated[key]["human"][criterion][0] for key in given])
            words = [len(rated[key]["response"].split()) for key in given]
            what = {"criterion": criterion, "judge": judge}
            length = length_bias(human, predicted, words, sources=sources, seed=rng)
            tables[0].append(
                what
                | {
                    "length: slope": length.slope,
                    "rank slope": length.rank_slope,
                    "correlation": length.correlation,
                    "of people": length.human_correlation,
                }
            )
            for name, each in (("judge", predicted), ("one rater", one)):
                use = scale_use(each, levels=range(1, 6), sources=sources)
                tables[1].append(
                    what
                    | {
                        "scale of": name,
                        "most used": use.most_used,
                        "its share": use.most_used_share.value,
                        "ties": use.tied_pairs.value,
                        "within sources": use.tied_pairs_within.value,
                        "entropy": use.entropy.value,
                        "ceiling": use.ceiling_share.value,
                    }
                )
            groups = [source.split("-")[0] for source in sources]
            gaps = group_gaps(human, predicted, groups, sources=sources, seed=rng)
            tables[2].append(what | {"newspapers: largest gap": gaps.largest, "p": gaps.p_value})
    for table in tables:
        yield from table
    answers: dict = {}
    for row in records("recorded/summeval_h2h_chatgpt"):
        kind = row["criterion"], row["judge"].endswith("order swapped")
        answers.setdefault(kind, {})[row["source_id"], row["system_id"]] = row["scores"][0]
    for criterion in criteria:
        in_order, swapped = answers[criterion, False], answers[criterion, True]
        place = position_bias(
            list(in_order.values()),
            [swapped[key] for key in in_order],
            sources=[source for source, _ in in_order],
            seed=rng,
        )
        yield {
            "gpt-3.5-turbo-0301 head-to-head": criterion,
            "position: bias": place.bias,
            "of changed": place.among_inconsistent,
            "changed": place.inconsistent,
        }
