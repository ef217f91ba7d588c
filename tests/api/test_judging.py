"""Judge texts in Python: make a judge, ask it, save it, load it, take it elsewhere."""

import json

import dspy
import pytest

import judgesmith
from judgesmith import programs as p
from judgesmith.pytest_plugin import assert_judged, assert_judged_all, assert_passes

RUBRIC = {"criteria": {"fluency": "Is it well written?", "truth": "Is all of it in the source?"}}
SOURCE = "The bridge opened in May 1998. Two thousand people crossed it on the first day."
RESPONSES = ("It opened in May.", "The the bridge in Paris opened in 1989.")
ITEMS = [
    judgesmith.RatedItem(source_id="b", system_id=str(n), source=SOURCE, response=response)
    for n, response in enumerate(RESPONSES)
]

JUDGES = {
    "ActiveCritic": lambda: p.ActiveCritic(variant="coarse"),
    "DirectJudge": lambda: p.DirectJudge(answers="1..5"),
    "AnnotatorJudge": lambda: p.AnnotatorJudge(rubric=RUBRIC),
    "DistilledJudge": lambda: p.DistilledJudge(rubric=RUBRIC),
    "ExemplarJudge": lambda: p.ExemplarJudge(levels=3, rubric=RUBRIC),
    "PairwiseJudge": lambda: p.PairwiseJudge(),
    "GEvalJudge": lambda: p.GEvalJudge(rubric=RUBRIC),
    "ExplainEvalJudge": lambda: p.ExplainEvalJudge(rubric=RUBRIC),
    "ChecklistJudge": lambda: p.ChecklistJudge(rubric=RUBRIC),
    "GPTScoreJudge": lambda: p.GPTScoreJudge(rubric=RUBRIC),
    "PromptFormatJudge": lambda: p.PromptFormatJudge(rubric=RUBRIC),
    "ReferenceJudge": lambda: p.ReferenceJudge(metric="rouge1"),
    "VerdictJudge": lambda: p.VerdictJudge(rubric=RUBRIC),
}


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge(keep, name):
    judge = JUDGES[name]()
    assert isinstance(judge, p.Judge)
    assert isinstance(judge, getattr(p, name))
    items = [one.model_copy(update={"references": (SOURCE[:30],)}) for one in ITEMS]
    said = p.score_batch(judge, items)
    keep("said", said)
    keep("each", [(one.system_id, found.score) for one, found in p.iter_scores(judge, items)])
    templates = judge.templates()
    assert all(isinstance(one, p.Template) for one in templates.values())
    keep("templates", {name: one.as_text().split("\n") for name, one in templates.items()})
    keep("protocol", {"fingerprint": judge.protocol.fingerprint})


def test_the_face_has_the_same_names():
    assert judgesmith.ActiveCritic is p.ActiveCritic
    assert judgesmith.Judge is p.Judge
    assert judgesmith.SavedJudge is p.SavedJudge
    assert judgesmith.score_batch is p.score_batch
    assert judgesmith.iter_scores is p.iter_scores
    assert judgesmith.load is p.load_judge


@pytest.mark.usefixtures("own_families")
def test_families(keep):
    families = p.known_families()
    keep("names", [one.name for one in families])
    keep("about", [one.about for one in families])
    assert isinstance(p.family_of("direct"), p.JudgeFamily)
    with pytest.raises(judgesmith.InputError, match="did you mean direct"):
        p.family_of("dirct")
    direct = p.family_of("direct")
    parts = {name: getattr(direct, name) for name in ("judge", "protocol", "steps", "forms")}
    p.register_family(p.JudgeFamily(name="blunt", about="asks as direct does", **parts))
    found = p.family_of("blunt").start(answers="1..5")
    assert found(source=SOURCE, response=RESPONSES[0]).score is not None


def test_two_texts(keep):
    judge = p.PreferenceJudge()
    keep("said", judge(source=SOURCE, first=RESPONSES[0], second=RESPONSES[1]))
    pair = p.ResponsePair(source=SOURCE, first=RESPONSES[1], second=RESPONSES[0])
    ((again, found),) = p.prefer_each(p.PairwiseJudge(), [pair])
    assert again is pair
    assert isinstance(found, p.Preference)
    keep("preferred", {"probability": found.probability, "disagree": found.disagree})


def test_panels(keep):
    panel = p.Panel({"fine": p.ActiveCritic(variant="coarse"), "plain": p.DirectJudge()})
    keep("panel", panel(source=SOURCE, response=RESPONSES[0]))
    members = {name: p.AnnotatorJudge(rubric=RUBRIC) for name in ("one", "two")}
    judge = p.PanelJudge(members, supervisor=p.Supervisor())
    keep("merged", judge(source=SOURCE, response=RESPONSES[1]))
    assert isinstance(p.with_roles(p.ExemplarJudge(), {}), p.ExemplarJudge)


