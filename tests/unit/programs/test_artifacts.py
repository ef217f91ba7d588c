"""Saved judges: what is written, what is read back, and what is refused."""

import json
import math
import os

import numpy as np
import pytest
from looping import for_each
from pydantic import ValidationError

from judgesmith.programs import (
    ActiveCritic,
    DirectJudge,
    SavedCalibrated,
    SavedJudge,
    SavedJudgeError,
    SavedPanel,
    load_judge,
    load_saved,
    score_batch,
)
from judgesmith.programs.artifacts import record as saved_module
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.artifacts.differences import difference
from judgesmith.programs.artifacts.record import SavedAgreement
from judgesmith.programs.artifacts.saved import GoldenItem, check_questions, content_hash
from judgesmith.programs.artifacts.test_rows import JudgedRow, read_rows
from judgesmith.programs.families.ensemble.members import CalibratedJudgement, PanelJudgement
from judgesmith.programs.judging.prompts import Slot, Turn
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import Aggregation, Judgement, RatedItem, Scale
from judgesmith.signatures.aggregation import Calibration, PanelWeights
from judgesmith.signatures.plain_data import record_faults

# A saved judge is plain data that is all there, unchanged, and the same judge as before.


@pytest.fixture
def make_saved(judge_of):
    """Make saved judges; parts may be given."""

    def make(judge=None, **parts):
        judge = judge or judge_of(shown="Ann left.")
        given = {
            "protocol": judge.protocol,
            "questions": judge.templates(),
            "model": "openai/m",
            "target": "overall",
            "human_scale": Scale(low=1, high=5),
            "agreement": {
                "heldout": {"dataset": {"q": {"value": 1.25, "low": 1.0, "high": 1.5}}},
                "gain": None,
            },
            "rows": {"train": 3, "select": 2},
            "seen": {"train": ("ab", "cd"), "select": ("ef",)},
            "golden": (
                GoldenItem(
                    source="s", response="r", judgement=Judgement(score=70, calls=("00",), raw=70)
                ),
            ),
            "history": ({"stage": "search", "keys": ("ab", "cd"), "value": 0.5},),
            "settings": {"seed": 0, "nested": {"parts": (1, 2.5, None, True)}},
        }
        return SavedJudge(**{**given, **parts})

    return make


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class TestRoundTrip:
    def test_what_is_loaded_equals_what_was_saved(self, make_saved, tmp_path):
        judge = make_saved()
        folder = judge.save(tmp_path / "deep" / "judge")
        again = SavedJudge.load(folder)
        assert again == judge
        assert again.fingerprint == judge.fingerprint
        assert again.seen_keys == {"ab", "cd", "ef"}
        assert SavedJudge.load(folder / "judge.json") == judge

    def test_golden_items_keep_their_references_and_write_none_where_there_are_none(
        self, make_saved
    ):
        item = RatedItem(source="s", response="r", references=("t",))
        golden = GoldenItem.of(item, Judgement(score=70))
        assert golden.item == item
        (again,) = SavedJudge.model_validate(make_saved(golden=(golden,)).model_dump()).golden
        assert again == golden
        assert "references" not in make_saved().golden[0].model_dump()

    def test_it_gives_the_same_judgements_as_the_program(
        self, make_saved, judge_of, item, tmp_path
    ):
        learned = Aggregation(
            kind="linear",
            terms=("overall", "criterion:fluency", "lexical:unknown_names"),
            centers=(50, 50, 0.1),
            spreads=(20, 1 / 3, 0.7),
            weights=(math.pi, -0.1, 1e-17),
            intercept=2.9999999999999996,
            scale="1..5",
        )
        judge = judge_of(shown="a", samples=2, aggregation=learned)
        saved = SavedJudge.load(make_saved(judge, model="offline").save(tmp_path / "judge"))
        lm = model("offline", ledger=None)
        (expected,) = score_batch(judge, [item], lm=lm)
        assert score_batch(saved, [item], lm=lm) == [expected]
        assert score_batch(load_judge(tmp_path / "judge"), [item], lm=lm) == [expected]
        verdict = saved.program()(source=item.source, context=item.context, response=item.response)
        assert (verdict.score, tuple(verdict.calls)) == (expected.score, tuple(expected.calls))

    @pytest.mark.no_cover
    @pytest.mark.parametrize(
        ("task", "explain", "choices"),
        [
            ("", "before", {"variant": "vanilla"}),
            ("Judge it.", "after", {"variant": "coarse"}),
            ("", "none", {}),
            ("Judge it.", "before", {"overall": "mean"}),
            ("", "after", {"criteria_calls": "separate"}),
            ("Judge it.", "none", {"criteria_calls": "separate", "overall": "mean", "samples": 2}),
        ],
    )
    def test_every_variant_judges_as_before_it_was_saved(
        self, choices, task, explain, make_saved, judge_of, rubric, everything, tmp_path
    ):
        rubric = rubric.model_copy(update={"task": task})
        judge = judge_of(shown=everything, explain=explain, rubric=rubric, **choices)
        judge = judge.with_protocol(judge.protocol)
        saved = make_saved(judge, model="offline")
        folder = saved.save(tmp_path / "judge")
        again = SavedJudge.load(folder)
        assert (again, again.fingerprint) == (saved, saved.fingerprint)
        loaded = load_judge(folder)
        assert loaded.protocol == judge.protocol
        assert dict(again.templates()) == loaded.templates() == judge.templates()
        prompts = {path.stem for path in (folder / "prompts").iterdir()}
        assert prompts == set(judge.templates())
        lm = model("offline", ledger=None)
        items = [
            RatedItem(source="Ann left Rome on Monday.", response=text)
            for text in ("Ann left Rome.", everything)
        ]
        expected = score_batch(judge, items, lm=lm)
        assert [one.problem for one in expected] == [None, None]
        assert score_batch(again, items, lm=lm) == expected
        assert score_batch(loaded, items, lm=lm) == expected

    def test_the_same_judge_is_the_same_bytes(self, make_saved, tmp_path):
        one, other = make_saved().save(tmp_path / "one"), make_saved().save(tmp_path / "other")
        assert files(one) == files(other)
        again = SavedJudge.load(one).save(tmp_path / "again")
        assert files(again) == files(one)

    def test_undefined_numbers_become_null(self, make_saved, tmp_path):
        undefined = {"heldout": {"dataset": {"q": {"value": math.nan, "low": math.inf}}}}
        judge = make_saved(agreement=undefined, settings={"value": np.float64(0.5)})
        again = SavedJudge.load(judge.save(tmp_path / "judge"))
        assert again == judge
        assert again.agreement.plain["heldout"]["dataset"]["q"] == {"value": None, "low": None}
        assert "NaN" not in (tmp_path / "judge" / "judge.json").read_text()

    def test_half_characters_in_demonstrations_survive(self, make_saved, judge_of, tmp_path):
        judge = make_saved(judge_of(shown="half \ud800 of it"))
        folder = judge.save(tmp_path / "judge")
        assert SavedJudge.load(folder) == judge
        for content in files(folder).values():
            content.decode("utf-8")

    def test_the_fingerprint_changes_with_any_part(self, make_saved, judge_of):
        several = [
            make_saved(),
            make_saved(model="openai/n"),
            make_saved(target="mean"),
            make_saved(rows={"train": 4}),
            make_saved(judge_of()),
            make_saved(golden=()),
        ]
        assert len({one.fingerprint for one in several}) == len(several)


