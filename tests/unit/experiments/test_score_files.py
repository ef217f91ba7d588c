"""Score files: rows scored before, stated scores and originals."""

import gzip
import json
import math
import tracemalloc

import numpy as np
import pytest

import judgesmith
from judgesmith.data import DataError, DataSet, read_scores
from judgesmith.data.score_files import NO_ROW
from judgesmith.data.scores import stated_notes
from judgesmith.experiments import perspective_of_scores
from judgesmith.experiments.compile.notes import criteria_notes
from judgesmith.experiments.evaluate.perspectives.perspectives import (
    asked_on,
    recorded_by_criterion,
    sampled_once,
    scores_of_judge,
)
from judgesmith.experiments.evaluate.perspectives.report import ratings_of
from judgesmith.experiments.robustness.perturbing import get_originals
from judgesmith.experiments.scoring import score_file
from judgesmith.experiments.scoring.resume_check import Beside, earlier_rows, refuse_loss
from judgesmith.programs import ActiveCritic
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel
from judgesmith.programs.families.modules import GEvalJudge, PromptFormatJudge
from judgesmith.signatures import Judgement, RatedItem, Rubric, Scale
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import PERCENT

# score files


@pytest.fixture
def data():
    ids = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "x")]
    items = [RatedItem(source_id=s, system_id=m, response=f"r{n}") for n, (s, m) in enumerate(ids)]
    return DataSet(name="toy", items=tuple(items))


@pytest.fixture
def write(tmp_path):
    def rows(*several, name="scores.jsonl"):
        text = "".join(json.dumps(row) + "\n" for row in several)
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return rows


def row(source, system, **fields):
    return {"source_id": source, "system_id": system, **fields}


@pytest.mark.parametrize("name", ["scores.jsonl", "scores.jsonl.gz"])
def test_scores_find_their_items_whatever_the_order(data, write, name):
    path = write(row("b", "x", score=3), row("a", "y", score=2), row("a", "x", score=1), name=name)
    found = read_scores(path, data)
    np.testing.assert_equal(found.values, [1, 2, 3, np.nan])
    assert found.problems == (None, None, None, NO_ROW)
    assert (found.label, found.n_unused) == (name, 0)


def test_items_that_share_their_ids_are_told_apart_by_order(data, write):
    path = write(row("b", "x", score=3), row("a", "x", score=1), row("b", "x", score=4))
    np.testing.assert_equal(read_scores(path, data).values, [1, np.nan, 3, 4])


def test_why_there_is_no_score_is_kept_and_recorded_answers_are_averaged(data, write, tmp_path):
    path = write(
        row("a", "x", score=None, problem="no end", reason="cut_off"), row("a", "y", score=None)
    )
    found = read_scores(path, data)
    unknown = Cause(Reason.OTHER, "unscored, without a reason")
    assert found.problems[:2] == (Cause(Reason.CUT_OFF, "no end"), unknown)
    path = write(row("a", "x", scores=[1, None, 2]), row("a", "y", scores=[None]))
    found = read_scores(path, data)
    np.testing.assert_equal(found.values[:2], [1.5, np.nan])
    assert found.problems[1].text == "the recorded judge gave no readable score"
    path = tmp_path / "scores.csv"
    path.write_text("source_id,system_id,score\na,x,1.5\na,y,\n")
    np.testing.assert_equal(read_scores(path, data).values, [1.5, np.nan, np.nan, np.nan])


@pytest.mark.parametrize("code", [None, "", "it broke off", 3, ["cut_off"]])
def test_what_is_no_code_is_another_reason(data, write, code):
    path = write(row("a", "x", score=None, problem="cut off", reason=code))
    assert read_scores(path, data).problems[0] == Cause(Reason.OTHER, "cut off")


def recorded(write):
    return write(
        *(
            row("a", "x", judge=judge, criterion=criterion, scores=[value])
            for value, (judge, criterion) in enumerate(
                [("p", "wit"), ("p", "overall"), ("q", "wit"), ("q", "depth")]
            )
        )
    )


