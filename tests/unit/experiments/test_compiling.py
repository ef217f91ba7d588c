"""A judge is compiled: settings, notes and result."""

import json

import numpy as np
import pytest

from judgesmith import CompileSettings, DataSet, read
from judgesmith import compile as compile_judge
from judgesmith import read as read_items
from judgesmith.errors import InputError
from judgesmith.experiments import evaluate_judge
from judgesmith.experiments.compile.calibrating import CalibrationError, calibrate_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.notes import NothingScoredError, criteria_notes, length_note
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.compile.starting import starting_from
from judgesmith.experiments.evaluate.agreement import (
    criterion_reports,
)
from judgesmith.optimizers import parse_objective
from judgesmith.optimizers.rows import Rows
from judgesmith.programs import DirectJudge, SavedJudge
from judgesmith.programs.lm import ModelError, lm_client_of, model
from judgesmith.signatures import ActiveCriticConfig, Judgement, RatedItem, Rubric, Scale

# compiling

QUICK = CompileSettings(n_rounds=3)
GIVEN = QUICK.model_copy(update={"criteria": "given"})


@pytest.fixture(scope="module")
def data_compiling():
    return read_items("sample").subset(range(60))


@pytest.fixture(scope="module")
def compiled(data_compiling):
    return compile_judge(data_compiling, QUICK, lm=model(ledger=None))


def test_every_row_has_one_use_and_demonstrations_come_from_the_pool(data_compiling, compiled):
    seen = compiled.saved.seen
    keys = [key for several in seen.values() for key in several]
    assert (
        len(keys) == len(set(keys)) == compiled.saved.rows["train"] + compiled.saved.rows["select"]
    )
    assert len(data_compiling) - len(keys) == compiled.saved.rows["heldout"]
    shown = {one.key for many in compiled.saved.protocol.demonstrations.values() for one in many}
    assert shown <= set(compiled.saved.seen["train"])


def test_no_source_is_in_two_of_the_parts(data_compiling):
    parts = parts_of(data_compiling, chosen_targets(data_compiling, QUICK), QUICK)
    several = [set(part.groups.tolist()) for part in (parts.pool, parts.selection, parts.heldout)]
    total = sum(map(len, several))
    assert total == len(set.union(*several)) == len(set(data_compiling.groups.tolist()))


def test_the_optimism_is_agreement_on_rows_to_choose_by_less_that_on_rows_held_out(compiled):
    said = compiled.saved.agreement.plain
    chosen, held, gap = (
        said[part]["dataset"]["q"] for part in ("selection", "heldout", "optimism")
    )
    assert gap == pytest.approx(chosen["value"] - held["value"])


def test_constant_ratings_of_the_rows_to_choose_by_are_refused_before_anything_is_asked():
    odd = (3, 4)  # the other sources, on which nothing could be chosen, are all rated 3
    items = tuple(
        RatedItem(
            source_id=f"s{s}",
            source=f"About {s}.",
            response=f"It is {s} {k}.",
            human={"overall": (3 + (s in odd and k),)},
            scale={"overall": Scale(low=1, high=5)},
        )
        for s in range(12)
        for k in range(3)
    )
    lm = model(ledger=None)
    with pytest.raises(ValueError, match="agreement with a constant is undefined"):
        compile_judge(DataSet(name="odd", items=items), CompileSettings(), lm=lm)
    assert lm_client_of(lm).usage.calls == 0


@pytest.mark.no_cover
def test_the_report_is_what_the_saved_judge_scores(data_compiling, compiled):
    found = evaluate_judge(compiled.saved, data_compiling, seed=0)
    for level, statistics in compiled.heldout.items():
        for name, estimate in statistics.items():
            value = found.unseen[level][name].value
            assert value == pytest.approx(estimate.value, nan_ok=True)


def test_a_result_keeps_golden_items_examples_and_history(compiled):
    golden = compiled.saved.golden
    assert 2 <= len(golden) <= 20
    for one in golden:
        found = compiled.saved.program()(source=one.source, response=one.response)
        assert found.score == pytest.approx(one.judgement.score)
    (_, _, best), (_, _, worst) = compiled.examples
    assert best.score > worst.score
    stages = [trial["stage"] for trial in compiled.saved.history]
    assert stages.count("demonstrations") == QUICK.n_rounds
    assert "aggregation" in stages
    json.dumps(compiled.saved.model_dump(mode="json"), allow_nan=False)


