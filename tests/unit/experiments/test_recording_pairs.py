"""Comparisons are recorded in both orders and evaluated; a liking for a place shows in them."""

import json
import random

import numpy as np
import pytest
from comparer import Comparer, by_worth

from judgesmith.data.items import DataSet
from judgesmith.data.score_files import read_recorded
from judgesmith.data.targets import targets_of
from judgesmith.experiments.evaluate.preferring import evaluate_preferences, pairs_of, record_pairs
from judgesmith.programs import DirectJudge, PairwiseJudge, SavedJudge
from judgesmith.programs.lm import Budget
from judgesmith.signatures import RatedItem


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

    def test_are_as_many_of_each_source_as_there_are(self):
        items = [*rated(2, 4), *[one.model_copy(update={"source_id": "x"}) for one in rated(1, 2)]]
        counts = np.unique(
            [one.source_id for one in pairs_of(items, n_pairs=3)], return_counts=True
        )
        assert dict(zip(*map(list, counts), strict=True)) == {"s0": 3, "s1": 3, "x": 1}

    @pytest.mark.parametrize(
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

    def test_of_several_sources_with_one_id_are_refused(self):
        items = [
            RatedItem(source_id="s", source=source, system_id=name, response=name)
            for source in ("one", "two")
            for name in "ab"
        ]
        with pytest.raises(ValueError, match="the id 's' stands for several sources"):
            pairs_of(items)

    def test_systems_may_have_the_sign_between_them_in_their_names(self):
        items = [RatedItem(source_id="s", system_id=name, response=name) for name in ("a|b", "c")]
        assert len(pairs_of(items)) == 1


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

    def test_the_same_run_writes_the_same_bytes(self, tmp_path):
        files = [tmp_path / f"{name}.jsonl" for name in "ab"]
        for file, concurrency in zip(files, (1, 7), strict=True):
            lm = Comparer(by_worth(0.6)).lm()
            record_pairs(saved(), rated(), file, lm=lm, concurrency=concurrency)
        assert files[0].read_bytes() == files[1].read_bytes()

    def test_those_of_others_stay(self, tmp_path):
        out = tmp_path / "pairs.jsonl"
        out.write_text('{"a": 1}\n')
        lm = Comparer(by_worth()).lm()
        with pytest.raises(FileExistsError, match="--force"):
            record_pairs(saved(), rated(), out, lm=lm)
        assert record_pairs(saved(), rated(), out, lm=lm, overwrite=True).n_pairs == 36
        with pytest.raises(ValueError, match="JSON Lines"):
            record_pairs(saved(), rated(), tmp_path / "pairs.csv", lm=lm)

    def test_only_a_judge_that_compares_is_asked(self, tmp_path):
        with pytest.raises(ValueError, match="does not compare"):
            record_pairs(saved(DirectJudge()), rated(), tmp_path / "pairs.jsonl")

    def test_stated_answers_are_counted_with_their_reason(self, tmp_path):
        model = Comparer(by_worth(), logprobs=False)
        found = record_pairs(saved(), rated(1, 3), tmp_path / "pairs.jsonl", lm=model.lm())
        assert list(found.stated.values()) == [6]