@pytest.mark.parametrize(
    ("asked", "value", "criterion"),
    [
        ({"judge": "p"}, 1, "overall"),
        ({"judge": "p", "criterion": "wit"}, 0, "wit"),
        ({"judge": "q", "target": "depth"}, 3, "depth"),
        ({"judge": "q", "criterion": "wit", "target": "depth"}, 2, "wit"),
    ],
)
def test_one_of_several_judges_and_criteria_is_picked(data, write, asked, value, criterion):
    found = read_scores(recorded(write), data, **asked)
    assert (found.values[0], found.criterion) == (value, criterion)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "judge: expected one of p, q (say which with"),
        ({"judge": "r"}, "judge: expected one of p, q"),
        ({"judge": "q"}, "criterion: expected one of depth, wit (say which with --criterion NAME)"),
        ({"judge": "q", "criterion": "overall"}, "expected one of depth, wit"),
    ],
)
def test_what_cannot_be_picked_is_asked_for(data, write, asked, said):
    with pytest.raises(DataError) as caught:
        read_scores(recorded(write), data, **asked)
    assert said in str(caught.value)


def test_rows_of_other_sets_are_left_out_and_counted(data, write):
    path = write(
        row("a", "x", judge="p", score=1),
        row("c", "x", judge="p", score=1),
        row("d", "x", judge="other", score="never read"),
    )
    assert read_scores(path, data).n_unused == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"score": "good"},
        {"score": True},
        {"score": [1]},
        {"score": math.inf},
        {"scores": 3},
        {"scores": ["x"]},
        {"scores": [math.nan]},
    ],
    ids=str,
)
def test_what_is_no_score_is_a_problem_with_its_line(data, write, wrong):
    path = write(row("a", "x", score=1), row("a", "y", **wrong))
    with pytest.raises(DataError) as caught:
        read_scores(path, data)
    assert [one.where for one in caught.value.problems] == ["scores.jsonl:2"]


def test_a_second_score_for_one_item_is_a_problem(data, write):
    with pytest.raises(DataError, match=r"scores.jsonl:2: .*expected one score for 'a', 'x'"):
        read_scores(write(row("a", "x", score=1), row("a", "x", score=1)), data)
    with pytest.raises(DataError, match=r"scores.jsonl:3: .*expected 2 scores for 'b', 'x'"):
        read_scores(write(*[row("b", "x", score=1)] * 3), data)


def test_one_side_of_several_pairs_may_be_said_again_with_each(data, write):
    said = [row("a", "x", score=1, pair=pair) for pair in ("p", "q")]
    assert read_scores(write(*said), data).values[0] == 1
    with pytest.raises(DataError, match="one more"):
        read_scores(write(*said, row("a", "x", score=2, pair="r")), data)


def test_a_file_for_other_texts_is_refused(data, write):
    with pytest.raises(DataError, match="score the same file that you evaluate on"):
        read_scores(write(row("z", "x", score=1)), data)


def test_a_score_of_other_texts_is_refused_with_its_row(data, write):
    own = [row("a", "x", score=1, run="r", key=data[0].key)]
    np.testing.assert_equal(read_scores(write(*own), data).values[:2], [1, np.nan])
    path = write(*own, row("a", "y", score=2, run="r", key=data[0].key))
    with pytest.raises(
        DataError, match=r"scores\.jsonl:2: key: .*that 'a', 'y' has in toy"
    ) as caught:
        read_scores(path, data)
    assert len(caught.value.problems) == 1


def test_texts_are_compared_too_where_items_share_their_ids(data, write):
    second = row("b", "x", score=4, run="r", key=data[3].key)
    first = row("b", "x", score=3, run="r", key=data[2].key)
    np.testing.assert_equal(read_scores(write(first, second), data).values[2:], [3, 4])
    with pytest.raises(DataError, match="2 problems"):
        read_scores(write(second, first), data)


def test_where_only_systems_differ_the_way_out_is_the_same_map(data, write):
    with pytest.raises(DataError, match=r"'a' has 'x, y' .*the same --map\); got nothing"):
        read_scores(write(row("a", "", score=1)), data)


