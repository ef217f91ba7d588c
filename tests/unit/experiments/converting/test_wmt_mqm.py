"""WMT-MQM, as it is published."""

import pytest

from judgesmith.data import read_items
from judgesmith.experiments.evaluate.errors.gold import marked_errors

HEADER = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")


def table(*rows, header=HEADER):
    return "".join("\t".join(row) + "\n" for row in (header, *rows))


def error(target, category="Style/Awkward", severity="Minor", **other):
    cells = {
        "system": "A",
        "doc": "talk.1",
        "doc_id": "1",
        "seg_id": "7",
        "rater": "rater1",
        "source": "It rained.",
        "target": target,
        "category": category,
        "severity": severity,
    }
    return tuple((cells | other).values())


def test_errors_keep_their_places_and_each_rater_a_rating(converted, published):
    text = table(
        error("Es <v>hat</v> geregnet.", "Accuracy/Mistranslation", "Major"),
        error("Es regnete.", "No-error", "No-error", system="B"),
        error("Es hat <v>geregnet.</v>", "Fluency/Punctuation", "Minor"),
        error(
            "Es hat geregnet.", "Accuracy/Omission", "minor", source="It <v>rained</v>.", rater="r2"
        ),
        error("Es hat geregnet.", "no-error", "no-error", rater="r3"),
        error("Es hat geregnet.", "Style/Awkward", "Neutral", rater="r4"),
    )
    done = converted("wmt-mqm", published("mqm_ted_ende.tsv", text))
    assert done.rows[0] == {
        "dataset": "wmt_mqm",
        "task": "translation",
        "source_id": "7",
        "system_id": "A",
        "source": "It rained.",
        "context": None,
        "response": "Es hat geregnet.",
        "references": [],
        "human": {"mqm": [-5.1, -1, 0, 0]},
        "scale": {"mqm": [-25, 0]},
        "document": "talk.1",
        "raters": ["rater1", "r2", "r3", "r4"],
        "errors": [
            {
                "start": 3,
                "end": 6,
                "category": "Accuracy/Mistranslation",
                "severity": "Major",
                "rater": "rater1",
            },
            {
                "start": 7,
                "end": 16,
                "category": "Fluency/Punctuation",
                "severity": "Minor",
                "rater": "rater1",
            },
            {
                "in_source": [[3, 9]],
                "category": "Accuracy/Omission",
                "severity": "Minor",
                "rater": "r2",
            },
            {"category": "Style/Awkward", "severity": "Neutral", "rater": "r4"},
        ],
    }
    assert (done.rows[1]["human"], done.rows[1]["errors"]) == ({"mqm": [0]}, [])
    first, clean = marked_errors(read_items(done.path))
    assert [(one.start, one.end, one.severity) for one in first] == [
        (3, 6, 4),
        (7, 16, 2),
        (None, None, 2),
        (None, None, 1),
    ]
    assert clean == ()
    assert not done.made.changed


def test_what_is_not_as_it_should_be_is_counted(converted, published):
    text = table(
        error("Es <v>hat</v> geregnet."),
        error("Es hatte <v>geregnet</v>."),
        error("<v>Es</v> hat <v>geregnet</v>."),
        error("Es hat <v>geregnet."),
        error("Es hat geregnet.", "Found", "HOTW-test"),
        error("Es hat geregnet.", source="It rains."),
        *[error("Es hat geregnet.", "Non-translation!", "Major", system="B")] * 2,
    )
    done = converted("wmt-mqm", published("a.tsv", text))
    first, second = done.rows
    places = [(one.get("start"), one.get("end"), one.get("places")) for one in first["errors"]]
    assert places == [
        (3, 6, None),
        (None, None, None),
        (0, 2, [[0, 2], [7, 15]]),
        (None, None, None),
        (None, None, None),
    ]
    assert done.made.left_out == {"rows that only test a rater's attention (HOTW-test)": 1}
    assert [kind.partition(":")[0] for kind in done.made.changed] == [
        "errors in another text than the first row of their item has",
        "errors marked at several places",
        "errors with a mark that has no partner",
        "rows with another source than the first row of their item",
        "ratings below -25, where raters marked more",
    ]
    assert (second["human"], second["scale"]) == ({"mqm": [-50]}, {"mqm": [-50, 0]})


