"""Settings of a compilation, warnings and diagnostics."""

import inspect
import json
import runpy
from pathlib import Path
from typing import get_args

import dspy
import numpy as np
import pytest
from looping import for_each
from pydantic import ValidationError

from judgesmith import InputError
from judgesmith.data import DataSet, read_items, targets_of
from judgesmith.data.score_files import Scores
from judgesmith.experiments import CompileSettings, evaluate_judge, evaluate_scores
from judgesmith.experiments.compile.ablating import without
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.fields import SEARCHES, Optimizer
from judgesmith.experiments.compile.inferring import InferenceRun, infer_rubric, rubric_for
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.compile.starting import better_start
from judgesmith.experiments.compile.tuning import Tuning
from judgesmith.experiments.evaluate.describing import describe, mirrored_criteria
from judgesmith.front_door import at
from judgesmith.metrics import tie_aware_accuracy, weighted_kappa
from judgesmith.programs import ActiveCritic, DirectJudge
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import ActiveCriticConfig, Judgement, RatedItem, Rubric, Scale
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import PERCENT

# settings

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def data_settings():
    return read_items("sample")


@for_each(
    "changed",
    [
        {"target": "fluency"},
        {"aggregate": "median"},
        {"protocol": ActiveCriticConfig(variant="vanilla")},
        {"optimizer": "none"},
        {"objective": "pearson"},
        {"holdout": 0.0},
        {"n_demonstrations": 2},
        {"n_rounds": 3},
        {"criteria": "human"},
        {"criteria": "given"},
        {"inference": {"inference": "single"}},
        {"inference": {"without": ("task",)}},
        {"learn_weights": False},
        {"partial_demos": True},
        {"percent_of_max": True},
        {"earlier": "0123456789ab"},
        {"lexical": True},
        {"lexical": False},
        {"seed": 1},
        {"texts": False},
        {"split_rows": True},
    ],
)
def test_every_setting_is_part_of_the_fingerprint(data_settings, changed):
    usual = CompileSettings().fingerprint(data_settings, "offline")
    assert CompileSettings(**changed).fingerprint(data_settings, "offline") != usual


@for_each(
    ("settings", "source"),
    [
        ({}, "inferred"),
        ({"target": ("a", "b")}, "human"),
        ({"criteria": "human"}, "human"),
        ({"optimizer": "none"}, "given"),
        ({"optimizer": "none", "criteria": "inferred"}, "inferred"),
        ({"protocol": ActiveCriticConfig(variant="vanilla")}, "given"),
        ({"protocol": ActiveCriticConfig(variant="coarse")}, "inferred"),
        ({"protocol": ActiveCriticConfig(rubric={"criteria": {"wit": "Is it funny?"}})}, "given"),
    ],
)
def test_where_the_rubric_comes_from_is_settled_by_what_is_said(settings, source):
    assert CompileSettings(**settings).criteria_from == source


def test_data_and_model_are_part_of_the_fingerprint(data_settings):
    usual = CompileSettings().fingerprint(data_settings, "offline")
    assert usual == CompileSettings(seed=0).fingerprint(data_settings, "offline")
    assert CompileSettings().fingerprint(data_settings.subset(range(100)), "offline") != usual
    assert CompileSettings().fingerprint(data_settings, "openai/m") != usual
    assert CompileSettings().fingerprint(data_settings, "offline", "http://localhost:1") != usual


