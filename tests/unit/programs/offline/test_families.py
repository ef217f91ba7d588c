import pytest

from judgesmith.programs.features import FEATURE_NAMES
from judgesmith.programs.features.qualities import FACETS, FAMILIES, GENERAL, quality_of
from judgesmith.programs.offline.prior import CLUES, KINDS, OVERALL


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Factual Consistency", "faithfulness"),
        ("groundedness", "faithfulness"),
        ("coherence", "coherence"),
        ("text_structure", "coherence"),
        ("naturalness", "fluency"),
        ("Grammar and spelling", "fluency"),
        ("understandability", "clarity"),
        ("engagingness", "specificity"),
        ("data_coverage", "relevance"),
        ("informativeness", "relevance"),
        ("simplicity", "simplicity"),
        ("adequacy", "meaning"),
        ("Prägnanz und Kürze", "conciseness"),
        ("Verständlichkeit", "clarity"),
        ("flüssige Sprache", "fluency"),
        ("overall", "general"),
        ("品質", "general"),
    ],
)
def test_names_lead_to_families(name, family):
    assert quality_of(name, "").name == family


def test_the_name_counts_for_more_than_the_definition():
    definition = "Is it grammatical, natural, fluent, in a good style of language?"
    assert quality_of("coherence", definition).name == "coherence"
    assert quality_of("quality 1", definition).name == "fluency"


def test_weights_are_shares_of_known_facets_and_every_number_has_a_reason():
    for family in (*FAMILIES, GENERAL):
        assert set(family.weights) <= set(FACETS)
        assert sum(family.weights.values()) == pytest.approx(1.0)
        assert family.why
    for kind, facets in CLUES.items():
        assert set(facets) == set(FACETS)
        assert set(OVERALL[kind]) <= set(FACETS)
        for clue in (one for clues in facets.values() for one in clues):
            assert clue.feature in FEATURE_NAMES
            assert clue.spread > 0
            assert abs(clue.weight) in (0.25, 0.5, 1.0)
            assert clue.why
    assert set(KINDS.values()) == set(CLUES)
