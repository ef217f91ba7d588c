"""A trained adapter on disk: whole or not at all, with what it was made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.errors import ExistingFileError
from judgesmith.experiments.distil.chats import Chats, Recipe
from judgesmith.experiments.distil.training import trained
from judgesmith.experiments.run_folders import stated_in

SUMMARY = "finetune.json"


def run_of(chats: Chats, base: str, recipe: Recipe) -> str:
    """Return twelve hex digits that tell a run from others: data, base and recipe."""
    return recipe.fingerprint([chats.digest, base])


def made_before(folder: Path, run: str, *, force: bool) -> dict[str, Any] | None:
    """Return what this very run has left in a folder, and refuse to replace anything else."""
    if not folder.exists():
        return None
    found = stated_in(folder / SUMMARY)
    if found is None or found.get("kind") != "adapter":
        raise ExistingFileError(
            f"{folder} is there and holds no adapter of judgesmith finetune.",
            hint="name another folder.",
        )
    if force:
        return None
    if found.get("run") != run:
        raise ExistingFileError(
            f"{folder} holds an adapter of another run ({found.get('run')}, this is {run}).",
            hint="name another folder, or replace it with --force.",
        )
    return found


def finetune(
    chats: Chats,
    base: str,
    recipe: Recipe,
    folder: Path,
    *,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> dict[str, Any]:
    """Train an adapter, put it in ``folder``, and return what there is to say of it."""
    with draft_beside(folder, folder=True) as draft:
        done = trained(chats, base, recipe, draft, progress=progress)
        summary = {
            "run": run_of(chats, base, recipe),
            "kind": "adapter",
            "base": base,
            "data": list(chats.runs),
            "recipe": recipe.model_dump(mode="json"),
            **asdict(done),
        }
        write_synced(draft / SUMMARY, json.dumps(summary, indent=1) + "\n")
        write_synced(draft / "README.md", _card(summary))
        put(draft, folder)
    return summary


def _card(summary: Mapping[str, Any]) -> str:
    recipe = summary["recipe"]
    held = summary["validation_loss"]
    looked = "no validation data" if held is None else f"validation loss {held:.4f}"
    base = "".join(one for one in str(summary["base"]) if one.isprintable() and one != "`")
    return f"""# An adapter that points at errors

Low-rank adapter of `{base}` (rank {recipe["rank"]}, alpha {recipe["alpha"]}, all linear layers).
It answers questions of judgesmith's form `distilled`: ask it with a judge of that family.

- Data: runs {", ".join(summary["data"])} of `judgesmith distil`; {summary["n_train"]} examples for
  training, {summary["n_validation"]} for validation, {summary["n_too_long"]} left out as too long.
- Training: {summary["steps"]} steps of {recipe["batch"]} examples, AdamW with weight decay
  {recipe["weight_decay"]:g}, learning rate {recipe["learning_rate"]:g},
  warm-up {recipe["warmup"]:g}, seed {recipe["seed"]}, on {summary["device"]}.
- Training loss {summary["loss"]:.4f}, {looked}, in nats per token of the answers.

Whether it judges well is not known from a loss: hold its scores against people's ratings with
`judgesmith evaluate`, on sources that it has not seen.
"""
