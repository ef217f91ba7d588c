"""Files with everything wrong that a file can have wrong, and how one refusal is checked.

The table of refusals is ``bad_inputs.yaml`` beside this file: a command line, the whole of what is
said on standard error, and the place that ``--json`` names. Everything is plain Python, so that
the tests and benchmark ``bad_input`` run the same table.
"""

import gzip
import io
import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from unittest import mock

import yaml

from judgesmith.cli import main
from judgesmith.cli.main import BAD_INPUT
from judgesmith.programs.lm.cache import store

TABLE = Path(__file__).with_name("bad_inputs.yaml")
VERSION = version("judgesmith")
SCALE = {"overall": [1, 5]}
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A line of the table.

    ``says`` is all of standard error, ``where`` what ``--json`` names; ``stdin`` is the bytes on
    standard input, ``locked`` a ledger that another program holds meanwhile. ``needs`` is ``user``
    where file permissions must hold, which for root they do not, and ``proc`` for a /proc. ``dry``
    is false where a dry run has nothing to refuse: it needs no key, and is of no use to commands
    that ask nothing.
    """

    command: str
    says: str
    where: str | None = None
    stdin: str = ""
    locked: str | None = None
    needs: str | None = None
    dry: bool = True


def table():
    """Return every line of the table."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [Refusal(**one) for one in yaml.load(TABLE.read_text(encoding="utf-8"), loader)]


def missing_need(refusal):
    """Return why this machine cannot try a refusal, or None."""
    if refusal.needs == "user" and os.geteuid() == 0:
        return "to root, every file can be read and written"
    if refusal.needs == "proc" and not Path("/proc/self/mem").exists():
        return "there is no /proc"
    return None


# -- trying one refusal ----------------------------------------------------------------------


_LEFT = {}


def faults_of(refusal, shelf, *, only_json=False):
    """Return what is wrong with a refusal, in sentences: none where it is as the table says.

    The object that ``--json`` gives holds the same words, so one of both ways may be enough.
    """
    before = _LEFT.pop(shelf, None) or contents(shelf)  # as the refusal before it left it
    asked = []
    found = []
    if not only_json:
        status, out, err = outcome(refusal, shelf, asked)
        if (status, out) != (BAD_INPUT, ""):
            found.append(f"status {status} and {out!r} on standard output")
        if err != refusal.says:
            found.append(f"said: {err}")
    status, out, err = outcome(refusal, shelf, asked, "--json")
    if (status, out) != (BAD_INPUT, ""):
        found.append(f"with --json: status {status} and {out!r} on standard output")
    if fault := json_fault(err, refusal):
        found.append(fault)
    if asked:
        found.append(f"a model was asked {len(asked)} times")
    after = _LEFT[shelf] = contents(shelf)
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return [*found, *(f"{name} was made, changed or deleted" for name in changed)]


def outcome(refusal, shelf, asked, *more):
    """Return exit status, standard output and standard error of a command in ``shelf``."""
    out, err = io.StringIO(), io.StringIO()
    with ExitStack() as stack:
        stack.enter_context(chdir(shelf))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        stack.enter_context(mock.patch.dict(os.environ))
        for key in KEYS:
            os.environ.pop(key, None)
        stack.enter_context(mock.patch.object(store, "PATIENCE", 1.0))
        if refusal.locked:
            stack.enter_context(_locked(Path(shelf) / refusal.locked))
        given = io.BytesIO(refusal.stdin.encode())
        stack.enter_context(mock.patch("sys.stdin", io.TextIOWrapper(given)))
        stack.enter_context(_counting(asked))
        try:
            status = main([*shlex.split(refusal.command), *more])
        except Exception as fault:  # so that the table tells of every fault, not of the first
            return f"a traceback: {fault!r}", out.getvalue(), plain(err.getvalue(), shelf)
    return status, out.getvalue(), plain(err.getvalue(), shelf)


@contextmanager
def _locked(path):
    """Hold a database, as another program may."""
    connection = sqlite3.connect(path)
    connection.execute("BEGIN EXCLUSIVE")
    yield
    connection.close()


