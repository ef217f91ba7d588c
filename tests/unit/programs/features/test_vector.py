import gzip
import json

import numpy as np
import pytest

from judgesmith.programs.features import FEATURE_INDEX, FEATURE_NAMES, lexical_features
from judgesmith.programs.features import vector as vector_module

ODD = [
    "",
    " \n\t ",
    "\ud800",
    "\udcff lone \ud83d surrogates",
    "!?!?…",
    "x" * 10_000,
    "a b " * 5_000,
    "👩‍👩‍👧 ﷽ ‮ reversed",
    "नमस्ते दुनिया",
    "مرحبا بالعالم",
    "你好，世界。",
    "a\x00b",
    "|||\n|a|",
    "inform(",
    "f()",
]


@pytest.mark.no_cover
@pytest.mark.parametrize("response", ODD)
@pytest.mark.parametrize("source", [*ODD[:6], "A plain source, with Ann and 12 words in it."])
def test_odd_texts_give_finite_numbers(source, response):
    for context in (None, "", response):
        values = lexical_features(source, context, response).values
        assert values.shape == (len(FEATURE_NAMES),)
        assert np.isfinite(values).all()


def test_names_are_unique_and_index_the_vector():
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)
    found = lexical_features("one two", None, "one two three")
    assert found["words"] == found.values[FEATURE_INDEX["words"]] == np.log1p(3)


def test_the_vector_is_read_only_and_the_same_from_a_cold_cache():
    texts = ("Ann met Bob in Rome.", "Bob is 40.", "Bob, 40, met Ann.")
    warm = lexical_features(*texts)
    with pytest.raises(ValueError, match="read-only"):
        warm.values[0] = 1
    vector_module._vectors.clear()
    cold = lexical_features(*texts)
    assert cold is not warm
    assert (cold.values == warm.values).all()


@pytest.mark.parametrize("blank", ["", "\n "])
def test_a_blank_context_is_none(blank):
    absent = lexical_features("Short source here", None, "An answer")
    assert lexical_features("Short source here", blank, "An answer") is absent
    assert not absent.with_context
    assert lexical_features("Short source here", "More.", "An answer").form == "dialogue"


def test_a_script_outside_the_features_is_noted():
    assert "characters" in lexical_features("天气很好", None, "今天天气很好").script
    assert lexical_features("a b c", None, "plain words").script == ""


def test_what_is_kept_stays_bounded(monkeypatch):
    monkeypatch.setattr(vector_module, "_CACHE_VECTORS", 10)
    for number in range(35):
        lexical_features("source", None, f"response {number}")
    assert len(vector_module._vectors) <= 10


def test_unsupported_names_are_quoted_as_written_and_no_more_than_eight():
    response = "Then " + " ".join(f"Name{chr(65 + n)}x and" for n in range(12)) + " left."
    found = lexical_features("nobody came", None, response)
    assert found.unsupported[0] == "NameAx"
    assert len(found.unsupported) == 8
    assert found["unknown_names"] == np.log1p(12)


def test_real_summaries_differ_by_features(data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(160), strict=False)]
    vectors = np.array(
        [lexical_features(r["source"], r["context"], r["response"]).values for r in rows]
    )
    assert np.isfinite(vectors).all()
    varying = {name for name, column in zip(FEATURE_NAMES, vectors.T, strict=True) if column.std()}
    assert {"new_bigrams", "density", "salient_recall", "unknown_names", "ease"} <= varying
