"""Make a judge from a table with columns of your own, keep it, and judge a new text with it.

Runs offline and without a key: ``python examples/own_ratings.py``. Give ``compile_judge`` a
language model as ``lm=dspy.LM("provider/model")`` to use one instead of the offline model.
"""

import tempfile
from pathlib import Path

import pandas as pd

from judgesmith.data import read_items
from judgesmith.data.samples import sample_path
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.programs.artifacts.saved import SavedJudge

# A table as one might have it: an article, a summary, and one column for each of two raters.
rows = pd.read_json(sample_path(), lines=True)
table = pd.DataFrame(
    {
        "article": rows["source"],
        "summary": rows["response"],
        "first_rater": rows["human"].map(lambda human: human["overall"][0]),
        "second_rater": rows["human"].map(lambda human: human["overall"][1]),
    }
)

data = read_items(
    table,
    columns="source=article,response=summary,overall=first_rater+second_rater",
    scale="1..5",
)
found = compile_judge(data, CompileSettings(n_rounds=4))

for name, report in (("uncompiled", found.uncompiled), ("compiled", found.heldout)):
    if report is not None:
        agreement = report["dataset"]["spearman"]
        print(
            f"{name:<10} Spearman {agreement.value:.2f} "
            f"({agreement.confidence:.0%} interval {agreement.low:.2f} to {agreement.high:.2f}) "
            f"on {agreement.n} texts that it was not made from"
        )

with tempfile.TemporaryDirectory() as folder:
    kept = SavedJudge.load(found.saved.save(Path(folder) / "judge"))

judge = kept.program()
article = (
    "The swimming pool in Elm Road closes for repairs on 2 May and opens again on 20 May. The "
    "tiles of the large basin are loose, and the pump dates from the year in which the pool was "
    "built. Season tickets are extended by three weeks. School classes swim in Northgate in the "
    "meantime; a bus leaves from the school gate at 8.10. The sauna stays open."
)
summary = (
    "The Elm Road pool is closed for repairs from 2 to 20 May. Season tickets last three weeks "
    "longer, and school classes go to Northgate by bus."
)
verdict = judge(source=article, response=summary)
print(f"score {verdict.score:.2f} on the scale {kept.protocol.aggregation.scale}")
print(verdict.explanation)
