"""Keys stay where they came from: in no file, output, log, fault or title of a process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import loopback
import planting
import pytest

from judgesmith.programs.lm.cache.records import connect

TESTS = Path(__file__).resolve().parent
PRIVATE = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".sqlite-owners")


@pytest.fixture(scope="module")
def server():
    with loopback.serving() as running:
        yield running


@pytest.fixture
def planted(server, tmp_path):
    server.reset()
    found = planting.Planted(tmp_path, server)
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

    @pytest.mark.parametrize("behaviour", ["wrong key", "bad request", "server error", "forbidden"])
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
        planted.server.script({"latency": 30, **planting.GOOD})
        call = [sys.executable, "-m", "judgesmith", "score", str(made), str(planted.data)]
        call += ["-o", "rows.jsonl", "--model", "openai/m", "--api-base", planted.server.url]
        with subprocess.Popen(call, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                while not planted.server.counts()["in_flight"] and process.poll() is None:
                    pass
                lines = planting.command_lines(process.pid)
            finally:
                process.kill()
        assert any(b"judgesmith" in line for line in lines)
        assert not [found for line in lines if (found := planting.found_in(line))]


class TestWhoMayRead:
    """The ledger and what is exported of it are the owner's alone; results are as umask says."""

    @pytest.mark.no_cover
    @pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
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