def test_where_nothing_is_judged_there_is_no_judge(data_compiling):
    with pytest.raises(NothingScoredError, match="not asked: the budget of 0 calls") as caught:
        compile_judge(data_compiling, GIVEN, lm=model(ledger=None, max_calls=0))
    assert caught.value.spent
    assert (
        caught.value.rows["unscored"] == caught.value.rows["select"] + caught.value.rows["heldout"]
    )


class Scripted:
    """An engine that answers what a function of the request says."""

    endpoint = route = "scripted"

    def __init__(self, text_of):
        self.text_of = text_of

    def answer(self, request):
        from judgesmith.programs.lm import ModelAnswer

        return ModelAnswer(text=self.text_of(request), input_tokens=1, output_tokens=1)


@pytest.fixture
def scripted(monkeypatch):
    """Make models of a function from request to answer."""
    from judgesmith.programs.lm import factory as faces

    def make(text_of, *, ledger=None, **options):
        monkeypatch.setattr(faces, "engine_for", lambda *_, **__: Scripted(text_of))
        return model("scripted/m", ledger=ledger, **options)

    return make


VANILLA = CompileSettings(n_rounds=3, protocol={"variant": "vanilla"})


def test_answers_that_nobody_can_read_end_it_early(scripted):
    lm = scripted(lambda _: "fine, thanks")
    with pytest.raises(ModelError, match="nothing that the model answered could be read"):
        compile_judge(read_items("sample"), GIVEN, lm=lm, concurrency=4)
    assert lm_client_of(lm).usage.calls <= 2 * (20 + 4)


@pytest.mark.parametrize("with_ledger", [True, False])
def test_a_budget_spent_on_answers_that_nobody_can_read_is_a_fault(
    data_compiling, scripted, with_ledger, tmp_path
):
    options = {"ledger": tmp_path / "ledger.sqlite"} if with_ledger else {}
    lm = scripted(lambda _: "fine, thanks", max_calls=30, **options)
    with pytest.raises(NothingScoredError) as caught:
        compile_judge(data_compiling, GIVEN, lm=lm)
    said = str(caught.value)
    assert not caught.value.spent
    assert "could be parsed, for example: the criteria have no scores" in said
    if with_ledger:
        assert said.index("of the few-shot pool") < said.index("of the validation rows")
        assert said.index("× the criteria have no scores") < said.index("× not asked")


@pytest.mark.parametrize("budget", [0, 3])
def test_a_budget_that_ends_during_inference_leaves_no_judge_and_is_no_fault(
    data_compiling, budget
):
    with pytest.raises(NothingScoredError, match="before task and criteria were inf") as caught:
        compile_judge(data_compiling, QUICK, lm=model(ledger=None, max_calls=budget))
    assert caught.value.spent


def test_a_model_that_can_teach_nothing_is_told_from_the_data(data_compiling, scripted):
    with pytest.raises(ValueError, match=r"nothing could be inferred .* Take another model"):
        compile_judge(data_compiling, QUICK, lm=scripted(lambda _: "fine, thanks"))


@pytest.mark.parametrize("objective", ["q", "kappa"])
def test_the_gain_is_compiled_minus_uncompiled_where_their_unscored_rows_differ(
    data_compiling, scripted, objective
):
    def text_of(request):
        shows = len(request.prefix.messages) > 1
        place, item = next(
            (place, one) for place, one in enumerate(data_compiling) if one.response in request.user
        )
        points = 20 * item.human["overall"][0] if shows else 37 * place % 100
        score = "none" if place % 5 == shows else str(points)
        return f"[[ ## score ## ]]\n{score}\n\n[[ ## completed ## ]]"

    update = {"objective": objective, "holdout": 0.5, "confirm": None}  # of few sources
    found = compile_judge(data_compiling, VANILLA.model_copy(update=update), lm=scripted(text_of))
    assert found.saved.protocol.demonstrations
    n_held = found.saved.rows["heldout"]
    for level, row in found.gain.items():
        for name, gain in row.items():
            before, after = found.uncompiled[level][name], found.heldout[level][name]
            assert gain.n == before.n == after.n < n_held
            assert gain.value == pytest.approx(after.value - before.value, nan_ok=True)
    one = found.objective
    assert one.gain.value == pytest.approx(one.heldout.value - one.uncompiled.value)
    assert one.gain.n == one.uncompiled.n == one.heldout.n


