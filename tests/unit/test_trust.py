"""Texts go only to hosts that the user named, and keys stay where they came from."""

import json
import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import dspy
import loopback
import loopback_offline
import planting
import pytest
from exporting import saved_of
from working import wait_for

import judgesmith
from judgesmith.cli.main import main
from judgesmith.errors import InputError
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.record import content_hash
from judgesmith.programs.artifacts.saved import FrontMember, SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel, SavedSupervisor, load_saved
from judgesmith.programs.families.ensemble.judges import Supervisor
from judgesmith.programs.families.modules import ExemplarJudge
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.lm import client_model
from judgesmith.programs.lm.cache.records import connect
from judgesmith.programs.lm.factory import check_host, check_provider, engine_for, host_of
from judgesmith.signatures import RatedItem
from judgesmith.signatures.aggregation import PanelRules

# Texts go only to hosts that the user named, whatever a saved judge says.

TEXTS = {"source": "The ferry leaves at nine.", "response": "It leaves at nine."}
ITEM = RatedItem(**TEXTS)
HOSTILE = [
    "oobabooga/http://198.51.100.7:5000",
    "openai/http:/198.51.100.7",
    "ollama/m\x00",
    "openai/https:\\\\198.51.100.7",
    "http://198.51.100.7/v1",
]
NETWORKED = ["openai/m", "anthropic/m", "oobabooga/m", "petals/m", "bedrock/m", "ollama/m"]
WEIGHTS = {"members": ["a"], "weights": [1.0], "centers": [50.0], "spreads": [20.0]}
WEIGHTS |= {"slope": 1.0, "intercept": 3.0, "scale": "1..5"}


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """Return the hosts that were looked up or connected to; none can be."""
    asked = []

    def refuse(name):
        def refused(*given, **_):
            asked.append((name, *map(str, given[-1:] if name != "getaddrinfo" else given[:1])))
            raise OSError("no network in this test")

        return refused

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse(name))
    monkeypatch.setattr(socket, "getaddrinfo", refuse("getaddrinfo"))
    (tmp_path / "in.jsonl").write_text(json.dumps(TEXTS) + "\n")
    return asked


def plain():
    return saved_of(variant="vanilla")


def exemplar(**more):
    judge = ExemplarJudge(levels=2)
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
        **more,
    )


def panel(member=None, supervisor=None):
    own = {}
    if supervisor is not None:
        own = {"rules": PanelRules(), "supervisor": SavedSupervisor.of(Supervisor(), supervisor)}
    return SavedPanel(
        members={"a": member or plain()},
        weights=WEIGHTS,
        target="overall",
        human_scale="1..5",
        **own,
    )


def with_front():
    own = plain()
    member = FrontMember(
        number=0,
        picked={},
        model="offline",
        calls=1.0,
        values={},
        knee=True,
        agreement={},
        protocol=own.protocol,
        questions=own.questions,
    )
    return own.model_copy(update={"front": (member,)})


def kinds():
    return {
        "plain": plain(),
        "roles": exemplar(roles={"writer": "offline"}),
        "panel": panel(),
        "panel of roles": panel(exemplar(roles={"writer": "offline"})),
        "supervised": panel(supervisor="offline"),
        "front": with_front(),
    }


