"""Secrets: planted wherever keys come from, looked for wherever anything goes."""

import tempfile
from collections.abc import Iterator

import loopback
import planting

from benchmarks.harness import Row, benchmark, held


@benchmark(quick="every command is run in a process of its own, which takes a minute")
def secrets(*, small: bool = False) -> Iterator[Row]:
    """Secrets that were planted: how many were found, and in how many places was looked."""
    behaviours = {"answers are good": planting.GOOD, **planting.FAILING}
    if small:
        behaviours = {name: behaviours[name] for name in ("answers are good", "wrong key")}
    n_found = n_places = 0
    with loopback.serving() as server:
        for name, behaviour in behaviours.items():
            with tempfile.TemporaryDirectory() as folder:
                planted = planting.Planted(folder, server)
                with planted.environment():
                    planted.visit(behaviour)
                    for model in ("openai/m", "anthropic/m", "together_ai/m"):
                        planted.ask(model, address=server.url)
                    if name == "answers are good":
                        _ask_addresses(planted)
                found, n = planted.findings()
                n_found, n_places = n_found + len(found), n_places + n
                sent = server.counts()["requests"]
            what = f"no planted secret is found where the server does this: {name}"
            yield held(what, f"{len(found)} in {n} places, {sent} requests", not found)
    what = f"no planted secret of {len(planting.NEEDLES)} is found anywhere"
    measured = f"{n_found} planted secrets found in {n_places} places"
    yield held(what, measured, n_found == 0)


def _ask_addresses(planted: planting.Planted) -> None:
    for address in planting.addresses(planted.server):
        options = ["--model", "openai/m", "--api-base", address]
        judge = planted.folder / "offline"
        planted.command("score", judge, planted.data, "-o", "rows.jsonl", *options)
        planted.ask("openai/m", address=address)