def written(source, system, criteria, *, target="overall", **fields):
    ours = {"run": "abc", "target": target, "criteria": criteria}
    return row(source, system, **({"score": 3} | ours | fields))


def test_scores_on_criteria_are_read_where_score_wrote_them(data, write):
    why = {"score": None, "explanation": "no score: cut off"}
    path = write(
        written("a", "x", {"Clear": {"score": 70, "explanation": "It is."}, "kind": why}),
        written("b", "x", {}, score=None, problem="cut off"),
    )
    found = read_scores(path, data)
    assert found.target == "overall"
    assert found.criteria[0]["Clear"].score == 70
    assert found.criteria[0]["kind"].explanation == "no score: cut off"
    assert [dict(one) for one in found.criteria[1:]] == [{}, {}, {}]


@pytest.mark.parametrize("second", [{"target": "mean"}, {"target": 5}, {"run": None}])
def test_rows_of_several_judges_say_of_none_what_it_was_compiled_for(data, write, second):
    path = write(written("a", "x", {}), written("a", "y", {}, **second))
    assert read_scores(path, data).target is None


@pytest.mark.parametrize(
    ("one", "came"),
    [
        (5, r"5 for 'clear'"),
        ({"explanation": "x"}, r"\{'explanation': 'x'\} for 'clear'"),
        ({"score": "good"}, "'good'"),
        ({"score": float("nan")}, "nan"),
    ],
)
def test_scores_on_criteria_that_are_none_are_named(data, write, one, came):
    path = write(written("a", "x", {}), written("a", "y", {"clear": one}))
    with pytest.raises(DataError, match=rf"scores.jsonl:2: criteria: expected a score .*{came}"):
        read_scores(path, data)


# earlier rows

RUN = "abc"


def item(n):
    return RatedItem(source_id=f"s{n}", response=f"text {n}")


def line(n, *, run=RUN, score=1.0, **more):
    return json.dumps({"key": item(n).key, "run": run, "score": score, **more}) + "\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out.jsonl"


@pytest.fixture
def draft(tmp_path):
    return tmp_path / "draft"


def test_a_row_counts_by_its_line_its_texts_and_whether_it_has_a_score(path):
    path.write_text(line(0) + "\n" + line(1, score=None) + line(2, score=0))
    found = [(row.line, row.key == item(n).key, row.scored) for n, row in enumerate(rows(path))]
    assert found == [(1, True, True), (3, True, False), (4, True, True)]


def rows(path):
    return list(earlier_rows(path, RUN))


def beside(items, path, run):
    earlier = Beside(path, run)
    for one in items:
        earlier.check(one)
        yield one


@pytest.mark.parametrize(
    "broken",
    [
        '{"key": ',
        "[1]",
        line(1, run="other"),
        '{"run": "abc"}',
        "\x1b[2J",
        "[" * 100_000,
        "1" * 9999,
    ],
)
def test_a_line_that_is_no_row_of_the_run_is_named(path, broken):
    path.write_text(line(0) + broken.strip() + "\n" + line(2))
    with pytest.raises(FileExistsError) as caught:
        rows(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:2: expected a row of this run, as one JSON object; got ")
    assert message.endswith("or replace this one with --force.")
    assert len(message) < 400
    assert "\x1b" not in message


def test_the_first_item_with_other_texts_is_named_before_it_is_handed_out(path):
    path.write_text(line(0) + "\n" + line(1) + line(2))
    handed = []
    with pytest.raises(FileExistsError, match=r"out\.jsonl:3: expected the texts of row 2 of this"):
        handed.extend(beside([item(0), item(7), item(8)], path, RUN))
    one_more = beside([item(0), item(7)], path, RUN)
    assert next(one_more) == item(0)
    with pytest.raises(FileExistsError, match="row 2 of this run, 's7'; got a score of other"):
        next(one_more)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([line(0), line(1)], [line(0), line(1)]),
        ([line(0)], [line(0), line(1)]),
        ([line(0), line(1, score=None)], [line(0), line(1)]),
        ([line(0), line(1, score=None)], [line(0, score=None), line(1)]),
        ([], [line(0)]),
    ],
)
def test_what_loses_nothing_may_be_replaced(path, draft, old, new):
    path.write_text("".join(old))
    draft.write_text("".join(new))
    refuse_loss(path, earlier_rows(draft, RUN), RUN)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ([line(0), line(1)], [line(0)], "holds 2 rows, 2 with a score, and this run has 1, 1 with"),
        ([line(0)], [line(0, score=None), line(1, score=None)], "1 with a score, and this run"),
        ([line(0), line(1)], [line(0), line(2)], "jsonl:2: expected the texts of row 2 of this"),
        ([line(0), "{"], [line(0), line(1)], "jsonl:2: expected a row of this run"),
    ],
)
def test_what_loses_rows_scores_or_texts_may_not(path, draft, old, new, said):
    path.write_text("".join(old))
    draft.write_text("".join(new))
    with pytest.raises(FileExistsError, match=said):
        refuse_loss(path, earlier_rows(draft, RUN), RUN)


