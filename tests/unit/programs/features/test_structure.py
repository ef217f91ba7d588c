import pytest

from judgesmith.programs.features import lexical_features
from judgesmith.programs.features.texts import Text, is_data, slot_features, slots_of

ARTICLE = "The council met on Monday to talk about the new bridge over the river. " * 12


def test_slots_of_meaning_representations():
    assert slots_of("inform(name='red door';kids_allowed=no)") == [
        ("name", "red door"),
        ("kids_allowed", "no"),
    ]
    assert slots_of("name[The Eagle], food[French]") == [("name", "The Eagle"), ("food", "French")]
    assert is_data("goodbye()")
    assert not is_data("He left (see a=b).")


def test_missing_values_are_named_and_empty_values_ask_for_their_slot():
    features, missing = slot_features(
        "inform(name='red door';food=thai;kids_allowed=yes)", Text("Red door welcomes kids.")
    )
    assert missing == ("thai",)
    assert features["slots_covered"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("form", "source", "context", "response"),
    [
        ("data", "Ada | bornIn | London", None, "Ada was born in London."),
        ("summary", ARTICLE, None, "The council talked about the bridge."),
        ("collection", "Review 1: good\nReview 2: bad\nReview 3: fine", None, "It is fine."),
        ("dialogue", "hi , how are you ?\nfine , and you ?", None, "I am well."),
        ("dialogue", "A: hello there\nB: good day", None, "Nice weather."),
        ("rewriting", "The physician gave her a remedy.", None, "The physician gave a cure."),
        ("continuation", "Ann lost a hat.", None, "She looked for it. A dog had it. She cried."),
        ("translation", "今天天气很好，我们去公园。", None, "The weather is fine, let us go."),
        ("other", "What is the capital of France?", None, "Paris."),
    ],
)
def test_the_form_is_seen_from_the_texts_alone(form, source, context, response):
    assert lexical_features(source, context, response).form == form
