"""Benchmarks are built: candidates, plans, folders and settings."""

import json
from collections import Counter, defaultdict
from dataclasses import replace

import hostile
import pytest
from benchmark_texts import PLACES, rows

from judgesmith.data import read_items
from judgesmith.data.items import DataSet
from judgesmith.experiments.benchmark.anchor_texts import LOOKED_AT, texts_looked_at
from judgesmith.experiments.benchmark.beginning import benchmark_start, plan_of
from judgesmith.experiments.benchmark.building import planned_steps
from judgesmith.experiments.benchmark.models import (
    BenchmarkModels,
    UnfinishedError,
)
from judgesmith.experiments.benchmark.perspective_building import (
    COPY,
    ErrorsPerRating,
    Order,
    made_candidates,
)
from judgesmith.experiments.benchmark.plan import errors_counted
from judgesmith.experiments.benchmark.report import (
    check_benchmark,
    read_benchmark,
    report_text,
    save_benchmark,
)
from judgesmith.experiments.benchmark.settings import ROLES, BenchmarkSettings, rating_levels
from judgesmith.programs.lm import BudgetSpent, LMClient, ModelAnswer, model
from judgesmith.programs.lm.client import PureSender
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.perturbing.rewriting import (
    ATTEMPTS,
)
from judgesmith.signatures import Scale
from judgesmith.signatures.judgement import Reason
from judgesmith.signatures.perturbation import Skipped, SubAspect

# Benchmarks as they are built: rows that keep their promises, the same however they were made.


def by_sequence(made):
    found = defaultdict(list)
    for row in made.rows:
        found[row["source_id"], row["provenance"]["criterion"]].append(row)
    return found


def test_every_text_of_a_sequence_has_one_error_more_and_all_before_it(sequences):
    found = by_sequence(sequences)
    assert len(found) == 2 * len(PLACES)
    for (_, criterion), own in found.items():
        assert [row["human"] for row in own] == [{criterion: [4 - n]} for n in range(5)]
        assert [row["provenance"]["n_errors"] for row in own] == [0, 1, 2, 3, 4]
        assert [row["provenance"]["step"] for row in own] == [0, 1, 2, 3, 4]
        assert len({row["provenance"]["reference"] for row in own}) == 1
        for row in own:
            errors = row["provenance"]["errors"]
            assert len(errors) == row["provenance"]["n_errors"]
            assert errors == [] or [one["kind"] for one in errors[:-1]] == [
                one["kind"] for one in own[len(errors) - 1]["provenance"]["errors"]
            ]
            for start, end in (span for one in errors for span in one["spans"]):
                assert 0 <= start <= end <= len(row["response"])


def test_rows_are_rated_data_of_one_criterion_each_without_the_reference(sequences, tmp_path):
    sequences.save(tmp_path / "made")
    data = read_items(tmp_path / "made" / "benchmark.jsonl")
    assert len(data) == len(sequences.rows) == 40
    assert len({(item.source_id, item.system_id) for item in data}) == 40
    assert {str(scale) for scale in data.scales.values()} == {"0..4"}
    assert all(item.references == () and len(item.human) == 1 for item in data)
    assert data.criteria == ("fluency", "relevance")
    # Nobody wrote or rated anything for it.
    built_by = data[0].extra["provenance"]["built_by"]
    assert built_by == {"injector": "offline", "comparator": "offline"}
    assert data[0].extra["task"] == "summarization"


def test_a_short_text_has_fewer_steps_and_is_counted(build):
    item = next(rows()).model_copy(update={"references": ("He left.",)})
    others = list(rows())[3:]
    made = build(
        DataSet(name="short", items=(item, *others)), "local", criteria=("fluency",), steps=9
    )
    told = made.report["criteria"]["fluency"]
    own = [row for row in made.rows if row["source_id"] == "s0"]
    assert 0 < len(own) < 10
    assert told["short"] >= 1
    assert sum(told["lengths"].values()) == told["sources"] == 4
    assert told["lengths"][str(len(own))] >= 1


def test_texts_of_all_ratings_are_found_as_far_as_they_can_be(ratings):
    per_cell = Counter((row["source_id"], row["human"]["fluency"][0]) for row in ratings.rows)
    assert set(per_cell.values()) == {1}
    assert {rating for _, rating in per_cell} <= {1.0, 2.0, 3.0}
    told = ratings.report["criteria"]["fluency"]
    for one in told["balance"]["ratings"]:
        n = sum(rating == one["rating"] for _, rating in per_cell)
        assert (one["kept"], one["missing"]) == (n, len(PLACES) - n)
    assert told["texts"] == len(ratings.rows) > len(PLACES)
    assert told["anchors"]["per_rating"] == [2, 2, 2]