@pytest.mark.no_cover
def test_memory_does_not_grow_with_the_file(path, draft):
    text = "x" * 500
    for place in (path, draft):
        with place.open("w") as file:
            file.writelines(line(n, explanation=text) for n in range(3_000))
    tracemalloc.start()
    refuse_loss(path, earlier_rows(draft, RUN), RUN)
    for _ in beside((item(n) for n in range(3_000)), path, RUN):
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 500_000 < path.stat().st_size


# Scores that are not weighed are counted where scores are written and judges are made.

HOW = {"mode": "stated", "stated": 70, "reason": "the endpoint gave none"}
WEIGHED = {"mode": "probabilities", "stated": 70, "mass": 0.9}


def judgement(*how):
    terms = {f"criterion:{n}": one for n, one in enumerate(how)}
    return Judgement(score=70, weighting=terms)


def test_a_note_counts_rows_and_says_the_most_frequent_reason():
    rows = [judgement(WEIGHED, HOW), judgement({**HOW, "reason": "less than 0.5"}), judgement(HOW)]
    rows += [judgement(WEIGHED), Judgement(score=1)]
    (note,) = stated_notes(rows)
    assert note == (
        "on 3 of 5 rows a score is the one that the model stated, not the mean by probabilities "
        "that the judge asks for; on 2 of them because the endpoint gave none."
    )
    assert note in criteria_notes(rows, None)


@pytest.mark.parametrize(("weighting", "top"), [("none", None), ("probabilities", 1)])
def test_rows_of_scores_say_how_they_came_about(weighting, top, tmp_path):
    judge = judgesmith.ActiveCritic(variant="vanilla", weighting=weighting)
    saved = judgesmith.SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale=Scale.parse("1..5"),
    )
    given = {} if top is None else {"logprobs": True, "top_logprobs": top}
    lm = judgesmith.model("offline", ledger=None, **given)
    items = iter([RatedItem(source="Ann left Rome.", response="Ann left.", source_id="a")])
    found = score_file(saved, items, tmp_path / "rows.jsonl", lm=lm)
    (row,) = map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())
    if weighting == "none":
        assert (found.stated, "weighting" in row) == ({}, False)
    else:
        (reason,) = found.stated
        assert found.stated == {reason: 1}
        assert row["weighting"]["overall"]["reason"] == reason
        assert reason.startswith("the answers that are listed hold 0.0")
        assert row["weighting"]["overall"]["stated"] == row["score"]


def test_an_evaluation_counts_them_too():
    data = judgesmith.read("sample").subset(range(12))
    judge = judgesmith.ActiveCritic(variant="vanilla", weighting="probabilities")
    for top, n in ((1, 12), (101, 0)):
        lm = judgesmith.model("offline", ledger=None, logprobs=True, top_logprobs=top)
        found = judgesmith.evaluate(judge, data, lm=lm, seed=0)
        assert [one.partition(" rows")[0] for one in found.stated] == (
            [f"on {n} of 12"] if n else []
        )


