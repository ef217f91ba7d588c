"""Public datasets of dialogues and translations are converted."""

import csv
import io
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgesmith.data import read_items
from judgesmith.data.convert.translations import is_quoted, unquoted, without_marks
from judgesmith.experiments.evaluate.errors.gold import marked_errors

# NLG-DualEval, in the form that its own program reads.


def text(target, aspect="Coherence", *, task="Summarization", source="An article.", **more):
    return {
        "task": task,
        "aspect": aspect,
        "aspect_des": f"What {aspect} is.",
        "source_des": "Article",
        "source": source,
        "target_des": "Summary",
        "target": target,
        **more,
    }


def test_texts_of_the_global_perspective_have_their_rating(converted, published):
    document = {
        "Coherence": [text("a", rating=5), text("b", rating=1), text("c", source="X.", rating=3)],
        "Knowledge Use": [
            text("d", "Knowledge Use", task="Dialogue", addition="A fact.", rating=2),
            text("d", "Knowledge Use", task="Dialogue", addition="Another.", rating=1),
        ],
    }
    done = converted("nlg-dualeval", published("SummEval_global.json", document))
    assert done.rows[1] == {
        "dataset": "nlg_dualeval",
        "task": "summarization",
        "source_id": "1",
        "system_id": "coherence-1",
        "source": "An article.",
        "context": None,
        "response": "b",
        "references": [],
        "human": {"coherence": [1]},
        "scale": {"coherence": [1, 5]},
        "definitions": {"coherence": "What Coherence is."},
        "provenance": {"criterion": "coherence", "perspective": "global"},
    }
    assert [row["source_id"] for row in done.rows] == ["1", "1", "2", "3", "4"]
    assert done.rows[3]["scale"] == {"knowledge_use": [1, 2]}
    assert (done.rows[3]["context"], done.rows[3]["task"]) == ("A fact.", "dialogue")


def test_texts_of_the_local_perspective_are_rated_by_their_step(converted, published):
    short = [text("a"), text("b")]
    long = [text(one, source="X.") for one in "cde"]
    document = {"Coherence": {"0": short, "1": long}}
    done = converted("nlg-dualeval", published("SummEval_Local.json", document))
    assert [row["human"]["coherence"] for row in done.rows] == [[2], [1], [2], [1], [0]]
    assert {json.dumps(row["scale"]) for row in done.rows} == {'{"coherence": [0, 2]}'}
    assert done.rows[4]["provenance"] == {
        "criterion": "coherence",
        "perspective": "local",
        "step": 2,
        "n_errors": 2,
    }
    assert done.rows[4]["system_id"] == "coherence-2"


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"a": {"s": [text("a")]}, "b": [text("b", rating=3)]}, "row 2: file: expected one persp"),
        ({"a": [text("a", rating=6)]}, "row 1: rating: expected a number from 1 to 5; got 6"),
        ({"a": [text("a")]}, "row 1: rating: expected a number from 1 to 5; got no such field"),
        ({"a": [text("a", rating=1), 3]}, "row 2: text: expected an object; got 3"),
        ({"a": {"s": 3}}, "file: expected an object of aspects, each with a list of texts"),
        ({"a": 3}, "file: expected an object of aspects, each with a list of texts"),
        ([], "file: expected an object of aspects, each with a list of texts"),
        ({"a": []}, "file: expected at least one row; got none"),
    ],
)
def test_faults_say_where(faults, published, document, told):
    assert told in faults("nlg-dualeval", published("a.json", document))[0]


# Marks are taken out of texts, and quotes of spreadsheets with them.

pieces = st.lists(st.text(st.sampled_from('ab" <v>/é\U0001f600')), min_size=3, max_size=3)


def written(text):
    """Return a cell as a spreadsheet writes it."""
    table = io.StringIO()
    csv.writer(table, delimiter="\t", lineterminator="").writerow([text])
    return table.getvalue()


@given(pieces)
@example(["a", '"', "b"])
def test_the_place_holds_what_was_marked(three):
    before, marked, after = (one.replace("<v>", "").replace("</v>", "") for one in three)
    text = f"{before}<v>{marked}</v>{after}"
    found = without_marks(text)
    if "<v>" in before + after + marked or found.text != before + marked + after:
        return  # letters around a mark happen to make another one
    assert found.places == ((len(before), len(before + marked)),)
    assert not found.broken


@given(pieces)
@example(['He said "', 'no "', 'way".'])
def test_quotes_of_a_spreadsheet_go_and_places_move(three):
    before, marked, after = ("".join(c for c in one if c not in "<>/v") for one in three)
    cell = written(before + marked + after)
    if not cell.startswith('"'):
        return
    assert is_quoted(cell)
    # A rater marks what the viewer shows: the cell as it stands in the file.
    start = 1 + len(before.replace('"', '""'))
    end = start + len(marked.replace('"', '""'))
    found = unquoted(without_marks(f"{cell[:start]}<v>{cell[start:end]}</v>{cell[end:]}"))
    assert found.text == before + marked + after
    assert found.places == ((len(before), len(before + marked)),)


