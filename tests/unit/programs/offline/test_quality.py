"""The offline model on rated data: uncompiled, without any rating seen."""

import gzip
import json
from statistics import fmean

import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from judgesmith.programs.judging.adapter import FencedAdapter
from judgesmith.programs.lm.records import Message, ModelRequest, Prefix
from judgesmith.programs.offline import OfflineEngine
from judgesmith.signatures.questions.active_critic import GradeResponse


def rows_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def target_of(row, name):
    if name != "mean":
        return fmean(row["human"][name])
    ends = row["scale"]
    shares = [
        (fmean(given) - ends[one][0]) / (ends[one][1] - ends[one][0])
        for one, given in row["human"].items()
        if one != "overall"
    ]
    return fmean(shares)


@pytest.mark.parametrize(
    ("name", "target", "least"),
    [
        ("summeval", "mean", 1.1),
        ("wiki_da", "mean", 1.1),
        ("topical_chat", "overall", 0.7),
        ("qags_cnndm", "consistency", 1.2),
    ],
)
def test_the_uncompiled_model_agrees_with_people(data_folder, name, target, least):
    rows = rows_of(data_folder / f"{name}.jsonl.gz")
    adapter, engine = FencedAdapter(), OfflineEngine()
    first = {"source": "s", "context": None, "response": "r"}
    system = adapter.format(GradeResponse, [], first)[0]["content"]
    prefix = Prefix([Message("system", system)])
    scores = []
    for row in rows:
        inputs = {key: row[key] for key in first}
        user = adapter.format_user_message_content(GradeResponse, inputs, main_request=True)
        text = engine.answer(ModelRequest(model="offline", prefix=prefix, user=user)).text
        scores.append(adapter.parse(GradeResponse, text)["score"])
    human = [target_of(row, target) for row in rows]
    agreement = [measure(scores, human)[0] for measure in (pearsonr, spearmanr, kendalltau)]
    assert sum(agreement) >= least
    assert len(set(scores)) > 25
