"""Public datasets of summaries and stories are converted."""

import html

import pytest

from judgesmith.data import read_items
from judgesmith.data.convert import CONVERSIONS, conversion_named, convert
from judgesmith.data.problems import DataError

# HANNA, as it is published.

SIX = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")


def rated(story_id, model, worker, *points, story="A long, long time.", prompt="Time."):
    return {
        "Story ID": story_id,
        "Prompt": prompt,
        "Human": 'What a "time",\nit was.',
        "Story": story,
        "Model": model,
        **dict(zip(SIX, points, strict=True)),
        "Worker ID": worker,
        "Assignment ID": "x",
        "Work time in seconds": 60,
        "Name": "Time",
    }


def test_rows_of_raters_become_one_row_per_story(converted, published):
    rows = [
        rated(0, "Human", "A1", 5, 5, 5, 5, 5, 5, story='What a "time",\nit was.'),
        rated(96, "CTRL", "A2", 1, 2, 3, 4, 5, 1),
        rated(96, "CTRL", "A1", 2, 2, 3, 4, 5, 1),
        rated(97, "CTRL", "A3", 2, 2, 3, 4, 5, 1, prompt="Another."),
        rated(0, "Human", "A2", 4, 4, 4, 4, 4, 4, story='What a "time",\nit was.'),
    ]
    done = converted("hanna", published("hanna_stories_annotations.csv.gz", rows))
    human, ctrl, other = done.rows
    assert ctrl == {
        "dataset": "hanna",
        "task": "story",
        "source_id": "1",
        "system_id": "CTRL",
        "source": "Time.",
        "context": None,
        "response": "A long, long time.",
        "references": ['What a "time",\nit was.'],
        "human": {
            "relevance": [1, 2],
            "coherence": [2, 2],
            "empathy": [3, 3],
            "surprise": [4, 4],
            "engagement": [5, 5],
            "complexity": [1, 1],
        },
        "scale": {name.lower(): [1, 5] for name in SIX},
        "raters": ["rater2", "rater1"],
        "story_id": "96",
    }
    assert (human["human"]["relevance"], human["raters"]) == ([5, 4], ["rater1", "rater2"])
    assert human["references"] == []
    assert other["source_id"] == "2"
    assert done.made.changed == {"stories that are the human one themselves: no reference": 1}


def test_rows_that_contradict_each_other_are_told(faults, published):
    rows = [
        rated(96, "CTRL", "A2", 1, 2, 3, 4, 5, 1),
        rated(96, "CTRL", "A1", 1, 2, 3, 4, 5, 9, story="Another story."),
    ]
    path = published("hanna_stories_annotations.csv", rows)
    assert faults("hanna", path) == [
        "hanna_stories_annotations.csv:4 (record 2): Complexity: "
        "expected a number from 1 to 5; got '9'",
        "hanna_stories_annotations.csv:4 (record 2): Story: expected 'A long, long time.', as in "
        "hanna_stories_annotations.csv:2; got 'Another story.'",
    ]


# NewsRoom, as it is published and as JUDGE-BENCH passes it on.

FOUR = ("Informativeness", "Relevance", "Fluency", "Coherence")


def rated_newsroom(system, *points, article=144, summary="Bridge &amp; tunnel ."):
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
        rated_newsroom("lede3", 5, 4, 3, 2),
        rated_newsroom("abstractive", 1, 1, 1, 1),
        rated_newsroom("lede3", 1, 2, 3, 4),
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
    row = rated_newsroom("lede3", 5, 4, 3, 2) | {"ArticleText": html.escape(article)}
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


# OpenMEVA, as it is published and as it is passed on.


def story(*systems, score=(1, 2, 3, 4, 5), **more):
    gen = {one: {"text": f"{one} went on .", "score": list(score)} for one in systems}
    return {"prompt": "once upon a time .", "gold_response": "the end .", "gen": gen, **more}


def test_an_object_of_stories_keeps_the_ratings_one_by_one(converted, published):
    stories = {"125": story("s2s", "gpt"), "7": story("s2s", score=("4", "5", "4", "4", "3"))}
    stories["7"]["gen"]["human"] = {"text": "unrated ."}
    done = converted("openmeva-roc", published("mans_roc.json", stories))
    assert done.rows[0] == {
        "dataset": "openmeva_roc",
        "task": "story",
        "source_id": "roc-125",
        "system_id": "s2s",
        "source": "once upon a time .",
        "context": None,
        "response": "s2s went on .",
        "references": ["the end ."],
        "human": {"overall": [1, 2, 3, 4, 5]},
        "scale": {"overall": [1, 5]},
        "human_detail": "individual",
    }
    assert [row["system_id"] for row in done.rows] == ["s2s", "gpt", "s2s"]
    assert done.rows[2]["human"] == {"overall": [4, 5, 4, 4, 3]}
    assert done.made.left_out == {"stories without ratings": 1}


