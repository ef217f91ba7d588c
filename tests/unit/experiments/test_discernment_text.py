import numpy as np
from discerning import ENTITIES, PADDING, TYPOS, planted, scored, texts

from judgesmith.experiments.robustness.discerning import discern
from judgesmith.experiments.robustness.discernment_folder import (
    conclusions,
    kind_header,
    kind_rows,
    matrix_rows,
)
from judgesmith.experiments.robustness.version_weights import VersionWeights


def found_in(scores, given, **more):
    return discern(scores, given, rng=np.random.default_rng(0), n_resamples=50, **more)


def test_kinds_stand_under_their_levels_and_say_whether_they_were_noticed():
    given = texts(40, TYPOS, ENTITIES, PADDING)
    found = found_in(planted(given, {TYPOS.name: 9, ENTITIES.name: 0, PADDING.name: 9}), given)
    rows = kind_rows(found.kinds, experts=False)
    assert [row[0] for row in rows] == [
        "characters",
        TYPOS.name,
        PADDING.name,
        "words",
        ENTITIES.name,
    ]
    verdicts = {row[0]: row[1] for row in rows if len(row) > 1}
    assert verdicts[TYPOS.name] == "noticed"
    assert verdicts[ENTITIES.name] == "not noticed"
    assert verdicts[PADDING.name] == "false alarm"
    assert all(len(row) in (1, len(kind_header(experts=False))) for row in rows)


def test_the_matrix_has_a_score_and_a_share_by_metric():
    given = texts(5, TYPOS)
    originals = np.full((5, 2), 5.0)
    losses = np.array([0.2, 0.6, 0.4, 0.5, 0.3])
    versions = [originals - np.column_stack([losses, np.full(5, np.nan)])]
    found = found_in(scored(originals, versions, ("a", "b")), given)
    assert matrix_rows(found) == [
        ["all damage", "100%", "undefined"],
        [TYPOS.name, "1.16 100%", "undefined"],
    ]


def test_conclusions_name_what_was_not_noticed_preferred_and_punished():
    given = texts(40, TYPOS, ENTITIES, PADDING)
    losses = {TYPOS.name: -9, ENTITIES.name: 0, PADDING.name: 9}
    said = conclusions(found_in(planted(given, losses), given))
    assert said == [
        "the judge prefers damage: character_typos/minor scores higher than the originals.",
        "not noticed (D below 1 on these 40 originals): fictional_entities/minor.",
        "false alarms: padding lowers scores, and harms no text.",
    ]


def test_conclusions_count_what_is_missing_and_say_where_weights_are_from():
    short = {TYPOS.name: {"too short": 1}}
    given = texts(10, TYPOS, without={(TYPOS.name, 0)}, skipped=short)
    rows = [None, *[[50.0]] * 8, [np.nan]]
    found = found_in(
        scored(np.full((10, 1), 60.0), [rows]),
        given,
        weights=VersionWeights(by_name={TYPOS.name: {"fluency": 1.0}}, said="from votes.yaml"),
    )
    assert conclusions(found) == [
        "1 of 9 pairs lack a score on a metric, and count nowhere.",
        "originals without a version: character_typos/minor 1.",
        "expert weights: from votes.yaml.",
    ]
