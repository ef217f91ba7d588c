"""Saved judges, made without compiling anything."""

from judgesmith.programs.artifacts.record import GoldenItem
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import SavedCalibrated, SavedPanel
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.runner import score_batch
from judgesmith.signatures.aggregation import Calibration, PanelWeights
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import PERCENT

TEXTS = (
    RatedItem(source="The bridge opened on Monday.", response="It opened on Monday."),
    RatedItem(source="Rain is due.", response="Hats ate 12 cats!!", context="From the news."),
)


def saved_judge(judge, **parts):
    """Return a judge as it is saved; parts may be given."""
    given = {"protocol": judge.protocol, "questions": judge.templates(), "model": "offline"}
    return SavedJudge(**{**given, "target": "overall", "human_scale": "1..5", **parts})


def saved_of(family="active-critic", *, texts=TEXTS, model="offline", **parts):
    """Return a saved judge with parts of its protocol set, and golden items."""
    aggregation = parts.pop("aggregation", None)
    judge = family_of(family).start(**parts)
    if aggregation is not None:
        judge = judge.with_protocol(judge.protocol.model_copy(update={"aggregation": aggregation}))
    golden = tuple(
        GoldenItem(source=one.source, context=one.context, response=one.response, judgement=found)
        for one, found in zip(texts, score_batch(judge, texts), strict=True)
    )
    return saved_judge(judge, model=model, golden=golden)


def panel_of(**members):
    """Return a saved panel whose members count alike, with the golden items of the first."""
    weights = PanelWeights.equal(dict.fromkeys(members, PERCENT))
    golden = next(iter(members.values())).golden
    return SavedPanel(
        members=members, weights=weights, target="overall", human_scale="1..5", golden=golden
    )


def calibrated_of(judge, **parts):
    """Return a saved judge with a calibration, of which parts may be set."""
    learned = Calibration(
        thresholds=(0, 100),
        values=(1, 5),
        scale="1..5",
        margin=0.8,
        confidence=0.9,
        n_map=40,
        n_sources_map=20,
        n_margin=40,
        n_sources_margin=20,
        **parts,
    )
    return SavedCalibrated(
        members={"judge": judge},
        calibration=learned,
        target="overall",
        human_scale="1..5",
        golden=judge.golden,
    )