def test_quotes_of_a_spreadsheet_are_taken_out_if_all_texts_have_them(converted, published):
    said = error('"Er sagte ""<v>ja</v>""."', source='"""Yes,"" he said."')
    done = converted("wmt-mqm", published("a.tsv", table(said, error("Ja.", seg_id="8"))))
    (row, _) = done.rows
    assert (row["source"], row["response"]) == ('"Yes," he said.', 'Er sagte "ja".')
    assert row["response"][row["errors"][0]["start"] : row["errors"][0]["end"]] == "ja"
    assert done.made.changed == {
        "rows whose texts a spreadsheet had put in quotes: taken out of them": 1
    }
    as_they_are = table(error('"Ja."'), error('Er sagte "ja".', system="B"))
    done = converted("wmt-mqm", published("b.tsv", as_they_are))
    assert done.rows[0]["response"] == '"Ja."'
    assert not done.made.changed
    mixed = table(error('"Er sagte ""ja""."'), error('Er sagte "ja".', system="B"))
    done = converted("wmt-mqm", published("c.tsv", mixed))
    assert done.rows[0]["response"] == '"Er sagte ""ja""."'
    ((kind, n),) = done.made.changed.items()
    assert (kind.partition(":")[0], n) == (
        "rows with doubled quotes that a spreadsheet may have made",
        1,
    )


def test_columns_of_later_years_are_read(converted, published):
    header = [{"doc_id": "docSegId", "seg_id": "globalSegId"}.get(one, one) for one in HEADER]
    text = table((*error("Es <v>regnet</v>."), "{}"), header=(*header, "metadata"))
    done = converted("wmt-mqm", published("mqm_generalMT2023_ende.tsv.gz", text))
    assert done.rows[0]["source_id"] == "7"


def test_segments_of_several_documents_that_share_a_number_are_told_apart(converted, published):
    text = table(
        error("Es <v>hat</v> geregnet."),
        error("Hallo.", "No-error", "No-error", doc="talk.2", source="Hello."),
        error("Ja.", "No-error", "No-error", seg_id="8", source="Yes."),
    )
    done = converted("wmt-mqm", published("a.tsv", text))
    found = [(row["source_id"], row["source"], row["human"]["mqm"]) for row in done.rows]
    assert found == [
        ("talk.1:7", "It rained.", [-1]),
        ("talk.2:7", "Hello.", [0]),
        ("8", "Yes.", [0]),
    ]
    ((kind, n),) = done.made.changed.items()
    assert (kind.partition(":")[0], n) == (
        "ratings of segments whose number several documents have",
        2,
    )


def test_faults_say_where(faults, published):
    text = table(
        error("a", severity="Awful"), error("b", rater=""), ("A", "b"), error("c", seg_id="")
    )
    assert faults("wmt-mqm", published("a.tsv", text)) == [
        "a.tsv:2: severity: expected Neutral, Minor, Major, Critical or No-error; got 'Awful'",
        "a.tsv:3: rater: expected an id; got ''",
        "a.tsv:4: row: expected 9 cells, as in the header; got 2",
        "a.tsv:5: seg_id: expected an id; got ''",
    ]


@pytest.mark.data
@pytest.mark.parametrize("name", ["mqm_ted_ende", "mqm_ted_zhen"])
def test_a_table_made_of_the_rows_on_hand_rates_the_same(
    converted, published, rows_on_hand, ten_digits, name
):
    known = rows_on_hand(name)[:1200]
    lines = []
    for row in known:
        clean = [{"category": "No-error", "severity": "No-error"}]
        for one in row["errors"] or clean:
            lines.append(
                error(
                    row["response"],
                    one["category"],
                    one["severity"],
                    system=row["system_id"],
                    doc=row["document"],
                    seg_id=row["source_id"],
                    rater=row["rater"],
                    source=row["source"],
                )
            )
    done = converted("wmt-mqm", published(f"{name}.tsv", table(*lines)))
    same = ("source_id", "system_id", "source", "response", "human", "document")
    for row, before in zip(ten_digits(done.rows), known, strict=True):
        assert [row[field] for field in same] == [before[field] for field in same]
        plain = [{field: one[field] for field in ("category", "severity")} for one in row["errors"]]
        assert plain == before["errors"]
