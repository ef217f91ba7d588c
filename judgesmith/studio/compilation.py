"""One compilation of a project at a time: commands as processes, with progress, stop and resume."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgesmith.data import read_items
from judgesmith.data.sheets.ratings import selection_chance, was_chosen
from judgesmith.drafts import put_text
from judgesmith.errors import InputError, JudgesmithError
from judgesmith.results.progress import SWITCH
from judgesmith.signatures import RatedItem
from judgesmith.signatures.plain_data import json_line
from judgesmith.studio.project import Project
from judgesmith.studio.store import confirmed_mark

OFFLINE = "offline"
_LAST = 30.0  # seconds that a stopped command has to finish what is in flight
_N_NEXT, _N_RANDOM, _N_SCORED = 32, 8, 200
_STOPPED = 130


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What can be said of a compilation; empty takes what ``compile`` does by itself."""

    objective: str = ""
    effort: str = "medium"
    max_usd: str = ""
    rubric: bool = True
    suggest: bool = True


class Compilation:
    """Compiles judges of a project, one at a time, each into the next folder of ``judges``.

    Parameters
    ----------
    project : Project
        Its project file names model, address, prices and budget; the offline model by default.

    Examples
    --------
    >>> import tempfile
    >>> from judgesmith.studio import Project
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "judgesmith.yaml").write_text("data: sample-verdicts")
    >>> compilation = Compilation(Project(folder))
    >>> compilation.model, compilation.endpoint, compilation.state["status"]
    ('offline', '', 'idle')
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.state: dict[str, Any] = {"status": "idle", "step": "", "line": "", "number": None}
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.project.file.model or OFFLINE

    @property
    def endpoint(self) -> str:
        """Model and address, which are confirmed once per folder; empty for the offline model."""
        if self.model == OFFLINE:
            return ""
        provider = self.model.partition("/")[0]
        return f"{self.model} at {self.project.file.api_base or f'the address of {provider}'}"

    def confirmed(self) -> bool:
        """Return whether texts and a key may be sent to the endpoint."""
        mark = confirmed_mark(self.project.folder, self.endpoint)
        return not self.endpoint or self.project.store.agreed(mark)

    def _check_confirmed(self) -> None:
        if not self.confirmed():
            raise InputError(
                f"texts of this folder would go to {self.endpoint}.",
                hint="confirm that first, on the compile page.",
            )

    def confirm(self) -> None:
        """Note that texts and a key may be sent to the endpoint from this folder."""
        self.project.store.agree(confirmed_mark(self.project.folder, self.endpoint))

    @property
    def unfinished(self) -> int | None:
        """The number of a run that was begun and made no judge, or was stopped after it."""
        number = self._next_number()
        for one in (number, number - 1):
            place = self.project.run_folder(one) / "job.json"
            if place.is_file() and json.loads(place.read_text("utf-8")).get("status") != "done":
                return one
        return None

    def estimate(self, choices: Choices) -> dict[str, Any]:
        """Return what a compilation would ask and cost, without asking anything."""
        folder = self.project.run_folder(0)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self._prepare(folder)
            told, fault, _ = self._run([*self._compile(0, choices), "--dry-run"], aside=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if fault or told is None:
            raise InputError(fault or "the estimate said nothing.")
        return told

    def judged(self, number: int, item: RatedItem) -> dict[str, Any]:
        """Return what judge ``vN`` says of a text, as a row that ``score`` writes."""
        self._check_confirmed()
        with tempfile.TemporaryDirectory() as name:
            given, output = Path(name) / "item.jsonl", Path(name) / "scores.jsonl"
            put_text(given, item.model_dump_json(include={"source", "context", "response"}) + "\n")
            call = ["score", f"judges/v{number}", str(given), "-o", str(output)]
            _, fault, _ = self._run([*call, "--max-unscored=1", *self._model()], aside=True)
            if fault:
                raise InputError(fault)
            found: dict[str, Any] = json.loads(output.read_text("utf-8"))
        return found

    def start(self, choices: Choices, *, resume: bool = False) -> int:
        """Begin a compilation in the background, and return the number of its judge.

        Parameters
        ----------
        choices : Choices
            How; with ``resume`` those of the run that was stopped hold.
        resume : bool
            Whether the unfinished run continues with the labels that it began with.

        Raises
        ------
        ValueError
            If one runs, the model has not been confirmed, or no row is labelled.
        """
        with self._lock:
            if self.state["status"] in ("running", "stopping"):
                raise InputError("a compilation runs already.", hint="stop it first.")
            self._check_confirmed()
            left = self.unfinished
            number = left if resume and left else self._next_number()
            folder = self.project.run_folder(number)
            if resume and left:
                about = json.loads((folder / "job.json").read_text("utf-8"))
                choices = Choices(**about["choices"])
            else:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True, exist_ok=True)
                n = self._prepare(folder)
                if not n:
                    raise InputError("no row is labelled.", hint="label some first.")
                rubrics = self.project.store.rubrics() if choices.rubric else []
                about = {
                    "choices": vars(choices),
                    "at": time.time(),
                    "rows": n,
                    "rubric": rubrics[0][0] if rubrics else 0,
                }
                if rubrics:
                    put_text(folder / "rubric.yaml", rubrics[0][3])
            self._keep(number, {**about, "status": "running"})
            self._stopping = False
            self.state = {"status": "running", "step": "", "line": "", "number": number}
            self._thread = threading.Thread(target=self._work, args=(number, choices, about))
            self._thread.start()
            return number

    def stop(self) -> None:
        """Have the running command finish what is in flight, and end."""
        with self._lock:
            self._stopping = True
            if self.state["status"] == "running":
                self._tell(status="stopping")
            if self._process is not None:
                with suppress(ProcessLookupError):
                    self._process.send_signal(signal.SIGINT)

    def wait(self) -> str:
        """Wait for the end, and return how it ended: ``done``, ``stopped`` or ``failed``."""
        if self._thread is not None:
            self._thread.join()
        return str(self.state["status"])

    def close(self) -> None:
        """Stop, wait for a while, and end what runs after that."""
        self.stop()
        if self._thread is not None:
            self._thread.join(_LAST)
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    def _next_number(self) -> int:
        return max(self.project.judges, default=0) + 1

    def _prepare(self, folder: Path) -> int:
        """Write the labelled rows of a run, and return how many there are."""
        (self.project.folder / "judges").mkdir(exist_ok=True)
        return len(self.project.write_export(folder / "ratings.jsonl").rows)

    def _keep(self, number: int, about: dict[str, Any]) -> None:
        put_text(self.project.run_folder(number) / "job.json", json_line(about) + "\n")

    def _tell(self, **changed: Any) -> None:
        self.state = {**self.state, **changed}

    def _work(self, number: int, choices: Choices, about: dict[str, Any]) -> None:
        status, fault = "done", ""
        try:
            for name, arguments, needed in self._steps(number, choices):
                if self._stopping:
                    status = "stopped"
                    break
                self._tell(step=name, line="", done=0, total=None)
                told, fault, code = self._run(arguments)
                if code == _STOPPED or self._stopping:
                    status = "stopped"
                    break
                if fault and needed:
                    status = "failed"
                    break
                if told is not None:
                    place = self.project.run_folder(number) / f"{name}.json"
                    put_text(place, json_line(told) + "\n")
                    about["cost_usd"] = about.get("cost_usd", 0.0) + (told.get("cost_usd") or 0.0)
                elif fault:
                    about.setdefault("notes", []).append(fault)
                if name == "suggest" and not fault:
                    self._enqueue(number)
        except (JudgesmithError, OSError) as broken:
            status, fault = "failed", str(broken)
        self._keep(number, {**about, "status": status})
        self._tell(status=status, line=fault if status == "failed" else "")

    def _steps(self, number: int, choices: Choices) -> Iterator[tuple[str, list[str], bool]]:
        """Yield the commands of a run: a name, arguments, and whether the rest needs it."""
        rows, judge = self._place(number, "ratings.jsonl"), f"judges/v{number}"
        yield "compile", self._compile(number, choices), True
        output = ["-o", self._place(number, "scores.jsonl")]
        # A share of unscored rows is shown, and no reason to stop.
        yield "score", [*("score", judge, rows), *output, "--max-unscored=1", *self._model()], True
        before = [one for one in self.project.judges if one < number]
        if before:
            old = f"judges/v{before[-1]}"
            output = ["-o", self._place(number, "scores-before.jsonl")]
            more = ["--max-unscored=1", *self._model()]
            yield "score-before", ["score", old, rows, *output, *more], False
            yield "compare", ["compare", judge, old, rows, *self._model()], False
        if choices.suggest:
            data = [str(Path(one).resolve()) if Path(one).exists() else one for one in self._data()]
            call = ["label", "suggest", judge, *data, rows, "--force"]
            call += ["-o", self._place(number, "next.csv"), "--max-rows", str(_N_SCORED)]
            call += ["-n", str(_N_NEXT), "--with-random", str(_N_RANDOM)]
            yield "suggest", [*call, *self._model(project="judgesmith.yaml")], False

    def _data(self) -> tuple[str, ...]:
        return self.project.file.data

    def _place(self, number: int, name: str) -> str:
        return f"runs/v{number}/{name}"

    def _compile(self, number: int, choices: Choices) -> list[str]:
        call = ["compile", self._place(number, "ratings.jsonl"), "-o", f"judges/v{number}"]
        if choices.objective:
            call += ["--objective", choices.objective]
        if choices.effort:
            call += ["--effort", choices.effort]
        for target in self.project.file.target:
            call += ["--target", target]
        if (self.project.folder / self._place(number, "rubric.yaml")).is_file():
            call += ["--rubric", self._place(number, "rubric.yaml")]
        budget = {**self.project.file.budget}
        if choices.max_usd:
            budget["usd"] = float(choices.max_usd)
        for name, limit in budget.items():
            call += [f"--max-{name}", str(limit)]
        return [*call, "--model", self.model, *self._model(saved=False)]

    def _model(self, *, saved: bool = True, project: str = "none") -> list[str]:
        """Return the options that say where a model is, and that a saved judge may ask it."""
        file = self.project.file
        found = ["--project", project]
        if file.api_base:
            found += ["--api-base", file.api_base]
        if saved and self.endpoint and project == "none":
            found += ["--allow-model", self.model]
        for name, price in file.prices.items() if self.endpoint else ():
            found += ["--price", f"{name}={price}" if name else price]
        return found

    def _run(
        self, arguments: list[str], *, aside: bool = False
    ) -> tuple[dict[str, Any] | None, str, int]:
        """Run a command, and return the object it printed, what it broke on, and its status.

        Progress of one ``aside`` is not told, and ``stop`` does not end it.
        """
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "judgesmith", *arguments, "--json"],
            cwd=self.project.folder,
            env={**os.environ, SWITCH: "json"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches it as a request of ours, once
        )
        if not aside:
            self._process = process
        faults: list[str] = []
        reader = threading.Thread(target=self._listen, args=(process, faults, aside))
        reader.start()
        assert process.stdout is not None
        out = process.stdout.read()
        code = process.wait()
        reader.join()
        if not aside:
            self._process = None
        try:
            told = json.loads(out)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            told = None
        if code in (0, 1) and told is not None:
            return told, "", code
        return None, faults[-1] if faults else f"the command ended with status {code}.", code

    def _listen(self, process: subprocess.Popen[str], faults: list[str], aside: bool) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            try:
                said = json.loads(line)
            except ValueError:
                if line.strip():
                    faults.append(line.strip()[:2000])
                continue
            if "error" in said:
                faults.append(" ".join(filter(None, (said["error"], said.get("hint")))))
            elif "stage" in said and not aside:
                self._tell(**{name: said.get(name) for name in ("stage", "done", "total", "line")})

    def _enqueue(self, number: int) -> None:
        """Have the suggested rows labelled next."""
        sheet = read_items(self.project.folder / self._place(number, "next.csv"))
        rows = []
        for item in sheet:
            key = str(item.extra.get("key", "")).removeprefix("x") or item.key
            by = str(item.extra.get("suggested_by") or "random")
            rows.append((key, by, None if was_chosen(item) else selection_chance(item)))
        self.project.store.enqueue(rows)