def test_what_became_of_every_candidate_is_told(ratings):
    lines = ratings.files["candidates.jsonl"]
    told = ratings.report["criteria"]["fluency"]
    assert sum(line["kept"] for line in lines) == len(ratings.rows)
    dropped = sum(told["errors"]["dropped"].values())
    assert len(lines) + dropped == 4 * 3 * 2  # sources, ratings, a third more than one
    made = sum(one["n_errors"] > 0 for one in lines)
    assert told["errors"]["made"] == made
    for row in ratings.rows:
        assert row["provenance"]["aimed"] in (1.0, 2.0, 3.0)
        assert -1 <= row["provenance"]["value"] <= 2


@pytest.mark.parametrize("perspective", ["local", "global"])
def test_the_same_again_at_any_concurrency_is_the_same_to_the_byte(
    articles, build, sequences, ratings, perspective, tmp_path
):
    criteria = None if perspective == "local" else ("fluency",)
    first = sequences if perspective == "local" else ratings
    again = build(articles, perspective, criteria=criteria, concurrency=1)
    other = build(articles, perspective, criteria=criteria, seed=1)
    for name, made in (("first", first), ("again", again), ("other", other)):
        made.save(tmp_path / name)
    assert contents(tmp_path / "first") == contents(tmp_path / "again")
    assert contents(tmp_path / "first") != contents(tmp_path / "other")


def contents(folder):
    """Return all files but that of what a process paid."""
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name != "costs.json"}


def test_a_budget_that_ends_makes_no_benchmark_and_a_larger_one_goes_on(
    articles, build, ratings, tmp_path
):
    ledger = tmp_path / "ledger.sqlite"
    ratings.save(tmp_path / "whole")
    for most in (3, 40, 150):
        lm = model("offline", ledger=ledger, max_calls=most, run_id="one")
        with pytest.raises((BudgetSpent, UnfinishedError), match=f"the budget of {most} calls"):
            build(articles, "global", criteria=("fluency",), lm=lm)
    lm = model("offline", ledger=ledger, max_calls=100_000, run_id="one")
    made = build(articles, "global", criteria=("fluency",), lm=lm)
    made.save(tmp_path / "resumed")
    assert contents(tmp_path / "resumed") == contents(tmp_path / "whole")


@pytest.mark.parametrize("at", [1, 30, 200])
def test_a_process_that_dies_anywhere_leaves_what_the_next_one_needs(
    articles, build, ratings, tmp_path, monkeypatch, at
):
    plain, n_asked = PureSender.answer, 0

    async def dying(self, *arguments):
        nonlocal n_asked
        n_asked += 1
        if n_asked == at:
            raise KeyboardInterrupt
        return await plain(self, *arguments)

    monkeypatch.setattr(PureSender, "answer", dying)
    ledger = tmp_path / "ledger.sqlite"
    with pytest.raises(KeyboardInterrupt):
        build(articles, "global", criteria=("fluency",), lm=model("offline", ledger=ledger))
    made = build(articles, "global", criteria=("fluency",), lm=model("offline", ledger=ledger))
    assert made.costs["steps"][0]["calls"] <= made.costs["steps"][0]["questions"]
    ratings.save(tmp_path / "whole")
    made.save(tmp_path / "resumed")
    assert contents(tmp_path / "resumed") == contents(tmp_path / "whole")


def test_errors_are_bound_to_the_sides_that_somebody_gave(articles, build):
    side = SubAspect(criterion="fluency", name="spelling", definition="Words are spelled right.")
    made = build(articles, "local", criteria=("fluency",), sub_aspects=[side])
    assert {one["sub_aspect"] for row in made.rows for one in row["provenance"]["errors"]} == {
        "spelling"
    }
    assert "criteria taken apart" not in {one["step"] for one in made.report["questions"]}
    assert made.sub_aspects.endswith("fluency:\n  spelling: Words are spelled right.\n")