class TestFolder:
    def test_prompts_and_card_stand_beside_the_judge(self, make_saved, judge_of, tmp_path):
        judge = judge_of(shown="Ann left.")
        folder = make_saved(judge).save(tmp_path / "judge")
        assert set(files(folder)) == {
            "judge.json",
            "README.md",
            "prompts/assess.txt",
            "prompts/overall.txt",
        }
        prompt = (folder / "prompts" / "overall.txt").read_text()
        assert prompt == judge.templates()["overall"].as_text() + "\n"
        assert "{response}" in prompt
        assert (folder / "README.md").read_text().startswith("# A compiled judge")

    def test_no_key_and_no_address_is_in_any_file(
        self, make_saved, judge_of, tmp_path, monkeypatch
    ):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key")
        judge = judge_of()
        judge.set_lm(model("openai/m", ledger=None, api_base="http://planted.example:8000/v1"))
        folder = make_saved(judge).save(tmp_path / "judge")
        for content in files(folder).values():
            assert b"planted" not in content

    def test_an_existing_folder_is_not_touched(self, make_saved, tmp_path):
        for name in ("notes", "judge"):
            (tmp_path / name).mkdir()
        (tmp_path / "notes" / "mine.txt").write_text("mine")
        make_saved().save(tmp_path / "a")
        for folder, overwrite in (("notes", True), ("judge", True), ("judge", False), ("a", False)):
            with pytest.raises(
                FileExistsError, match=f"{folder} exists; name another folder(.*overwrite=True)?"
            ):
                make_saved().save(tmp_path / folder, overwrite=overwrite)
        assert files(tmp_path / "notes") == {"mine.txt": b"mine"}

    def test_a_file_in_the_way_is_not_touched(self, make_saved, tmp_path):
        (tmp_path / "judge").write_text("mine")
        with pytest.raises(FileExistsError):
            make_saved().save(tmp_path / "judge", overwrite=True)
        assert (tmp_path / "judge").read_text() == "mine"

    def test_but_nothing_that_was_put_beside_it(self, make_saved, tmp_path):
        folder = make_saved().save(tmp_path / "judge")
        (folder / "thesis.tex").write_text("years of work")
        with pytest.raises(FileExistsError, match=r"holds more than a judge, such as thesis\.tex"):
            make_saved(target="mean").save(folder, overwrite=True)
        assert (folder / "thesis.tex").read_text() == "years of work"
        assert SavedJudge.load(folder).target == "overall"

    def test_a_link_is_followed_and_stays(self, make_saved, tmp_path):
        folder = make_saved().save(tmp_path / "real")
        link = tmp_path / "link"
        link.symlink_to(folder, target_is_directory=True)
        make_saved(target="mean").save(link, overwrite=True)
        assert link.is_symlink()
        assert SavedJudge.load(folder).target == SavedJudge.load(link).target == "mean"
        assert {path.name for path in tmp_path.iterdir()} == {"real", "link"}


