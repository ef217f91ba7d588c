import pytest

from judgesmith.data import read_items
from judgesmith.data.items import DataSet
from judgesmith.data.targets import targets_of
from judgesmith.experiments.compile import inferring
from judgesmith.experiments.compile.inferring import InferenceRun, infer_rubric
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.lm import model
from judgesmith.signatures import RatedItem, Rubric, Scale


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(60))


@pytest.fixture
def shown(monkeypatch):
    """Scores that inference was given, by key of the text; nothing is asked."""
    seen = {}

    class Recording:
        def __init__(self, settings):
            pass

        def __call__(self, *, items, scores, **_):
            seen.update(zip([item.key for item in items], scores, strict=True))
            return Rubric(task="t", provenance={"notes": []})

    monkeypatch.setattr(inferring, "TaskInference", Recording)
    return seen


def rated(scale, *points):
    items = [
        RatedItem(source=str(n), response="r", human={"overall": (one,)}, scale={"overall": scale})
        for n, one in enumerate(points)
    ]
    return DataSet(name="toy", items=tuple(items))


class TestScoresThatTheModelIsShown:
    def test_are_percent_of_the_range(self, data, shown):
        infer_rubric(data)
        targets = targets_of(data)
        expected = dict(zip([item.key for item in data], 100 * targets.fractions, strict=True))
        assert len(shown) > 20
        assert shown == pytest.approx({key: expected[key] for key in shown})

    def test_or_percent_of_the_highest_point(self, data, shown):
        infer_rubric(data, InferenceRun(percent_of_max=True))
        targets = targets_of(data)
        assert targets.scale == Scale(low=1, high=5)
        expected = dict(zip([item.key for item in data], 20 * targets.values, strict=True))
        assert len(shown) > 20
        assert shown == pytest.approx({key: expected[key] for key in shown})

    @pytest.mark.parametrize(
        ("scale", "points"),
        [
            (Scale(low=-25, high=0), (-25, -3, 0, -1)),
            (Scale(low=0, high=5, higher_is_better=False), (1, 2, 3, 5)),
        ],
    )
    def test_percent_of_the_highest_point_needs_a_scale_that_allows_it(self, scale, points, shown):
        with pytest.raises(ValueError, match="percent of the maximum needs a scale from 0"):
            infer_rubric(rated(scale, *points), InferenceRun(percent_of_max=True))
        assert shown == {}


@pytest.mark.parametrize(
    "changed",
    [
        {"percent_of_max": True},
        {"holdout": 0.5},
        {"target": "overall"},
        {"aggregate": "median"},
        {"split_rows": True},
        {"given": Rubric(task="Mine.")},
        {"settings": {"seed": 1}},
    ],
)
def test_every_setting_is_part_of_the_fingerprint(data, changed):
    usual = InferenceRun().fingerprint(data, "offline")
    assert InferenceRun(**changed).fingerprint(data, "offline") != usual


def test_data_and_model_are_part_of_the_fingerprint(data):
    usual = InferenceRun().fingerprint(data, "offline")
    assert usual == InferenceRun(percent_of_max=False).fingerprint(data, "offline")
    assert InferenceRun().fingerprint(data.subset(range(20)), "offline") != usual
    assert InferenceRun().fingerprint(data, "openai/m") != usual
    assert InferenceRun().fingerprint(data, "offline", "http://localhost:1") != usual


def test_another_endpoint_is_another_run(data, shown, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    lms = [
        model("openai/m", api_base=f"http://localhost:{port}/v1", ledger=None) for port in (1, 2)
    ]
    first, second, again = (infer_rubric(data, lm=lm) for lm in (*lms, lms[0]))
    runs = [found.rubric.provenance["run"] for found in (first, second, again)]
    assert runs[0] == runs[2] != runs[1]


def test_where_a_kept_rubric_comes_from_is_not_part_of_the_fingerprint(data):
    first, second = (Rubric(task="Mine.", provenance={"run": run}) for run in ("a", "b"))
    prints = {InferenceRun(given=one).fingerprint(data, "offline") for one in (first, second)}
    assert len(prints) == 1


def test_the_rubric_names_its_run(data):
    run = InferenceRun(percent_of_max=True)
    lm = model(ledger=None)
    found = infer_rubric(data, run, lm=lm)
    assert found.rubric.provenance["run"] == run.fingerprint(data, "offline", endpoint_of(lm))
    assert len(found.rubric.criteria) >= 4
