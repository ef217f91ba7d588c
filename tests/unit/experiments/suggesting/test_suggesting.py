"""Items are suggested for rating, on sheets."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.data import DataError, read_items
from judgesmith.data.items import DataSet
from judgesmith.data.joining import read_many
from judgesmith.data.sheets.cells import LONGEST_CELL, cell_of
from judgesmith.data.sheets.ratings import (
    RatingForm,
    heading,
    selection_chance,
    write_rating_sheet,
)
from judgesmith.data.targets import targets_of
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of, set_aside
from judgesmith.experiments.labels.suggesting import (
    STRATEGIES,
    CandidateItems,
    asked_criteria,
    diverse_rows,
    doubts_of,
    suggest,
)
from judgesmith.programs.families.ensemble.members import CalibratedJudgement, PanelJudgement
from judgesmith.signatures import Judgement, RatedItem, Scale
from judgesmith.signatures.items import Demonstration
from judgesmith.signatures.judgement import Reason

# candidates


def judgement(*scores):
    points = {f"c{place}": {"score": one} for place, one in enumerate(scores) if one is not None}
    return Judgement(score=50, criteria=points)


rows = st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 100))] * 3), min_size=1, max_size=8)


@given(rows)
def test_doubt_is_the_spread_of_criteria_around_their_own_means(table):
    found = doubts_of([judgement(*row) for row in table])
    means = [np.mean([row[c] for row in table if row[c] is not None] or [0]) for c in range(3)]
    for row, doubt in zip(table, found, strict=True):
        apart = [points - means[c] for c, points in enumerate(row) if points is not None]
        assert doubt == pytest.approx(np.std(apart) if apart else 0.0, abs=1e-9)


def test_doubt_is_what_a_judge_says_of_itself():
    assert doubts_of([judgement(20, 60), judgement(30, 70)]).tolist() == [0, 0]
    panel = [PanelJudgement(score=3, disagreement=one) for one in (0.5, None, 2.0)]
    assert doubts_of(panel).tolist() == [0.5, 0.0, 2.0]
    criteria = {"a": {"score": 40}, "b": {"score": 60}}
    wide = CalibratedJudgement(score=3, low=1, high=5, criteria=criteria)
    narrow = CalibratedJudgement(score=3, low=2, high=3, criteria={"a": {"score": 90}})
    assert doubts_of([wide, narrow]).tolist() == [4, 1]
    assert doubts_of([wide, wide.model_copy(update={"criteria": {}})]).tolist() == [0, 0]
    assert doubts_of([Judgement(score=1), Judgement(score=2)]).tolist() == [0, 0]


# filled sheet

LIKERT = Scale.parse("1..5")
texts = st.one_of(st.text(max_size=30), st.sampled_from(["=1+1", "'=a", "-", "a;@b\n=c", "\ufeff"]))


def filled(place, *ratings, column=0):
    with place.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    asked = [number for number, name in enumerate(header) if ": a number from" in name][column]
    for row, rating in zip(rows, ratings, strict=False):
        row[asked] = rating
    with place.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return place


def sheet(tmp_path, *items, name="sheet.csv", by="coverage", **scales):
    place = tmp_path / name
    place.unlink(missing_ok=True)
    write_rating_sheet([(one, by) for one in items], scales or {"overall": LIKERT}, place)
    return place


@settings(max_examples=60)
@given(source=texts, context=st.one_of(st.none(), texts), response=texts)
def test_printable_texts_come_back_as_they_were(tmp_path_factory, source, context, response):
    item = RatedItem(source_id="s", source=source, context=context, response=response)
    plain = all(c.isprintable() or c == "\n" for c in source + (context or "") + response)
    place = sheet(tmp_path_factory.mktemp("sheet"), item)
    (found,) = read_items(filled(place, "3"))
    assert found.human == {"overall": (3.0,)}
    if plain:
        assert (found.source, found.context, found.response) == (source, context, response)
        assert found.key == item.key


@pytest.mark.parametrize(
    ("by", "cell", "chance"),
    [("random", "0.25", 0.25), ("random", "0,5", 0.5), ("", "", None), ("random", "", None)],
)
def test_a_row_says_with_which_probability_it_was_drawn(by, cell, chance):
    extra = {"suggested_by": by, "selection_probability": cell}
    assert selection_chance(RatedItem(response="r", extra=extra)) == chance


@pytest.mark.parametrize("cell", ["0", "1.5", "often", "nan"])
def test_what_is_no_probability_is_refused(cell):
    item = RatedItem(response="r", extra={"selection_probability": cell})
    with pytest.raises(ValueError, match="selection_probability must be a probability"):
        selection_chance(item)


def test_rows_that_were_drawn_come_back_with_their_probability(tmp_path):
    items = [RatedItem(source_id=str(n), response=f"r{n}") for n in range(2)]
    place = tmp_path / "sheet.csv"
    rows = [(items[0], "random"), (items[1], "coverage")]
    write_rating_sheet(rows, {"overall": LIKERT}, place, chance=0.125)
    found = read_items(filled(place, "3", "4"))
    assert selection_chance(found[0]) == 0.125
    assert np.isnan(selection_chance(found[1]))


def test_a_partly_filled_sheet_is_data_without_a_map(tmp_path):
    items = [RatedItem(source_id=one, source=one, response=f"re {one}") for one in "abc"]
    data = read_items(filled(sheet(tmp_path, *items, overall=LIKERT), "4", ""))
    assert [item.human["overall"] for item in data] == [(4.0,), (), ()]
    assert data.scales == {"overall": LIKERT}
    assert "2 ratings are blank and left out." in data.notes
    assert any("1 of 1 rated rows was selected by suggest" in note for note in data.notes)


def test_a_wrong_rating_is_refused_with_file_line_and_field(tmp_path):
    item = RatedItem(source_id="a", source="s", response="r")
    with pytest.raises(DataError, match=r"sheet\.csv:2: overall: a number from .*got '6'"):
        read_items(filled(sheet(tmp_path, item), "6"))


def test_edited_texts_count_as_they_stand_and_are_counted(tmp_path):
    place = filled(sheet(tmp_path, RatedItem(source_id="a", source="s", response="long")), "2")
    place.write_text(place.read_text().replace("long", "short"))
    data = read_items(place)
    assert data[0].response == "short"
    assert any(note.startswith("1 row has other texts than were suggested") for note in data.notes)


def test_texts_that_a_sheet_had_no_room_for_are_taken_from_the_file_they_came_from(tmp_path):
    item = RatedItem(source_id="a", source="s", response="x" * (LONGEST_CELL + 9))
    place = filled(sheet(tmp_path, item), "2")
    with pytest.raises(DataError, match="whole texts"):
        read_items(place)
    pool = tmp_path / "pool.jsonl"
    pool.write_text(f'{{"source_id": "a", "source": "s", "response": "{item.response}"}}\n')
    for order in ([pool, place], [place, pool]):
        (found,) = read_many(order)
        assert (found.key, found.human) == (item.key, {"overall": (2.0,)})


@pytest.mark.parametrize("lost", ["suggested_by", "key"])
def test_a_sheet_that_lost_what_its_rows_are_is_refused(tmp_path, lost):
    place = filled(sheet(tmp_path, RatedItem(source_id="a", source="s", response="r")), "2")
    place.write_text(place.read_text().replace(lost, "x", 1))
    with pytest.raises(DataError, match=rf"sheet\.csv: {lost}: expected the column"):
        read_items(place)
    assert read_items(place, columns={"source_id": "source_id", "system_id": "system_id",
        "overall": "overall: a number from 1 (worst) to 5 (best)"}, scale="1..5")  # fmt: skip


def test_copies_of_a_sheet_are_several_raters(tmp_path):
    items = [RatedItem(source_id=one, source=one, response=f"re {one}") for one in "ab"]
    ana = filled(sheet(tmp_path, *items, name="ana.csv"), "1", "")
    bo = filled(sheet(tmp_path, *items, name="bo.csv"), "2", "5")
    assert [one.human["overall"] for one in read_many([ana, bo])] == [(1.0, 2.0), (5.0,)]


def test_one_file_under_two_names_is_given_twice(tmp_path):
    place = filled(sheet(tmp_path, RatedItem(source_id="a", source="s", response="r")), "2")
    (tmp_path / "link.csv").symlink_to(place)
    with pytest.raises(ValueError, match=r"link\.csv is given twice \(as .*sheet\.csv, too\)"):
        read_many([place, tmp_path / "link.csv"])


def test_rows_that_are_rated_in_two_files_are_refused(tmp_path):
    row = '{"source_id": "a", "source": "s", "response": "r", "human": {"overall": [4]}, '
    row += '"scale": {"overall": [1, 5]}}\n'
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text(row)
    place = filled(sheet(tmp_path, RatedItem(source_id="a", source="s", response="r")), "2")
    for other in (tmp_path / "two.jsonl", place):
        with pytest.raises(DataError, match="rated in one file only"):
            read_many([tmp_path / "one.jsonl", other])
    with pytest.raises(ValueError, match="given twice"):
        read_many([place, place])


def test_a_row_that_several_files_hold_is_taken_once_with_its_ratings(tmp_path):
    plain = '{"source_id": "a", "source": "s", "response": "r"'
    rated = plain + ', "human": {"overall": [4]}, "scale": {"overall": [1, 5]}}\n'
    (tmp_path / "pool.jsonl").write_text(f'{plain}}}\n{plain.replace("r", "q", 1)[:-2]}t"}}\n')
    (tmp_path / "rated.jsonl").write_text(rated)
    for names in (("pool", "rated"), ("rated", "pool")):
        data = read_many([tmp_path / f"{name}.jsonl" for name in names])
        assert sorted(len(item.human.get("overall", ())) for item in data) == [0, 1]
        assert "1 row is in several files, and taken once." in data.notes


# rating form

MARKS = ["response", "suggested_by", "key"]
scales = st.sampled_from(
    [
        Scale.parse("1..5"),
        Scale(low=0, high=1, kind="integer"),
        Scale(low=-2.5, high=2),
        Scale(low=0, high=10, higher_is_better=False),
        Scale.categorical("poor", "fair", "very good"),
    ]
)


@given(st.text(min_size=1).filter(lambda name: name == cell_of(name).strip()), scales)
def test_a_heading_says_criterion_and_scale_and_is_read_again(name, scale):
    form = RatingForm.of([*MARKS, heading(name, scale)])
    assert form is not None
    assert form.scales == {name: scale}


@for_each("name", ["=cmd()", "+a", "@b", "a: b", "from 1 (worst)", "a; -b"])
def test_hostile_names_of_criteria_are_read_again_and_start_no_formula(name):
    column = heading(name, Scale.parse("1..5"))
    assert column[0] not in "=+-@"
    assert list(RatingForm.of([*MARKS, column]).columns) == [name]


@for_each(
    "names",
    [
        ["response", "clear: a number from 1 (worst) to 5 (best)"],
        [*MARKS, "clear"],
        [*MARKS, "clear: a number from five (worst) to 1 (best)"],
        [*MARKS, "clear: a number from 5 (worst) to 1 (best)"],
        [*MARKS, "clear: one of poor, from worst to best"],
    ],
)
def test_other_tables_are_no_sheets(names):
    assert RatingForm.of(names) is None


# strategies


def candidates(scores, doubt=None, sources=None, texts=None):
    n = len(scores)
    texts = texts or [f"text number {place} of all" + " w" * (place % 3) for place in range(n)]
    return CandidateItems(
        items=tuple(RatedItem(response=text) for text in texts),
        scores=np.asarray(scores, dtype=float),
        doubt=np.asarray(np.zeros(n) if doubt is None else doubt, dtype=float),
        sources=np.arange(n) if sources is None else np.asarray(sources),
    )


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 10), st.integers(0, 9))
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_puts_all_rows_in_an_order_that_the_seed_decides(name, scores, n, seed):
    rows = candidates(scores, doubt=scores[::-1])
    first, again = (STRATEGIES[name](rows, n, np.random.default_rng(seed)) for _ in range(2))
    assert first == again
    assert sorted(first) == list(range(len(scores)))


def test_strategies_take_the_rare_and_the_least_sure():
    rows = candidates([*[50] * 97, 0, 20, 100])
    order = STRATEGIES["coverage"](rows, 4, np.random.default_rng(0))
    assert {0.0, 50.0, 100.0} <= set(rows.scores[order[:4]])
    rows = candidates([1, 2, 3], doubt=[0.1, 5, 2])
    assert STRATEGIES["disagreement"](rows, 2, np.random.default_rng(0)) == [1, 2, 0]
    rows = candidates([0, 1, 99, 100], doubt=[1, 2, 4, 3])
    assert set(STRATEGIES["stratified"](rows, 2, np.random.default_rng(0))[:2]) == {1, 2}


def test_a_batch_has_no_source_twice_and_no_copies_while_there_are_others():
    texts = ["one two three four"] * 3 + ["five six", "seven eight"]
    rows = candidates([1, 2, 3, 4, 5], sources=[0, 1, 2, 3, 3], texts=texts)
    assert diverse_rows(rows, range(5), 2) == [0, 3]
    assert diverse_rows(rows, range(5), 3) == [0, 3, 4]
    assert diverse_rows(rows, range(5), 9) == [0, 3, 4, 1, 2]
    assert diverse_rows(rows, range(5), 1, taken=[0]) == [3]
    assert diverse_rows(rows, range(5), 1, known={0, 1, 2}) == [3]


# suggesting

QUICK = CompileSettings(criteria="given", n_rounds=1)


@pytest.fixture(scope="module")
def data():
    return read_items("sample")


@pytest.fixture(scope="module")
def judge(data):
    return compile_judge(data.subset(range(24)), QUICK).saved


def unrated(data, places):
    items = [data[place].model_copy(update={"human": {}}) for place in places]
    return DataSet(name="pool", items=tuple(items))


def marked(data, places, by):
    extra = {"suggested_by": by}
    items = [
        item.model_copy(update={"extra": extra}) if place in places else item
        for place, item in enumerate(data)
    ]
    return DataSet(name="marked", items=tuple(items))


def test_what_is_rated_seen_or_repeated_is_left_out_and_counted(data, judge):
    pool = unrated(data, range(40))
    twice = DataSet(name="pool", items=(*pool.items, pool[39], data[38]))
    found = suggest(judge, twice, n=4)
    held_out = 24 - len(judge.seen_keys)
    assert (found.n_rows, found.n_rated, found.n_seen) == (42, 1, 24 - held_out)
    assert found.n_repeated == 1
    assert not {item.key for item, _ in found.rows} & judge.seen_keys


def test_the_same_seed_chooses_the_same_rows_whatever_the_concurrency(data, judge):
    pool = unrated(data, range(24, 60))
    first, again, other = (
        [item.key for item, _ in suggest(judge, pool, n=6, seed=s, concurrency=c).rows]
        for s, c in ((1, 1), (1, 7), (2, 7))
    )
    assert first == again
    assert first != other  # at least in another order


def test_rows_drawn_at_random_do_not_depend_on_the_judge(data, judge):
    pool = unrated(data, range(24, 60))

    def random_rows(**options):
        rows = suggest(judge, pool, n_random=5, **options).rows
        return {item.key for item, by in rows if by == "random"}

    assert random_rows(n=4) == random_rows(n=7, strategy="coverage") == random_rows(n=0)
    assert suggest(judge, pool, n=5, strategy="random").counts == {"random": 5}


def test_rows_without_a_score_are_counted_and_not_chosen(data, judge):
    from judgesmith.programs.lm import model

    lm = model("offline", ledger=None, max_calls=10)
    found = suggest(judge, unrated(data, range(24, 40)), n=16, lm=lm, concurrency=1)
    assert found.n_unscored == 16 - len(found.rows) > 0
    assert all(one.reason is Reason.OVER_BUDGET for one in found.causes)


def test_a_mean_is_asked_by_its_criteria_where_they_are_known(data, judge):
    mean = judge.model_copy(update={"target": "mean"})
    assert list(asked_criteria(mean, data)) == ["faithfulness", "fluency"]
    with pytest.raises(ValueError, match="mean of several criteria"):
        asked_criteria(mean, unrated_alone(data))
    assert asked_criteria(mean, unrated_alone(data), {"a": Scale.parse("0..9")}) == {
        "a": Scale.parse("0..9")
    }
    both = judge.model_copy(update={"target": "a+b", "human_scale": Scale.parse("0..1")})
    with pytest.raises(ValueError, match="the scale of a is not known"):
        asked_criteria(both, unrated_alone(data))


def unrated_alone(data):
    item = data[0].model_copy(update={"human": {}, "scale": {}})
    return DataSet(name="pool", items=(item,))


def test_rows_that_were_chosen_are_never_held_out(data):
    settings = CompileSettings()
    chosen = marked(data, range(60), "coverage")
    parts = parts_of(chosen, chosen_targets(chosen, settings), settings)
    taken = {item.source_id for item in chosen.subset(range(60))}
    assert parts.n_chosen > 0
    assert not {item.source_id for item in parts.heldout.items} & taken
    drawn = marked(data, range(60), "random")
    assert parts_of(drawn, chosen_targets(drawn, settings), settings).n_chosen == 0


def never_shown(data, places):
    """Return the data with those rows marked never to be demonstrations."""
    extra = {"demonstration": "Never "}
    items = [
        item.model_copy(update={"extra": extra}) if place in places else item
        for place, item in enumerate(data)
    ]
    return DataSet(name="marked", items=tuple(items))


def test_rows_that_are_never_shown_are_for_validation_and_test(data):
    settings = CompileSettings()
    plain = parts_of(data, chosen_targets(data, settings), settings)
    found = never_shown(data, plain.pool_places)
    parts = parts_of(found, chosen_targets(found, settings), settings)
    marked = {item.key for item in plain.pool.items}
    assert len(parts.pool) > 0
    assert not {item.source_id for item in parts.pool.items} & {
        item.source_id for item in plain.pool.items
    }
    assert marked <= {item.key for item in parts.selection.items}
    assert [item.key for item in parts.heldout.items] == [item.key for item in plain.heldout.items]


def test_a_judge_to_start_from_shows_no_row_that_is_never_shown(data):
    texts = data[0].model_dump(include={"source", "context", "response"})
    shown = {"overall": (Demonstration(inputs=texts, outputs={}),)}
    protocol = CompileSettings().protocol.model_copy(update={"demonstrations": shown})
    settings = CompileSettings(protocol=protocol)
    found = never_shown(data, [0])
    with pytest.raises(ValueError, match=r"shows 1 of the rows that are never to be demonstratio"):
        parts_of(found, chosen_targets(found, settings), settings)


def test_demonstrations_need_rows_that_may_be_shown(data):
    found = never_shown(data, range(len(data)))
    settings = CompileSettings()
    with pytest.raises(ValueError, match=r"every rated source has a row .*\(--demonstrations 0\)"):
        parts_of(found, chosen_targets(found, settings), settings)
    settings = CompileSettings(n_demonstrations=0, optimizer="none")
    assert parts_of(found, chosen_targets(found, settings), settings).pool is None


def test_nothing_is_calibrated_by_rows_that_were_chosen(data):
    chosen = marked(data, range(60), "disagreement")
    _, aside = set_aside(chosen, targets_of(chosen), share=0.3, seed=0)
    assert len(aside)
    assert not {item.source_id for item in aside} & {chosen[i].source_id for i in range(60)}
