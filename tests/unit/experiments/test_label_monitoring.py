"""Whether a judge that gives labels still gives them as often, and to the same golden items."""

from judgesmith.experiments.monitor.drifting import drift_between, read_snapshot
from judgesmith.experiments.monitor.recheck_rule import RecheckSettings, recheck_of
from judgesmith.experiments.monitor.rechecking import recheck_text
from judgesmith.experiments.monitor.snapshot import reference_of
from judgesmith.programs.artifacts.record import GoldenItem
from judgesmith.signatures import Judgement, RatedItem, Scale


def judged(label):
    return Judgement(score=float(label == "pass"), label=label)


def test_drift_reports_a_label_whose_share_shifts():
    items = [RatedItem(source_id=f"q{n}", response=f"answer {n} " * 3) for n in range(200)]

    def seen(one_in):
        said = [judged("fail" if n % one_in == 0 else "pass") for n in range(200)]
        return read_snapshot(reference_of(items, said))

    (found,) = [one for one in drift_between(seen(10), seen(2)).drifted if one.unit == "share"]
    assert (found.what, found.kind) == ("label fail", "scores")
    assert (found.before, found.now) == (0.1, 0.5)
    assert not any(one.unit == "share" for one in drift_between(seen(10), seen(10)).drifted)
    assert "label" not in seen(10).without_scores().labels


def test_recheck_reports_how_many_labels_are_as_before():
    texts = ("a", "b", "c", "d", "e", "f")
    before = [judged("pass"), judged("fail")] * 3
    golden = [
        GoldenItem(source="", response=text, judgement=one)
        for text, one in zip(texts, before, strict=True)
    ]
    now = [[judged("pass")] * 6, before]
    found = recheck_of(golden, now, RecheckSettings(samples=2), scale=Scale(low=0, high=1))
    assert found.labels.same.value == 9 / 12
    assert found.labels.changed == {"fail -> pass": 3}
    assert any("fail -> pass" in line for line in recheck_text(found))
    assert found.to_dict()["labels"]["changed"] == {"fail -> pass": 3}
