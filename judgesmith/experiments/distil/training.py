"""Fine-tuning a small model on exported examples, and the trained adapter on disk."""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judgesmith.drafts import draft_beside, put, write_synced
from judgesmith.errors import ExistingFileError, InputError, file_faults
from judgesmith.experiments.distil.chats import Chats, Recipe, Turns, as_question_and_answer
from judgesmith.experiments.run_folders import json_object_in
from judgesmith.programs.extras import library
from judgesmith.results.progress import OnProgress, ProgressEvent

SUMMARY = "finetune.json"


def training_run(chats: Chats, base: str, recipe: Recipe) -> str:
    """Return twelve hex digits that tell a run from others: data, base and recipe."""
    return recipe.fingerprint([chats.digest, base])


def trained_before(folder: Path, run: str, *, force: bool) -> dict[str, Any] | None:
    """Return what this very run has left in a folder, and refuse to replace anything else."""
    if not folder.exists():
        return None
    found = json_object_in(folder / SUMMARY)
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
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Train an adapter, put it in ``folder``, and return what there is to say of it."""
    with draft_beside(folder, folder=True) as draft:
        done = trained(chats, base, recipe, draft, on_progress=on_progress)
        summary = {
            "run": training_run(chats, base, recipe),
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

Whether it judges well is not known from a loss: compare its scores with human ratings by
`judgesmith evaluate`, on sources that it has not seen.
"""


LIBRARIES = ("torch", "transformers", "peft", "trl", "datasets")
"""What ``judgesmith[finetune]`` installs."""

