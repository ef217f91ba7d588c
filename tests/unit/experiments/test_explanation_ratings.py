import csv
import json

import numpy as np
import pytest

from judgesmith.data.problems import DataError
from judgesmith.experiments.labels.explanation_answers import COLUMNS, QUESTIONS, RowId, blank_cells
from judgesmith.experiments.labels.explanation_sheet import read_sheets
from judgesmith.metrics import krippendorff_alpha
from judgesmith.metrics.resampling import share_interval

PARTS = ("fluency", "coverage", "overall")
N_ITEMS = 8
NAMES = [question.name for question in QUESTIONS]


def rows_of(answer, parts=PARTS):
    """Return a sheet in which ``answer(item, part, question)`` fills what is asked."""
    rows = []
    for number in range(N_ITEMS * len(parts)):
        item, part = number // len(parts) + 1, parts[number % len(parts)]
        cells = dict(
            zip(NAMES, blank_cells(whole=part == "overall", aspects=len(parts) > 1), strict=True)
        )
        cells = {name: cell or answer(item, part, name) for name, cell in cells.items()}
        place = RowId("x0123456789ab", number + 1, N_ITEMS * len(parts), item, part)
        rows.append(dict.fromkeys(COLUMNS, "") | {"id": str(place), "part": part} | cells)
    return rows


@pytest.fixture
def save(tmp_path):
    def saving(rater, rows):
        path = tmp_path / f"{rater}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            table.writerows(rows)
        return path

    return saving


def kind(item, part, name):
    return "5" if name == "usefulness" else "yes"


def random_rater(seed):
    rng = np.random.default_rng(seed)

    def answer(item, part, name):
        if rng.random() < 0.1:
            return ""
        if name == "usefulness":
            return str(rng.integers(3, 6))
        return "yes" if rng.random() < 0.7 else "no"

    return answer


def given(rows, name):
    """Return the answers of a sheet as numbers, nan where there is none."""
    said = {"yes": 1.0, "no": 0.0, "": np.nan}
    return [said[row[name]] if name != "usefulness" else float(row[name] or "nan") for row in rows]


def test_every_number_is_what_its_definition_gives(save):
    sheets = {
        rater: rows_of(random_rater(seed)) for seed, rater in enumerate(["ana", "ben", "cem"])
    }
    found = read_sheets([save(rater, rows) for rater, rows in sheets.items()])
    assert (found.n_items, found.n_rows) == (N_ITEMS, N_ITEMS * 3)
    for name in NAMES:
        asked = [[row for row in rows if row[name] != "-"] for rows in sheets.values()]
        table = np.array([given(rows, name) for rows in asked]).T
        one = found.questions[name]
        assert one.value.value == pytest.approx(np.nanmean(table))
        assert one.value.low < one.value.value < one.value.high
        measurement = "ordinal" if name == "usefulness" else "nominal"
        assert one.alpha.value == pytest.approx(krippendorff_alpha(table, measurement=measurement))
        assert one.alpha.low < one.alpha.value < one.alpha.high
        assert one.n_filled == np.count_nonzero(~np.isnan(table))
        assert one.n_filled + one.n_blank == table.size
        for column, rater in enumerate(sheets):
            assert one.raters[rater].value == pytest.approx(np.nanmean(table[:, column]))
            assert one.raters[rater].n_filled == np.count_nonzero(~np.isnan(table[:, column]))


def test_shares_are_told_for_each_part_and_intervals_count_texts(save):
    def answer(item, part, name):
        return "no" if part == "coverage" and item == 1 else kind(item, part, name)

    found = read_sheets([save("ana", rows_of(answer)), save("ben", rows_of(answer))])
    clear = found.questions["clear"]
    assert list(clear.parts) == list(PARTS)
    assert [one.value for one in clear.parts.values()] == [1, 7 / 8, 1]
    items = np.repeat(np.arange(1, 9), 2)
    assert clear.parts["coverage"] == share_interval(items != 1, sources=items)
    assert (clear.value.n, clear.value.n_groups) == (48, 8)
    assert found.questions["usefulness"].parts == {}


