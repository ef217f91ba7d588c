"""SFRES, SFHOT and BAGEL, as they are published and as UniEval passes them on."""

import pytest


def line(dataset="SFRES", system="WEN", mr="request(near)", said="where is it?", points=(6, 5, 4)):
    scores = dict(zip(("informativeness", "naturalness", "quality"), points, strict=True))
    return {"dataset": dataset, "system": system, "mr": mr, "sys_ref": said, "TER": 0.1, **scores}


def test_the_table_of_medians_keeps_the_rows_of_one_set(converted, published):
    rows = [line(), line("BAGEL"), line(system="LOLS"), line(said="near what?"), line("SFHOT")]
    path = published("emnlp_data_medians.csv", rows)
    done = converted("sfres", path)
    assert done.rows[0] == {
        "dataset": "sfres",
        "task": "data-to-text",
        "source_id": "request(near)",
        "system_id": "WEN",
        "source": "request(near)",
        "context": None,
        "response": "where is it?",
        "references": [],
        "human": {"informativeness": [6], "naturalness": [5], "overall": [4]},
        "scale": {key: [1, 6] for key in ("informativeness", "naturalness", "overall")},
        "human_detail": "median",
    }
    ids = [(row["source_id"], row["system_id"]) for row in done.rows]
    assert ids == [
        ("request(near)", "WEN"),
        ("request(near)", "LOLS"),
        ("request(near) #2", "WEN"),
    ]
    assert done.made.left_out == {
        "rows of another data set (BAGEL)": 1,
        "rows of another data set (SFHOT)": 1,
    }
    assert len(converted("bagel", path).rows) == len(converted("sfhot", path).rows) == 1


def test_unieval_names_no_system_and_has_a_reference(converted, published):
    scores = {"informativeness": 4.5, "naturalness": 3.5, "overall": 4.0}
    row = {"doc_id": 0, "source": "confirm(x)", "reference": "X ?", "system_output": "You want x ?"}
    rows = [{**row, "scores": scores}, {**row, "doc_id": 1, "reference": "", "scores": scores}]
    done = converted("sfhot", published("sfhot.json", rows))
    first, second = done.rows
    assert "system_id" not in first
    assert first["references"] == ["X ?"]
    assert first["human"] == {"informativeness": [4.5], "naturalness": [3.5], "overall": [4]}
    assert [first["item"], second["item"], second["references"]] == [0, 1, []]
    assert done.made.to_dict()["systems"] == 0


def test_faults_say_where(faults, published):
    path = published(
        "emnlp_data_medians.csv", [line(), line(mr="", points=(7, "", 1)), line("E2E")]
    )
    assert faults("sfres", path) == [
        "emnlp_data_medians.csv:3: mr: expected an id; got ''",
        "emnlp_data_medians.csv:3: informativeness: expected a number from 1 to 6; got '7'",
        "emnlp_data_medians.csv:3: naturalness: expected a number from 1 to 6; got ''",
        "emnlp_data_medians.csv:4: dataset: expected one of BAGEL, SFHOT, SFRES; got 'E2E'",
    ]


@pytest.mark.data
def test_a_list_made_of_the_rows_on_hand_says_the_same(converted, published, rows_on_hand):
    known = rows_on_hand("sfres")
    rows = [
        {
            "doc_id": row["item"],
            "source": row["source"],
            "reference": row["references"][0],
            "system_output": row["response"],
            "scores": {name: points[0] for name, points in row["human"].items()},
        }
        for row in known
    ]
    done = converted("sfres", published("sfres.json", rows))
    same = ("source", "response", "human", "scale", "item")
    for row, before in zip(done.rows, known, strict=True):
        assert [row[name] for name in same] == [before[name] for name in same]