def inferred_from(keys):
    rows = dict.fromkeys(keys, "row")
    batches = [{"batch": 1, "rows": rows}, {"batch": 2, "rows": None}, "not a batch"]
    return Rubric(criteria={"fluency": "Is it fluent?"}, provenance={"batches": batches})


def test_held_out_rows_that_taught_the_rubric_are_told_and_count_as_seen(data_compiling, compiled):
    held = [item.key for item in data_compiling if item.key not in compiled.saved.seen_keys]
    settings = CompileSettings(
        optimizer="none", protocol={"rubric": inferred_from([*held[:3], "elsewhere"])}
    )
    found = compile_judge(data_compiling, settings, lm=model(ledger=None))
    (note,) = [note for note in found.notes if "rubric was inferred" in note]
    assert f"inferred from 3 of the {len(held)} test rows" in note
    assert set(found.saved.seen["rubric"]) == {*held[:3], "elsewhere"}
    again = evaluate_judge(found.saved, data_compiling, seed=0)
    assert again.n_unseen == len(held) - 3


def test_rows_that_cannot_be_judged_are_counted_and_left_out(data_compiling, scripted):
    def text_of(request):
        n_words = len(request.user.split())
        score = "none" if n_words % 7 == 0 else str(n_words % 100)
        return f"[[ ## score ## ]]\n{score}\n\n[[ ## completed ## ]]"

    lm = scripted(text_of)
    found = compile_judge(data_compiling, VANILLA, lm=lm)
    rows = found.saved.rows
    assert 0 < rows["unscored"] < rows["select"] + rows["heldout"]
    n_scored = found.heldout["dataset"]["pearson"].n + found.selection["dataset"]["pearson"].n
    assert n_scored == rows["select"] + rows["heldout"] - rows["unscored"]
    assert "unscored rows are excluded from agreement." in found.notes


class TestObjectivesThatAreFunctions:
    def test_are_told_apart_by_what_they_do(self, data_compiling):
        first, again, other = (
            CompileSettings(objective=eval(f"lambda table: {n}")) for n in (1.0, 1.0, 2.0)
        )
        runs = [one.fingerprint(data_compiling, "offline") for one in (first, again, other)]
        assert runs[0] == runs[1] != runs[2]
        assert runs[0] != CompileSettings().fingerprint(data_compiling, "offline")

    def test_are_refused_before_a_call_where_they_cannot_be_used(self, data_compiling):
        with pytest.raises(InputError, match="takes other arguments"):
            CompileSettings(objective=lambda: 1)
        with pytest.raises(InputError, match="an objective is a text such as 'q'"):
            CompileSettings(objective=3)
        lm = model(ledger=None)
        wrong = CompileSettings(objective=lambda table: "good", criteria="given")
        with pytest.raises(InputError, match="must return a finite number"):
            compile_judge(data_compiling, wrong, lm=lm)
        assert lm_client_of(lm).usage.calls == 0


# compile notes


def judged(**columns):
    """Return judgements with one column of scores per criterion."""
    rows = zip(*columns.values(), strict=True)
    return [
        Judgement(
            score=50,
            criteria={name: {"score": one} for name, one in zip(columns, row, strict=True)},
        )
        for row in rows
    ]


def test_criteria_that_are_always_scored_alike_are_told_and_others_not():
    notes = list(criteria_notes(judged(wit=[1, 2, 3], tone=[1, 2, 3], use=[3, 2, 1]), None))
    assert len(notes) == 1
    assert notes[0].startswith("wit and tone have the same score on all 3 rows")


@pytest.mark.parametrize("columns", [{"a": [1, 2], "b": [1, 3]}, {"a": [5, 5], "b": [5, 5]}, {}])
def test_criteria_that_differ_anywhere_or_tell_nothing_apart_are_not(columns):
    assert not list(criteria_notes(judged(**columns), None))


def test_a_criterion_that_runs_against_people_is_told():
    data = read_items("sample")
    said = [np.mean(item.human["fluency"]) for item in data]
    turned = judged(fluency=[100 - 20 * one for one in said])
    reports = criterion_reports(data, range(len(data)), turned, rng=np.random.default_rng(0))
    (note,) = criteria_notes(turned, reports)
    assert note.startswith(
        "on fluency the judge's scores fall where human ratings rise (Pearson -1.00"
    )