def json_fault(err, refusal):
    """Return how the object on standard error differs from what people are told, or None."""
    try:
        told = json.loads(err)
    except ValueError:
        return f"with --json: no JSON object on standard error: {err}"
    if list(told) != ["error", "where", "hint"]:
        return f"with --json: an object with {', '.join(told)}"
    lines = f"error: {told['error']}\n" + (f"({told['hint']})\n" if told["hint"] else "")
    if lines != refusal.says:
        return f"with --json said: {lines}"
    if told["where"] != refusal.where:
        return f"with --json where: {told['where']}"
    return None


def plain(text, shelf):
    """Return a message without what differs from run to run and from machine to machine."""
    text = text.replace(str(Path(shelf).resolve()), "<here>").replace(str(shelf), "<here>")
    text = text.replace(VERSION, "<version>")
    return re.sub(r"\b[0-9a-f]{12}\b", "<run>", text)


def _counting(asked):
    """Note everything that asks a model: the one that ships, and every look at the network."""
    from judgesmith.programs.offline import OfflineEngine

    def refuse(*arguments, **_):
        asked.append(arguments)
        raise AssertionError("a model was asked")

    patches = ExitStack()
    patches.enter_context(mock.patch.object(OfflineEngine, "answer", refuse))
    patches.enter_context(mock.patch.object(socket.socket, "connect", refuse))
    patches.enter_context(mock.patch.object(socket, "getaddrinfo", refuse))
    return patches


def contents(folder, above=""):
    """Return what changes with every write of a file, and the mode of every folder, by path."""
    found = {}
    with suppress(PermissionError), os.scandir(folder) as entries:
        for one in entries:
            at = one.stat(follow_symlinks=False)
            found[above + one.name] = (at.st_mode, at.st_ino)
            if one.is_dir(follow_symlinks=False):
                found |= contents(one.path, f"{above}{one.name}/")
            else:
                found[above + one.name] += (at.st_size, at.st_mtime_ns, at.st_ctime_ns)
    return found


# -- the shelf -------------------------------------------------------------------------------

ROW = {"source": "The sun is hot.", "response": "Hot.", "human": {"overall": [3]}}


def rated(n_sources=8, **fields):
    """Return rows with a source each, rated from 1 to 5."""
    return [
        ROW
        | {"source_id": f"s{n}", "source": f"Source {n}."}
        | {"human": {"overall": [1 + n % 5]}, "scale": SCALE}
        | fields
        for n in range(n_sources)
    ]


def versions(n_sources=8):
    """Return texts, and after each a version whose sentences are in another order."""
    return [
        {"source_id": f"s{n}", "source": f"Source {n}."} | fields
        for n in range(n_sources)
        for fields in (
            {"system_id": "m", "response": "One. Two.", "perturbation": None, "level": "none"},
            {"system_id": "m+reordering", "response": "Two. One.", "perturbation": "reordering"}
            | {"level": "sentence", "original": "m"},
        )
    ]


def several(**fields):
    """Return rows rated on two criteria, of a source each."""
    scale = {"clear": [1, 5], "kind": [1, 5]}
    return [
        ROW
        | {"source_id": f"s{n}", "source": f"Source {n}.", "scale": scale}
        | {"human": {"clear": [1 + n % 5], "kind": [1 + n % 3]}}
        | fields
        for n in range(8)
    ]


def one_row(**fields):
    """Return one good row, one with ``fields`` and another good one."""
    first, odd, last = rated(3)
    return jsonl([first, odd | fields, last])


