"""Recorded comparisons of texts and of anchors."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from comparer import Comparer, by_worth
from looping import for_each

from judgesmith.data import DataError, DataSet, read_scores
from judgesmith.data.score_files import OTHER_ORDER, PairedAnswers, Scores, read_recorded
from judgesmith.data.scores import NO_ANSWER
from judgesmith.data.targets import targets_of
from judgesmith.experiments.benchmark.beginning import benchmark_start, best_responses
from judgesmith.experiments.benchmark.exemplars import (
    exemplar_ladders,
    exemplar_report,
    write_exemplars,
)
from judgesmith.experiments.benchmark.plan import (
    compare_anchors,
    compare_with_anchors,
    same_source,
)
from judgesmith.experiments.benchmark.settings import BenchmarkSettings
from judgesmith.experiments.evaluate.preferring import evaluate_preferences, pairs_of, record_pairs
from judgesmith.experiments.monitor.recheck_rule import MOST_ITEMS, MOST_LETTERS, drawn_golden
from judgesmith.metrics.anchors import rating_of
from judgesmith.metrics.comparators import comparator_accuracy
from judgesmith.metrics.resampling import share_interval
from judgesmith.programs import PairwiseJudge, SavedJudge, score_batch
from judgesmith.programs.benchmarking import Compared
from judgesmith.programs.families.exemplar import Ladder, LadderJudgement, Rung
from judgesmith.programs.families.modules import ExemplarJudge
from judgesmith.programs.lm import Budget, lm_client_of, model
from judgesmith.signatures import Judgement, RatedItem, Scale
from judgesmith.signatures.judgement import Cause, Reason

# recorded pairs


@pytest.fixture
def data():
    ids = [("s", "a"), ("s", "b"), ("t", "a"), ("t", "b|c"), ("u", "a"), ("u", "b"), ("u", "b")]
    items = [RatedItem(source_id=s, system_id=m, response=f"r{n}") for n, (s, m) in enumerate(ids)]
    return DataSet(name="toy", items=tuple(items))


@pytest.fixture
def read(tmp_path, data):
    def rows(*several, **options):
        path = tmp_path / "pairs.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in several))
        return read_recorded(path, data, **options)

    return rows


def row(source, system, *scores, **fields):
    return {"source_id": source, "system_id": system, "scores": list(scores), **fields}


def test_a_comparison_names_two_rows_of_a_source(read):
    found = read(row("s", "a|b", 1), row("t", "a|b|c", 0.5))
    assert (found.first.tolist(), found.second.tolist()) == ([0, 2], [1, 3])
    assert found.given.tolist() == [1, 0.5]
    assert (found.has_both_orders, found.problems) == (False, (None, None))
    assert (found.label, found.example) == ("pairs.jsonl", "'a|b'")


def test_the_other_order_may_be_written_the_other_way_round_or_be_a_judge_of_that_name(read):
    found = read(row("s", "b|a", 1), row("s", "a|b", 1))
    assert (found.first.tolist(), found.second.tolist()) == ([1], [0])
    assert (found.given.tolist(), found.swapped.tolist()) == ([1], [0])
    name = "m order swapped"
    rows = [row("s", "a|b", 1, judge="m"), row("s", "a|b", 0, judge=name)]
    for judge in (None, "m"):
        found = read(*rows, judge=judge)
        assert (found.label, found.given.tolist(), found.swapped.tolist()) == ("m", [1], [0])
    alone = read(*rows, judge=name)
    assert (alone.label, alone.given.tolist(), alone.has_both_orders) == (name, [0], False)
    name = "m order swapped"
    rows = [
        row("s", "a|b", 1, judge=judge, criterion=criterion)
        for judge in ("m", name)
        for criterion in ("wit", "tone")
    ]
    found = read(*rows, criterion="wit")
    assert (found.criterion, found.swapped.tolist()) == ("wit", [1])


def test_a_pair_that_was_seen_in_the_other_order_alone_says_so(read):
    name = "m order swapped"
    rows = [row("s", "a|b", 1, judge="m"), row("t", "a|b|c", 0, judge=name)]
    found = read(*rows, judge="m")
    np.testing.assert_equal(found.given, [1, np.nan])
    np.testing.assert_equal(found.swapped, [np.nan, 0])
    assert found.problems == (None, OTHER_ORDER)


def test_the_majority_counts_a_plain_score_too_and_rows_of_other_sets_are_counted(read):
    found = read(row("s", "a|b", 1, None, 1, 0), row("t", "a|b|c", None))
    np.testing.assert_equal(found.given, [1, np.nan])
    assert found.problems == (None, NO_ANSWER)
    found = read({"source_id": "s", "system_id": "a|b", "score": 0})
    assert found.given.tolist() == [0]
    found = read(row("s", "a|b", 1), row("z", "a|b", 1), row("s", "a|z", 1))
    assert (len(found.given), found.n_unused) == (1, 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [row("s", "a|b", 2)],
            r"scores: expected 1 \(the first is better\), 0 \(the second\) or 0.5 \(neither\); "
            "got 2$",
        ),
        ([row("s", "a|b", "first")], r"0.5 \(neither\); got 'first'"),
        ([{"source_id": "s", "system_id": "a|b", "scores": 1}], r"0.5 \(neither\); got 1"),
        ([row("s", "a|b", 1), row("s", "a|b", 1)], "one answer for 's', 'a|b'; got one more"),
        (
            [row("u", "a|b", 1)],
            "expected one row of toy for each of the two; got 2 for 'u', 'b'",
        ),
        (
            [row("s", "a|b", 1), row("s", "a", 1)],
            "expected scores of single rows, or comparisons of two, and not both .*; got 'a' and "
            r"'a\|b'",
        ),
    ],
)
def test_what_cannot_be_read_is_named(read, rows, message):
    with pytest.raises(DataError, match=message):
        read(*rows)


def test_two_kinds_in_one_file_are_told_apart_by_judge(read):
    rows = [row("s", "a|b", 1, judge="p"), row("s", "a", 4, judge="q")]
    assert isinstance(read(*rows, judge="p"), PairedAnswers)
    assert isinstance(read(*rows, judge="q"), Scores)
    with pytest.raises(DataError, match="expected one of p, q"):
        read(*rows)


def test_scores_are_asked_for_and_comparisons_found(tmp_path, data):
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(row("s", "a|b", 1)) + "\n")
    message = r"expected scores of single rows; got comparisons of two \('a|b'\), which evaluate"
    with pytest.raises(DataError, match=message):
        read_scores(path, data)


# Comparisons are recorded in both orders and evaluated; a liking for a place shows in them.


def rated(n_sources=6, n_systems=4):
    return [
        RatedItem(
            source_id=f"s{source}",
            source=f"source {source}",
            system_id=f"m{system}",
            response=f"by {source} text {system}",
            human={"overall": (system + 1,)},
            scale={"overall": "1..5"},
        )
        for source in range(n_sources)
        for system in range(n_systems)
    ]


def saved(judge=None):
    judge = judge or PairwiseJudge()
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )


def rows_in(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class TestPlantedModels:
    @pytest.mark.no_cover
    @pytest.mark.parametrize("place", [0.0, 0.3, -0.3])
    def test_a_liking_for_a_place_is_detected_and_neutralised(self, tmp_path, place):
        model = Comparer(by_worth(0.7, place=place))
        out = tmp_path / "pairs.jsonl"
        found = record_pairs(saved(), rated(20, 3), out, lm=model.lm())
        assert (found.n_pairs, found.n_sources, found.n_unanswered) == (60, 20, 0)
        assert len(model.asked) == 120
        rows = rows_in(out)
        given, swapped = rows[::2], rows[1::2]
        if place == 0:
            assert found.order.consistent.value == 1
            assert found.order.first_place.value == 0.5
        else:
            assert found.order.flipped.value == 1
            assert found.order.first_place.value == (1 if place > 0 else 0)
            assert found.order.consistent.high < 0.2
        # What both orders say together is what a model says that likes no place.
        means = [
            (one["probability"] + two["probability"]) / 2
            for one, two in zip(given, swapped, strict=True)
        ]
        assert means == pytest.approx([0.3] * 60)  # the later system is better

    def test_what_is_written_is_evaluated(self, tmp_path):
        out = tmp_path / "pairs.jsonl"
        items = rated()
        record_pairs(saved(), items, out, lm=Comparer(by_worth(0.9, place=0.05)).lm())
        dataset = DataSet(name="texts", items=tuple(items))
        answers = read_recorded(out, dataset)
        assert answers.has_both_orders
        found = evaluate_preferences(answers, dataset, targets_of(dataset, "overall"))
        assert found.combined.accuracy.value == 1
        assert found.order.consistent.value == 1


class TestPairs:
    def test_do_not_depend_on_the_order_of_rows(self):
        items = rated()
        mixed = list(items)
        random.Random(0).shuffle(mixed)
        for n in (None, 2):
            one, other = (pairs_of(some, n_pairs=n, seed=3) for some in (items, mixed))
            assert sorted(map(str, one)) == sorted(map(str, other))
        assert pairs_of(items, n_pairs=2, seed=3) != pairs_of(items, n_pairs=2, seed=4)

    @for_each(
        ("systems", "said"),
        [
            (("a",), "no source has two"),
            (("a", "a"), "got 'a' twice"),
            (("", "b"), "got none"),
            (("a", "a|b", "b|c", "c"), r"'a\|b\|c' by the '\|' between them"),
            (("a", "b", "a|b"), r"'a\|b' by the '\|' between them"),
        ],
    )
    def test_that_cannot_be_named_are_refused(self, systems, said):
        items = [
            RatedItem(source_id="s", system_id=name, response=str(n))
            for n, name in enumerate(systems)
        ]
        with pytest.raises(ValueError, match=said):
            pairs_of(items)


class TestFiles:
    def test_unanswered_pairs_say_why_and_are_asked_later(self, tmp_path):
        out = tmp_path / "pairs.jsonl"
        model = Comparer(by_worth())
        lm = model.lm(budget=Budget(max_calls=8))
        found = record_pairs(saved(), rated(), out, lm=lm)
        assert found.n_unanswered == 32
        assert rows_in(out)[-1]["score"] is None
        assert rows_in(out)[-1]["problem"].startswith("not asked")
        assert record_pairs(saved(), rated(), out, lm=model.lm()).n_unanswered == 0
        with pytest.raises(FileExistsError, match="more answers"):
            record_pairs(saved(), rated(), out, lm=model.lm(budget=Budget(max_calls=8)))
        assert rows_in(out)[-1]["score"] is not None

    def test_those_of_others_stay(self, tmp_path):
        out = tmp_path / "pairs.jsonl"
        out.write_text('{"a": 1}\n')
        lm = Comparer(by_worth()).lm()
        with pytest.raises(FileExistsError, match="--force"):
            record_pairs(saved(), rated(), out, lm=lm)
        assert record_pairs(saved(), rated(), out, lm=lm, overwrite=True).n_pairs == 36
        with pytest.raises(ValueError, match="JSON Lines"):
            record_pairs(saved(), rated(), tmp_path / "pairs.csv", lm=lm)


# Texts compared with anchors of other sources, and anchors with each other.

NAN = float("nan")
UNREAD = Cause(Reason.UNREADABLE, "the answer could not be read")


class Scripted:
    """Compares texts by the number in each, and says nothing of odd pairs where told so."""

    def __init__(self, *, silent=(), place=""):
        self.silent = silent
        self.place = place
        self.pairs = []

    def each(self, pairs, *, on_progress=None):
        for pair in pairs:
            self.pairs.append(pair)
            if pair.first.response in self.silent:
                yield pair, Compared(given="first", cause=UNREAD)
                continue
            one, two = int(pair.first.response), int(pair.second.response)
            said = "first" if one > two else "second" if one < two else "similar"
            yield pair, Compared(given=self.place or said, swapped=said)


def item(worth, source):
    return RatedItem(source_id=str(source), source=f"About {source}.", response=str(worth))


ANCHORS = [[item(10, "a"), item(12, "b")], [item(20, "a")], [item(30, "c"), item(32, "a")]]


def test_every_text_meets_every_anchor_of_another_source_in_its_own_cell():
    found = compare_with_anchors([item(21, "d"), item(11, "a")], ANCHORS, Scripted())
    expected = [[[1, 1], [1, NAN], [-1, -1]], [[NAN, -1], [NAN, NAN], [-1, NAN]]]
    np.testing.assert_array_equal(found.signs, expected)
    assert found.n_anchors.tolist() == [[2, 1, 2], [1, 0, 1]]
    assert found.tally.n == 7


def test_a_text_in_its_own_cell_of_anchors_has_the_rating_that_it_should_have():
    texts = [item(worth, "d") for worth in (5, 11, 20, 25, 31, 40)]
    found = compare_with_anchors(texts, ANCHORS, Scripted())
    rated = rating_of(found.signs, levels=[1, 2, 3], n_anchors=found.n_anchors)
    assert rated.ratings.tolist() == [1, 1, 2, 2, 3, 3]


def test_pairs_without_an_answer_are_counted_with_the_first_reason():
    found = compare_with_anchors([item(5, "d"), item(6, "d")], ANCHORS, Scripted(silent=["6"]))
    assert np.isnan(found.signs[1]).all()
    assert found.n_anchors[1].tolist() == [2, 1, 2]
    assert found.to_dict() == {
        "pairs": 10,
        "similar": 0,
        "orders_disagree": 0,
        "unanswered": 5,
        "problem": "the answer could not be read",
    }


def test_conflicting_orders_are_counted_and_similar():
    found = compare_with_anchors([item(25, "d")], ANCHORS, Scripted(place="first"))
    assert (found.tally.n_disagree, found.tally.n_similar) == (2, 2)


def test_anchors_are_compared_across_ratings_alone():
    comparator = Scripted()
    found, pairs, levels_of = compare_anchors(ANCHORS, comparator)
    assert levels_of == [0, 0, 1, 2, 2]
    assert pairs == [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4)]
    assert found.signs.tolist() == [-1] * 8
    assert comparator_accuracy(found.signs, pairs, levels_of=levels_of).value == 1


@for_each(
    ("one", "other", "same"),
    [
        (("1", "a"), ("1", "b"), True),
        (("1", "a"), ("2", "a"), True),
        (("1", "a"), ("2", "b"), False),
        (("", "a"), ("", "b"), False),
        (("1", " "), ("2", " "), False),
    ],
)
def test_a_source_is_known_by_its_id_and_by_what_it_says(one, other, same):
    first, second = (RatedItem(source_id=i, source=s, response="r") for i, s in (one, other))
    assert same_source(first, second) == same_source(second, first) == same


# Exemplars on file, and whether the judge itself puts them in order.

ITEMS = [
    RatedItem(
        source=f"Bridge {n} opened on Monday. Ann cut the ribbon. It rained.",
        source_id=str(n),
        response=f"{system} said so.",
    )
    for n in range(3)
    for system in "ab"
]


def ladder(*above, problem=""):
    """Return a ladder with verdicts on all but its lowest rung."""
    rungs = [Rung(level=1, text="x", flags=("empty",))]
    rungs += [Rung(level=n, text="y", above=one) for n, one in enumerate(above, start=2)]
    return Ladder(criterion="c", rungs=tuple(rungs), problem=problem)


def judgement(*ladders):
    return ITEMS[0], LadderJudgement(score=0.0, ladders=ladders)


def saved_exemplars(**choices):
    judge = ExemplarJudge(**{"asks": "overall", **choices})
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )


def test_what_is_in_order_is_counted_by_hand():
    found = exemplar_report(
        [
            judgement(ladder(0.5, 0.1), ladder(-0.2, 0.4)),
            judgement(ladder(0.0, 0.3)),  # alike is not in order
            judgement(ladder(0.9, None, problem="no verdict")),
            (ITEMS[0], LadderJudgement(score=None, problem="cut off")),
        ]
    )
    assert (found.n_sources, found.n_ladders, found.n_exemplars, found.n_flagged) == (4, 4, 12, 4)
    assert found.in_order == share_interval([1, 1, 0, 1, 0, 1, 1], sources=[0, 0, 0, 0, 1, 1, 2])
    assert found.monotone == share_interval([1, 0, 0], sources=[0, 0, 1])
    assert found.problems == {"no verdict": 1, "cut off": 1}


def test_judging_and_taking_out_share_the_exemplars(tmp_path):
    lm = model("offline", ledger=tmp_path / "ledger.sqlite")
    score_batch(ExemplarJudge(asks="overall"), ITEMS, lm=lm)
    before = lm_client_of(lm).usage.calls
    assert before == 3 * 5 + 6 * 5
    list(exemplar_ladders(ExemplarJudge(asks="overall"), ITEMS, lm=lm))
    assert lm_client_of(lm).usage.calls == before + 3 * 4


def test_the_file_is_the_same_whenever_it_is_written(tmp_path):
    out = tmp_path / "exemplars.jsonl"
    found = write_exemplars(saved_exemplars(levels=3), ITEMS, out)
    first = out.read_bytes()
    write_exemplars(saved_exemplars(levels=3), ITEMS, out)
    assert out.read_bytes() == first
    rows = [json.loads(line) for line in first.decode().splitlines()]
    assert len(rows) == found.n_exemplars == 3 * 3
    assert (rows[0]["source_id"], rows[0]["criterion"]) == ("0", "quality as a whole")
    assert [one["level"] for one in rows[:3]] == [1, 2, 3]
    assert (rows[0]["writer"], rows[0]["levels"], rows[0]["above"]) == ("offline", 3, None)
    assert rows[2]["text"] == "Bridge 0 opened on Monday. Ann cut the ribbon. It rained."
    assert found.in_order.value == 1.0


# The texts that a judge keeps are a fair sample of all that it judged.


def rows(n, letters=1):
    return [RatedItem(source="s", response=f"{number} " + "x" * letters) for number in range(n)]


def scored(scores):
    return [
        Judgement.unscored("refused") if score is None else Judgement(score=score)
        for score in scores
    ]


def test_few_are_all_kept_from_the_best_to_the_worst_but_those_without_a_score():
    kept = drawn_golden(rows(4), scored([2, None, 5, 2]))
    assert [one.response[0] for one in kept] == ["2", "0", "3"]
    assert drawn_golden(rows(2), scored([None, None])) == ()


def test_of_many_the_mean_is_that_of_all():
    scores = np.random.default_rng(0).normal(50, 20, 500).tolist()
    kept = drawn_golden(rows(500), scored(scores))
    assert len(kept) == MOST_ITEMS
    found = [one.judgement.score for one in kept]
    assert abs(np.mean(found) - np.mean(scores)) < 1
    assert found == sorted(found, reverse=True)
    assert max(found) < max(scores)


def test_of_long_texts_five_are_kept_all_over_the_scores():
    kept = drawn_golden(rows(60, letters=MOST_LETTERS // 10), scored(range(60)))
    assert [one.judgement.score for one in kept] == [53, 41, 29, 17, 5]


# Good responses stand in for references where there are none.

LIKERT = {"wit": Scale(low=1, high=5), "faults": Scale(low=0, high=10, higher_is_better=False)}


def rows_best_responses(*given):
    return DataSet(
        name="toy",
        items=tuple(
            RatedItem(
                source_id=source, response=text, human=human, scale=LIKERT, references=references
            )
            for source, text, human, references in given
        ),
    )


def test_good_responses_are_those_rated_well_where_a_reference_is_lacking():
    data = rows_best_responses(
        ("a", "good", {"wit": (4,)}, ()),
        ("a", "fair", {"wit": (3, 4)}, ()),
        ("a", "best", {"wit": (5, 5)}, ()),
        ("a", "as good", {"wit": (4,)}, ()),
        ("b", "bad", {"wit": (1,)}, ()),
    )
    assert best_responses(data, [[0, 1, 2, 3], [4], []]) == (("best", "good", "as good"), (), ())
    data = rows_best_responses(
        ("a", "unrated", {}, ()), ("a", "x", {"wit": (5,)}, ()), ("a", "y", {"wit": (1,)}, ())
    )
    assert best_responses(data, [[0, 1, 2]]) == (("x",),)
    data = rows_best_responses(
        ("a", "clean", {"faults": (0,)}, ()), ("a", "dirty", {"faults": (9,)}, ())
    )
    assert best_responses(data, [[0, 1]]) == (("clean",),)
    data = rows_best_responses(
        ("a", "x", {"wit": (5,)}, ()),
        ("a", "y", {"wit": (1,)}, ("A reference.",)),
        ("b", "z", {"wit": (5,)}, (" ",)),
    )
    assert best_responses(data, [[0, 1], [2]]) == ((), ("z",))
    data = rows_best_responses(("a", "x", {"wit": (5,)}, ()), ("b", "y", {"wit": (5,)}, ()))
    assert best_responses(data, [[0], [1]]) == ((), ())


def test_a_benchmark_starts_from_them_and_says_so():
    data = rows_best_responses(("a", "x", {"wit": (5,)}, ()), ("b", "y", {"wit": (1,)}, ()))
    start = benchmark_start(data, BenchmarkSettings(perspective="local"))
    assert start.responses == (("x",), ())
    assert start.notes[-1] == (
        "1 source has no reference: responses rated 75% of the scale or more stand in."
    )