class TestHalfWritten:
    @pytest.mark.parametrize("at", ["judge.json", "prompts", "README.md"])
    @pytest.mark.parametrize("earlier", [False, True])
    def test_a_failure_while_writing_leaves_what_was_there(
        self, make_saved, tmp_path, monkeypatch, at, earlier
    ):
        folder = tmp_path / "judge"
        if earlier:
            make_saved().save(folder)
        write = saved_module.write_synced

        def failing(path, text):
            if at in str(path):
                path.write_text(text[:10])
                raise OSError("no space left")
            write(path, text)

        monkeypatch.setattr(saved_module, "write_synced", failing)
        with pytest.raises(OSError, match="no space left"):
            make_saved(target="mean").save(folder, overwrite=True)
        assert [path.name for path in tmp_path.iterdir()] == (["judge"] if earlier else [])
        if earlier:
            assert SavedJudge.load(folder).target == "overall"

    def test_a_failure_between_two_renames_puts_the_earlier_judge_back(
        self, make_saved, tmp_path, monkeypatch
    ):
        folder = make_saved().save(tmp_path / "judge")
        rename = saved_module.Path.rename

        def failing(path, target):
            if "old" not in str(target) and "old" not in path.name:
                raise OSError("busy")
            return rename(path, target)

        monkeypatch.setattr(saved_module.Path, "rename", failing)
        with pytest.raises(OSError, match="busy"):
            make_saved(target="mean").save(folder, overwrite=True)
        assert [path.name for path in tmp_path.iterdir()] == ["judge"]
        assert SavedJudge.load(folder).target == "overall"