def test_a_report_is_plain_data_and_says_what_it_says_in_words(ratings, sequences):
    for made in (ratings, sequences):
        again = json.loads(json.dumps(made.report, allow_nan=False))
        text = report_text(again)
        assert text == report_text(made.report)
        assert "## What the comparator cannot see" in text
        assert "It has not been checked yet" in text
        for step in made.report["questions"]:
            assert f"| {step['step']} | {step['role']} | offline | {step['questions']} |" in text


def test_texts_from_anywhere_end_in_rows_and_nowhere_else(build, tmp_path):
    (first,) = list(rows(criteria=("fluency",), places=PLACES[:1]))[2:]
    items = [
        first.model_copy(
            update={
                "source_id": name,
                "source": f"{first.source} {text[:2000]}",
                "references": (f"{text[:2000]} {first.references[0]}", text[:2000]),
            }
        )
        for name, text in hostile.TEXTS.items()
    ]
    made = build(DataSet(name="<b>[x](y)", items=tuple(items)), "local", steps=1)
    made.save(tmp_path / "made")
    _, report, found = read_benchmark(tmp_path / "made")
    assert found == json.loads(json.dumps(list(made.rows)))
    assert len({row["source_id"] for row in found}) == report["sources"] == len(items)
    page = (tmp_path / "made" / "report.md").read_text(encoding="utf-8")
    assert page.startswith("# Benchmark of &lt;b&gt;\\[x\\](y), local")


@pytest.fixture
def pilot_of(monkeypatch):
    """Set what the pilots find, one criterion after the other."""

    def set_to(*found, n_texts=3):
        found = iter(found)

        def errors(*a, **k):
            one = next(found)
            if isinstance(one, Exception):
                raise one
            return ErrorsPerRating(levels=(1, 2, 3), n_errors=one, n_texts=(n_texts,) * 3)

        monkeypatch.setattr(
            "judgesmith.experiments.benchmark.perspective_building.errors_per_rating", errors
        )

    return set_to


def test_a_criterion_whose_pilot_is_out_of_order_is_left_out_unless_it_is_kept(
    articles, build, pilot_of
):
    pilot_of((2, 1, 0), (0, 1, 2))
    made = build(articles, "global", per_rating=1)
    assert set(made.report["criteria"]) == {"fluency"}
    assert made.report["dropped"]["relevance"]["why"] == "pilot_inverted"
    assert {row["provenance"]["criterion"] for row in made.rows} == {"fluency"}
    pilot_of((0, 1, 2))
    kept = build(articles, "global", criteria=("fluency",), per_rating=1, keep_inverted=True)
    assert any("the comparator may not see these errors" in one for one in kept.report["notes"])
    assert (set(kept.report["criteria"]), kept.report["dropped"]) == ({"fluency"}, {})
    pilot_of((0, 1, 2), n_texts=2)
    few = build(articles, "global", criteria=("fluency",), per_rating=1)
    assert any("which may be chance" in one for one in few.report["notes"])
    assert few.report["dropped"] == {}


def test_nothing_to_start_from_is_said_with_what_to_do(articles, build):
    bare = [
        one.model_copy(update={"references": (), "human": {"fluency": (1,)}}) for one in articles
    ]
    with pytest.raises(ValueError, match="have texts written with --candidates N"):
        build(DataSet(name="bare", items=tuple(bare)), "local")
    copies = [one.model_copy(update={"references": (one.source,)}) for one in articles]
    with pytest.raises(ValueError, match="4 × a copy of the source; give other references"):
        build(DataSet(name="copies", items=tuple(copies)), "local")
    written = build(DataSet(name="bare", items=tuple(bare)), "local", n_candidates=2, steps=1)
    assert {row["provenance"]["reference"][:7] for row in written.rows} == {"written"}


# Texts that are to have a rating: what is ordered is made, dropped, or a copy, and counted.


@pytest.fixture(scope="module")
def plan(articles):
    settings = BenchmarkSettings(perspective="global", n_references=2)
    by_role = dict.fromkeys(ROLES, model("offline", ledger=None))
    made, _ = plan_of(benchmark_start(articles, settings), BenchmarkModels(by_role=by_role))
    return made


def order(plan, n_errors, **more):
    source = plan.sources[0]
    given = {"reference": plan.references[source.id][0], "aimed": 2.0, **more}
    return Order(source=source, n_errors=n_errors, **given)


