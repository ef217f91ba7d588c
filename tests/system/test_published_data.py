"""Recorded judges and public sets of ratings: the numbers that others can check."""

import gzip
import json

import pytest


@pytest.fixture
def first(story, data_folder):
    """Write the rows about the first sources of a rated set, and recorded rows about them."""

    def write(name, n, recorded=None, *, holds=""):
        with gzip.open(data_folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        kept = list(dict.fromkeys(row["source_id"] for row in rows))[:n]
        story.rows(f"{name}.jsonl", [row for row in rows if row["source_id"] in kept])
        if recorded:
            path = data_folder / "recorded" / f"{recorded}.jsonl.gz"
            with gzip.open(path, "rt", encoding="utf-8") as file:
                said = [json.loads(line) for line in file if holds in line]
            story.rows(f"{recorded}.jsonl", [row for row in said if row["source_id"] in kept])
        return f"{name}.jsonl"

    return write


SETS = {
    "summeval": 10,
    "topical_chat": 20,
    "newsroom": 10,
    "opinsummeval": 8,
    "openmeva_roc": 20,
    "sfres": 30,
    "wiki_da": 20,
    "qags_cnndm": 30,
    "mqm_ted_ende": 20,
    "webnlg2020_en": 15,
}


@pytest.mark.parametrize("name", SETS)
def test_check_a_set(story, first, name):
    story.run("check", first(name, SETS[name]), "--json")


def test_evaluate_a_recorded_judge(story, first):
    data = first("summeval", 10, "summeval_likert_llms", holds="coherence")
    judges = [
        f"summeval_likert_llms.jsonl:{name} rts" for name in ("gpt-4-0314", "gpt-3.5-turbo-0301")
    ]
    story.run("evaluate", judges[0], data, "--target", "coherence", "--json", whole=True)
    story.run("evaluate", judges[0], data, "--target", "coherence")
    story.run("compare", *judges, data, "--target", "coherence", "--json", whole=True)
    story.run("compare", *judges, data, "--target", "coherence", "--criterion", "coherence")
    story.run(
        *("evaluate", judges[0], data, "--target", "coherence", "--perspective", "global"),
        *("--aggregate", "unanimous", "--answers", "1..5", "--json"),
    )


def test_evaluate_recorded_comparisons(story, first):
    data = first("summeval", 20, "summeval_h2h_chatgpt", holds="coherence")
    story.run("evaluate", "summeval_h2h_chatgpt.jsonl", data, "--target", "coherence", "--json")
    story.run(
        *("evaluate", "summeval_h2h_chatgpt.jsonl", data, "--target", "coherence"),
        *("--aggregate", "mode"),
    )


def test_evaluate_recorded_samples(story, first):
    data = first("topical_chat", 20, "topical_chat_chatgpt_20samples", holds="analyze_rate")
    judge = "topical_chat_chatgpt_20samples.jsonl:gpt-3.5-turbo analyze_rate"
    for perspective in ("global", "local"):
        story.run(
            *("evaluate", judge, data, "--perspective", perspective),
            *("--answers", "1..5", "--json"),
        )
    story.run("evaluate", judge, data, "--target", "coherence", "--json")


def test_discern_by_recorded_metrics(story, first):
    data = first("bump", 60, "bump_metrics", holds="FactCC")
    judge = "bump_metrics.jsonl:metric:FactCC"
    story.run("discern", judge, data, "--json", whole=True)
    story.run("discern", judge, data)


def test_errors_held_against_known_ones(story, first, judge):
    data = first("mqm_ted_ende", 8)
    story.run("score", judge("annotator"), data, "-o", "marked.jsonl", "--json")
    story.run("errors", "marked.jsonl", data, "--gold", "errors", "--json")
    story.run(
        "errors", "marked.jsonl", data, "--all", "--start", "2", "--overlap", ".3", "--rows", "2"
    )


def test_compile_on_a_public_set(story, first):
    data = first("topical_chat", 20)
    options = ["--target", "engagingness", "--criteria", "general", "--rounds", "1"]
    story.run("compile", data, "-o", "judge", *options, "--json")
    story.run("evaluate", "judge", data, "--target", "engagingness", "--json")
