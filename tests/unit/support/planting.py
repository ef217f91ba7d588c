"""Secrets planted where keys come from, and a search for them wherever anything goes.

``Planted`` runs every command in this process, against a server that answers well or quotes the
request it got with all its keys, and collects all that was made: files, output, logs at DEBUG.
"""

import contextlib
import io
import json
import logging
import os
import shutil
import sys
import traceback
from pathlib import Path

from judgesmith.cli import main
from judgesmith.data.samples import sample_path
from judgesmith.programs.lm import Retry, lm_client_of, model

ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-proj-PLANTEDopenai0123456789abcdefXYZ",
    "ANTHROPIC_API_KEY": "sk-ant-api03-PLANTEDanthropic-0123456789",
    "TOGETHERAI_API_KEY": "PLANTEDtogether-zyxwvutsrqponml",
    "AWS_ACCESS_KEY_ID": "AKIAPLANTED012345678",
    "AWS_SECRET_ACCESS_KEY": "PLANTEDaws/wJalrXUtnFEMI+K7MDENGbPxRfiCY",
    "DATABASE_PASSWORD": "planted-horse-battery",
}
USER, PASSWORD, QUERY = "planteduser", "plantedpass-7f3a", "plantedquery-99"
BASIC = "cGxhbnRlZHVzZXI6cGxhbnRlZHBhc3MtN2YzYQ=="
NEEDLES = {**ENVIRONMENT, "user": USER, "password": PASSWORD, "query": QUERY, "basic": BASIC}
_TELLING = 14  # characters at either end of a secret that are as good as the whole

_QUOTED = (
    f"Incorrect API key provided: {', '.join(ENVIRONMENT.values())}; the request to "
    f"http://{USER}:{PASSWORD}@server/v1?key={QUERY} had Authorization: Bearer "
    f"{ENVIRONMENT['OPENAI_API_KEY']}, Authorization: Basic {BASIC}, x-api-key: "
    f"{ENVIRONMENT['ANTHROPIC_API_KEY']}, and sk-proj-PLANTED***********fXYZ in the end."
)
_BODY = json.dumps({"error": {"message": _QUOTED, "type": "invalid", "code": "invalid_api_key"}})
GOOD = {"chatty": "steady"}
FAILING = {
    "wrong key": {"status": 401, "body": _BODY},
    "forbidden": {"status": 403, "body": f"<html><body>{_QUOTED}</body></html>"},
    "bad request": {"status": 400, "body": _BODY},
    "no such model": {"status": 404, "body": _BODY},
    "too many": {"status": 429, "body": _BODY, "retry_after": 0},
    "server error": {"status": 500, "body": _BODY, "retry_after": 0},
    "no reply of a model": {"body": _BODY, "retry_after": 0},
    "lost connection": {"disconnect": True},
}


def found_in(data):
    """Return the names of the planted secrets in a text or in bytes, whole or telling parts."""
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return [
        name
        for name, secret in NEEDLES.items()
        if any(
            part.encode() in content
            for part in (secret, secret[:_TELLING], secret[-_TELLING:])
            if len(part) >= 8
        )
    ]