def test_candidates_have_the_errors_that_were_ordered_each_side_before_any_twice(plan):
    criterion = plan.criteria[0]
    orders = [order(plan, n) for n in (4, 4, 1)]
    found, counts = made_candidates(plan, criterion, orders, step="errors put in")
    assert [one.target.n_errors for one in found] == [4, 4, 1]
    assert found[0].target.text != found[1].target.text
    sides = {one.name for one in plan.sub_aspects[criterion.name]}
    assert {error.sub_aspect for error in found[0].target.errors} == sides
    assert (counts.wanted, counts.made) == (3, 3)


def test_without_errors_a_candidate_is_the_reference_and_a_second_one_a_copy(plan):
    found, counts = made_candidates(
        plan, plan.criteria[0], [order(plan, 0), order(plan, 0, aimed=3.0)], step="errors put in"
    )
    assert [(one.target.text, one.aimed) for one in found] == [(found[0].reference.text, 2.0)]
    assert counts.dropped == {COPY: 1}


class Mumbler:
    """Answers nothing that can be read; remembers which answer to a question was wanted."""

    endpoint = "scripted"

    def __init__(self):
        self.samples = []

    def answer(self, request):
        self.samples.append(request.sample)
        return ModelAnswer(text="Well.", input_tokens=1, output_tokens=1)


def test_a_model_that_is_asked_the_same_again_is_asked_for_another_answer(plan):
    engine = Mumbler()
    lm = ClientLM.over(LMClient(engine), "scripted", recipe={}, temperature=0.0)
    asking = replace(plan, models=BenchmarkModels(by_role=dict.fromkeys(ROLES, lm)))
    side = plan.sub_aspects["fluency"][:1]
    orders = [order(plan, 1, sides=side), order(plan, 1, sides=side, aimed=3.0)]
    found, counts = made_candidates(asking, plan.criteria[0], orders, step="errors put in")
    assert (found, counts.dropped.total()) == ([], 2)
    assert sorted(engine.samples) == list(range(2 * ATTEMPTS))


def test_errors_that_the_budget_did_not_reach_end_the_run():
    with errors_counted() as counts:
        counts.outcome(Skipped(reason="unchanged"))
    with (
        pytest.raises(UnfinishedError, match="before all errors were put in"),
        errors_counted() as counts,
    ):
        counts.outcome(Skipped(reason="no answer", code=Reason.OVER_BUDGET))


def test_the_rater_is_shown_what_people_rated_nearest_to_each_rating(articles):
    some = DataSet(name="toy", items=articles.items * 10)
    found = texts_looked_at(some, "fluency", (1.0, 3.0), 1)
    assert len(found) == 2 * LOOKED_AT
    assert {some[index].human["fluency"] for index in found} == {(1.0,), (3.0,)}
    assert texts_looked_at(articles, "fluency", (1.0, 2.0, 3.0), 5) == list(range(12))


@pytest.mark.parametrize(
    ("scale", "says"),
    [
        (None, "the scale of clear is unknown; say --scale clear=LOW..HIGH"),
        (Scale(low=0, high=0.5), "not whole points"),
        (Scale(low=0, high=11), "too many"),
        (Scale(low=0, high=3, higher_is_better=False), "raters counted faults on clear"),
    ],
)
def test_a_scale_that_is_none_of_a_few_whole_points_is_refused(scale, says):
    with pytest.raises(ValueError, match=says):
        rating_levels("clear", scale)
    assert rating_levels("clear", Scale(low=0, high=1)) == (0.0, 1.0)


# The folder of a benchmark: whole or not there, and nobody's answers are lost.

ROWS = [{"source_id": "1", "system_id": "c-0", "response": "é\u2028"}]


def save(folder, run="one", sheet=b"blank"):
    report = {"run": run, "perspective": "local"}
    save_benchmark(
        folder,
        rows=ROWS,
        report=report,
        text="# Report\n",
        sheet=sheet,
        sub_aspects="c: []\n",
        costs={},
        more={"references.jsonl": [{"id": "given-1"}]},
    )


def test_what_was_saved_is_read_back_from_the_folder_or_a_file_in_it(tmp_path):
    save(tmp_path / "made")
    for place in (tmp_path / "made", tmp_path / "made" / "benchmark.jsonl"):
        folder, report, rows = read_benchmark(place)
        assert (folder, report["run"], rows) == (tmp_path / "made", "one", ROWS)


