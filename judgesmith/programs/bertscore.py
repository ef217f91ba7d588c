"""BERTScore of a response and one reference, by the weights of a model on this machine.

``torch`` and ``transformers`` belong to the extra ``judgesmith[bertscore]`` and are imported when
they are used. Nothing is downloaded, and no code that lies beside weights is run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.programs.extras import library
from judgesmith.programs.greedy_matching import BoolArray, FloatArray, greedy_matching
from judgesmith.signatures.reference import ReferenceProtocol
from judgesmith.signatures.weights import weights_folder

Embedded = tuple[FloatArray, BoolArray]
"""A vector per token, and which tokens are the text's own."""


def bertscore(protocol: ReferenceProtocol) -> Callable[[str, str], float]:
    """Return what computes BERTScore's F1, 0 to 100, by the weights that a protocol names.

    Raises
    ------
    ImportError
        If a library of the extra is missing; the message names it.
    ValueError
        If the weights are not there, are of no encoder, or have no such layer.
    """
    # Looked up before any library is, so that a missing folder is told at once.
    weights_folder(protocol.weights)
    embedded = _embedder(protocol.weights, protocol.layer)

    def measure(response: str, reference: str) -> float:
        said, said_counts = embedded(response)
        known, known_counts = embedded(reference)
        if not known_counts.any():
            raise InputError("nothing to compare with: the weights know no token of the reference")
        if not said_counts.any():
            return 0.0
        *_, f1 = greedy_matching(
            said, known, response_counts=said_counts, reference_counts=known_counts
        )
        # Sums of floats differ from machine to machine, far behind these digits.
        return round(min(max(100 * f1, 0.0), 100.0), 4)

    return measure


def n_layers(protocol: ReferenceProtocol) -> int:
    """Return how many layers the weights of a protocol have."""
    _, model, _ = _loaded(protocol.weights)
    return int(model.config.num_hidden_layers)


@functools.cache
def _embedder(weights: str, layer: int | None) -> Callable[[str], Embedded]:
    torch = library("torch", extra="bertscore")
    tokenizer, model, longest = _loaded(weights)
    last = int(model.config.num_hidden_layers)
    if layer is not None and layer > last:
        raise InputError(f"the weights have {last} layers; got layer={layer}.")
    taken = layer or last

    @functools.lru_cache(maxsize=256)  # one reference is compared with many responses
    def embedded(text: str) -> Embedded:
        ids = tokenizer(
            _as_a_word(text, tokenizer),
            return_special_tokens_mask=True,
            split_special_tokens=True,  # "[SEP]" in a text is text
            verbose=False,
        )
        n_tokens = len(ids["input_ids"])
        if longest is not None and n_tokens > longest:
            raise InputError(
                f"the text is too long for BERTScore: {n_tokens:,} tokens; the weights read "
                f"{longest:,}"
            )
        own = np.asarray(ids["special_tokens_mask"]) == 0
        with torch.inference_mode():
            states = model(
                input_ids=torch.tensor([ids["input_ids"]]), output_hidden_states=True
            ).hidden_states[taken][0]
        return np.asarray(states.numpy(), dtype=float), own

    return embedded


def _as_a_word(text: str, tokenizer: Any) -> str:
    """Return a text whose first word is tokenized as it would be further on in it."""
    stripped = text.strip()
    glued = getattr(tokenizer, "add_prefix_space", None) is False
    return f" {stripped}" if glued else stripped


@functools.lru_cache(maxsize=2)
def _loaded(weights: str) -> tuple[Any, Any, int | None]:
    """Return tokenizer, model, and the most tokens that it reads, None where that is open."""
    library("torch", extra="bertscore")
    transformers = library("transformers", extra="bertscore")
    folder = weights_folder(weights)
    local = {"local_files_only": True, "trust_remote_code": False}
    bars = transformers.utils.logging
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(folder, **local)
        if config.is_encoder_decoder:
            raise InputError(f"expected an encoder such as BERT; got {config.model_type}")
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
        model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, **local)
    except (OSError, ValueError, KeyError, RuntimeError) as fault:
        said = " ".join(str(fault).split())[:200]
        raise InputError(f"no model can be made of the weights in {folder}: {said}") from None
    finally:
        if shown:
            bars.enable_progress_bar()
    return tokenizer, model.float().eval(), _longest(tokenizer, model)


def _longest(tokenizer: Any, model: Any) -> int | None:
    embeddings = getattr(model, "embeddings", None)
    # RoBERTa counts positions from behind the one that stands for padding.
    padding = getattr(getattr(embeddings, "position_embeddings", None), "padding_idx", None)
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    usable = positions - (0 if padding is None else padding + 1)
    limits = [one for one in (usable, tokenizer.model_max_length) if 0 < one < 1_000_000]
    return min(limits, default=None)