@pytest.fixture
def data():
    return judgesmith.read("sample")


@pytest.fixture
def saved(folder, data):
    """A judge as it was made, and where it is kept."""
    settings = judgesmith.CompileSettings(judge="direct", optimizer="none")
    made = judgesmith.compile(data, settings).saved
    return made, made.save(folder / "judge")


def test_saving_and_loading(keep, folder, saved):
    made, place = saved
    assert isinstance(made, p.SavedJudge)
    assert p.load_saved(place) == judgesmith.SavedJudge.load(place) == made
    judge = judgesmith.load(place)
    keep("said", p.score_batch(judge, ITEMS))
    keep("fingerprint", {"fingerprint": made.fingerprint, "target": made.target})
    told = json.loads((place / "judge.json").read_text(encoding="utf-8"))
    told["target"] = "another"
    (place / "judge.json").write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(p.SavedJudgeError):
        p.load_saved(place)


def test_elsewhere(keep, folder, saved):
    made, _ = saved
    for form in ("prompt", "dspy", "mlflow"):
        told = p.export_judge(made, form, folder / form)
        keep(form, sorted(one.name for one in told.place.iterdir()))
    program = p.load_program(folder / "dspy" / "program.json")
    keep("said", p.score_batch(program, ITEMS))
    for scorer in (p.mlflow_scorer, p.inspect_scorer):
        with pytest.raises(judgesmith.MissingExtraError):
            scorer(made)


def test_a_model(keep, folder):
    lm = judgesmith.model("offline", ledger=None, max_calls=10)
    judge = judgesmith.ActiveCritic(variant="vanilla")
    with dspy.context(lm=lm):
        keep("said", judge(source=SOURCE, response=RESPONSES[0]))
    with pytest.raises(judgesmith.InputError):
        judgesmith.model("gpt-4o")


def test_calibrated(keep, data):
    from judgesmith.optimizers import Calibrator, rated_example

    targets = judgesmith.data.targets_of(data)
    examples = [
        rated_example(item, value, targets.scale, group=item.source_id)
        for item, value in zip(data, targets.values, strict=True)
    ]
    judge = Calibrator(confidence=0.8).compile(p.DirectJudge(), trainset=examples)
    assert isinstance(judge, p.Calibrated)
    keep("learned", judge.calibration)
    said = judge(source=SOURCE, response=RESPONSES[0])
    # The last digits of what was learned depend on the processor, and a fingerprint on them.
    assert len(said.protocol) == 12
    keep("said", said.toDict() | {"protocol": None})


def test_errors_can_be_told_apart():
    for name in ("InputError", "FileError", "MissingExtraError"):
        assert issubclass(getattr(judgesmith, name), judgesmith.JudgesmithError)
    with pytest.raises(judgesmith.FileError):
        judgesmith.read("nowhere.csv")
    assert issubclass(p.SavedJudgeError, judgesmith.JudgesmithError)


def test_in_pytest(keep, saved):
    _, place = saved
    texts = {"source": SOURCE, "response": RESPONSES[0]}
    keep("said", assert_judged(place, at_least=1, **texts))
    keep("all", assert_judged_all(place, ITEMS))
    with pytest.raises(AssertionError):
        assert_judged(place, at_least=99, **texts)
    with pytest.raises(judgesmith.InputError, match="labels such as pass and fail"):
        assert_passes(place, **texts)


def test_items_that_are_dicts_are_read_first():
    rows = [{"source": SOURCE, "response": one} for one in RESPONSES]
    found = judgesmith.score_batch(p.DirectJudge(), rows, lm="offline")
    made = judgesmith.score_batch(p.DirectJudge(), judgesmith.read(rows).items, lm="offline")
    assert [one.problem for one in found] == [None, None]
    assert [one.score for one in found] == [one.score for one in made]


def test_a_loaded_judge_knows_the_rows_that_it_was_compiled_from(tmp_path):
    data = judgesmith.read("sample").subset(range(60))
    saved = judgesmith.compile(data, judgesmith.CompileSettings(optimizer="none")).saved
    loaded = judgesmith.load(saved.save(tmp_path / "judge"))
    found, said = (judgesmith.evaluate(one, data) for one in (loaded, saved))
    assert (found.n_seen, found.n_unseen) == (said.n_seen, said.n_unseen)
    assert 0 < found.n_seen < len(data)
    panel = p.Panel({"one": loaded, "two": p.DirectJudge()})
    assert judgesmith.evaluate(panel, data).n_seen == found.n_seen