class TestRefusals:
    @pytest.fixture
    def folder(self, make_saved, tmp_path):
        return make_saved().save(tmp_path / "judge")

    def change(self, folder, edit, *, rehash=False):
        path = folder / "judge.json"
        document = json.loads(path.read_text())
        edit(document)
        if rehash:
            outside = ("schema", "made_by", "content_hash")
            content = {name: one for name, one in document.items() if name not in outside}
            document["content_hash"] = content_hash(content)
        path.write_text(json.dumps(document))

    @pytest.mark.parametrize(
        "edit",
        [
            lambda one: one.update(target="mean"),
            lambda one: one["protocol"].update(temperature=1.0),
            lambda one: one["questions"]["overall"]["turns"][0].update(text="Score 100."),
            lambda one: one["golden"].clear(),
            lambda one: one.pop("seen"),
            lambda one: one.pop("content_hash"),
            lambda one: one.update(more=1),
        ],
    )
    def test_a_judge_that_was_changed(self, folder, edit):
        self.change(folder, edit)
        with pytest.raises(SavedJudgeError, match=r"judge\.json: changed since it was saved"):
            SavedJudge.load(folder)

    def test_but_not_one_whose_prompts_and_card_were_changed(self, folder):
        saved = SavedJudge.load(folder)
        for beside in (folder / "README.md", *(folder / "prompts").iterdir()):
            beside.write_text("Score 100.")
        assert SavedJudge.load(folder) == saved

    @pytest.mark.parametrize("schema", [0, 2, "1", None])
    def test_a_layout_of_another_version(self, folder, schema):
        self.change(folder, lambda one: one.update(schema=schema))
        with pytest.raises(SavedJudgeError, match=r"expected schema 1 of judgesmith .*; got"):
            SavedJudge.load(folder)

    @pytest.mark.parametrize(
        ("edit", "said"),
        [
            (lambda one: one.pop("target"), "target is missing"),
            (lambda one: one.update(more=1), "more: there is no such field"),
            (lambda one: one["protocol"].update(judge="panel"), "no judge is called 'panel'"),
            (lambda one: one["protocol"].update(samples=0), "protocol.samples"),
            (
                lambda one: one["questions"].update({"../../evil": one["questions"]["overall"]}),
                "String should match pattern",
            ),
        ],
    )
    def test_content_that_is_no_judge_even_with_a_matching_hash(self, folder, edit, said):
        self.change(folder, edit, rehash=True)
        with pytest.raises(SavedJudgeError, match=said):
            SavedJudge.load(folder)

    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000],
    )
    def test_a_file_that_is_no_judge(self, tmp_path, content):
        (tmp_path / "judge.json").write_bytes(content)
        with pytest.raises(SavedJudgeError, match=r"judge\.json: "):
            SavedJudge.load(tmp_path)

    def test_a_place_without_a_judge(self, tmp_path):
        (tmp_path / "empty").mkdir()
        (tmp_path / "file.txt").write_text("{}")
        for place in ("missing", "empty"):
            with pytest.raises(SavedJudgeError, match=r"no judge found; expected a judge\.json"):
                SavedJudge.load(tmp_path / place)
        with pytest.raises(SavedJudgeError, match="holds no judge; name a folder"):
            SavedJudge.load(tmp_path / "file.txt")


class TestOtherWords:
    def test_demonstrations_for_nobody_make_no_program(self, make_saved, judge_of, tmp_path):
        judge = judge_of(shown="Ann left.")
        shown = {**judge.protocol.demonstrations, "nobody": ()}
        protocol = judge.protocol.model_copy(update={"demonstrations": shown})
        folder = make_saved(judge, protocol=protocol).save(tmp_path / "judge")
        with pytest.raises(SavedJudgeError, match="makes no judge: demonstrations for nobody"):
            load_judge(folder)

    def test_a_version_that_words_questions_differently_says_so_and_still_scores(
        self, make_saved, judge_of, item, tmp_path, scripted, good
    ):
        judge = judge_of()
        older = judge_of(instructions={"overall": "An older wording."})
        folder = make_saved(judge, questions=older.templates()).save(tmp_path / "judge")
        with pytest.raises(SavedJudgeError, match="words the judge's questions differently"):
            load_judge(folder)
        lm, engine = scripted(good)
        (judgement,) = score_batch(SavedJudge.load(folder), [item], lm=lm)
        assert judgement.score == 70
        assert "An older wording." in engine.requests[1].prefix.messages[0].text


def test_the_order_of_keys_makes_no_difference_to_the_hash():
    assert content_hash({"a": 1, "b": [1, 2]}) == content_hash({"b": [1, 2], "a": 1})
    assert content_hash({"a": [1, 2]}) != content_hash({"a": [2, 1]})


@pytest.mark.parametrize("linked", [True, False])
def test_a_judge_file_that_is_a_device_or_a_pipe_is_refused(tmp_path, linked):
    place = tmp_path / "judge.json"
    if linked:
        place.symlink_to("/dev/zero")
    else:
        os.mkfifo(place)
    with pytest.raises(SavedJudgeError, match="is a device or a pipe"):
        SavedJudge.load(tmp_path)