def test_where_all_answers_are_the_same_alpha_is_undefined_and_pairs_agree(save):
    found = read_sheets([save("ana", rows_of(kind)), save("ben", rows_of(kind))])
    one = found.questions["factual"]
    assert (one.value.value, one.agreement) == (1, 1)
    assert one.value.low == share_interval(np.ones(8), sources=range(8)).low
    assert 0.5 < one.value.low < 0.6
    assert np.isnan(one.alpha.value)
    useful = found.questions["usefulness"].value
    assert useful.value == 5
    assert np.isnan(useful.low)


def test_one_rater_agrees_with_nobody(save):
    found = read_sheets([save("ana", rows_of(random_rater(0)))])
    one = found.questions["clear"]
    assert (one.alpha.n, one.alpha.n_groups) == (0, 0)
    assert np.isnan(one.alpha.value)
    assert np.isnan(one.agreement)


def test_a_blank_sheet_has_no_numbers_but_counts(save):
    found = read_sheets([save("ana", rows_of(lambda *_: ""))])
    for name in NAMES:
        one = found.questions[name]
        assert np.isnan(one.value.value)
        assert (one.n_filled, one.n_blank) == (0, 24 if name in NAMES[:4] else 8)
    assert (
        json.loads(json.dumps(found.to_dict(), allow_nan=False))["questions"]["clear"]["value"][
            "value"
        ]
        is None
    )


def test_rows_that_a_rater_took_out_are_blank_and_counted(save):
    whole, part = rows_of(kind), rows_of(kind)[:5]
    found = read_sheets([save("ana", whole), save("ben", part)])
    assert found.n_missing == {"ana": 0, "ben": 19}
    assert found.questions["clear"].raters["ben"].n_blank == 19
    assert found.questions["usefulness"].raters["ben"].n_blank == 7
    alone = read_sheets([save("ben", part)])
    assert (alone.n_rows, alone.n_missing) == (5, {"ben": 19})
    assert alone.questions["clear"].n_blank == 0


def test_what_no_row_asks_has_no_cells(save):
    found = read_sheets([save("ana", rows_of(kind, parts=("overall",)))])
    one = found.questions["agrees_with_aspects"]
    assert (one.n_filled, one.n_blank) == (0, 0)
    assert np.isnan(one.value.value)


def test_the_order_of_raters_and_rows_changes_nothing(save):
    ana, ben = rows_of(random_rater(1)), rows_of(random_rater(2))
    first = read_sheets([save("ana", ana), save("ben", ben)]).to_dict()
    again = read_sheets([save("ben", ben[::-1]), save("ana", ana[3:] + ana[:3])]).to_dict()
    for name, one in first["questions"].items():
        other = again["questions"][name]
        assert one["raters"] == other["raters"]
        for number in ("value", "alpha"):
            assert one[number] == pytest.approx(other[number], nan_ok=True)


def test_faults_in_the_sheets_are_raised(save):
    rows = rows_of(lambda *_: "perhaps")
    with pytest.raises(DataError) as caught:
        read_sheets([save("ana", rows)])
    assert len(caught.value.problems) == 24 * 4 + 8 * 3


def test_json_has_the_shape_of_every_estimate(save):
    found = read_sheets([save("ana", rows_of(random_rater(1)))]).to_dict()
    assert list(found) == ["sheet", "items", "rows", "missing", "questions"]
    assert list(found["questions"]) == NAMES
    one = found["questions"]["clear"]
    assert list(one) == ["value", "alpha", "agreement", "filled", "blank", "parts", "raters"]
    shape = ["value", "low", "high", "confidence", "n", "n_groups", "n_undefined"]
    assert list(one["value"]) == list(one["alpha"]) == list(one["parts"]["overall"]) == shape
    assert list(one["raters"]["ana"]) == ["value", "filled", "blank"]