@for_each(
    "wrong",
    [
        {"holdout": 1.0},
        {"n_rounds": 0},
        {"optimiser": "random"},
        {"target": ("a", "a")},
        {"inference": {"without": ("criteria",)}},
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(InputError) as fault:
        CompileSettings(**wrong)
    assert not any(word in str(fault.value) for word in ("pydantic", "validation", "Input should"))


def test_a_wrong_value_is_told_in_the_words_that_a_file_is_told_in():
    with pytest.raises(InputError) as fault:
        CompileSettings(holdout="half", optimiser="random", n_rounds=0)
    assert str(fault.value) == (
        "holdout: expected a number; got 'half'; n_rounds: expected greater than or equal to 1; "
        "got 0; optimiser: there is no such field"
    )
    with pytest.raises(ValidationError) as of_file:
        CompileSettings.model_validate({"holdout": "half"})
    assert of_file.value.errors()[0]["loc"] == ("holdout",)
    assert "holdout" in inspect.signature(CompileSettings).parameters


class TestTheFamily:
    def test_can_be_named_and_shows_no_examples_that_it_has_none_of(self):
        settings = CompileSettings(judge="direct")
        assert (settings.protocol.judge, settings.n_demonstrations) == ("direct", 0)
        assert settings == CompileSettings.model_validate(dict(settings))

    def test_is_told_by_the_protocol_alone(self, data_settings):
        named, given = (
            CompileSettings(judge="direct"),
            CompileSettings(protocol=DirectJudge().protocol),
        )
        assert named.fingerprint(data_settings, "offline") == given.fingerprint(
            data_settings, "offline"
        )
        usual = CompileSettings(judge="active-critic")
        assert usual.fingerprint(data_settings, "offline") == CompileSettings().fingerprint(
            data_settings, "offline"
        )

    @for_each(
        ("given", "said"),
        [
            ({"judge": "dirct"}, "did you mean direct"),
            (
                {"judge": "direct", "protocol": ActiveCriticConfig()},
                "and the protocol is of active-critic",
            ),
            ({"judge": "direct", "n_demonstrations": 2}, "leave n_demonstrations out"),
            ({"judge": "direct", "partial_demos": True}, "leave partial_demos out"),
            ({"judge": "direct", "protocol": {"variant": "fine"}}, "variant"),
        ],
    )
    def test_refuses_what_it_has_nothing_of(self, given, said):
        with pytest.raises(InputError, match=said):
            CompileSettings(**given)


def test_a_choice_that_no_search_has_cannot_be_fixed():
    with pytest.raises(ValueError, match="no 'sampels'; did you mean samples"):
        CompileSettings(optimizer="protocol", fixed=("sampels",))
    assert CompileSettings(optimizer="protocol", fixed=("demonstrations",)).fixed


def test_screening_tries_more_and_is_unsaid_where_there_is_none():
    assert CompileSettings(optimizer="protocol", screen=True).n_trials == 108
    assert CompileSettings(optimizer="protocol", screen=True, n_trials=7).n_trials == 7
    assert "screen" not in CompileSettings(optimizer="protocol").model_dump()
    with pytest.raises(ValueError, match=r"optimizer='protocol'.*effects; leave screen out"):
        CompileSettings(screen=True)


def test_the_page_of_settings_is_written_from_the_fields():
    writer = runpy.run_path(str(ROOT / ".ci" / "settings_page.py"))
    assert writer["PAGE"].read_text(encoding="utf-8") == writer["page"]()


def test_every_optimizer_has_a_row_and_is_named_where_users_look():
    assert tuple(SEARCHES) == get_args(Optimizer)
    places = ["docs/reference/command-line.md", "judgesmith/experiments/specs/templates/start.yaml"]
    page, template = (ROOT.joinpath(one).read_text(encoding="utf-8") for one in places)
    assert "`--optimizer " + r"\|".join(SEARCHES) + "`" in page
    assert f"({', '.join(SEARCHES)})" in template
    for one in SEARCHES.values():
        assert all(callable(at(place)) for place in (one.build, one.cost) if place)


# besides

CUT_OFF = Cause(Reason.CUT_OFF, "cut off")
NAN = float("nan")
HUMAN = [(1, 5), (2, 3), (4, 4), (5, 1), (3, 2), (2, 4)]


def dataset(human=HUMAN, scale=None):
    """Sources with two responses each, of growing length."""
    form = {"overall": scale or Scale(low=1, high=5)}
    items = [
        RatedItem(
            source=f"s{n}",
            system_id="ab"[k],
            response="x" * (3 + 2 * n + 7 * k),
            human={"overall": value if isinstance(value, tuple) else (value,)},
            scale=form,
        )
        for n, pair in enumerate(human)
        for k, value in enumerate(pair)
    ]
    return DataSet(name="toy", items=tuple(items))


LIKERT = Scale(low=1, high=5)


def found(values, data=None, aggregate="mean", answers=LIKERT, **more):
    data = data or dataset()
    scores = Scores(
        values=np.asarray(values, float),
        problems=tuple(CUT_OFF if np.isnan(value) else None for value in values),
        label="x",
        criterion=None,
        n_unused=0,
        **more,
    )
    targets = targets_of(data, aggregate=aggregate)
    return evaluate_scores(scores, data, targets, answers=answers, seed=0).besides


JUDGE = [1, 4, 2, 3, 5, 4, 5, 2, 3, 3, 1, 4]
PEOPLE = [value for pair in HUMAN for value in pair]


def test_pairs_and_ties_count_as_the_metric_says():
    one = found(JUDGE)
    assert one.pairs["dataset"].value == pytest.approx(tie_aware_accuracy(PEOPLE, JUDGE))
    assert one.pairs["sample"].n_groups == 6


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_scores_on_peoples_scale_have_a_kappa(weights):
    one = found(JUDGE)
    direct = weighted_kappa(PEOPLE, JUDGE, levels=range(1, 6), weights=weights)
    assert one.kappa[weights].value == pytest.approx(direct)
    assert (one.levels, one.no_kappa, str(one.judge_scale)) == ((1, 2, 3, 4, 5), None, "1..5")
    assert one.confusion.n == 12


def test_a_judges_own_scale_is_laid_on_peoples():
    data = read_items("sample").subset(range(40))
    whole = [
        item.model_copy(update={"human": {"overall": (1.0 + i % 5,)}})
        for i, item in enumerate(data)
    ]
    data = DataSet(name="whole", items=tuple(whole))
    one = evaluate_judge(ActiveCritic(), data, seed=0).besides
    assert (str(one.judge_scale), one.no_kappa, one.concordance) == ("0..100", None, None)
    assert set(one.kappa) == {"linear", "quadratic"}


@for_each(
    ("values", "human", "scale", "why"),
    [
        ([20 * v for v in JUDGE], HUMAN, None, "scores from 20 to 100 are not on the judge's own"),
        (JUDGE, [((1, 2), 5), *HUMAN[1:]], None, "not all human ratings are whole points of 1"),
        (JUDGE, HUMAN, Scale(low=0, high=100), "the raters' scale 0..100 has no levels, or more"),
        (JUDGE, HUMAN, Scale(low=0.5, high=5.5), "the raters' scale 0.5..5.5 has no levels"),
        (JUDGE, HUMAN, Scale(low=1, high=5, higher_is_better=False), "raters count faults, on"),
    ],
)
def test_where_there_is_no_kappa_it_says_why(values, human, scale, why):
    one = found(values, dataset(human, scale))
    assert one.no_kappa.startswith(why)
    assert (dict(one.kappa), one.confusion, one.levels) == ({}, None, ())


def test_scores_that_look_like_points_of_peoples_scale_are_not_taken_for_them():
    one = found(JUDGE, answers=None)
    assert one.no_kappa == (
        "the scale of the scores from 1 to 5 is unknown; give it with --answers LOW..HIGH"
    )
    assert (dict(one.kappa), one.judge_scale, one.concordance) == ({}, None, None)
    assert found(JUDGE, answers=PERCENT).kappa["linear"].value < 0.1


def test_length_is_looked_at_beside_ratings_and_empty_responses_are_left_out():
    data = dataset()
    items = [
        item.model_copy(update={"response": ""}) if n == 0 else item for n, item in enumerate(data)
    ]
    lengths = [len(item.response) for item in data]
    one = found([1 + 0.1 * n for n in lengths], DataSet(name="toy", items=tuple(items)))
    assert one.length.slope.n == 11
    assert one.length.correlation.value > 0.9
    assert one.reliability == 1


def test_without_any_score_there_is_nothing_to_tell():
    assert found([NAN] * 12) is None


def test_it_is_ready_for_json():
    for values in (JUDGE, [3.0] * 12, [20.0 * value for value in JUDGE]):
        plain = found(values, answers=None).to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["kendall_c"]["dataset"]["n"] == 12
    assert plain["scale_use"]["judge"]["n_used"] == 5
    assert plain["length_bias"]["slope"]["n"] == 12
    assert plain["concordance"] is plain["confusion"] is None


# cautions

RNG = np.random.default_rng(7)


def item(n, human, **fields):
    given = {"source": f"s{n}", "system_id": f"m{n % 3}", "response": f"{n} " + "x" * (n * 7 % 11)}
    scale = dict.fromkeys(human, LIKERT)
    return RatedItem(**(given | fields), human=human, scale=scale)


def warnings(items):
    data = DataSet(name="toy", items=tuple(items))
    return describe(data, seed=0).warnings


def good(n):
    """An item of a set that gives no reason to warn."""
    value = 1 + (n * 3 + n // 5) % 4
    return {"overall": (value, min(5, value + n % 2), value)}


def test_a_good_set_gives_no_reason_to_warn():
    assert warnings(item(n, good(n)) for n in range(60)) == ()


def test_raters_who_agree_by_chance_make_a_useless_target():
    said = [tuple(RNG.integers(1, 6, size=3).tolist()) for _ in range(200)]
    found = warnings(item(n, {"overall": one}) for n, one in enumerate(said))
    assert found[0].startswith("overall: ICC of one rater ")
    assert found[0].endswith("a criterion near zero cannot be a useful target.")


def test_raters_who_never_differ_are_suspicious():
    found = warnings(item(n, {"overall": (1 + n * 3 % 5,) * 3}) for n in range(60))
    assert found == (
        "overall: ICC of one rater 1.00 is unusual for people who rated independently; the "
        "human ceiling may be too high.",
    )


def test_lone_ratings_among_several_may_be_means():
    items = [item(n, good(n)) for n in range(60)]
    items += [item(n, {"overall": (3,)}) for n in (60, 61)]
    assert warnings(items) == (
        "overall: 2 items with a single rating where others have several; it may be a mean "
        "already, and is left out of rater agreement.",
    )


def test_ties_at_the_top_are_told():
    # 48 items at 5, 6 at 2 and 6 at 2.5: 1158 of 1770 pairs.
    items = [item(n, {"overall": (5, 5) if n % 5 else (2 + n % 2, 2)}) for n in range(60)]
    assert (
        "overall: 65% of all pairs of items are tied, 80% of items are at the top; rank "
        "correlations rest on the others."
    ) in warnings(items)


def test_a_small_set_of_few_sources_is_told_with_its_width():
    items = [item(n, good(n), source=f"s{n % 4}") for n in range(20)]
    found = warnings(items)
    assert found[0].startswith("overall: rated on 20 items only, which tells a correlation of .5 ")
    assert "only 4 sources; intervals rest on sources and will be wide or undefined." in found


def test_empty_and_repeated_texts_are_told():
    items = [item(n, good(n)) for n in range(60)]
    items[0] = item(0, good(0), source="")
    items[1] = item(1, good(1), response=" ")
    items[3] = item(3, good(3), response=items[2].response)
    items.append(items[4].model_copy(update={"human": {"overall": (5, 5, 5)}}))
    items.append(items[5].model_copy(update={"source_id": "a"}))
    items.append(items[5].model_copy(update={"source_id": "b"}))
    assert warnings(items) == (
        "1 item with an empty source.",
        "1 item with an empty response.",
        "1 item with the texts of an earlier item but other ratings.",
        "1 response given to several sources (2 items); parts without a common source can still "
        "share them.",
        "1 source text under several ids; splits keep them together.",
    )


# mirrored


def pairs(said, scale=(0, 1)):
    """Two texts of a source for each pair of ratings."""
    form = {"preferred": Scale(low=scale[0], high=scale[1])}
    items = [
        RatedItem(source_id=f"s{n}", response=f"{n} {k}", human={"preferred": one}, scale=form)
        for n, pair in enumerate(said)
        for k, one in enumerate(pair)
    ]
    return DataSet(name="toy", items=tuple(items))


WON, LOST, TIED = (1, 0.5), (0, 0.5), (0.5, 0.5)


@for_each(
    ("said", "found"),
    [
        ([(WON, LOST)] * 9 + [(TIED, TIED)], ("preferred",)),
        ([(WON, LOST)] * 9, ()),
        ([(WON, LOST)] * 10 + [(WON, WON)], ()),
        ([(WON, LOST)] * 10 + [(WON,)], ()),
        ([(WON, LOST)] * 10 + [(WON, LOST, TIED)], ()),
        ([(WON, LOST)] * 10 + [((1,), (0, 0.5))], ()),
    ],
)
def test_every_source_has_two_texts_that_share_what_there_is_to_give(said, found):
    assert mirrored_criteria(pairs(said)) == found


def test_the_ends_of_the_scale_count():
    assert mirrored_criteria(pairs([((1,), (5,)), ((2,), (4,))] * 5, scale=(1, 5)))
    assert not mirrored_criteria(pairs([((1,), (5,)), ((2,), (4,))] * 5, scale=(0, 5)))


# rubric choice

GENERAL = ActiveCritic()
INFERRED = ActiveCritic(rubric=Rubric(criteria={"wit": "Is it funny?"}))
SETTINGS = CompileSettings()


@pytest.fixture(scope="module")
def data_rubric_choice():
    return read_items("sample")


@pytest.fixture(scope="module")
def parts(data_rubric_choice):
    return parts_of(data_rubric_choice, chosen_targets(data_rubric_choice, SETTINGS), SETTINGS)


@pytest.fixture
def chosen(parts, monkeypatch):
    """Choose between judges whose scores follow people with so much noise, nan for none."""

    def choose(general, inferred, name="openai/m"):
        rng = np.random.default_rng(0)
        people = parts.selection.human
        shared = rng.normal(size=len(people))
        noise = {id(GENERAL): general, id(INFERRED): inferred}

        def judged(self, judge, rows, stage):
            own = noise[id(judge)]
            scores = people + (own if np.ndim(own) else own * shared)
            return [
                Judgement.unscored("lost") if np.isnan(one) else Judgement(score=one, raw=one)
                for one in scores
            ]

        monkeypatch.setattr(Tuning, "judged", judged)
        lm = dspy.LM(name, cache=False) if name != "offline" else model(ledger=None)
        work = Tuning(
            settings=SETTINGS,
            parts=parts,
            targets=("score",),
            lm=lm,
            concurrency=1,
            on_progress=None,
        )
        return better_start(work, GENERAL, INFERRED), work

    return choose


def test_a_rubric_that_clearly_agrees_better_is_taken_whatever_the_model(chosen):
    for name in ("openai/m", "offline"):
        assert chosen(5.0, 0.2, name)[0] is INFERRED
        assert chosen(0.2, 5.0, name)[0] is GENERAL


def test_of_two_that_agree_alike_a_language_model_keeps_what_it_inferred(chosen):
    assert chosen(1.0, 1.0)[0] is INFERRED
    assert chosen(1.0, 1.0, "offline")[0] is GENERAL


def test_a_rubric_that_leaves_many_rows_without_a_score_loses(chosen, parts):
    some = np.zeros(len(parts.selection))
    some[: len(some) // 10] = np.nan
    assert chosen(5.0, some)[0] is GENERAL
    assert chosen(some, 5.0, "offline")[0] is INFERRED


def test_what_was_compared_is_on_record(chosen):
    _, work = chosen(0.2, 5.0)
    assert [one["taken"] for one in work.history] == [True, False]
    assert "selected the general rubric: q " in work.notes[0]
    _, work = chosen(5.0, 0.2)
    assert "selected the inferred rubric: q " in work.notes[0]


# rubrics

OWN = Rubric(task="Judge a note.", criteria={"Fluency": "Ours?", "wit": "Is it funny?"})


@pytest.fixture(scope="module")
def data_rubrics():
    return read_items("sample").subset(range(60))


def found_rubrics(data, settings, lm=None):
    targets = chosen_targets(data, settings)
    return rubric_for(data, targets, settings, lm=lm or model(ledger=None))


@pytest.mark.no_cover
def test_compiling_infers_what_the_command_infers_and_pays_once(data_rubrics, tmp_path):
    ledger = tmp_path / "ledger.sqlite"
    run = InferenceRun(settings=InferenceSettings(seed=4))
    alone = infer_rubric(data_rubrics, run, lm=model(ledger=ledger)).rubric
    lm = model(ledger=ledger)
    again = found_rubrics(data_rubrics, CompileSettings(seed=4), lm).rubric
    assert (again.task, again.criteria) == (alone.task, alone.criteria)
    assert again.provenance["batches"] == alone.provenance["batches"]
    assert lm_client_of(lm).usage.calls == 0


@pytest.mark.parametrize(
    "settings",
    [
        CompileSettings(optimizer="none"),
        CompileSettings(criteria="given"),
        CompileSettings(protocol=ActiveCriticConfig(variant="vanilla")),
        CompileSettings(protocol=ActiveCriticConfig(rubric=OWN)),
    ],
    ids=["as it is", "given", "vanilla", "own"],
)
def test_a_judge_that_has_its_rubric_asks_nothing(data_rubrics, settings):
    lm = model(ledger=None)
    assert found_rubrics(data_rubrics, settings, lm).rubric == settings.protocol.rubric
    assert lm_client_of(lm).usage.calls == 0


def test_human_criteria_have_an_inferred_task_and_definitions_of_the_rubric(data_rubrics):
    rubric = found_rubrics(data_rubrics, CompileSettings(criteria="human")).rubric
    assert rubric.names == ("faithfulness", "fluency")
    assert rubric.task.startswith("The task is summarization")
    assert rubric.provenance["criteria"] == {"faithfulness": "general", "fluency": "general"}
    own = CompileSettings(criteria="human", protocol=ActiveCriticConfig(rubric=OWN))
    lm = model(ledger=None)
    chosen = found_rubrics(data_rubrics, own, lm)
    assert chosen.rubric.task == "Judge a note."
    assert chosen.rubric.criteria[1].definition == "Ours?"
    assert any("wit" in note for note in chosen.notes)
    assert lm_client_of(lm).usage.calls == 0


@pytest.mark.parametrize(
    "settings",
    [
        CompileSettings(),
        CompileSettings(criteria="human"),
        CompileSettings(criteria="given"),
        CompileSettings(protocol=ActiveCriticConfig(rubric=OWN)),
    ],
)
def test_without_a_task_no_rubric_has_one(data_rubrics, settings):
    rubric = found_rubrics(data_rubrics, without(settings, ["task"])).rubric
    assert (rubric.task, rubric.task_type) == ("", "")
    assert rubric.criteria