_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What training came to."""

    n_train: int
    n_validation: int
    n_too_long: int
    steps: int
    loss: float
    validation_loss: float | None  # after the last step; None without validation data
    device: str
    versions: Mapping[str, str]


@file_faults()
def trained(
    chats: Chats,
    base: str,
    recipe: Recipe,
    folder: Path,
    *,
    on_progress: OnProgress | None = None,
) -> Trained:
    """Train an adapter of a model and write it to an empty folder, with its tokenizer."""
    check_base(base)
    found: dict[str, Any] = {name: library(name, extra="finetune") for name in LIBRARIES}
    with _quiet(found, is_folder=Path(base).is_dir()), tempfile.TemporaryDirectory() as scratch:
        found["transformers"].set_seed(recipe.seed)
        tokenizer = _tokenizer(found["transformers"], base)
        train, held = ([*_fitting(tokenizer, base, part, recipe)] for part in _parts(chats))
        if not train:
            raise InputError(
                f"all {len(chats.train)} examples are longer than {recipe.longest} tokens.",
                hint="give a larger --longest.",
            )
        trainer = _trainer(found, base, tokenizer, train, held, recipe, scratch)
        _tell_steps(trainer, found["transformers"], on_progress)
        done = trainer.train()
        held_loss = trainer.evaluate()["eval_loss"] if held else None
        # A changed vocabulary would have to be asked for at the model's home; it is never changed.
        trainer.model.save_pretrained(str(folder), save_embedding_layers=False)
        tokenizer.save_pretrained(str(folder))
    _put_in_order(folder / "adapter_config.json")
    return Trained(
        n_train=len(train),
        n_validation=len(held),
        n_too_long=sum(map(len, _parts(chats))) - len(train) - len(held),
        steps=int(done.global_step),
        loss=float(done.training_loss),
        validation_loss=None if held_loss is None else float(held_loss),
        device=str(trainer.model.device),
        versions={name: str(one.__version__) for name, one in found.items()},
    )


def check_base(base: str) -> None:
    """Refuse a base that is no folder, and no name of a model either."""
    is_folder = base != "" and Path(base).is_dir()
    if not is_folder and not _NAME.fullmatch(base):
        raise InputError(
            f"there is no folder {base[:80]!r}.",
            hint="name one that is there, or a model as OWNER/NAME.",
        )


@contextmanager
def _quiet(found: Mapping[str, Any], *, is_folder: bool) -> Iterator[None]:
    """Have the libraries send no telemetry, look up no folder online, and draw no bars."""
    constants: Any = library("huggingface_hub.constants", extra="finetune")
    before = constants.HF_HUB_DISABLE_TELEMETRY, constants.HF_HUB_OFFLINE
    constants.HF_HUB_DISABLE_TELEMETRY = True
    constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE or is_folder
    found["datasets"].disable_progress_bars()
    found["transformers"].utils.logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        constants.HF_HUB_DISABLE_TELEMETRY, constants.HF_HUB_OFFLINE = before


def _tell_steps(trainer: Any, transformers: Any, on_progress: OnProgress | None) -> None:
    """Have a trainer tell ``on_progress`` of its steps, and print nothing by itself."""
    trainer.remove_callback(transformers.PrinterCallback)
    if on_progress is None:
        return

    def on_step_end(self: Any, args: Any, state: Any, control: Any, **more: Any) -> None:
        on_progress(ProgressEvent(stage="steps", total=state.max_steps))

    telling = type("_Telling", (transformers.TrainerCallback,), {"on_step_end": on_step_end})
    trainer.add_callback(telling())


@file_faults()
def _put_in_order(path: Path) -> None:
    """Write a file of settings again with its layers in order, which is that of a set before."""
    found = json.loads(path.read_text(encoding="utf-8"))
    found["target_modules"] = sorted(found["target_modules"])
    path.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _parts(chats: Chats) -> tuple[Sequence[Turns], Sequence[Turns]]:
    return chats.train, chats.validation


def _tokenizer(transformers: Any, base: str) -> Any:
    is_folder = Path(base).is_dir()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(base, local_files_only=is_folder)
    except (OSError, ValueError) as fault:
        said = str(fault).strip().splitlines()[0] if str(fault).strip() else type(fault).__name__
        raise InputError(f"no model can be read: {said.rstrip('.')}.", at=base) from fault
    if not tokenizer.chat_template:
        raise InputError(
            "the model knows no chats, as it has no chat template.",
            at=base,
            hint="take one that was trained to follow instructions.",
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _fitting(tokenizer: Any, base: str, chats: Sequence[Turns], recipe: Recipe) -> list[Turns]:
    """Return the chats that are not too long."""
    kept = []
    for chat in chats:
        try:
            text = tokenizer.apply_chat_template(chat, tokenize=False)
        except Exception as fault:  # templates are programs, and raise what they like
            raise InputError(
                f"its chat template takes no system message: {fault}.",
                at=base,
                hint="take another model.",
            ) from fault
        if len(tokenizer(text, add_special_tokens=False)["input_ids"]) <= recipe.longest:
            kept.append(chat)
    return kept


def _trainer(
    found: Mapping[str, Any],
    base: str,
    tokenizer: Any,
    train: Sequence[Turns],
    held: Sequence[Turns],
    recipe: Recipe,
    scratch: str,
) -> Any:
    torch, trl, datasets = found["torch"], found["trl"], found["datasets"]
    on_gpu = torch.cuda.is_available()
    halved = on_gpu and torch.cuda.is_bf16_supported()
    model = found["transformers"].AutoModelForCausalLM.from_pretrained(
        base,
        dtype=torch.bfloat16 if halved else torch.float32,
        local_files_only=Path(base).is_dir(),
    )
    rows = [
        datasets.Dataset.from_list([*map(as_question_and_answer, one)]) for one in (train, held)
    ]
    return trl.SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=rows[0],
        eval_dataset=rows[1] if held else None,
        peft_config=found["peft"].LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,
            lora_dropout=0.0,
            target_modules="all-linear",
            bias="none",
            task_type="CAUSAL_LM",
        ),
        args=trl.SFTConfig(
            output_dir=scratch,
            num_train_epochs=recipe.epochs,
            max_steps=recipe.steps or -1,
            per_device_train_batch_size=recipe.at_once,
            per_device_eval_batch_size=recipe.at_once,
            gradient_accumulation_steps=recipe.batch // recipe.at_once,
            learning_rate=recipe.learning_rate,
            lr_scheduler_type="linear",
            warmup_steps=recipe.warmup,
            weight_decay=recipe.weight_decay,
            optim="adamw_torch",
            max_length=None,
            completion_only_loss=True,
            gradient_checkpointing=on_gpu,
            bf16=halved,
            use_cpu=not on_gpu,
            seed=recipe.seed,
            data_seed=recipe.seed,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
            logging_steps=10,
        ),
    )
