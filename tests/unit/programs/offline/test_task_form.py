import pytest

from judgesmith.programs.offline.inferring import limits_between, limits_of

ENGLISH = "The council approved the plan on Monday. It said that the work will cost two million."
SPANISH = "El puente fue cerrado por las obras y los vecinos no están contentos con su alcalde."
GERMAN = (
    "Der Stadtrat hat den Plan genehmigt. Die Arbeiten werden zwei Millionen kosten und dauern."
)
CHINESE = "市议会星期一批准了这项计划。工程将耗资一千二百万欧元，历时两年。"
JAPANESE = "市議会は月曜日に計画を承認した。工事費は千二百万ユーロで、二年かかる見込みだ。"
ARABIC = "وافق المجلس على الخطة يوم الاثنين. ستكلف الأعمال اثني عشر مليونا وتستمر عامين."
HINDI = "परिषद ने सोमवार को योजना को मंजूरी दी। काम में बारह मिलियन यूरो खर्च होंगे और दो साल लगेंगे।"
RUSSIAN = "Совет одобрил план в понедельник. Работы будут стоить двенадцать миллионов."
GREEK = "Το συμβούλιο ενέκρινε το σχέδιο τη Δευτέρα. Τα έργα θα κοστίσουν δώδεκα εκατομμύρια."
POLISH = "Rada zatwierdziła plan w poniedziałek. Prace potrwają dwa lata, jak mówi burmistrz."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SPANISH, "the texts look Spanish: words are counted"),
        (GERMAN, "the texts look German: words are counted"),
        (CHINESE, "the texts are written without spaces: characters are read in place of words"),
        (JAPANESE, "the texts are written without spaces: characters are read in place of words"),
        (ARABIC, "the texts are in a script without capitals: names and syllables are not seen"),
        (HINDI, "the texts are in a script without capitals: names and syllables are not seen"),
        (RUSSIAN, "the texts are in Cyrillic letters: words are counted"),
        (GREEK, "the texts are in Greek letters: words are counted"),
    ],
)
@pytest.mark.parametrize("n", [1, 7])
def test_languages_and_scripts_other_than_english_are_noticed(text, said, n):
    (limit,) = limits_of([text] * n)
    assert limit.startswith(said)
    assert "grammar" in limit


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        [ENGLISH],
        [ENGLISH] * 9,
        ["yes", "no", "maybe"],
        ["name[The Eagle], food[French]"],
        ["1 2 3", "…"],
        ["Ann Bob Carl Dora"] * 3,
        [f"{ENGLISH} Señor Peña said: «Está muy bien.»"] * 5,
    ],
)
def test_nothing_is_said_of_english_and_of_what_is_no_language(texts):
    assert limits_of(texts) == []


def test_of_a_mixed_set_it_says_how_many():
    limits = limits_of([CHINESE] * 3 + [SPANISH] * 2 + [ARABIC] + [ENGLISH] * 4)
    assert [limit.partition(":")[0] for limit in limits] == [
        "3 of 10 texts are written without spaces",
        "1 of 10 texts is in a script without capitals",
        "2 of 10 texts look Spanish",
    ]
    assert limits_of([RUSSIAN] * 4 + [ENGLISH] * 6)[0].startswith("4 of 10 texts are in Cyrillic")
    french = "Le conseil est dans la ville avec les habitants qui sont pas contents du plan."
    (mixed,) = limits_of([SPANISH] * 3 + [GERMAN] * 2 + [french])
    assert mixed.startswith("the texts look Spanish or German or French: ")


def test_one_odd_text_in_many_says_nothing_of_a_language():
    assert limits_of([SPANISH] + [ENGLISH] * 30) == []


def test_a_language_that_it_has_no_words_of_is_not_taken_for_english():
    assert limits_of([POLISH]) == []  # too few words to tell
    (limit,) = limits_of([POLISH] * 20)
    assert limit.startswith("the texts do not look like English sentences: ")


def test_hostile_texts_are_read_and_never_repeated():
    hostile = ["\ud800\x1b[2J" * 999, "\x00", "é" * 100_000, "\u202e" * 99, "\x1b[31mя" * 99]
    for limit in [*limits_of(hostile), *limits_between(hostile, [CHINESE])]:
        assert limit.isprintable()
    assert limits_between(hostile, hostile) == []


class TestBetweenSourcesAndResponses:
    def test_other_scripts_share_no_words(self):
        (limit,) = limits_between([CHINESE] * 3, [ENGLISH] * 3)
        assert "share no words" in limit
        assert limits_between([ENGLISH], [RUSSIAN]) == limits_between([CHINESE], [ARABIC])
        assert "share no words" in limits_between([ENGLISH], [RUSSIAN])[0]

    def test_other_languages_share_few(self):
        (limit,) = limits_between([ENGLISH] * 3, [GERMAN] * 3)
        assert limit.startswith("the sources look English and the responses German, so that they")

    @pytest.mark.parametrize(
        ("sources", "responses"),
        [
            ([ENGLISH], [ENGLISH]),
            ([SPANISH], [SPANISH]),
            ([CHINESE], [JAPANESE]),
            ([""], [SPANISH]),
            ([], []),
            (["name[The Eagle]"], [ENGLISH]),
            ([CHINESE], ["12"]),
        ],
    )
    def test_nothing_is_said_where_they_are_alike_or_that_cannot_be_told(self, sources, responses):
        assert limits_between(sources, responses) == []