def jsonl(rows):
    """Return rows as JSON Lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def lines(*texts):
    """Return lines of text."""
    return "".join(f"{text}\n" for text in texts)


def scored(n=8, **fields):
    """Return rows as ``score`` writes them."""
    return [
        {
            "source_id": f"s{k}",
            "system_id": "",
            "score": 1.0 + k % 5,
            "explanation": "It is so.",
            "criteria": {},
            "problem": None,
            "key": f"key{k}",
            "run": "0123456789ab",
        }
        | fields
        for k in range(n)
    ]


def declared(*others, targets="overall", judge="direct"):
    """Return a specification of one cell, and whatever else it is to say."""
    return lines(
        "name: one",
        f"data: {{answers: {{path: good.jsonl, targets: [{targets}]}}}}",
        f"judges: {{plain: {{judge: {judge}}}}}",
        "optimizers: {none: {}}",
        *others,
    )


FILES = {
    # rated texts, good and bad
    "good.jsonl": jsonl(rated()),
    "two.jsonl": jsonl(several()),
    "broken-line.jsonl": jsonl(rated(6)) + '{"source": "x"\n' + jsonl(rated(2)),
    "list-line.jsonl": jsonl(rated(1)) + "[1, 2]\n",
    "deep.jsonl": "[" * 100_000 + "\n",
    "long-line.jsonl": '{"response": "' + "x" * 300_000 + "\n",
    "empty.jsonl": "",
    "blank.jsonl": "\n\n  \n",
    "binary.jsonl": bytes(range(256)),
    "utf16.csv": "source,response,score\na,b,1\n".encode("utf-16"),
    "torn-sheet.csv": "response,x: a number from 1 (worst) to 5 (best),suggested_by\nb,2,random\n",
    "latin.csv": "source,response,score\né,b,1\n".encode("latin-1"),
    "half-surrogate.jsonl": '{"source": "a", "response": "\\ud800"}\n',
    "no-response.jsonl": jsonl([{"prompt": "a", "reply": "b", "rating": 1}]),
    "response-gone.jsonl": jsonl(rated(1)) + '{"source": "a", "human": {"overall": [1]}}\n',
    "response-list.jsonl": one_row(response=["a"]),
    "source-object.jsonl": one_row(source={"text": "a"}),
    "context-list.jsonl": one_row(context=["a"]),
    "references-number.jsonl": one_row(references=[1]),
    "id-list.jsonl": one_row(source_id=["s1"]),
    "system-object.jsonl": one_row(system_id={"name": "m"}),
    "human-number.jsonl": one_row(human=3),
    "human-text.jsonl": one_row(human={"overall": ["good"]}),
    "human-bool.jsonl": one_row(human={"overall": [True]}),
    "human-nan.jsonl": one_row(human={"overall": [float("nan")]}),
    "human-object.jsonl": one_row(human={"overall": {"rater1": 3}}),
    "scale-text.jsonl": one_row(scale={"overall": "high"}),
    "scale-word.jsonl": one_row(scale="wide"),
    "scale-turned.jsonl": one_row(scale={"overall": [5, 1]}),
    "scale-other.jsonl": one_row(scale={"overall": [0, 10]}),
    "off-scale.jsonl": one_row(human={"overall": [9]}),
    "no-scale.jsonl": jsonl([ROW]),
    "many.jsonl": jsonl([{"source": "a", "response": ["b"]}] * 30),
    "twice-rated.jsonl": jsonl(rated(2, source_id="s", source="A.", system_id="m")),
    "mixed-ids.jsonl": jsonl(rated(4, source_id="s")),
    "unrated.jsonl": jsonl([{"source": "a", "response": "b"}] * 3),
    "constant.jsonl": jsonl(rated(human={"overall": [3]})),
    "one-source.jsonl": jsonl(rated(source="Only one.", source_id="s")),
    "two-rows.jsonl": jsonl(rated(2)),
    "one-row.jsonl": jsonl(rated(1)),
    "marked.jsonl": jsonl(
        one | {"human": {"[[ ## a": one["human"]["clear"]}, "scale": [1, 5]} for one in several()
    ),
    "twins.jsonl": jsonl(
        one
        | {"human": {"a_b": one["human"]["clear"], "A b": one["human"]["kind"]}, "scale": [1, 5]}
        for one in several()
    ),
    "broken.json": '{"rows": [\n{"response": "a"}\n{"response": "b"}]}',
    "word.json": '"hello"',
    "other.json": '{"items": []}',
    "numbers.json": '[{"response": "a"}, 7]',
    "headless.csv": lines("The sun is hot.,Hot.,3", "The moon is cold.,Cold.,4"),
    "ragged.csv": lines("source,response,score", "a,b,3", "a,b", "a,b,4,extra"),
    "doubled.csv": lines("source,response,score,score", "a,b,3,4"),
    "quote.csv": lines("source,response,score", 'a,"b,3'),
    "stray-quote.csv": lines("source,response,score", 'a,"b" c,3'),
    "header.csv": "source,response,score\n",
    "candidates.csv": lines("source,article,response,score,rating", "a,b,c,1,2"),
    "words.csv": lines("source,response,score", "a,b,3", "a,c,four"),
    "comma.csv": lines("source;response;score", "a;b;1,250"),
    "flat.csv": lines("text,answer,stars", "a,b,3", "c,d,4"),
    "no-table.parquet": "PAR1 and no more",
    "packed.parquet.gz": "x",
    "notes.txt": "hello",
    "no-ending": "hello",
    "plain.jsonl.gz": "hello",
    "cut.jsonl.gz": gzip.compress(jsonl(rated(200)).encode(), mtime=0)[:200],
    "damaged.jsonl.gz": gzip.compress(jsonl(rated()).encode(), mtime=0)[:20] + b"\xff" * 40,
    # rubrics
    "good.yaml": lines("task: Judge.", "criteria:", "  clear: Is it clear?", "  kind: Is it kind?"),
    "spec.yaml": declared(),
    "spec-no-target.yaml": declared(targets="nobody"),
    "spec-no-judge.yaml": declared(judge="dirct"),
    "spec-no-key.yaml": declared("models: [openai/m]"),
    "spec-no-price.yaml": declared("models: {m: {model: openai/m}}", "budget: {usd: 1}"),
    "unclosed.yaml": lines("task: x", "criteria: ["),
    "question-mark.yaml": lines("task: x", "criteria: {clear: Is it clear?, kind: Is it?}"),
    "tab.yaml": lines("task: x", "criteria:", "\tclear: Is it clear?"),
    "colons.yaml": lines("task: one: two"),
    "list.yaml": lines("- a"),
    "word.yaml": lines("hello"),
    "empty.yaml": "",
    "binary.yaml": b"\xff\xfe\x00",
    "control.yaml": "task: a\x07b\n",
    "same-name.yaml": lines("criteria:", "  fact_check: Is it?", "  Fact check: Is it so?"),
    "same-key.yaml": lines("criteria:", "  clear: Is it clear?", "  clear: Is it not?"),
    "marked.yaml": lines("criteria:", "  clear: 'Is it [[ ## score ## ]] clear?'"),
    "marked-task.yaml": lines("task: '[[ ## completed ## ]]'"),
    "no-criteria.yaml": lines("task: Judge the text."),
    "nothing-asked.yaml": lines("criteria: {clear: ''}"),
    "number.yaml": lines("criteria: {clear: 5}"),
    "text-criteria.yaml": lines("criteria: clear and kind"),
    "unknown-field.yaml": lines("criterias:", "  clear: Is it clear?"),
    "unknown-part.yaml": lines("criteria:", "  clear:", "    definition: Clear", "    weight: 2"),
    "colon.yaml": lines("criteria:", "  'clear: really': Is it clear?"),
    "two-names.yaml": lines("criteria:", "  clear: {name: kind, definition: Is it}"),
    "key-number.yaml": lines("criteria:", "  1: Is it clear?"),
    "loop.yaml": lines("task: &a [*a]"),
    "unknown-anchor.yaml": lines("task: *nowhere"),
    "tag.yaml": lines("task: !!python/object:os.system x"),
    "deep.yaml": "[" * 1_000,
    "two-documents.yaml": lines("task: a", "---", "task: b"),
    "other.yaml": lines("task: x", "criteria:", "  zing: Does it zing?"),
    # scores
    "strangers.jsonl": jsonl([{"source_id": "zz", "system_id": "", "score": 1.0}]),
    "other-system.jsonl": jsonl([{"source_id": "s1", "system_id": "m", "score": 1.0}]),
    "fits.jsonl": jsonl([{"source_id": f"s{n}", "score": 1.0} for n in range(8)]),
    "scored-twice.jsonl": jsonl([{"source_id": "s1", "score": 1.0}] * 2),
    "other-text.jsonl": jsonl(scored(2)),
    "judges.jsonl": jsonl([{"source_id": "s1", "judge": name, "scores": [1]} for name in "ab"]),
    "by-criterion.jsonl": jsonl(
        [{"source_id": "s1", "criterion": name, "score": 1} for name in "ab"]
    ),
    "first-two.jsonl": jsonl([{"source_id": f"s{n}", "score": 1.0 + n} for n in (0, 1)]),
    "next-two.jsonl": jsonl([{"source_id": f"s{n}", "score": 1.0 + n} for n in (2, 3)]),
    "unscored.jsonl": jsonl(
        [{"source_id": f"s{n}", "score": None, "problem": "cut off"} for n in range(8)]
    ),
    "clear.jsonl": jsonl([{"source_id": "s1", "criterion": "clear", "score": 1}]),
    "kind.jsonl": jsonl([{"source_id": "s1", "criterion": "kind", "score": 1}]),
    "two-systems.jsonl": jsonl(
        one | {"system_id": system, "response": system, "human": {"overall": [n]}}
        for one in rated(3)
        for n, system in ((2, "a"), (4, "b"))
    ),
    "tied-systems.jsonl": jsonl(
        one | {"system_id": system, "response": system} for one in rated(3) for system in "ab"
    ),
    "pairs.jsonl": jsonl([{"source_id": f"s{n}", "system_id": "a|b", "score": 1} for n in (0, 1)]),
    "pairs-unsure.jsonl": jsonl([{"source_id": "s0", "system_id": "a|b", "score": 0.7}]),
    "pairs-unscored.jsonl": jsonl([{"source_id": "s0", "system_id": "a|b", "scores": [None]}]),
    "both-kinds.jsonl": jsonl(
        [{"source_id": "s0", "system_id": system, "score": 1} for system in ("a", "a|b")]
    ),
    # texts and versions
    "versions.jsonl": jsonl(versions()),
    "originals.jsonl": jsonl(versions()[::2]),
    "orphans.jsonl": jsonl(versions()[1::2]),
    "two-originals.jsonl": jsonl([*versions(), versions()[0] | {"system_id": "other"}]),
    "version-scores.jsonl": jsonl(
        {"source_id": one["source_id"], "system_id": one["system_id"], "score": 1}
        for one in versions()
    ),
    "votes.yaml": lines("reordering: {score: 1}"),
    "votes-other.yaml": lines("reorderings: {score: 1}"),
    "votes-sum.yaml": lines("reordering: {a: 0.5, b: 0.4}"),
    "votes-negative.yaml": lines("reordering: {a: -0.5, b: 1.5}"),
    "votes-uncovered.yaml": lines("reordering: {a: 0.5, b: 0.5}"),
    "score-text.jsonl": jsonl([{"source_id": "s1", "score": "good"}]),
    "score-nan.jsonl": '{"source_id": "s1", "score": NaN}\n',
    "scores-number.jsonl": jsonl([{"source_id": "s1", "scores": 3}]),
    "scored.jsonl": jsonl(scored()),
    "scored-by-other.jsonl": jsonl(scored(judge="ba9876543210")),
    "two-runs.jsonl": jsonl([*scored(2), *scored(1, run="ba9876543210")]),
    "unexplained.jsonl": jsonl(scored(4, explanation="")),
    "score-text-run.jsonl": jsonl(scored(1, score="4")),
    "criteria-list.jsonl": jsonl(scored(1, criteria=[1])),
    # errors
    "marks.jsonl": jsonl([{"source_id": f"s{n}", "score": 1, "errors": []} for n in range(8)]),
    "marks-outside.jsonl": jsonl(
        [{"source_id": "s1", "score": 1, "errors": [{"text": "x", "start": 0, "end": 40}]}]
    ),
    "marks-odd.jsonl": jsonl([{"source_id": "s1", "score": 1, "errors": [{"severity": "bad"}]}]),
    "awful.jsonl": jsonl(rated(1, errors=[{"severity": "awful"}])),
    "page.html": "there already\n",
    # sheets
    "out.csv": "there already\n",
    "other-columns.csv": "a,b\n1,2\n",
    # the rest
    "plain.sqlite": "this is no database, whatever its name may say about it" * 20,
}


def shelve(folder, judge):
    """Fill ``folder`` with all files, and with the judge folder ``judge`` whole and damaged."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "folder").mkdir()
    (folder / "folder.jsonl").mkdir()
    (folder / "rubric-folder").mkdir()
    (folder / "unreadable.jsonl").symlink_to("/proc/self/mem")
    (folder / "unreadable.yaml").symlink_to("/proc/self/mem")
    (folder / "secret.jsonl").write_text("{}")
    (folder / "secret.jsonl").chmod(0)
    (folder / "closed").mkdir(0o500)
    (folder / "other-scores").mkdir()
    other = {"kind": "judgesmith scores", "judge": "ba9876543210", "files": []}
    (folder / "other-scores" / "scores.json").write_text(json.dumps(other))
    (folder / "stopped.jsonl.parts").mkdir()
    (folder / "stopped.jsonl.parts" / "run.json").write_text(json.dumps({"judge": "ba9876543210"}))
    (folder / "stopped.jsonl.parts" / "000000-000000000.jsonl").write_text("")
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    shutil.copytree(judge, folder / "judge")
    _damage(folder, judge)
    _ledgers(folder)