def test_a_condition_that_is_missed_is_told_with_what_came():
    objective = parse_objective("q; ties >= .99; scored >= .5")
    found = compile_judge(
        read_items("sample"),
        CompileSettings(optimizer="none", objective=str(objective)),
        lm=model(ledger=None),
    )
    assert found.objective.name == str(objective)
    missed = [note for note in found.notes if "is not met" in note]
    assert len(missed) == 1
    assert missed[0].startswith("ties >= 0.99 is not met on the test rows: the value is 0.")


# What is kept of a search: luck is not, a gain is; through the public door.


def rated_by_length():
    """Return the sample with ratings that follow how long the response is."""
    rows = read("sample")
    lengths = np.asarray([len(one.response) for one in rows.items])
    points = 1 + np.argsort(np.argsort(lengths)) * 5 // len(lengths)
    return DataSet(
        name="by-length",
        items=tuple(
            one.model_copy(update={"human": {"overall": (float(value),)}})
            for one, value in zip(rows.items, points, strict=True)
        ),
    )


def compiled_confirmed_compiling(data, **settings):
    return compile_judge(data, CompileSettings(n_rounds=5, **settings), lm=model(ledger=None))


@pytest.mark.no_cover
def test_a_gain_that_is_no_luck_is_kept():
    found = compiled_confirmed_compiling(rated_by_length())
    weights = found.saved.agreement.plain["confirmation"]["aggregation"]
    assert weights["amount"] > 0.8
    assert weights["gain"] > 2 * weights["standard_error"]
    assert found.saved.protocol.aggregation.kind == "linear"
    assert found.objective.gain.value > 0.3


# A calibration is learned from rows that its judge has not seen, and says how it held.


@pytest.fixture(scope="module")
def data_calibrating():
    return read_items("sample")


def saved(data, n_seen, **update):
    judge = DirectJudge()
    parts = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": Scale(low=1, high=5),
        "seen": {"select": tuple(one.key for one in data.items[:n_seen])},
    }
    return SavedJudge(**{**parts, **update})


def test_rows_of_sources_that_the_judge_was_made_from_are_not_learned_from(data_calibrating):
    judge = saved(data_calibrating, 58)  # a part of a source
    found = calibrate_judge(judge, data_calibrating, confidence=0.8).saved
    assert found.rows["calibrate"] == 100
    assert not set(found.seen["calibrate"]) & judge.seen_keys
    assert found.members["judge"] == judge


def test_its_promises_are_held_against_rows_that_are_in_neither(data_calibrating):
    learned, held = data_calibrating.subset(range(100)), data_calibrating
    found = calibrate_judge(saved(data_calibrating, 0), learned, check=held, confidence=0.8)
    report = found.saved.agreement.plain["calibration"]
    assert report["n"] == 60
    assert 0.5 < report["covered"] <= 1
    assert report["kept"] == 1
    assert any("test rows" in note for note in found.notes)


def test_too_few_rows_are_refused_before_anything_is_asked(data_calibrating):
    with pytest.raises(CalibrationError, match=r"needs 40 rated rows .*; there are 20 of 5"):
        calibrate_judge(saved(data_calibrating, 140), data_calibrating)


def test_a_scale_that_counts_faults_is_refused():
    faults = Scale(low=0, high=4, higher_is_better=False)
    items = [
        RatedItem(
            source=str(n), response="r", human={"overall": [n % 4]}, scale={"overall": faults}
        )
        for n in range(50)
    ]
    data = read_items("sample")
    few = type(data)(name="faults", items=tuple(items))
    with pytest.raises(CalibrationError, match="counts faults"):
        calibrate_judge(saved(data, 0), few)


# starting

QUICK_STARTING = CompileSettings(n_rounds=3, confirm=None)
"""Few rows that confirm nothing suffice to compile a judge that has something to begin with."""


@pytest.fixture(scope="module")
def data_starting():
    return read_items("sample")


@pytest.fixture(scope="module")
def earlier(data_starting):
    return compile_judge(
        data_starting.subset(range(40, 100)), QUICK_STARTING, lm=model(ledger=None)
    ).saved


@pytest.fixture(scope="module")
def again(data_starting, earlier):
    return compile_judge(
        data_starting.subset(range(100)), QUICK_STARTING, earlier=earlier, lm=model(ledger=None)
    )


def shown(saved):
    return {one.key for many in saved.protocol.demonstrations.values() for one in many}