def test_a_list_with_means_is_read_too(converted, published):
    gen = {"gpt": {"text": "and so on .", "score": {"human": 3.6, "bleu": 0.1}}}
    stories = [{"doc_id": "3", "prompt": "one day .", "reference": "it ended .", "gen": gen}]
    done = converted("openmeva-wp", published("openmeva.json.gz", stories))
    (row,) = done.rows
    assert (row["source_id"], row["references"]) == ("wp-3", ["it ended ."])
    assert (row["human"], row["human_detail"]) == ({"overall": [3.6]}, "mean")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"1": story("a", score=(1, 6))}, "row 1: gen.a.score[1]: expected a number from 1 to 5"),
        ({"1": 5}, "row 1: story: expected an object; got 5"),
        ({"1": {**story("a"), "gen": []}}, "row 1: gen: expected an object; got []"),
        ("[1", "m.json:1: file: expected one JSON document"),
        ("4", "m.json: file: expected an object of stories by id, or a list of them; got 4"),
    ],
)
def test_faults_say_where_openmeva(faults, published, content, told):
    assert told in faults("openmeva-roc", published("m.json", content))[0]


# QAGS, as it is published.


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


# SummEval, as it is published.

CRITERIA = ("coherence", "consistency", "fluency", "relevance")


def annotated(
    system, *, article="dm-1", experts=((5, 5, 4, 3), (4, 5, 5, 2), (1, 1, 1, 1)), **more
):
    """Return a line of the annotations."""
    said = [dict(zip(CRITERIA, points, strict=True)) for points in experts]
    return {
        "id": article,
        "decoded": f"{system} sums up {article} .",
        "expert_annotations": said,
        "turker_annotations": said[:1] * 5,
        "references": ["The first.", "Another one."],
        "model_id": system,
        "filepath": "cnndm/dailymail/stories/1.story",
        **more,
    }


def test_a_line_becomes_a_row_with_each_rater_in_order(converted, published):
    rows = [annotated("M1", text="An article."), annotated("M2", text="An article.")]
    done = converted("summeval", published("model_annotations.aligned.paired.jsonl", rows))
    assert done.rows[0] == {
        "dataset": "summeval",
        "task": "summarization",
        "source_id": "dm-1",
        "system_id": "M1",
        "source": "An article.",
        "context": None,
        "response": "M1 sums up dm-1 .",
        "references": ["The first.", "Another one."],
        "human": {
            "coherence": [5, 4, 1],
            "consistency": [5, 5, 1],
            "fluency": [4, 5, 1],
            "relevance": [3, 2, 1],
        },
        "scale": {key: [1, 5] for key in CRITERIA},
        "human_turker": {
            "coherence": [5] * 5,
            "consistency": [5] * 5,
            "fluency": [4] * 5,
            "relevance": [3] * 5,
        },
        "human_detail": "individual",
    }
    assert done.made.to_dict()["rows"] == 2
    assert (done.made.sources, done.made.systems) == ({"dm-1"}, {"M1", "M2"})
    assert done.made.ratings == dict.fromkeys(CRITERIA, 6)
    assert not done.made.left_out
    assert not done.made.changed


@pytest.mark.parametrize("first", ["annotations", "articles"])
def test_articles_come_from_paired_outputs_in_any_order(converted, published, first):
    rated = published("annotations.jsonl.gz", [annotated("M1"), annotated("M1", article="dm-2")])
    outputs = [{"id": "dm-1", "decoded": "x", "reference": "y", "text": "The article."}]
    paired = published("outputs.aligned.paired.jsonl", outputs)
    files = (rated, paired) if first == "annotations" else (paired, rated)
    done = converted("summeval", *files)
    assert [row["source"] for row in done.rows] == ["The article.", ""]
    ((kind, n),) = done.made.changed.items()
    assert kind.startswith("rows without their article: source is empty")
    assert n == 1


def test_every_fault_is_told_with_line_and_field(faults, published):
    rows = [
        annotated("M1"),
        annotated("M2", experts=((5, 5, 6, "x"),), turker_annotations=None),
        annotated("M1"),
        annotated("M3", decoded=None, references="one"),
        annotated("", expert_annotations=[]),
    ]
    assert faults("summeval", published("a.jsonl", rows)) == [
        "a.jsonl:2: expert_annotations[0].fluency: expected a number from 1 to 5; got 6",
        "a.jsonl:2: expert_annotations[0].relevance: expected a number from 1 to 5; got 'x'",
        "a.jsonl:3: item: expected each item once; got 'dm-1' of 'M1' again, after a.jsonl:1",
        "a.jsonl:4: decoded: expected a text; got nothing",
        "a.jsonl:4: references: expected a list of texts; got 'one'",
        "a.jsonl:5: model_id: expected an id; got ''",
        "a.jsonl:5: expert_annotations: expected at least one rater; got none",
    ]


# Files of every kind become one file of rows, or none.

