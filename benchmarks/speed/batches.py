"""Whether scoring in batches gives the rows of ordinary scoring, and what it takes.

A judge of two questions per text is compiled with the offline model. Then the same rows are scored
at a local server three times: one by one, in batches, and in files that this script answers. The
rows must be the same bytes.
"""

import contextlib
import io
import json
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import loopback_batches

from benchmarks.harness import Row, benchmark
from judgesmith.cli import main
from judgesmith.data.samples import sample_path


def run(*arguments: object) -> dict[str, object]:
    """Run a command in this process and return the object that it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = main([*map(str, arguments), "--json"])
    if status:
        raise SystemExit(f"{arguments[0]} ended with status {status}.")
    found: dict[str, object] = json.loads(said.getvalue())
    return found


def write_texts(place: Path, n: int) -> None:
    """Write ``n`` rows that all differ, from the texts of the sample."""
    rows = [json.loads(line) for line in sample_path().read_text("utf-8").splitlines()]
    with place.open("w", encoding="utf-8") as file:
        for number in range(n):
            row = rows[number % len(rows)]
            one = {
                "source_id": f"{row['source_id']}-{number // len(rows)}",
                "system_id": row["system_id"],
                "source": row["source"],
                "response": f"{row['response']} Note {number}.",
            }
            file.write(json.dumps(one) + "\n")


def answer_files(waiting: list[str], url: str) -> None:
    """Answer each file of requests in a file beside it."""
    for name in waiting:
        place = Path(name)
        with place.open("rb") as asked, place.with_name(f"answers-{place.name}").open("w") as file:
            for line in asked:
                one = json.loads(line)
                sent = urllib.request.Request(url, data=json.dumps(one["body"]).encode())  # noqa: S310
                with urllib.request.urlopen(sent) as reply:  # noqa: S310
                    said = {"status_code": 200, "body": json.load(reply)}
                file.write(json.dumps({"custom_id": one["custom_id"], "response": said}) + "\n")


@benchmark(quick={"rows": 4}, formats={"seconds": ".1f"})
def batches(*, rows: int = 5000) -> Iterator[Row]:
    """Whether scoring in batches gives the rows of ordinary scoring, and what it takes."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield from compared(rows)


def compared(n_rows: int) -> Iterator[Row]:
    """Yield seconds, files and whether the rows are the same, of each way."""
    write_texts(Path("texts.jsonl"), n_rows)
    run("compile", "sample", "-o", "judge", "--optimizer", "none")
    with loopback_batches.serving() as server:
        asked = ("--model", "openai/m", "--api-base", server.url)
        ways = {"one by one": (), "batches": ("--batch", "--poll", "0.2"), "files": ()}
        for way, options in ways.items():
            server.reset()
            name = way.replace(" ", "-")
            whole = ["score", "judge", "texts.jsonl", "-o", f"{name}.jsonl"]
            whole += [*asked, "--ledger", f"{name}.sqlite", *options]
            began = time.perf_counter()
            if way == "files":
                Path("files").mkdir()
                n_rounds = 0
                while "waiting" in (done := run(*whole, "--batch-files", "files")):
                    answer_files(done["waiting"], f"{server.url}/chat/completions")
                    n_rounds += 1
            else:
                done = run(*whole)
                n_rounds = len(server.batch_counts()["batches"])
            seconds = time.perf_counter() - began
            same = Path(f"{name}.jsonl").read_bytes() == Path("one-by-one.jsonl").read_bytes()
            twice = server.counts()["answered_again"]
            row = {"way": way, "rows": done["rows"], "unscored": done["unscored"]}
            row |= {"seconds": seconds, "files": n_rounds, "answers given twice": twice}
            yield row | {"rows are the same": same}