def leaves(value, place=()):
    """Yield the place of every text in plain data."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, (*place, name))
    elif isinstance(value, list):
        for n, one in enumerate(value):
            yield from leaves(one, (*place, n))
    elif isinstance(value, str):
        yield place


def replaced(value, place, text):
    if not place:
        return text
    head, *rest = place
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[head] = replaced(copy[head], rest, text)
    return copy


def written(content, folder):
    """Write plain data as a judge, with a hash that matches."""
    folder.mkdir(exist_ok=True)
    document = {"schema": 1, "made_by": "x", "content_hash": content_hash(content), **content}
    (folder / "judge.json").write_text(json.dumps(document))
    return folder


@pytest.mark.usefixtures("opened")
@pytest.mark.no_cover
@pytest.mark.parametrize("kind", ["panel of roles", "supervised", "front"])  # they hold the others
def test_no_field_of_a_judge_opens_a_socket(kind, tmp_path, opened):
    content = json.loads(json.dumps(kinds()[kind].model_dump(mode="json")))
    n_asked = 0
    for place in leaves(content):
        if "questions" in place and place[-1] not in ("predictor", "form"):
            continue  # asked questions have to be the protocol's: test_saved_checks.py
        for text in (HOSTILE[0], "openai/m"):
            folder = written(replaced(content, place, text), tmp_path / "judge")
            try:
                judge = load_saved(folder)
            except ValueError:
                continue
            n_asked += 1
            for ask in (
                lambda judge=judge: score_batch(judge, [ITEM]),
                lambda folder=folder: judgesmith.load(folder)(**TEXTS),
            ):
                try:
                    ask()
                except ValueError as fault:
                    assert isinstance(fault, judgesmith.JudgesmithError), fault  # noqa: PT017
    assert n_asked > 5
    assert opened == []


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "place",
    [
        ("plain", "model"),
        ("roles", "roles", "writer"),
        ("panel of roles", "members", "a", "roles", "writer"),
        ("supervised", "supervisor", "model"),
        ("front", "front", 0, "model"),
    ],
    ids=lambda place: place[0],
)
def test_a_name_with_an_address_in_it_is_refused_at_load(name, place, tmp_path, capsys):
    kind, *field = place
    content = json.loads(json.dumps(kinds()[kind].model_dump(mode="json")))
    folder = written(replaced(content, field, name), tmp_path / "judge")
    with pytest.raises(InputError, match="the name of a model contains"):
        judgesmith.load(folder)
    for given in ([], ["--model", "offline"], ["--allow-model", name]):
        assert main(["score", str(folder), "in.jsonl", "-o", "out.jsonl", *given]) == 2
        assert "the name of a model contains" in capsys.readouterr().err


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_with_an_address_in_it_is_no_model(name):
    for make in (judgesmith.model, client_model):
        with pytest.raises(InputError, match="the name of a model contains"):
            make(name, ledger=None)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("name", NETWORKED)
@pytest.mark.parametrize(
    "judge",
    [
        lambda name: plain().model_copy(update={"model": name}),
        lambda name: exemplar(roles={"writer": name}),
        lambda name: panel(plain().model_copy(update={"model": name})),
        lambda name: panel(supervisor=name),
    ],
    ids=["model", "role", "member", "supervisor"],
)
def test_a_model_that_the_user_did_not_name_is_listed_with_its_address(
    judge, name, tmp_path, capsys, opened
):
    folder = judge(name).save(tmp_path / "judge")
    command = ["score", "judge", "in.jsonl", "-o", "out.jsonl"]
    assert main(command) == 2
    said = capsys.readouterr().err
    place = client_model(name, ledger=None).client.endpoint
    assert f"a model that you did not name: {name} at {place}" in said
    assert f"--allow-model {name}" in said
    assert main([*command, "--dry-run"]) == 2
    for ask in (
        lambda: score_batch(load_saved(folder), [ITEM]),
        lambda: score_batch(judgesmith.load(folder), [ITEM]),
    ):
        if isinstance(load_saved(folder), SavedPanel) and load_saved(folder).supervisor:
            break  # asked only where members found errors
        with pytest.raises(InputError, match=f"did not name: {name} at {place}"):
            ask()
    assert opened == []


@pytest.mark.usefixtures("opened")
def test_without_a_network_no_role_has_one(tmp_path, capsys, opened):
    exemplar(roles={"writer": "openai/w"}).save(tmp_path / "judge")
    command = ["score", "judge", "in.jsonl", "-o", "out.jsonl", "--model", "offline"]
    assert main(command) == 2
    assert main([*command, "--allow-model", "openai/w"]) == 2
    assert "openai/w at https://api.openai.com/v1" in capsys.readouterr().err
    assert main([*command, "--role", "writer=offline"]) == 0
    assert opened == []


COMMANDS = {
    "score": ["score", "judge", "in.jsonl", "-o", "out.jsonl"],
    "evaluate": ["evaluate", "judge", "sample"],
    "samples": ["evaluate", "judge", "sample", "--perspective", "global", "--samples", "2"],
    "compare": ["compare", "judge", "other", "sample"],
    "discern": ["discern", "judge", "sample"],
    "recheck": ["recheck", "judge"],
    "serve": ["serve", "judge", "--port", "0"],
    "export": ["export", "judge", "--to", "python", "-o", "judge.py", "--verify"],
    "panel": ["panel", "judge", "other", "sample", "-o", "panel"],
    "distil": ["distil", "sample", "annotator", "-o", "student"],
    "suggest": ["suggest", "judge", "in.jsonl", "-o", "chosen.csv"],
}


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_refuses_it(name, tmp_path, capsys, opened):
    three = [ITEM.model_copy(update={"source": f"The ferry leaves at {n}."}) for n in range(3)]
    saved_of(variant="vanilla", texts=three, model="openai/m").save(tmp_path / "judge")
    saved_of("annotator", model="openai/m").save(tmp_path / "annotator")
    saved_of(variant="coarse").save(tmp_path / "other")
    assert main(COMMANDS[name]) == 2
    assert "did not name: openai/m at https://api.openai.com/v1" in capsys.readouterr().err
    assert opened == []


@pytest.mark.usefixtures("opened")
def test_an_experiment_refuses_it_unless_the_specification_names_it(tmp_path, capsys, opened):
    saved_of(variant="vanilla", model="openai/m").save(tmp_path / "judge")
    spec = {"name": "x", "data": {"d": {"path": "sample"}}, "judges": {"s": {"saved": "judge"}}}
    (tmp_path / "spec.yaml").write_text(json.dumps(spec))
    assert main(["experiment", "spec.yaml", "-o", "run"]) == 2
    assert "did not name: openai/m at https://api.openai.com/v1" in capsys.readouterr().err
    assert main(["experiment", "spec.yaml", "-o", "run", "--allow-model", "openai/m",
                 "--only-host", "localhost"]) in (1, 2)  # fmt: skip
    assert opened == []


@pytest.mark.usefixtures("opened")
class TestLoad:
    def test_the_saved_model_is_bound_and_not_replaced(self, tmp_path, opened):
        folder = saved_of(variant="vanilla", model="openai/m").save(tmp_path / "judge")
        judge = judgesmith.load(folder)
        for here in (dspy.context(), dspy.context(lm=judgesmith.model("offline", ledger=None))):
            with here, pytest.raises(InputError, match="did not name: openai/m"):
                judge(**TEXTS)
        assert opened == []

    def test_another_model_is_explicit_and_noted_in_every_verdict(self, tmp_path):
        folder = saved_of(variant="vanilla", model="openai/m").save(tmp_path / "judge")
        said = "asked offline instead of openai/m, which the judge was compiled with."
        offline = judgesmith.model("offline", ledger=None)
        assert [one.text for one in judgesmith.load(folder, lm="offline")(**TEXTS).notes] == [said]
        assert [one.text for one in judgesmith.load(folder, lm=offline)(**TEXTS).notes] == [said]
        with dspy.context(lm=offline):
            found = judgesmith.load(folder, use_context=True)(**TEXTS)
        assert [one.text for one in found.notes] == [said]
        for judge in (judgesmith.load(folder), load_saved(folder)):
            (found,) = score_batch(judge, [ITEM], lm=offline)
            assert [one.text for one in found.notes] == [said]

    def test_without_a_current_model_the_saved_one_stays(self, tmp_path):
        folder = saved_of(variant="vanilla", model="openai/m").save(tmp_path / "judge")
        with pytest.raises(InputError, match="did not name: openai/m"):
            judgesmith.load(folder, use_context=True)(**TEXTS)

    def test_the_model_that_it_was_compiled_with_is_no_news(self, tmp_path):
        folder = plain().save(tmp_path / "judge")
        assert judgesmith.load(folder)(**TEXTS).notes == ()
        (found,) = score_batch(load_saved(folder), [ITEM])
        assert (found.score is not None, found.notes) == (True, ())

    def test_a_name_that_the_judge_does_not_ask_is_refused(self, tmp_path):
        folder = plain().save(tmp_path / "judge")
        with pytest.raises(InputError, match="does not ask 'openai/m'; it asks offline"):
            judgesmith.load(folder, allow_models=["openai/m"])

    def test_every_member_of_a_panel_asks_its_own(self, tmp_path, opened):
        own = panel(plain().model_copy(update={"model": "openai/m"}), supervisor="openai/s")
        folder = own.save(tmp_path / "judge")
        with pytest.raises(InputError, match="did not name: openai/m"):
            judgesmith.load(folder)(**TEXTS)
        with pytest.raises(InputError, match="did not name: openai/m"):
            score_batch(judgesmith.load(folder), [ITEM])
        found = judgesmith.load(folder, lm="offline")(**TEXTS)
        assert [(one.kind, one.about) for one in found.notes] == [("another model", "a/overall")]
        assert opened == []

    def test_a_compiled_judge_keeps_the_model_that_it_was_given(self, opened):
        settings = judgesmith.CompileSettings(judge="direct", optimizer="none", holdout=0)
        lm = judgesmith.model("offline", ledger=None)
        saved = judgesmith.compile(judgesmith.read("sample"), settings, lm=lm).saved
        (bound, *_) = Executor.of(saved)._bound.values()
        assert bound.client is lm._engine_spec.client
        assert saved.program()(**TEXTS).notes == ()


@pytest.mark.usefixtures("opened")
def test_an_evaluation_and_a_comparison_note_another_model(tmp_path, capsys):
    saved_of(variant="vanilla", model="openai/m").save(tmp_path / "judge")
    saved_of(variant="coarse").save(tmp_path / "other")
    assert main(["evaluate", "judge", "sample", "--model", "offline", "--json"]) == 0
    said = capsys.readouterr()
    assert "note: asked offline instead of openai/m, which the judge was compiled" in said.err
    assert json.loads(said.out)["judge"] == "judge"
    assert main(["compare", "judge", "other", "sample", "--model", "offline", "--json"]) == 0
    assert "note: asked offline instead of openai/m, which the judge" in capsys.readouterr().err


@pytest.mark.usefixtures("opened")
class TestHosts:
    @pytest.fixture
    def server(self, monkeypatch):
        monkeypatch.undo()
        with loopback_offline.serving() as server:
            yield server

    def test_models_and_hosts_are_told_before_the_first_request(
        self, server, tmp_path, monkeypatch, capsys
    ):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        saved_of(variant="vanilla", model="openai/m").save(tmp_path / "judge")
        (tmp_path / "in.jsonl").write_text(json.dumps(TEXTS) + "\n")
        command = ["score", "judge", "in.jsonl", "-o", "out.jsonl", "--api-base", server.url]
        assert main([*command, "--allow-model", "openai/m", "--json"]) == 0
        said = capsys.readouterr()
        assert said.err.startswith(f"asking openai/m at {server.url}\n")
        assert json.loads(said.out)["rows"] == 1
        host = ["--only-host", "127.0.0.1"]
        assert main([*command, "--model", "openai/m", *host, "--force"]) == 0

    def test_the_budget_of_the_user_bounds_what_a_judge_asks(self, server, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        greedy = saved_of(variant="vanilla", model="openai/m", samples=1000, max_tokens=10**9)
        greedy.save(tmp_path / "judge")
        (tmp_path / "in.jsonl").write_text(json.dumps(TEXTS) + "\n")
        command = ["score", "judge", "in.jsonl", "-o", "out.jsonl", "--api-base", server.url]
        main([*command, "--model", "openai/m", "--max-calls", "3"])
        assert server.counts()["requests"] <= 3
        main([*command, "--model", "openai/n", "--max-tokens", "500", "--force"])
        assert server.counts()["requests"] <= 3

    def test_other_hosts_are_refused(self, tmp_path, capsys, opened):
        saved_of(variant="vanilla", model="openai/m").save(tmp_path / "judge")
        command = ["score", "judge", "in.jsonl", "-o", "out.jsonl", "--only-host", "localhost"]
        assert main([*command, "--model", "openai/m"]) == 2
        assert "openai/m is at api.openai.com, and only localhost may be" in capsys.readouterr().err
        address = ["--api-base", "http://localhost:1/v1"]
        assert main([*command, "--model", "bedrock/m", *address]) == 2
        assert "through LiteLLM, which looks up hosts of its own" in capsys.readouterr().err
        assert opened == []


def page_providers():
    """Return the providers on the page of models: called directly, and through LiteLLM."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "models.md").read_text(
        encoding="utf-8"
    )
    rows = [line for line in page.splitlines() if line.startswith("| `") and "lm15" in line]
    (elsewhere,) = re.findall(
        r"and every provider behind LiteLLM, because(.*?)and some", page, re.S
    )
    own = {one for row in rows for one in re.findall(r"`(\w+)/", row)}
    return sorted(own), sorted(re.findall(r"`(\w+)`", elsewhere))


