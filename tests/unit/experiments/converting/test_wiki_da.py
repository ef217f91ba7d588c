"""Wiki-DA, as it is published."""

import pytest


def rated(sent_id, system, rater, points, **texts):
    texts = {"orig_sent": "He swore fealty, at once.", "simp_sent": "He swore."} | texts
    ids = {"sent_id": sent_id, "sys_name": system}
    return {**ids, **texts, "rater_id": rater, "simplicity": points}


def means(sent_id, system, fluency, **more):
    ids = {"sent_id": sent_id, "sys_name": system}
    return {**ids, "fluency": fluency, "fluency_zscore": 0.1, "meaning": 70.25, **more}


RATINGS = [rated(67, "ACCESS", 4, 100), rated(67, "Hybrid", 4, 1), rated(67, "ACCESS", 18, 91)]


@pytest.mark.parametrize("first", ["ratings", "means"])
def test_both_tables_make_one_row_per_item(converted, published, first):
    ratings = published("simplicity_DA_ratings.csv", RATINGS)
    table = published(
        "simplicity_DA.csv",
        [
            means(67, "ACCESS", 87.86666666666666, sys_type="NTS"),
            means(68, "ACCESS", 1, sys_type="NTS"),
        ],
    )
    done = converted("wiki-da", *((ratings, table) if first == "ratings" else (table, ratings)))
    assert done.rows[0] == {
        "dataset": "wiki_da",
        "task": "simplification",
        "source_id": "67",
        "system_id": "ACCESS",
        "source": "He swore fealty, at once.",
        "context": None,
        "response": "He swore.",
        "references": [],
        "human": {"simplicity": [100, 91], "fluency": [87.86666666666666], "meaning": [70.25]},
        "scale": {key: [0, 100] for key in ("simplicity", "fluency", "meaning")},
        "raters": ["4", "18"],
        "sys_type": "NTS",
    }
    assert done.rows[1]["human"] == {"simplicity": [1]}
    assert done.made.left_out == {"means of items that no rating of simplicity was given for": 1}
    assert done.made.changed == {"items without means of fluency and meaning": 1}


def test_ratings_alone_will_do_and_means_alone_will_not(converted, published, faults):
    done = converted("wiki-da", published("simplicity_DA_ratings.csv", RATINGS))
    assert not done.made.changed
    done.path.unlink()
    (told,) = faults("wiki-da", published("simplicity_DA.csv", [means(1, "ACCESS", 3)]))
    assert told.startswith(
        "simplicity_DA.csv: fields: expected sent_id, sys_name, orig_sent, simp_sent, rater_id"
    )


@pytest.mark.data
def test_tables_made_of_the_rows_on_hand_become_them(
    converted, published, rows_on_hand, ten_digits
):
    known = rows_on_hand("wiki_da")
    ratings, table = [], []
    for row in known:
        ids = {"sent_id": row["source_id"], "sys_name": row["system_id"]}
        texts = {"orig_sent": row["source"], "simp_sent": row["response"]}
        said = zip(row["raters"], row["human"]["simplicity"], strict=True)
        ratings += [{**ids, **texts, "rater_id": who, "simplicity": n} for who, n in said]
        both = {name: row["human"][name][0] for name in ("fluency", "meaning")}
        table.append({**ids, "sys_type": row["sys_type"], **both})
    done = converted(
        "wiki-da",
        published("simplicity_DA_ratings.csv", ratings),
        published("simplicity_DA.csv", table),
    )
    for row, before in zip(ten_digits(done.rows), known, strict=True):
        assert row["raters"] == [str(one) for one in before["raters"]]
        for name in set(before) - {"raters", "zscore_mean"}:
            assert row[name] == before[name]
