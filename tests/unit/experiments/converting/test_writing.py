"""Files of every kind become one file of rows, or none."""

import pytest

from judgesmith.data.convert import CONVERSIONS, conversion_named, convert
from judgesmith.data.convert.records import PublishedFiles

LINE = (
    '{"article": "It rained.", "summary_sentences": [{"sentence": "Rain.", "responses": '
    '[{"worker_id": 1, "response": "yes"}]}]}\n'
)


def test_several_files_become_one_and_ids_go_on(converted, published):
    done = converted("qags-xsum", published("a.jsonl", LINE), published("b.jsonl.gz", LINE))
    assert [row["source_id"] for row in done.rows] == ["0", "1"]


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


def test_there_must_be_files_and_not_standard_input():
    with pytest.raises(ValueError, match="nothing to convert"):
        PublishedFiles([])
    with pytest.raises(ValueError, match="not -"):
        PublishedFiles(["-"])
