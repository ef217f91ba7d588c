"""USR Topical-Chat and PersonaChat, as they are published."""

import pytest

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


def test_the_other_set_has_its_own_ids(converted, published):
    done = converted("persona-chat", published("pc_usr_data.json.gz", [dialogue("KV-MemNN")]))
    assert done.rows[0]["source_id"] == "persona_chat-00"


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


@pytest.mark.data
def test_a_file_made_of_the_rows_on_hand_becomes_them(converted, published, rows_on_hand):
    known = rows_on_hand("topical_chat")
    names = dict(zip(known[0]["human"], COLUMNS, strict=True))
    dialogues = {}
    for row in known:
        about = {
            "context": f"{row['source']} \n\n",
            "fact": "_nofact\n" if row["context"] is None else f"{row['context']}\n",
            "annotators": row["raters"],
            "responses": [],
        }
        answer = {"response": f"{row['response']}\n", "model": row["system_id"]}
        answer |= {names[name]: points for name, points in row["human"].items()}
        dialogues.setdefault(row["source_id"], about)["responses"].append(answer)
    done = converted("topical-chat", published("tc_usr_data.json", list(dialogues.values())))
    assert done.rows == known