OWN, ELSEWHERE = page_providers()


@pytest.mark.usefixtures("opened")
class TestOnlyHost:
    @pytest.mark.parametrize("provider", OWN)
    def test_a_provider_of_the_page_is_asked_at_its_own_host_or_the_one_given(
        self, provider, monkeypatch
    ):
        for variable in ("API_BASE", "BASE_URL"):
            monkeypatch.delenv(f"{provider.upper()}_{variable}", raising=False)
        host = host_of(engine_for(f"{provider}/m").endpoint)
        assert host
        check_host(f"{provider}/m", None, [host])
        with pytest.raises(InputError, match=f"{provider}/m is at {host}, and only example.org"):
            check_host(f"{provider}/m", None, ["example.org"])
        check_host(f"{provider}/m", "http://example.org/v1", ["example.org"])

    @pytest.mark.parametrize("provider", ELSEWHERE)
    def test_a_provider_that_looks_up_other_hosts_is_refused_wherever_it_is(self, provider):
        check_provider(f"{provider}/m")  # one that is there
        for address in (None, "http://localhost:1/v1"):
            with pytest.raises(InputError, match="which looks up hosts of its own"):
                check_host(f"{provider}/m", address, ["localhost", "api.openai.com"])

    def test_the_page_tells_every_provider_that_is_not_refused(self, opened):
        listing = Path(find_spec("litellm").origin).parent / "types" / "utils.py"
        source = listing.read_text(encoding="utf-8")
        (listed,) = re.findall(r"^class LlmProviders\(.*?(?=^\S)", source, re.M | re.S)
        known = set(re.findall(r"= \"([\w-]+)\"", listed)) | {*OWN, *ELSEWHERE}
        assert len(known) > 100
        passed = set()
        for provider in known:
            address = engine_for(f"{provider}/m").endpoint
            try:
                check_host(f"{provider}/m", None, [host_of(address) or "localhost"])
            except InputError:
                continue
            passed.add(provider)
        assert passed == set(OWN)
        assert opened == []