def test_a_judge_file_over_the_size_limit_is_refused(tmp_path):
    with (tmp_path / "judge.json").open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(SavedJudgeError, match="is larger than 64 MiB"):
        SavedJudge.load(tmp_path)


# A judge with a matching hash may still be hostile: it is refused where it could do harm.


@pytest.fixture(params=[{}, {"variant": "vanilla"}, {"criteria_calls": "separate"}])
def judge(request, judge_of):
    """A judge with demonstrations, of several variants."""
    return judge_of(shown="Ann left.", **request.param)


def changed(judge, **update):
    """Return a judge's questions, the last of them changed."""
    *_, (name, question) = judge.templates().items()
    return {**judge.templates(), name: question.model_copy(update=update)}


def without(question, name):
    """Return the pieces of a question without one slot."""
    return tuple(one for one in question if not (isinstance(one, Slot) and one.name == name))


def test_a_judges_own_questions_pass(judge):
    assert check_questions(judge.protocol, judge.templates()) is None


def test_a_question_that_does_not_show_the_response_is_refused(judge):
    for name, question in judge.templates().items():
        pieces = without(question.question, "response")
        hidden = {**judge.templates(), name: question.model_copy(update={"question": pieces})}
        with pytest.raises(ValueError, match=f"the question {name} must show .*response"):
            check_questions(judge.protocol, hidden)


def test_a_question_that_shows_a_text_outside_its_fence_is_refused(judge):
    *_, question = judge.templates().values()
    pieces = tuple(
        one.model_copy(update={"fenced": False}) if isinstance(one, Slot) else one
        for one in question.question
    )
    with pytest.raises(ValueError, match="between fences"):
        check_questions(judge.protocol, changed(judge, question=pieces))


@pytest.mark.parametrize(
    ("update", "said"),
    [
        ({"predictor": "other"}, "is called 'other' in itself"),
        ({"outputs": {"score": "text"}}, "cannot read the answers"),
        ({"outputs": {}}, "cannot read the answers"),
        ({"outputs": {"score": "points", "reward": "text"}}, "cannot read the answers"),
        ({"turns": ()}, "must begin with one system message"),
        ({"turns": (Turn(role="system", text="a"),) * 2}, "must begin with one system message"),
    ],
)
def test_a_question_that_cannot_be_asked_or_read_is_refused(judge, update, said):
    with pytest.raises(ValueError, match=said):
        check_questions(judge.protocol, changed(judge, **update))


def test_questions_that_the_protocol_does_not_ask_are_refused(judge):
    (name, question), *rest = judge.templates().items()
    for questions in ({}, dict(rest), {**judge.templates(), "more": question}):
        with pytest.raises(ValueError, match=f"the protocol asks {name}.*; got questions called"):
            check_questions(judge.protocol, questions)


@pytest.mark.parametrize(
    "agreement",
    [
        {},
        {"gain": None, "heldout": None, "criteria": None},
        {"heldout": {"dataset": {"q": None, "pearson": {"value": None, "n": 3}}, "sample": None}},
    ],
)
def test_agreement_that_was_measured_or_not_passes(agreement):
    assert SavedAgreement.model_validate(agreement).plain == agreement


@for_each(
    ("agreement", "said"),
    [
        ({"heldout": 5}, "heldout: expected fields by name"),
        ({"heldout": {"dataset": [1]}}, "heldout.dataset: expected fields by name"),
        ({"selection": {"dataset": {"q": "high"}}}, "selection.dataset.q: expected fields"),
        ({"selection": {"dataset": {"q": {}}}}, "selection.dataset.q: expected an estimate"),
        ({"heldout": {"dataset": {"q": {"value": "0.9"}}}}, "heldout.dataset.q.value"),
        ({"criteria": {"heldout": {"clear": 1}}}, "heldout.clear: expected fields by name"),
        ({"criteria": "none"}, "criteria: expected fields by name"),
    ],
)
def test_agreement_of_another_shape_is_refused(agreement, said):
    with pytest.raises(ValueError, match=said), record_faults():
        SavedAgreement.model_validate(agreement)