# originals


def data_originals(*items):
    return DataSet(name="toy", items=items)


def item_originals(source, response="R.", references=(), system="m", **extra):
    return RatedItem(
        source_id=source,
        system_id=system,
        source=f"text of {source}",
        response=response,
        references=references,
        human={"overall": (3.0,)},
        extra=extra,
    )


def test_of_several_references_the_longest_is_taken_once_a_source():
    rows = [
        item_originals(
            "1", references=("A very long single sentence it is.", "One. Two.", "Six. Ten.")
        ),
        item_originals("2", references=("One. Two.", "One. Three.", "Six. Three.")),
    ]
    found = get_originals(data_originals(*rows))
    assert [one.response for one in found.items] == ["One. Two.", "One. Three."]
    assert found.items[0].references == ("A very long single sentence it is.", "Six. Ten.")
    assert all(one.human == {} and one.system_id == "reference" for one in found.items)
    rows = [
        item_originals("1", references=("A b.",), system=system, task="t", seconds=system)
        for system in "ab"
    ]
    (found,) = get_originals(data_originals(*rows)).items
    assert found.extra == {"task": "t"}
    found = get_originals(
        data_originals(
            item_originals("1", references=("A b.",)),
            item_originals("2"),
            item_originals("2", system="x"),
        )
    )
    assert dict(found.left_out) == {"a source without a reference": 1}


def test_responses_are_taken_where_nothing_has_a_reference_and_keep_ratings_and_names():
    found = get_originals(
        data_originals(
            item_originals("1"),
            item_originals("1"),
            item_originals("1", system=""),
            item_originals("2", system=""),
        )
    )
    assert found.which == "responses"
    assert [one.system_id for one in found.items] == ["m", "m#2", "response", "response"]
    assert all(one.human for one in found.items)


def test_empty_and_short_texts_and_versions_are_left_out_and_counted():
    rows = [
        item_originals("1", " "),
        item_originals("2", "Short."),
        item_originals("3", "Long enough."),
        item_originals("3", "Changed.", perturbation="swap", original="m"),
    ]
    found = get_originals(data_originals(*rows), "responses", min_characters=7)
    assert [one.response for one in found.items] == ["Long enough."]
    assert dict(found.left_out) == {
        "a changed version already": 1,
        "an empty text": 1,
        "fewer than 7 characters": 1,
    }


def test_a_sample_is_in_order_and_that_of_its_seed():
    whole = get_originals(data_originals(*(item_originals(str(n)) for n in range(30))))
    one, again = (whole.sample(5, rng=np.random.default_rng(2)) for _ in range(2))
    places = [int(item.source_id) for item in one.items]
    assert one == again
    assert len(places) == 5
    assert places == sorted(places)
    assert whole.sample(99, rng=np.random.default_rng(2)) is whole


# asked samples

TEN = Scale(low=1, high=10)
WIT = Rubric(task="Judge a notice.", criteria={"wit": "Is it funny?"})


def saved(judge):
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )


def test_a_judge_is_asked_on_another_scale_in_words_that_say_so():
    one = saved(ActiveCritic(rubric=WIT, samples=3))
    asked, why = asked_on(one, TEN, 1.0)
    assert why is None
    assert (asked.protocol.samples, asked.protocol.temperature) == (1, 1.0)
    assert asked.protocol.answers == TEN
    assert asked.templates() != one.questions
    assert (one.protocol.samples, one.protocol.answers) == (3, PERCENT)


def test_what_weighs_by_probabilities_is_taken_by_what_it_states():
    one = saved(GEvalJudge(rubric=WIT))
    assert one.protocol.weighting == "probabilities"
    assert sampled_once(one, 1.0).protocol.weighting == "none"
    assert asked_on(one, TEN, 1.0)[0].protocol.weighting == "none"


