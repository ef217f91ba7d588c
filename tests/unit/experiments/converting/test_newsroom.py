"""NewsRoom, as it is published and as JUDGE-BENCH passes it on."""

import html

import pytest

FOUR = ("Informativeness", "Relevance", "Fluency", "Coherence")


def rated(system, *points, article=144, summary="Bridge &amp; tunnel ."):
    return {
        "System": system,
        "ArticleID": article,
        "ArticleText": "It &quot;opened&quot;.&lt;/p&gt;&lt;p&gt;People came.",
        "SystemSummary": summary,
        "ArticleTitle": "A bridge",
        **{f"{name}Rating": one for name, one in zip(FOUR, points, strict=True)},
    }


def test_rows_of_raters_become_one_row_per_summary(converted, published):
    rows = [
        rated("lede3", 5, 4, 3, 2),
        rated("abstractive", 1, 1, 1, 1),
        rated("lede3", 1, 2, 3, 4),
    ]
    done = converted("newsroom", published("newsroom-human-eval.csv", rows))
    assert done.rows[0] == {
        "dataset": "newsroom",
        "task": "summarization",
        "source_id": "144",
        "system_id": "lede3",
        "source": 'A bridge\nIt "opened".\n\nPeople came.',
        "context": None,
        "response": "Bridge & tunnel .",
        "references": [],
        "human": {
            "informativeness": [5, 1],
            "relevance": [4, 2],
            "fluency": [3, 3],
            "coherence": [2, 4],
        },
        "scale": {name.lower(): [1, 5] for name in FOUR},
    }
    assert [row["system_id"] for row in done.rows] == ["lede3", "abstractive"]


@pytest.mark.parametrize(
    ("article", "text"),
    [
        ("<p>It opened.</p>", "It opened."),
        ("<p> It opened.</p> <p>People came. </p>", "It opened.\n\nPeople came."),
        ("It opened.</p>People came.", "It opened.\n\nPeople came."),
        ("It opened.<p></p><p>People came.", "It opened.\n\nPeople came."),
    ],
)
def test_tags_glue_no_text_to_another_or_to_the_title(converted, published, article, text):
    row = rated("lede3", 5, 4, 3, 2) | {"ArticleText": html.escape(article)}
    done = converted("newsroom", published("newsroom-human-eval.csv", [row]))
    assert done.rows[0]["source"] == f"A bridge\n{text}"
    document = {"instances": [instance("One.", f"A bridge\n{article}")]}
    done = converted("newsroom", published("newsroom.json", document))
    assert done.rows[0]["source"] == f"A bridge\n{text}"


def instance(summary, article, **said):
    said = {"individual_human_scores": [4, 3, 1], "mean_human": 2.67} | said
    return {
        "id": 1,
        "instance": f"### Generated Summary\n\n{summary}\n\n### Source Article\n\n{article}",
        "annotations": dict.fromkeys(FOUR, said),
    }


def test_judge_bench_names_no_systems_and_articles_are_numbered(converted, published):
    instances = [
        instance("One.", "Title\nText.</p><p>More."),
        instance("Two.", "Title\nText.</p><p>More."),
        instance("Three.", "Other\nText."),
    ]
    document = {"dataset": "newsroom", "annotations": [], "instances": instances}
    done = converted("newsroom", published("newsroom.json", document))
    first, second, third = done.rows
    assert "system_id" not in first
    assert (first["source"], first["response"]) == ("Title\nText.\n\nMore.", "One.")
    assert first["human"] == {name.lower(): [4, 3, 1] for name in FOUR}
    assert [row["source_id"] for row in (first, second, third)] == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"rows": []}, "n.json: file: expected an object with a list of instances; got"),
        ({"instances": []}, "n.json: file: expected at least one row; got none"),
        ({"instances": [3]}, "n.json, row 1: instance: expected an object; got 3"),
        (
            {"instances": [instance("a", "b") | {"instance": "Summary"}]},
            "n.json, row 1: instance: expected a summary and its article; got 'Summary'",
        ),
        (
            {"instances": [instance("a", "b", individual_human_scores=[6])]},
            "row 1: annotations.Informativeness.individual_human_scores[0]: expected a number",
        ),
    ],
)
def test_faults_say_where(faults, published, content, told):
    assert told in faults("newsroom", published("n.json", content))[0]


@pytest.mark.data
def test_a_table_made_of_the_rows_on_hand_says_the_same(converted, published, rows_on_hand):
    known = rows_on_hand("newsroom")
    table = []
    for row in known:
        title, _, article = row["source"].partition("\n")
        for at in range(3):
            table.append(
                {
                    "System": row["system_id"],
                    "ArticleID": row["source_id"],
                    "ArticleText": html.escape(article.replace("\n\n", "</p><p>")),
                    "SystemSummary": html.escape(row["response"]),
                    "ArticleTitle": html.escape(title),
                    **{f"{name}Rating": row["human"][name.lower()][at] for name in FOUR},
                }
            )
    done = converted("newsroom", published("newsroom-human-eval.csv", table))
    # References are not in this table.
    assert done.rows == [{**row, "references": []} for row in known]