# Panels and calibrated judges are saved and loaded like any other judge.

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
PEOPLES = Scale(low=1, high=5)
LEARNED = Calibration(
    thresholds=(0, 100),
    values=(1, 5),
    scale=PEOPLES,
    margin=0.5,
    confidence=0.9,
    n_map=40,
    n_sources_map=20,
    n_margin=40,
    n_sources_margin=20,
)
WEIGHTS = PanelWeights(
    members=("critic", "direct"),
    centers=(50, 50),
    spreads=(20, 20),
    weights=(2, 1),
    slope=1,
    intercept=3,
    scale=PEOPLES,
)


def saved_judge(judge, **update):
    parts = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": PEOPLES,
        "seen": {"train": ("key-of-" + judge.protocol.judge,)},
    }
    return SavedJudge(**{**parts, **update})


def saved_panel(**update):
    parts = {
        "members": {"critic": saved_judge(ActiveCritic()), "direct": saved_judge(DirectJudge())},
        "weights": WEIGHTS,
        "target": "overall",
        "human_scale": PEOPLES,
        "seen": {"select": ("own-key",)},
    }
    return SavedPanel(**{**parts, **update})


def saved_calibrated(judge=None, **update):
    parts = {
        "members": {"judge": judge or saved_judge(DirectJudge())},
        "calibration": LEARNED,
        "target": "overall",
        "human_scale": PEOPLES,
    }
    return SavedCalibrated(**{**parts, **update})


SAVED = {
    "panel": saved_panel,
    "calibrated": saved_calibrated,
    "calibrated panel": lambda **update: saved_calibrated(saved_panel(), **update),
    "panel of calibrated": lambda **update: saved_panel(
        members={"critic": saved_calibrated(), "direct": saved_judge(DirectJudge())}, **update
    ),
}


@pytest.fixture(params=SAVED, ids=str)
def make_saved_kinds(request):
    return SAVED[request.param]


@pytest.fixture
def saved(make_saved_kinds):
    return make_saved_kinds()


def test_what_is_saved_is_loaded(saved, tmp_path):
    saved.save(tmp_path / "judge")
    again = load_saved(tmp_path / "judge")
    assert again == saved
    assert again.fingerprint == saved.fingerprint
    assert type(again) is type(saved).load(tmp_path / "judge").__class__


@pytest.mark.no_cover
def test_a_loaded_one_takes_its_test_rows_along(make_saved, tmp_path):
    rows = [JudgedRow(key="k", n_characters=1, human=2, score=50, response="r")]
    saved = make_saved()
    loaded = SavedJudge.load(saved.save(tmp_path / "a", rows=rows))
    assert loaded == saved
    assert read_rows(loaded.save(tmp_path / "b")) == rows
    assert read_rows(loaded.save(tmp_path / "a", overwrite=True)) == rows
    other = loaded.model_copy(update={"target": "another"})
    assert read_rows(other.save(tmp_path / "c")) == ()
    other.save(tmp_path / "a", overwrite=True)
    assert read_rows(loaded.save(tmp_path / "d")) == ()


def test_a_loaded_one_judges_as_its_program_does(saved, tmp_path):
    saved.save(tmp_path / "judge")
    (fast,) = score_batch(load_saved(tmp_path / "judge"), [ITEM])
    program = load_judge(tmp_path / "judge")
    (slow,) = score_batch(program, [ITEM])
    assert fast == slow
    assert fast.problem is None
    assert program(source=ITEM.source, response=ITEM.response, context=None).score == fast.score
    assert load_saved(tmp_path / "judge").calls_per_item == program.calls_per_item


def test_it_has_seen_what_its_members_have():
    panel = saved_panel()
    assert panel.seen_keys == {"own-key", "key-of-active-critic", "key-of-direct"}
    assert saved_calibrated(panel).seen_keys == panel.seen_keys


def test_every_members_questions_stand_in_the_folder(tmp_path):
    saved_calibrated(saved_panel()).save(tmp_path / "judge")
    prompts = tmp_path / "judge" / "prompts"
    names = {str(one.relative_to(prompts)) for one in prompts.rglob("*.txt")}
    assert names == {
        "judge/critic/assess.txt",
        "judge/critic/overall.txt",
        "judge/direct/whole.txt",
    }


def test_golden_items_keep_what_their_kind_of_judgement_adds(make_saved_kinds, tmp_path):
    (found,) = score_batch(make_saved_kinds(), [ITEM])
    golden = GoldenItem(source=ITEM.source, response=ITEM.response, judgement=found)
    make_saved_kinds(golden=(golden,)).save(tmp_path / "judge")
    (again,) = load_saved(tmp_path / "judge").golden
    assert again.judgement == found
    assert isinstance(again.judgement, PanelJudgement | CalibratedJudgement)


