"""An exported panel takes a member that cannot be asked as the package's panel does."""

from types import SimpleNamespace

import httpx
import openai
import pytest
from exporting import TEXTS, panel_of, saved_of

from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.exporting.python_file import loaded
from judgesmith.programs.judging.runner import judge_items
from judgesmith.programs.lm import ModelError, TransientModelError

ANSWER = "[[ ## score ## ]]\n4\n\n[[ ## completed ## ]]"
REQUEST = httpx.Request("POST", "http://127.0.0.1/v1")


def refusal(status):
    reply = httpx.Response(status, request=REQUEST)
    return openai.APIStatusError("no", response=reply, body=None)


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    members = {
        name: saved_of("direct", answers=scale, model=f"openai/{name}")
        for name, scale in (("live", "1..5"), ("other", "0..10"), ("dead", "1..9"))
    }
    saved = panel_of(**members)
    place = tmp_path_factory.mktemp("panel") / "judge.py"
    return saved, loaded(export_judge(saved, "python", place).place)


def client(faults):
    def create(*, messages, model, **options):
        if model in faults:
            raise faults[model]
        message = SimpleNamespace(content=ANSWER, refusal=None)
        choice = SimpleNamespace(message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice])

    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))


def own(saved, scripted, faults):
    def answering(name):
        def reply(request):
            if name in faults:
                raise faults[name]
            return ANSWER

        return scripted(reply)[0]

    lms = {f"openai/{name}": answering(name) for name in ("live", "other", "dead")}
    return judge_items(saved.with_models(lms), TEXTS[:1], lm=lms["openai/live"])[0]


@pytest.mark.parametrize(
    ("by_file", "by_package"),
    [
        (openai.APIConnectionError(request=REQUEST), TransientModelError("down")),
        (refusal(503), TransientModelError("down", status=503)),
        (refusal(422), ModelError("no", status=422)),
    ],
)
@pytest.mark.parametrize("several", [(), ("dead",), ("dead", "other"), ("dead", "other", "live")])
def test_a_dead_member_leaves_the_score_to_the_others(
    several, by_file, by_package, panel, scripted
):
    saved, module = panel
    mine = own(saved, scripted, dict.fromkeys(several, by_package))
    texts = TEXTS[0].model_dump(include={"source", "context", "response"})
    row = module.judge(**texts, client=client(dict.fromkeys(several, by_file)))
    assert row["score"] == mine.score
    assert (row["score"] is None) == (len(several) == 3)
    if several and row["score"] is None:
        assert row["problem"].partition(":")[0] == mine.problem.partition(":")[0]
        return
    assert row["members"] == mine.members
    assert [name for name, score in row["members"].items() if score is None] == [
        name for name in row["members"] if name in several
    ]
    assert (row["voice"], row["disagreement"]) == (mine.voice, mine.disagreement)


def test_a_member_with_a_wrong_key_ends_the_run(panel, scripted):
    saved, module = panel
    with pytest.raises(ModelError):
        own(saved, scripted, {"dead": ModelError("no such key", status=401)})
    with pytest.raises(module.ModelError):
        module.judge(source="s", response="r", client=client({"dead": refusal(401)}))