def test_what_has_no_partner_marks_nothing():
    for text in ("a <v>b", "a</v> b", "<v>a<v>b</v>c</v>", "</v>a<v>"):
        found = without_marks(text)
        assert found.broken
        assert found.places == ()
        assert "v>" not in found.text


# SFRES, SFHOT and BAGEL, as they are published and as UniEval passes them on.


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


def test_faults_say_where_sf_dialogue(faults, published):
    path = published(
        "emnlp_data_medians.csv", [line(), line(mr="", points=(7, "", 1)), line("E2E")]
    )
    assert faults("sfres", path) == [
        "emnlp_data_medians.csv:3: mr: expected an id; got ''",
        "emnlp_data_medians.csv:3: informativeness: expected a number from 1 to 6; got '7'",
        "emnlp_data_medians.csv:3: naturalness: expected a number from 1 to 6; got ''",
        "emnlp_data_medians.csv:4: dataset: expected one of BAGEL, SFHOT, SFRES; got 'E2E'",
    ]


# USR Topical-Chat and PersonaChat, as they are published.

COLUMNS = {
    "Understandable": [1, 0, 1],
    "Natural": [1, 2, 3],
    "Maintains Context": [3, 3, 1],
    "Engaging": [2, 2, 1],
    "Uses Knowledge": [0, 1, 0],
    "Overall": [5, 1, 3],
}


def dialogue(*systems, fact="A fact .\n", raters=("sm", "me", "er"), **columns):
    return {
        "context": "Hello . \n Hi !\n\n",
        "fact": fact,
        "annotators": list(raters),
        "responses": [
            {"response": f"{one} here .\n", "model": one, **COLUMNS, **columns} for one in systems
        ],
    }


def test_each_answer_is_a_row_and_raters_are_numbered(converted, published):
    dialogues = [
        dialogue("Seq2Seq", "New Human Generated"),
        dialogue("Seq2Seq", "Original Ground Truth", fact="_nofact\n", raters=("er", "sm", "xx")),
    ]
    done = converted("topical-chat", published("tc_usr_data.json", dialogues))
    first, second, third, fourth = done.rows
    assert first == {
        "dataset": "topical_chat",
        "task": "dialogue",
        "source_id": "topical_chat-00",
        "system_id": "Seq2Seq",
        "source": "Hello . \n Hi !",
        "context": "A fact .",
        "response": "Seq2Seq here .",
        "references": [],
        "human": {
            "understandability": [1, 0, 1],
            "naturalness": [1, 2, 3],
            "coherence": [3, 3, 1],
            "engagingness": [2, 2, 1],
            "groundedness": [0, 1, 0],
            "overall": [5, 1, 3],
        },
        "scale": {
            "understandability": [0, 1],
            "naturalness": [1, 3],
            "coherence": [1, 3],
            "engagingness": [1, 3],
            "groundedness": [0, 1],
            "overall": [1, 5],
        },
        "raters": ["rater1", "rater2", "rater3"],
    }
    assert (second["source_id"], second["system_id"]) == ("topical_chat-00", "New Human Generated")
    assert (third["source_id"], third["context"]) == ("topical_chat-01", None)
    assert third["raters"] == ["rater3", "rater1", "rater4"]
    assert third["references"] == ["Original Ground Truth here ."]
    assert fourth["references"] == []


def test_answers_that_not_every_rater_rated_are_counted(converted, published):
    dialogues = [dialogue("A"), dialogue("B", Natural=[2]), dialogue("C", raters=("sm", "me"))]
    done = converted("topical-chat", published("tc_usr_data.json", dialogues))
    assert done.rows[1]["human"]["naturalness"] == [2]
    ((kind, n),) = done.made.changed.items()
    assert (kind.startswith("rows with fewer ratings on one criterion"), n) == (True, 2)


def test_faults_name_the_answer(faults, published):
    path = published(
        "tc_usr_data.json",
        [dialogue("a", "a"), dialogue("b", Natural=[0, 1, 2], Overall=4, fact=None)],
    )
    assert faults("topical-chat", path) == [
        "tc_usr_data.json, row 1: responses[1].item: expected each item once; got "
        "'topical_chat-00' of 'a' again, after tc_usr_data.json, row 1",
        "tc_usr_data.json, row 2: fact: expected a text; got nothing",
        "tc_usr_data.json, row 2: responses[0].Natural[0]: expected a number from 1 to 3; got 0",
        "tc_usr_data.json, row 2: responses[0].Overall: expected a list of ratings from 1 to 5; "
        "got 4",
    ]


# Wiki-DA, as it is published.


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


# WMT-MQM, as it is published.

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


def test_faults_say_where_wmt_mqm(faults, published):
    text = table(
        error("a", severity="Awful"), error("b", rater=""), ("A", "b"), error("c", seg_id="")
    )
    assert faults("wmt-mqm", published("a.tsv", text)) == [
        "a.tsv:2: severity: expected Neutral, Minor, Major, Critical or No-error; got 'Awful'",
        "a.tsv:3: rater: expected an id; got ''",
        "a.tsv:4: row: expected 9 cells, as in the header; got 2",
        "a.tsv:5: seg_id: expected an id; got ''",
    ]