def test_families_that_know_one_scale_keep_it_and_say_so():
    asked, why = asked_on(saved(PromptFormatJudge(rubric=WIT)), TEN, 1.0)
    assert why == "prometheus answers on 1..5 whatever is asked for"
    assert (asked.protocol.answers.high, asked.protocol.temperature) == (5, 1.0)


def test_judges_that_hold_others_are_not_sampled():
    members = {"a": saved(ActiveCritic(rubric=WIT)), "b": saved(ActiveCritic(rubric=WIT))}
    panel = SavedPanel(
        members=members,
        weights=PanelWeights.equal({name: one.scale for name, one in members.items()}),
        target="overall",
        human_scale="1..5",
    )
    with pytest.raises(ValueError, match="holds others combines"):
        asked_on(panel, TEN, 1.0)


def test_learned_scores_beyond_their_scale_are_ordered_and_rated_at_its_end():
    judgements = {n: (Judgement(score=score),) for n, score in enumerate((99.0, 101.0, 130.0))}
    found = scores_of_judge(judgements, 3, "wit", own="wit", scale=PERCENT, alone=False)
    assert found.values.ravel().tolist() == [99, 101, 130]
    assert ratings_of(found, np.arange(1.0, 6.0))[0].tolist() == [5, 5, 5]


# recorded samples

RNG = np.random.default_rng


@pytest.fixture
def recorded_recorded_samples(tmp_path):
    """Two criteria of several samples each, of which one was on another scale."""
    rows = [
        {"source_id": "a", "system_id": str(n), "criterion": name, "judge": "j", "scores": scores}
        for name, by_text in {
            "wit": ([1, 1, 2, 1], [3, None, 3, 3], [7, 5, 5, 5]),
            "charm": ([10, 20, 90], [60, 70, 80], [90, 95, 99]),
        }.items()
        for n, scores in enumerate(by_text)
    ]
    path = tmp_path / "recorded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def three():
    items = [
        RatedItem(
            source_id="a",
            system_id=str(n),
            response=f"r{n}",
            human={"wit": (right, right), "charm": (right, right), "grace": (1, 1)},
            scale=dict.fromkeys(("wit", "charm", "grace"), Scale(low=1, high=5)),
        )
        for n, right in enumerate((1, 3, 5))
    ]
    return DataSet(name="three", items=tuple(items))


def test_samples_on_file_are_reported_by_their_criterion_on_the_scale_that_is_named(
    recorded_recorded_samples, three
):
    scores = recorded_by_criterion(recorded_recorded_samples, three)
    assert sorted(scores) == ["charm", "wit"]
    asked = {"wit": Scale(low=1, high=5), "charm": PERCENT}
    found = perspective_of_scores(scores, three, perspective="global", answers=asked, seed=RNG(0))
    assert {k: str(one.basis.answers) for k, one in found.reports.items()} == {
        "wit": "1..5",
        "charm": "0..100",
    }
    assert found.reports["wit"].ratings.tolist() == [1, 3, 5]
    assert found.reports["wit"].basis.n_outside == 1
    assert found.reports["charm"].ratings.tolist() == [2, 4, 5]
    assert found.mean.n_undefined == 0
    told = perspective_of_scores(
        scores, three, perspective="global", target="wit", answers=Scale(low=1, high=9), seed=RNG(0)
    )
    assert told.reports["wit"].ratings.tolist() == [1, 2, 3]


def test_without_a_scale_samples_on_file_are_no_ratings_and_all_of_them_order(
    recorded_recorded_samples, three
):
    scores = recorded_by_criterion(recorded_recorded_samples, three)
    unknown = "the scale of its scores is unknown. Say what .* with --answers"
    with pytest.raises(ValueError, match=unknown):
        perspective_of_scores(scores, three, perspective="global", seed=RNG(0))
    one = {"charm": PERCENT}
    found = perspective_of_scores(scores, three, perspective="global", answers=one, seed=RNG(0))
    assert list(found.reports) == ["charm"]
    assert "--answers" in found.left_out["wit"]
    near = perspective_of_scores(scores, three, perspective="local", seed=RNG(0))
    assert near.reports["wit"].basis.n_outside == 0