# Keys stay where they came from: in no file, output, log, fault or title of a process.

TESTS = Path(__file__).resolve().parent
PRIVATE = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-owners")


@pytest.fixture(scope="module")
def server_secrets():
    with loopback.serving() as running:
        yield running


@pytest.fixture
def planted(server_secrets, tmp_path):
    server_secrets.reset()
    found = planting.Planted(tmp_path, server_secrets)
    with found.environment():
        yield found


def mode(path):
    return path.stat().st_mode & 0o777


class TestTheSearch:
    def test_it_finds_whole_secrets_and_telling_parts(self):
        for name, secret in planting.NEEDLES.items():
            assert name in planting.found_in(f"a {secret} b")
            assert name in planting.found_in(f"a {secret[:14]}".encode())
        assert planting.found_in("nothing at all, sk-proj") == []

    def test_the_server_is_sent_the_key_and_quotes_it(self, planted):
        """Or nothing could be found anywhere."""
        planted.ask("openai/m", address=planted.server.url)
        (sent,) = planted.server.counts()["recent"]
        assert planting.found_in(sent["authorization"]) == ["OPENAI_API_KEY"]
        assert set(planting.found_in(planting._BODY)) >= {*planting.ENVIRONMENT, "basic"}


class TestNothingIsFound:
    @pytest.mark.no_cover
    def test_where_all_goes_well(self, planted):
        planted.visit(planting.GOOD)
        assert set(planted.statuses.values()) == {0}
        found, n_places = planted.findings()
        assert not found
        assert n_places > 40

    @pytest.mark.parametrize("behaviour", ["wrong key", "forbidden"])
    def test_where_the_server_quotes_all_it_was_sent(self, planted, behaviour):
        planted.visit(planting.FAILING[behaviour])
        assert 2 in planted.statuses.values()
        said = "".join(map(str, planted.places.values()))
        assert "[key]" in said  # it was quoted, and taken out
        assert not planted.findings()[0]

    @pytest.mark.no_cover
    def test_in_what_is_said_of_single_rows(self, planted):
        """Where some answers came, refusals leave rows unscored, with what the server said."""
        made = planted.folder / "judge"
        planted.command("compile", planted.data, "-o", made, "--variant", "vanilla")
        refused = {**planting.FAILING["bad request"], "times": 3}
        planted.server.reset()
        planted.server.script({**planting.GOOD, "times": 5}, refused, planting.GOOD)
        on_server = ["--model", "openai/m", "--api-base", planted.server.url]
        on_server += ["--max-unscored", "1"]
        rows = planted.folder / "rows.jsonl"
        assert planted.command("score", made, planted.data, "-o", rows, *on_server) == 0
        written = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
        assert sum("[key]" in (row["problem"] or "") for row in written) == 3
        assert not planted.findings()[0]

    def test_in_addresses_that_hold_them(self, planted):
        made = planted.folder / "judge"
        planted.command("compile", planted.data, "-o", made, "--variant", "vanilla")
        for address in planting.addresses(planted.server):
            rest = ["--model", "openai/m", "--api-base", address]
            assert planted.command("score", made, planted.data, "-o", "rows.jsonl", *rest) == 2
            planted.ask("openai/m", address=address)
        assert not planted.findings()[0]
        assert not (planted.folder / "rows.jsonl").exists()
        assert not planted.server.counts()["requests"]

    @pytest.mark.parametrize("name", ["openai/m", "anthropic/m", "together_ai/m"])
    def test_in_faults_objects_and_logs(self, planted, name):
        planted.server.script(planting.FAILING["wrong key"])
        planted.ask(name, address=planted.server.url)
        assert not planted.findings()[0]
        faults = [one for place, one in planted.places.items() if place.endswith("traceback")]
        assert len(faults) == 1
        assert "ModelError" in faults[0]

    @pytest.mark.parametrize("key", ["sk-proj-PLANTED-with-a\nline-end", "sk-proj-PLANTED-clé"])
    def test_in_the_refusal_of_a_key_that_cannot_be_one(self, planted, key):
        os.environ["OPENAI_API_KEY"] = key
        planted.ask("openai/m", address=planted.server.url)
        (said,) = [one for place, one in planted.places.items() if place.endswith("traceback")]
        assert "the key in OPENAI_API_KEY holds characters that no key has" in said
        assert "PLANTED" not in said

    @pytest.mark.no_cover
    @pytest.mark.skipif(not planting.has_proc, reason="process titles are looked up in /proc")
    def test_in_titles_and_arguments_of_processes(self, planted):
        made = planted.folder / "judge"
        planted.command("compile", planted.data, "-o", made, "--variant", "vanilla")
        planted.server.reset()
        planted.server.script({"held": True, **planting.GOOD})
        call = [sys.executable, "-m", "judgesmith", "score", str(made), str(planted.data)]
        call += ["-o", "rows.jsonl", "--model", "openai/m", "--api-base", planted.server.url]
        with subprocess.Popen(call, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                wait_for(lambda: planted.server.counts()["in_flight"] or process.poll() is not None)
                lines = planting.command_lines(process.pid)
            finally:
                process.kill()
        assert any(b"judgesmith" in line for line in lines)
        assert not [found for line in lines if (found := planting.found_in(line))]


class TestWhoMayRead:
    """The ledger and what is exported of it are the owner's alone; results are as umask says."""

    @pytest.mark.no_cover
    @pytest.mark.parametrize("mask", [0o000, 0o022])
    def test_the_ledger_is_private_whatever_the_umask(self, planted, mask):
        before = os.umask(mask)
        try:
            planted.visit(planting.GOOD)
        finally:
            os.umask(before)
        private = [
            path
            for path in planted.folder.rglob("*")
            if path.name.endswith(PRIVATE) or path.name.startswith("answers")
        ]
        assert {"ledger.sqlite", "answers0.jsonl"} <= {path.name for path in private}
        assert {mode(path) for path in private} == {0o600}
        (rows,) = planted.folder.glob("rows*.jsonl")
        assert mode(rows) == 0o666 & ~mask

    @pytest.mark.no_cover
    def test_a_ledger_that_others_could_read_is_closed_to_them(self, planted):
        planted.command("compile", planted.data, "-o", "judge", "--variant", "vanilla")
        ledger = planted.folder / ".judgesmith" / "ledger.sqlite"
        ledger.chmod(0o644)
        connect(ledger).close()
        assert mode(ledger) == 0o600
