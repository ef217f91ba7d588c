"""Benchmarks as they are built: rows that keep their promises, the same however they were made."""

import json
from collections import Counter, defaultdict

import hostile
import pytest
from benchmark_texts import PLACES, rows

from judgesmith.data import read_items
from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.benchmark.building import build_benchmark
from judgesmith.experiments.benchmark.errors_per_rating import ErrorsPerRating, UnratedPilotError
from judgesmith.experiments.benchmark.models import UnfinishedError
from judgesmith.experiments.benchmark.report import read_benchmark, report_text
from judgesmith.experiments.benchmark.settings import BenchmarkSettings
from judgesmith.metrics.anchors import rating_of
from judgesmith.programs.lm import BudgetSpent, model
from judgesmith.programs.lm.client import Computer
from judgesmith.signatures.perturbation import SubAspect


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


def test_criteria_of_a_source_start_from_different_references(sequences):
    starts = {
        (s, c): own[0]["provenance"]["reference"] for (s, c), own in by_sequence(sequences).items()
    }
    assert all(starts[s, "fluency"] != starts[s, "relevance"] for s, _ in starts)


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


def test_anchors_are_texts_of_the_data_and_named_with_their_values(ratings):
    lines = ratings.files["anchors.jsonl"]
    assert [line["rating"] for line in lines] == [1, 1, 2, 2, 3, 3]
    assert all(line["human"] == [line["rating"]] for line in lines)
    assert len({line["source_id"] for line in lines if line["rating"] == 1}) == 2


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
    plain, n_asked = Computer.answer, 0

    async def dying(self, *arguments):
        nonlocal n_asked
        n_asked += 1
        if n_asked == at:
            raise KeyboardInterrupt
        return await plain(self, *arguments)

    monkeypatch.setattr(Computer, "answer", dying)
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
        assert "Nobody has checked it yet" in text
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


def test_every_stage_tells_how_far_it_is_up_to_its_end(articles):
    told = defaultdict(int)
    totals = {}

    def progress(stage, n, total):
        told[stage] += n
        totals[stage] = total

    settings = BenchmarkSettings(perspective="local", criteria=("fluency",), steps=1)
    build_benchmark(articles, settings, progress=progress)
    assert dict(told) == {"errors put in (fluency)": 4, "comparator checked (fluency)": 4}
    assert totals == told


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
            "judgesmith.experiments.benchmark.global_building.errors_per_rating", errors
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


def test_a_criterion_whose_pilot_has_no_rating_is_left_out(articles, build, pilot_of):
    pilot_of(UnratedPilotError("none"), (2, 1, 0))
    made = build(articles, "global", per_rating=1)
    assert made.report["dropped"]["fluency"]["why"] == "pilot_unrated"
    assert set(made.report["criteria"]) == {"relevance"}
    pilot_of(UnratedPilotError("none"), (0, 1, 2))
    with pytest.raises(InputError, match=r"(?s)fluency is left out: .*relevance is left out: "):
        build(articles, "global", per_rating=1)


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


def test_one_source_alone_has_no_anchors_that_its_texts_could_be_compared_with(build):
    lonely = DataSet(name="lonely", items=tuple(rows(places=PLACES[:1])))
    with pytest.raises(ValueError, match="lonely has rated texts about one source alone"):
        build(lonely, "global")
    assert len(build(lonely, "local", steps=1).rows) == 4


def test_ties_between_ratings_go_by_what_the_errors_were_meant_for(articles, build, monkeypatch):
    aims = []

    def recorded(*given, aimed, **more):
        aims.append(aimed)
        return rating_of(*given, aimed=aimed, **more)

    monkeypatch.setattr("judgesmith.experiments.benchmark.global_building.rating_of", recorded)
    made = build(articles, "global", criteria=("fluency",))
    pilot, candidates = aims
    assert all(one != one for one in pilot)
    assert candidates == [line["aimed"] for line in made.files["candidates.jsonl"]]


def test_texts_of_a_source_and_criterion_stand_from_the_best_rating_down(ratings):
    for own in by_sequence(ratings).values():
        given = [row["human"]["fluency"][0] for row in own]
        assert given == sorted(given, reverse=True)