@pytest.mark.no_cover
def test_nothing_is_inferred_anew_and_learned_numbers_compete_first(earlier, again):
    assert again.saved.protocol.rubric == earlier.protocol.rubric
    assert again.saved.settings["earlier"] == earlier.fingerprint
    stages = [one for one in again.saved.history if one["stage"] == "demonstrations"]
    assert len(stages) == QUICK_STARTING.n_rounds + bool(shown(earlier))
    assert set(stages[1]["keys"]) == shown(earlier)
    ways = [one["name"] for one in again.saved.history if one["stage"] == "aggregation"]
    assert earlier.protocol.aggregation.kind == "linear"
    assert ways[0] == "own"


def test_no_row_of_the_earlier_judge_is_held_out_and_that_is_told(data_starting, earlier, again):
    known = earlier.seen_keys
    held = [item for item in data_starting.items[:100] if item.key not in again.saved.seen_keys]
    assert len(held) == again.saved.rows["heldout"]
    sources = {item.source for item in data_starting.items[:60] if item.key in known}
    assert not sources & {item.source for item in held}
    assert known <= again.saved.seen_keys
    found = evaluate_judge(again.saved, data_starting.subset(range(100)), seed=0)
    assert found.n_unseen == len(held)
    assert any("share a source with rows that the earlier judge" in note for note in again.notes)


def test_the_gain_is_over_the_earlier_judge(data_starting, earlier, again):
    held = [i for i in range(100) if data_starting[i].key not in again.saved.seen_keys]
    found = evaluate_judge(earlier, data_starting.subset(held), seed=0)
    value = again.uncompiled["dataset"]["pearson"].value
    assert found.unseen["dataset"]["pearson"].value == pytest.approx(value)


def test_what_was_learned_of_another_scale_is_left_out_and_told(data_starting, earlier):
    items = [
        item.model_copy(
            update={
                "human": {"overall": tuple(2 * one for one in item.human["overall"])},
                "scale": {"overall": Scale(low=2, high=10)},
            }
        )
        for item in data_starting
    ]
    ten = type(data_starting)(name="ten", items=tuple(items))
    settings = QUICK_STARTING.model_copy(update={"learn_weights": False})
    found = compile_judge(ten, settings, earlier=earlier, lm=model(ledger=None))
    assert found.saved.protocol.aggregation.kind == "overall"
    assert any("answers on 1..5 and the ratings are on 2..10" in note for note in found.notes)


def test_its_targets_are_taken_over_unless_others_are_named(data_starting, earlier):
    assert starting_from(earlier, CompileSettings()).target == ("overall",)
    assert starting_from(earlier, CompileSettings(target="fluency")).target == ("fluency",)
    several = earlier.model_copy(
        update={"settings": {**earlier.settings, "compared": ["score", "fluency"]}}
    )
    assert starting_from(several, CompileSettings()).target == ("overall", "fluency")


@pytest.mark.parametrize(
    "settings",
    [
        CompileSettings(protocol=ActiveCriticConfig(variant="coarse")),
        CompileSettings(criteria="human"),
        CompileSettings(criteria="inferred"),
    ],
)
def test_another_rubric_or_variant_beside_it_is_refused(earlier, settings):
    with pytest.raises(ValueError, match="takes its variant, task and criteria from there"):
        starting_from(earlier, settings)


def test_a_run_from_another_judge_is_another_run(data_starting, earlier):
    plain = CompileSettings().fingerprint(data_starting, "offline")
    assert starting_from(earlier, CompileSettings()).fingerprint(data_starting, "offline") != plain
    json.dumps(starting_from(earlier, CompileSettings()).model_dump(mode="json"))


@pytest.mark.parametrize(("grows", "warned"), [(True, "longer"), (False, "shorter"), (None, "")])
def test_a_judge_that_follows_length_is_told(grows, warned):
    rated = read_items("sample").subset(range(12))
    places = range(len(rated.items))
    lengths = [len(one.response) for one in rated.items]
    points = {True: lengths, False: [-n for n in lengths], None: [n % 7 for n in places]}[grows]
    rows = Rows(
        items=rated.items,
        human=np.arange(12.0),
        groups=rated.groups,
        systems=np.asarray(["s"] * 12),
        scale=Scale(low=1, high=5),
    )
    said = list(length_note(rows, [Judgement(score=float(one)) for one in points]))
    assert len(said) == bool(warned)
    assert all(f"{warned} test responses score higher" in one for one in said)
