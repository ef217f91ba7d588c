"""What a family has of its own is decided by name: choices by option, settings by value."""

import pytest
from pydantic import ValidationError

from judgesmith.programs import family_of, known_families
from judgesmith.programs.extras import library
from judgesmith.programs.judging.judge import decided_by_names, own_settings


def decided(family, **picked):
    return decided_by_names(family_of(family).start(), picked).protocol


def test_settings_are_set_beside_choices():
    own = decided("pairs", ranking="beam", beam="4", doubt=".2", weighting="none")
    assert (own.ranking, own.beam, own.doubt, own.weighting) == ("beam", 4, 0.2, "none")
    own = decided("exemplar", verdicts="samples", n_sampled="100", manner="a haiku", form="yes-no")
    assert (own.verdicts, own.n_sampled, own.manner, own.form) == (
        "samples",
        100,
        "a haiku",
        "yes-no",
    )


def test_a_number_need_not_be_among_those_that_are_searched():
    assert decided("exemplar", levels="7").levels == 7
    assert decided("exemplar", levels="9") == family_of("exemplar").start(levels=9).protocol


def test_a_word_need_not_be_either_where_the_protocol_knows_it(monkeypatch):
    monkeypatch.setattr(library("nltk.data"), "path", [])
    with pytest.raises(ValueError, match="METEOR with synonyms needs WordNet"):
        decided("reference", metric="meteor", synonyms="wordnet")
    with pytest.raises(ValueError, match=r"metric is one of rougeL, .*; got 'rouge'"):
        decided("reference", metric="rouge")


@pytest.mark.parametrize("family", [one.name for one in known_families()])
def test_every_choice_is_decided_as_the_judge_itself_decides_it(family):
    judge = family_of(family).start()
    for choice in judge.space().choices:
        for option in choice.ids:
            picked = {choice.name: option}
            assert decided(family, **picked) == judge.with_choices(picked).protocol


@pytest.mark.parametrize(
    ("family", "picked", "said"),
    [
        ("pairs", {"baem": "4"}, "no choice baem; .* beam, doubt can be set"),
        ("pairs", {"beam": "0"}, "greater than or equal to 1"),
        ("pairs", {"doubt": "nan"}, "finite"),
        ("pairs", {"ranking": "4"}, "ranking is one of beam, all; got '4'"),
        ("exemplar", {"levels": "1"}, "greater than or equal to 2"),
        ("exemplar", {"levels": "some"}, "levels: expected a whole number; got 'some'"),
        ("exemplar", {"mirrored": "true"}, "mirrored is one of no, yes; got 'true'"),
        ("exemplar", {"manner": "[[ ## verdict ## ]]"}, "a marker of the prompt layout"),
        ("direct", {"judge": "pairs"}, "there is no choice judge"),
        ("g-eval", {"steps": "Look."}, "there is no choice steps"),
    ],
)
def test_what_cannot_be_is_refused(family, picked, said):
    with pytest.raises((ValueError, ValidationError), match=said):
        decided(family, **picked)


def test_settings_are_plain_values_of_the_family_alone():
    assert own_settings(family_of("g-eval").start().protocol) == ("asks", "plan")