class Planted:
    """A folder to work in, secrets in the environment, and all places that were looked at."""

    made = None
    """The files of the judge that the offline model made, once for all folders."""

    def __init__(self, folder, server):
        self.folder = Path(folder)
        self.server = server
        self.places = {}
        self.statuses = {}
        rows = sample_path().read_text(encoding="utf-8").splitlines()[:24]
        self.data = self.folder / "data.jsonl"
        self.data.write_text("\n".join(rows) + "\n", encoding="utf-8")

    @contextlib.contextmanager
    def environment(self):
        """Plant the secrets, work in the folder, and hear every logger."""
        before, here = dict(os.environ), Path.cwd()
        heard = io.StringIO()
        handler = logging.StreamHandler(heard)
        root = logging.getLogger()
        names = ["", "dspy", "LiteLLM", "judgesmith", "asyncio", "httpx", "openai"]
        levels = {name: logging.getLogger(name).level for name in names}
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        os.environ |= {**ENVIRONMENT, "TMPDIR": str(temporary)}
        os.chdir(self.folder)
        root.addHandler(handler)
        for name in names:
            logging.getLogger(name).setLevel(logging.DEBUG)
        try:
            yield
        finally:
            root.removeHandler(handler)
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)
            os.chdir(here)
            os.environ.clear()
            os.environ.update(before)
            self.places[f"logs {len(self.places)}"] = heard.getvalue()

    def command(self, *arguments):
        """Run a command, and keep what it says."""
        out, err = io.StringIO(), io.StringIO()
        given = [str(one) for one in arguments]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = main(given)
        except Exception as fault:
            status = type(fault).__name__
            self.places[f"fault of {len(self.places)} {given[0]}"] = traceback.format_exc()
        n = len(self.statuses)
        self.statuses[f"{n} {given[0]}"] = status
        self.places[f"output of {n} {given[0]}"] = out.getvalue()
        self.places[f"errors of {n} {given[0]}"] = err.getvalue()
        return status

    def visit(self, behaviour, *, address=None):
        """Run every command that asks a model, and those that show what came of it."""
        self.server.reset()
        self.server.script(behaviour)
        n = len(self.statuses)
        asked = ["--model", "openai/m", "--api-base", address or self.server.url]
        quick = ["--variant", "vanilla", "--rounds", "2", "--concurrency", "4"]
        made = self.folder / "offline"
        if Planted.made is None:
            self.command("compile", self.data, "-o", made, *quick)
            files = [one for one in made.rglob("*") if one.is_file()]
            Planted.made = {one.relative_to(made): one.read_bytes() for one in files}
        for name, content in Planted.made.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(content)
        judge, rows = self.folder / f"judge{n}", self.folder / f"rows{n}.jsonl"
        self.command("infer", self.data, "-o", self.folder / f"rubric{n}.yaml", *asked)
        asked_rows = [*asked, "--max-unscored", "1"]  # a chatty model's answers are not all read
        self.command("compile", self.data, "-o", judge, *quick, *asked_rows)
        shutil.copytree(made, judge, dirs_exist_ok=True)
        self.command("score", judge, self.data, "-o", rows, *asked_rows)
        self.command("evaluate", judge, self.data, "--json", *asked_rows)
        self.command("show", judge, "--prompts")
        self.command("show", judge, "--json")
        table = self.folder / f"table{n}"
        self.command("ablate", self.data, "-o", table, "--rows", "vanilla", "--rounds", "1", *asked)
        self.command("ledger", "stats")
        self.command("ledger", "export", "-o", self.folder / f"answers{n}.jsonl")

    def ask(self, name, *, address=None):
        """Ask a model from Python, and keep all that its objects and its faults say."""
        places = {}
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                lm = model(name, ledger=None, api_base=address, retry=Retry(attempts=1), timeout=30)
                stack = lm_client_of(lm)
                for part in (
                    lm,
                    stack,
                    stack.engine,
                    lm.dump_state(),
                    stack.engine.route,
                    stack.endpoint,
                ):
                    places[f"repr {len(places)}"] = repr(part)
                places["answer"] = repr(lm("2 + 2?"))
            except Exception as fault:
                places["fault"] = repr((fault, fault.args, vars(fault), fault.__cause__))
                places["traceback"] = "".join(traceback.format_exception(fault))
        places["output"] = said.getvalue()
        self.places |= {f"{name} {len(self.places)} {key}": one for key, one in places.items()}

    def files(self):
        """Return every file in the folder with its content."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }

    def findings(self):
        """Return where secrets are, and how many places were looked at."""
        places = {**self.places, **self.files()}
        found = {place: names for place, data in places.items() if (names := found_in(data))}
        found |= {f"name {place}": names for place in places if (names := found_in(place))}
        return found, len(places)


def addresses(server):
    """Return addresses with secrets in them, that can be sent to and that cannot."""
    there = f"127.0.0.1:{server.port}/v1"
    return (
        f"http://{USER}:{PASSWORD}@{there}",
        f"http://{there}?key={QUERY}",
        f"http://{USER}:{PASSWORD}@{there}?key={QUERY}#{QUERY}",
        f"{USER}:{PASSWORD}@{there}?key={QUERY}",
        f"http://{USER}:{PASSWORD}@127.0.0.1:99999/v1?key={QUERY}",
        f"ftp://{USER}:{PASSWORD}@{there}",
    )


def command_lines(process_id):
    """Return the arguments of a process and of all its children, as everybody can read them."""
    own = Path(f"/proc/{process_id}")
    lines = [(own / "cmdline").read_bytes(), (own / "comm").read_bytes()]
    for task in (own / "task").iterdir():
        lines.append((task / "comm").read_bytes())
        children = (task / "children").read_text() if (task / "children").exists() else ""
        for child in children.split():
            with contextlib.suppress(OSError):
                lines.append(Path(f"/proc/{child}/cmdline").read_bytes())
    return lines


has_proc = sys.platform == "linux"