LINE = (
    '{"article": "It rained.", "summary_sentences": [{"sentence": "Rain.", "responses": '
    '[{"worker_id": 1, "response": "yes"}]}]}\n'
)


def test_faults_of_all_files_are_told_at_once(faults, published):
    paths = [
        published("a.jsonl", LINE + "{\n"),
        published("b.jsonl", LINE.replace("yes", "YES")),
        published("c.jsonl", '{"other": 1}\n'),
    ]
    told = faults("qags-xsum", *paths)
    assert [one.partition(": ")[0] for one in told] == [
        "a.jsonl:2",
        "b.jsonl:1",
        "b.jsonl:1",
        "c.jsonl",
    ]


OTHERS = ("", "{}\n", "[]", "[{}]", '{"a": {"b": 1}}', "a,b\n1,2\n", "\x00", "[[[[", "null")


@pytest.mark.parametrize("name", CONVERSIONS)
def test_no_conversion_falls_over_a_file_of_another_form(faults, published, name):
    for content in OTHERS:
        for ending in ("jsonl", "json", "csv", "tsv"):
            assert faults(name, published(f"a.{ending}", content))


def test_nothing_is_written_where_nothing_is_of_the_set(tmp_path, published):
    header = "dataset,system,mr,sys_ref,informativeness,naturalness,quality\n"
    path = published("medians.csv", header + "BAGEL,LOLS,x,y,1,1,1\n" * 2)
    with pytest.raises(
        ValueError, match=r"\(rows of another data set \(BAGEL\): 2\); name another"
    ):
        convert(conversion_named("sfres"), [path], tmp_path / "out.jsonl")
    assert [one.name for one in tmp_path.iterdir()] == ["medians.csv"]


def test_a_text_that_is_no_unicode_is_told(faults, published):
    path = published("a.jsonl", LINE.replace("Rain.", "Rain\\ud800"))
    assert faults("qags-xsum", path) == [
        "a.jsonl:1: summary_sentences[0].sentence: expected Unicode text; got half a surrogate "
        "pair at position 5"
    ]


# References without ratings, which the DHP paper damages.

BACKGROUND = "Cells   divide. They\ngrow."


def test_an_abstracts_background_is_the_reference_of_its_article(converted, published):
    abstract = f"BACKGROUND\n{BACKGROUND}\nRESULTS\nThey grew.\nCONCLUSIONS\nNone."
    texts = {"text_7.txt": "Cells.", "abst_7.txt": abstract, "text_8.txt": "Mice."}
    done = converted("sumpubmed", *(published(name, text) for name, text in texts.items()))
    (row,) = done.rows
    assert (row["source"], row["response"]) == ("Cells.", "Cells divide. They grow.")
    assert (row["source_id"], row["human"], row["task"]) == ("7", {}, "summarization")
    assert done.made.left_out == {"articles and abstracts without the other": 1}
    with pytest.raises(DataError, match=r"text_N\.txt or abst_N\.txt"):
        convert("sumpubmed", [published("article.txt", "Cells.")], done.path)


def test_a_story_has_its_right_ending_and_keeps_the_wrong_one(converted, published):
    story = {f"InputSentence{n}": f"Ann did {n}." for n in range(1, 5)}
    endings = {f"RandomFifthSentenceQuiz{n}": f"End {n}." for n in (1, 2)}
    rows = [
        {"InputStoryid": f"s{right}", **story, **endings, "AnswerRightEnding": right}
        for right in (1, 2)
    ]
    done = converted("story-cloze", published("cloze_test_ALL_val.csv", rows))
    assert [(row["response"], row["wrong_ending"]) for row in done.rows] == [
        ("End 1.", "End 2."),
        ("End 2.", "End 1."),
    ]
    assert done.rows[0]["source"] == "Ann did 1. Ann did 2. Ann did 3. Ann did 4."
    assert read_items(done.path)[0].extra["wrong_ending"] == "End 2."


def test_long_references_of_answers_and_translations_are_taken_once(converted, published):
    long = "x" * 151
    said = {"question": "Why?", "context": "So.", "candidate": "y", "score": 1}
    rows = [{**said, "reference": one} for one in (long, long, "short")]
    done = converted("answer-equivalence", published("ae_dev.jsonl", rows))
    (row,) = done.rows
    assert (row["source"], row["context"], row["response"]) == ("Why?", "So.", long)
    assert sum(done.made.left_out.values()) == 2
    source = published("generaltest2022.de-en.src.de", "Ja.\nNein.\n")
    reference = published("generaltest2022.de-en.ref.B.en", f"Yes.\n{'no ' * 101}\n")
    done = converted("wmt22", source, reference)
    assert [(row["source_id"], row["source"]) for row in done.rows] == [("2", "Nein.")]
    uneven = published("generaltest2022.zh-en.ref.A.en", "Yes.\n")
    with pytest.raises(DataError, match=r"1, and generaltest2022\.de-en\.src\.de has 2"):
        convert("wmt22", [source, uneven], done.path)