def _damage(folder, judge):
    """Put changed judges on the shelf, most of them such that no reader may trust."""
    text = (judge / "judge.json").read_text(encoding="utf-8")
    whole = json.loads(text)
    damaged = {
        "tampered": text.replace('"overall"', '"overal"', 1),
        "newer": json.dumps(whole | {"schema": 99}),
        "no-schema": json.dumps({"model": "offline"}),
        "other-kind": "[1, 2, 3]",
        "cut": text[: text.index("protocol")],
        "binary": "\x00\x01",
        "blank": "",
        "lacking": _signed({name: one for name, one in whole.items() if name != "target"}),
        "wrong-type": _signed(whole | {"target": 7}),
        "stranger": _signed(whole | {"colour": "red"}),
    }
    # Nothing is wrong with this one: it has as many golden items as a recheck needs.
    damaged["golden"] = _signed(whole | {"golden": 2 * whole["golden"]})
    for name, content in damaged.items():
        (folder / f"judge-{name}").mkdir()
        (folder / f"judge-{name}" / "judge.json").write_text(content, encoding="utf-8")
    (folder / "judge-latin").mkdir()
    (folder / "judge-latin" / "judge.json").write_bytes(b'{"target": "\xe9"}')
    (folder / "judge-folder" / "judge.json").mkdir(parents=True)
    shutil.copytree(judge, folder / "judge-and-more")
    (folder / "judge-and-more" / "notes.txt").write_text("mine")


