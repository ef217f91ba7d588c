from judgesmith.programs.features.texts import (
    CASELESS_NOTE,
    CHARACTER_NOTE,
    Text,
    TextCache,
    stem_of,
)


def test_tokenised_and_plain_text_give_the_same_words():
    assert (
        Text("Townsend's 1,000 fans didn't go.").words
        == Text("Townsend 's 1000 fans didn 't go .").words
    )


def test_sentences_end_at_marks_and_lines_but_not_after_initials_or_in_numbers():
    text = Text("J. Smith paid 3.50 today. He left!\nThen more")
    assert [text.words[start] for start, _ in text.sentences] == ["j", "he", "then"]


def test_a_mark_inside_a_word_ends_nothing():
    assert len(Text("see example.org/a.b now").sentences) == 1


def test_scripts_without_spaces_are_read_by_character():
    text = Text("今天天气很好。明天呢？")
    assert text.words == list("今天天气很好明天呢")
    assert len(text.sentences) == 2
    assert text.script == CHARACTER_NOTE


def test_scripts_without_capitals_are_noted_and_marks_stay_in_their_word():
    assert Text("ذهب الولد إلى المدرسة").script == CASELESS_NOTE
    assert Text("हिन्दी भाषा").words == ["हिन्दी", "भाषा"]
    assert Text("Das ist schön.").script == ""
    assert Text("Это хорошо.").script == ""


def test_stems_keep_content_only():
    assert [stem_of(word) for word in ("cat", "running", "12", "猫")] == ["", "runnin", "12", "猫"]


def test_parts_are_counted_in_numbered_collections_only():
    reviews = "Review 1: great pizza\nReview 2: pizza again\nReview 3: rude staff"
    assert Text(reviews).part_counts["pizza"] == 2
    assert not Text("great pizza\npizza again\nrude staff").part_counts


def test_the_cache_gives_the_same_object_and_stays_within_its_bound():
    cache = TextCache(1000)
    first = cache.read("a text")
    assert cache.read("a text") is first
    for number in range(50):
        cache.read(f"text {number} " + "x" * 90)
    assert sum(len(text) for text in cache._texts) <= 1000
    assert cache.read("a text") is not first
    cache.read("y" * 5000)
    assert "y" * 5000 not in cache._texts