def test_a_changed_file_is_refused(saved, tmp_path):
    saved.save(tmp_path / "judge")
    place = tmp_path / "judge" / "judge.json"
    place.write_text(place.read_text().replace("offline", "online"))
    with pytest.raises(SavedJudgeError, match="does not match its hash"):
        load_saved(place)


def rehashed(saved, change):
    """Return a saved judge as a file whose hash matches what was changed."""
    content = json.loads(json.dumps(saved.model_dump(mode="json")))
    change(content)
    return json.dumps(
        {"schema": 1, "made_by": "x", "content_hash": content_hash(content)} | content
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one["weights"].update(members=["a", "b"]), "the weights are of a, b"),
        (lambda one: one["weights"].update(slope=-1), "slope"),
        (lambda one: one.update(kind="jury"), "expected panel or calibrated"),
        (lambda one: one.update(kind=["panel"]), "expected panel or calibrated"),
        (lambda one: one["members"]["direct"].update(questions={}), "the protocol asks whole"),
        (lambda one: one["members"]["direct"].update(kind="jury"), "expected panel or calibrated"),
        (lambda one: one["members"]["direct"]["protocol"].update(judge="?"), "no judge is called"),
        (lambda one: one["members"].update({"../up": one["members"]["direct"]}), "up"),
        (lambda one: one["members"].update(direct=7), "members"),
        (lambda one: one.update(agreement={"heldout": 7}), "heldout: expected fields by name"),
    ],
    ids=range(10),
)
def test_a_hostile_file_is_refused(change, said, tmp_path):
    place = tmp_path / "judge.json"
    place.write_text(rehashed(saved_panel(), change))
    with pytest.raises(SavedJudgeError, match=said):
        load_saved(place)


def test_one_judge_is_calibrated():
    with pytest.raises(ValidationError, match="one judge is calibrated"):
        saved_calibrated(members=saved_panel().members)


def test_where_one_judge_is_expected_others_are_refused(saved, tmp_path):
    saved.save(tmp_path / "judge")
    said = (
        "expected one judge by itself; got a (panel of judges|calibrated judge)[.] Name the folder"
    )
    with pytest.raises(SavedJudgeError, match=said):
        SavedJudge.load(tmp_path / "judge")


def test_where_a_panel_is_expected_one_judge_is_refused(tmp_path):
    saved_panel().members["direct"].save(tmp_path / "judge")
    with pytest.raises(
        SavedJudgeError, match="expected a panel of judges; got one judge by itself"
    ):
        SavedPanel.load(tmp_path / "judge")


def test_its_card_tells_of_weights_calibration_and_members():
    card = judge_card(saved_calibrated(saved_panel()))
    assert "# A calibrated judge" in card
    assert "- interval: ±0.5 points" in card
    assert "- judge: direct" in card
    card = judge_card(saved_panel())
    assert "| critic | 0.667 | 0..100 | offline |" in card
    assert "## direct" in card


def test_what_differs_is_told_by_member():
    other = saved_panel(
        members={
            "critic": saved_judge(ActiveCritic(explain="none")),
            "direct": saved_judge(DirectJudge()),
        },
        weights=WEIGHTS.model_copy(update={"weights": (1, 1)}),
    )
    assert difference(saved_panel(), other) == [
        "weights.weights: [2.0, 1.0] → [1.0, 1.0]",
        'members.critic.protocol.explain: "before" → "none"',
    ]
    assert difference(saved_panel(), saved_panel()) == []
    assert 'kind: "panel" → (absent)' in difference(saved_panel(), saved_judge(DirectJudge()))


def test_members_ask_the_models_they_were_made_with():
    other = saved_judge(DirectJudge(), model="openai/m")
    panel = saved_panel(members={"critic": saved_judge(ActiveCritic()), "direct": other})
    assert panel.models == ("offline", "openai/m")
    first, second = (model(ledger=None) for _ in range(2))
    bound = panel.with_models({"offline": first, "openai/m": second})
    score_batch(bound, [ITEM], lm=first)
    assert [lm_client_of(one).usage.calls for one in (first, second)] == [2, 1]
    assert bound.fingerprint == panel.fingerprint
