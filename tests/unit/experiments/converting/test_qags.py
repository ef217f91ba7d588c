"""QAGS, as it is published."""

import pytest


def judged(*votes, article="It rained ."):
    """Return a line whose sentences were called so by workers 0, 8 and 1."""
    return {
        "article": article,
        "summary_sentences": [
            {
                "sentence": f"Sentence {n}.",
                "responses": [
                    {"worker_id": worker, "response": said}
                    for worker, said in zip((0, 8, 1), answers, strict=True)
                ],
            }
            for n, answers in enumerate(votes)
        ],
    }


def test_a_worker_rates_by_the_share_of_sentences(converted, published):
    rows = [judged(("yes", "no", "no"), ("yes", "yes", "no")), judged(("no", "no", "yes"))]
    done = converted("qags-xsum", published("mturk_xsum.jsonl", rows))
    assert done.rows[0] == {
        "dataset": "qags_xsum",
        "task": "summarization",
        "source_id": "0",
        "system_id": "single-system",
        "source": "It rained .",
        "context": None,
        "response": "Sentence 0. Sentence 1.",
        "references": [],
        "human": {"consistency": [1, 0.5, 0]},
        "scale": {"consistency": [0, 1]},
        "workers": ["0", "8", "1"],
        "consistency_majority": 0.5,
        "sentences": [
            {"sentence": "Sentence 0.", "votes": [1, 0, 0]},
            {"sentence": "Sentence 1.", "votes": [1, 1, 0]},
        ],
    }
    assert done.rows[1]["source_id"] == "1"


def test_faults_name_the_sentence(faults, published):
    rows = [judged(("yes", "maybe", "no")), judged(), {"article": 1, "summary_sentences": [2]}]
    assert faults("qags-cnndm", published("mturk_cnndm.jsonl", rows)) == [
        "mturk_cnndm.jsonl:1: summary_sentences[0].responses[1].response: expected yes or no; "
        "got 'maybe'",
        "mturk_cnndm.jsonl:2: summary_sentences: expected at least one sentence; got none",
        "mturk_cnndm.jsonl:3: summary_sentences[0]: expected an object; got 2",
        "mturk_cnndm.jsonl:3: summary_sentences: expected at least one sentence; got none",
        "mturk_cnndm.jsonl:3: article: expected a text; got 1",
    ]


@pytest.mark.data
def test_a_file_made_of_the_rows_on_hand_becomes_them(
    converted, published, rows_on_hand, ten_digits
):
    known = rows_on_hand("qags_cnndm")
    lines = [
        {
            "article": row["source"],
            "summary_sentences": [
                {
                    "sentence": one["sentence"],
                    "responses": [
                        {"worker_id": int(worker), "response": "yes" if vote else "no"}
                        for worker, vote in zip(row["workers"], one["votes"], strict=True)
                    ],
                }
                for one in row["sentences"]
            ],
        }
        for row in known
    ]
    done = converted("qags-cnndm", published("mturk_cnndm.jsonl", lines))
    assert ten_digits(done.rows) == known
