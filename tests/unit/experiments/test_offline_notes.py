import pytest

from judgesmith.data.reading import read_items
from judgesmith.experiments.compile.inferring import offline_notes
from judgesmith.signatures import RatedItem

ENGLISH = "The council approved the plan on Monday. It said that the work will cost two million."
SPANISH = "El puente fue cerrado por las obras y los vecinos no están contentos con su alcalde."
CHINESE = "市议会星期一批准了这项计划。工程将耗资一千二百万欧元，历时两年。"


def items(*texts):
    return [RatedItem(source=source, response=response) for source, response in texts]


def test_of_english_texts_only_task_inference_needs_a_word():
    english = items((ENGLISH, ENGLISH))
    assert offline_notes(english, "offline", inferred=False) == []
    (note,) = offline_notes(english, "offline", inferred=True)
    assert "in English" in note
    assert offline_notes([], "offline", inferred=False) == []


@pytest.mark.parametrize("inferred", [False, True])
def test_of_other_models_nothing_is_said(inferred):
    assert offline_notes(items((CHINESE, CHINESE)), "openai/gpt", inferred=inferred) == []


def test_a_judge_of_other_texts_says_what_it_judges_by_and_what_not():
    limit, judges = offline_notes(items((SPANISH, SPANISH)), "offline", inferred=False)
    assert limit.startswith("the texts look Spanish")
    assert "shared words, repetition, length and punctuation" in judges
    assert "not by grammar or meaning" in judges


def test_translations_share_no_words_with_their_sources():
    notes = offline_notes(items((CHINESE, ENGLISH)), "offline", inferred=False)
    assert "sources and responses are in different scripts" in notes[0]
    assert len(notes) == 2


def test_texts_from_all_over_are_looked_at():
    several = items(*[(ENGLISH, ENGLISH)] * 600, *[(SPANISH, SPANISH)] * 600)
    notes = offline_notes(several, "offline", inferred=False)
    assert notes[0].startswith("100 of 200 texts look Spanish")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("summeval", []),
        ("topical_chat", []),
        ("sfres", []),
        ("openmeva_roc", []),
        ("mqm_ted_ende", ["the texts look German", "the sources look English and the responses"]),
        ("mqm_ted_zhen", ["sources and responses are in different scripts"]),
    ],
)
def test_real_sets_are_told_apart(data_folder, name, said):
    data = read_items(data_folder / f"{name}.jsonl.gz")
    notes = offline_notes(data.items, "offline", inferred=False)
    assert len(notes) == len(said) + bool(said)
    assert all(note.startswith(start) for note, start in zip(notes, said, strict=False))