def test_the_same_run_may_write_again_and_leaves_the_sheet_that_people_wrote_on(tmp_path):
    save(tmp_path / "made")
    (tmp_path / "made" / "spot_check.csv").write_bytes(b"answers")
    check_benchmark(tmp_path / "made", "one", force=False)
    save(tmp_path / "made")
    assert (tmp_path / "made" / "spot_check.csv").read_bytes() == b"answers"


def test_another_run_is_replaced_only_when_told_to_and_with_its_sheet(tmp_path):
    save(tmp_path / "made")
    with pytest.raises(FileExistsError, match=r"another run \(one, this is two\)"):
        check_benchmark(tmp_path / "made", "two", force=False)
    check_benchmark(tmp_path / "made", "two", force=True)
    save(tmp_path / "made", run="two", sheet=b"other")
    assert (tmp_path / "made" / "spot_check.csv").read_bytes() == b"other"


def test_what_is_no_benchmark_is_never_replaced(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    save(tmp_path / "more")
    (tmp_path / "more" / "notes.txt").write_text("mine")
    for name in ("file", "folder", "more"):
        with pytest.raises(FileExistsError, match="something else than a benchmark"):
            check_benchmark(tmp_path / name, "one", force=True)
    for name in ("file", "folder", "nowhere"):
        with pytest.raises(ValueError, match="is no benchmark"):
            read_benchmark(tmp_path / name)


# What a benchmark will ask: as many questions as it then does where every text has room.


def planned(dataset, **settings):
    own = model("offline", ledger=None)
    by_role = dict.fromkeys(ROLES, own) | settings.pop("roles", {})
    start = benchmark_start(dataset, BenchmarkSettings(**settings))
    return {one.step: one for one in planned_steps(start, BenchmarkModels(by_role=by_role))}


def asked(made):
    return {one["step"]: one["questions"] for one in made.report["questions"] if one["questions"]}


def test_a_local_benchmark_asks_what_was_planned(articles, sequences):
    found = planned(articles, perspective="local", steps=4, n_references=2)
    assert {step: one.calls for step, one in found.items()} == asked(sequences)


def test_a_global_benchmark_asks_no_more_than_was_planned(articles, ratings):
    found = planned(
        articles,
        perspective="global",
        criteria=("fluency",),
        n_candidates=0,
        per_rating=1,
        n_anchors=2,
        n_samples=2,
        n_references=2,
    )
    done = asked(ratings)
    assert set(done) == set(found)
    for step, one in found.items():
        assert 0.5 * one.calls < done[step] <= one.calls, step


def test_a_model_that_puts_errors_in_is_asked_for_each_and_three_times_at_most(articles):
    injector = model("openai/m", api_base="http://127.0.0.1:9/v1", ledger=None)
    found = planned(
        articles, perspective="local", steps=5, n_candidates=3, roles={"injector": injector}
    )
    step = found["errors put in"]
    assert (step.role, step.model, step.calls, step.max_calls) == (
        "injector",
        "openai/m",
        2 * 4 * 5,
        3 * 2 * 4 * 5,
    )
    assert found["references written"].calls == 12


# Settings of a benchmark: what cannot be is refused, and every one tells runs apart.

GLOBAL = BenchmarkSettings(perspective="global")
MODELS = {"injector": "offline"}


def test_fingerprints_change_with_data_models_sub_aspects_rubric_and_every_setting():
    side = SubAspect(criterion="c", name="n")
    found = {
        GLOBAL.fingerprint("data", MODELS),
        GLOBAL.fingerprint("other", MODELS),
        GLOBAL.fingerprint("data", {"injector": "openai/m"}),
        GLOBAL.fingerprint("data", MODELS, [side]),
        GLOBAL.fingerprint("data", MODELS, rubric="c: Is it?"),
        *(
            GLOBAL.model_copy(update=one).fingerprint("data", MODELS)
            for one in (
                {"perspective": "local"},
                {"criteria": ("c",)},
                {"n_sources": 3},
                {"n_references": 2},
                {"n_candidates": 2},
                {"steps": 3},
                {"per_rating": 2},
                {"spare": 0.5},
                {"n_anchors": 3},
                {"n_samples": 3},
                {"pilot": 0.2},
                {"keep_inverted": True},
                {"n_spot_checks": 7},
                {"seed": 1},
            )
        ),
    }
    assert len(found) == 19
    assert GLOBAL.fingerprint("data", MODELS) == GLOBAL.fingerprint("data", dict(MODELS))