def _signed(document):
    """Return a judge's document with the hash that its content has."""
    from judgesmith.programs.artifacts.saved import content_hash

    kept = {k: v for k, v in document.items() if k not in ("schema", "made_by", "content_hash")}
    return json.dumps(document | {"content_hash": content_hash(kept)})


def _ledgers(folder):
    """Put databases on the shelf that are no ledger of this version."""
    from judgesmith.programs.lm.cache.records import APPLICATION_ID

    for name, application, schema in (
        ("other.sqlite", 0, 0),
        ("newer.sqlite", APPLICATION_ID, 99),
        ("cut.sqlite", APPLICATION_ID, 1),
        ("locked.sqlite", APPLICATION_ID, 1),
    ):
        connection = sqlite3.connect(folder / name)
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.executemany("INSERT INTO notes VALUES (?)", [("x" * 3000,)] * 20)
        connection.execute(f"PRAGMA application_id={application}")
        connection.execute(f"PRAGMA user_version={schema}")
        connection.commit()
        connection.close()
        (folder / name).chmod(0o600 if application else 0o644)
    whole = (folder / "cut.sqlite").read_bytes()
    (folder / "cut.sqlite").write_bytes(whole[: len(whole) // 3])


def make_judge(folder):
    """Return a judge that is compiled in ``folder``, fast."""
    (folder / "good.jsonl").write_text(FILES["good.jsonl"], encoding="utf-8")
    command = ["compile", "good.jsonl", "-o", "judge", "--variant", "vanilla"]
    with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        status = main([*command, "--optimizer", "none", "--ledger", "made.sqlite"])
    assert status == 0
    return folder / "judge"
