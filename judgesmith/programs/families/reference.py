"""The reference judge: published metrics of overlap with references."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError, file_faults
from judgesmith.programs.extras import library
from judgesmith.programs.judging.registry import JudgeFamily
from judgesmith.programs.judging.scoring import Asking, Once
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Judgement, Reason
from judgesmith.signatures.space import Rubrics, Space, field_choice

PLACES = "JUDGESMITH_WEIGHTS"
"""The environment variable that says where weights are: folders, parted as in ``PATH``."""

_NAME = re.compile(r"sha256:[0-9a-f]{64}")
_READ = (".json", ".txt", ".model", ".safetensors")  # settings, words and numbers; no README
_found: dict[str, Path] = {}  # where this process was shown weights, by name


def weights_name(weights: str) -> str:
    """Return the content hash of the weights in a folder; a hash is returned unchanged."""
    if _NAME.fullmatch(weights):
        return weights
    folder = _folder(weights or _only_place())
    name = _content(folder)
    _found[name] = folder
    return name


def weights_folder(name: str) -> Path:
    known = _found.get(name)
    if known is not None and known.is_dir() and _content(known) == name:
        return known
    for place in _places():
        if weights_name(place) == name:
            return _found[name]
    there = "names others" if _places() else "is not set"
    raise InputError(
        f"the weights {name[:19]}… are needed, and ${PLACES} {there}: let it name the folder that "
        "holds them."
    )


def _places() -> list[str]:
    return [one for one in os.environ.get(PLACES, "").split(os.pathsep) if one]


def _only_place() -> str:
    places = _places()
    if len(places) != 1:
        raise InputError(
            "BERTScore needs the weights of a language model, and nothing is downloaded: give "
            f"weights= or let ${PLACES} name one folder; it names {len(places) or 'none'}."
        )
    return places[0]


@file_faults()
def _folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {path}: BERTScore takes the path of weights on this machine, not "
            "a name on a hub, as nothing is downloaded."
        )
    if not (folder / "config.json").is_file():
        raise InputError(f"there is no model in {path}: expected config.json in it.")
    if not any(folder.glob("*.safetensors")):
        raise InputError(
            f"there are no weights in {path}: expected *.safetensors. Other forms can run code as "
            "they are read; save the model again with save_pretrained."
        )
    return folder.resolve()


@file_faults()
def _content(folder: Path) -> str:
    files = sorted(
        one
        for one in folder.iterdir()
        if one.suffix in _READ and one.name[0] != "." and one.is_file()
    )
    states = ((one, one.stat()) for one in files)
    return _hash(tuple((one, state.st_size, state.st_mtime_ns) for one, state in states))


@functools.lru_cache(maxsize=64)
@file_faults()
def _hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    whole = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as content:
            part = hashlib.file_digest(content, "sha256").hexdigest()
        whole.update(f"{part} {path.name}\n".encode())
    return f"sha256:{whole.hexdigest()}"


Metric = Literal["rougeL", "rouge1", "rouge2", "bleu", "chrf", "meteor", "bertscore"]


class ReferenceConfig(JudgeConfig):
    """The whole of a reference metric."""

    judge: Literal["reference"] = "reference"
    metric: Metric = "rougeL"
    against: Literal["references", "source", "context"] = "references"
    several: Literal["max", "mean"] = "max"
    stem: Literal["none", "porter"] = "none"
    tokens: Literal["13a", "intl", "zh", "char"] = "13a"
    synonyms: Literal["none", "wordnet"] = "none"
    weights: str = Field(default="", validate_default=True)
    layer: int | None = Field(default=None, ge=1)

    @field_validator("weights")
    @classmethod
    def _known_by_content(cls, weights: str, info: ValidationInfo) -> str:
        wanted = weights or info.data.get("metric") == "bertscore"
        return weights_name(weights) if wanted else weights

    @model_serializer(mode="wrap")
    def _family_first(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found = super()._family_first(plain)
        unset = [name for name in ("weights", "layer") if not found.get(name)]
        return {name: value for name, value in found.items() if name not in unset}

    @model_validator(mode="after")
    def _asks_nobody(self) -> Self:
        for name in ("samples", "weighting", "temperature"):
            usual = type(self).model_fields[name].default
            if getattr(self, name) != usual:
                raise InputError(
                    f"a reference metric asks no model: {name} must be {usual}; got "
                    f"{getattr(self, name)}."
                )
        return self

    @property
    def tells_rubric(self) -> bool:
        return False

    @property
    def own_score(self) -> str:
        return f"{self.metric} against {self.against}"


_WITHOUT_SPACES = (
    *("CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "KATAKANA"),
    *("THAI", "LAO ", "KHMER", "MYANMAR", "TIBETAN"),
)
_INSIDE = {"L", "N", "M"}  # general categories: letters, numbers, marks on them


@functools.lru_cache(maxsize=64)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in small letters, without anything between them."""
    plain = unicodedata.normalize("NFKC", text).lower()
    spaced = "".join(map(_spaced, plain))
    return tuple(spaced.split())


@functools.lru_cache(maxsize=50_000)
def _spaced(character: str) -> str:
    kind = unicodedata.category(character)[0]
    if kind not in _INSIDE:
        # What cannot be seen, such as a soft hyphen, parts no words.
        return "" if unicodedata.category(character) == "Cf" else " "
    if kind == "L" and unicodedata.name(character, "").startswith(_WITHOUT_SPACES):
        return f" {character}"
    return character


FloatArray = npt.NDArray[np.floating[Any]]
BoolArray = npt.NDArray[np.bool_]


def greedy_matching(
    response: FloatArray,
    reference: FloatArray,
    *,
    response_counts: BoolArray,
    reference_counts: BoolArray,
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of BERTScore, without weights of rarity or a baseline."""
    if not (response_counts.any() and reference_counts.any()):
        raise InputError("no token to match: each text needs one that counts.")
    cosines = _directions(response) @ _directions(reference).T
    precision = float(cosines.max(axis=1)[response_counts].mean())
    recall = float(cosines.max(axis=0)[reference_counts].mean())
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both > 0 else 0.0


def _directions(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise InputError("the weights give a token a vector without a direction")
    return np.asarray(vectors / lengths, dtype=float)


Embedded = tuple[FloatArray, BoolArray]  # a vector per token, and which tokens are the text's own


def bertscore(protocol: ReferenceConfig) -> Callable[[str, str], float]:
    """Return what computes BERTScore's F1, 0 to 100, by the weights that a protocol names."""
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


def n_layers(protocol: ReferenceConfig) -> int:
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
    stripped = text.strip()
    glued = getattr(tokenizer, "add_prefix_space", None) is False
    return f" {stripped}" if glued else stripped


@functools.lru_cache(maxsize=2)
def _loaded(weights: str) -> tuple[Any, Any, int | None]:
    """Return tokenizer, model, and the maximum number of tokens; None without a limit."""
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
        raise InputError(f"cannot load a model from the weights in {folder}: {said}") from None
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


MOST_CELLS = 4_000_000
"""Words of a response times words of a reference up to which ROUGE-L is computed: seconds."""

Measure = Callable[[str, str], float]
"""Takes a response and a reference with something to compare, and returns 0 to 100.

Raises ValueError with a sentence where there is no number.
"""


def measure_of(protocol: ReferenceConfig) -> Measure:
    name = protocol.metric
    if name == "bertscore":
        return bertscore(protocol)
    if name == "bleu":
        return _sacrebleu("BLEU", tokenize=protocol.tokens, effective_order=True)
    if name == "chrf":
        return _sacrebleu("CHRF")
    if name == "meteor":
        return _meteor(synonyms=protocol.synonyms == "wordnet")
    return _rouge(name, stems=protocol.stem == "porter")


def least_words(protocol: ReferenceConfig) -> int:
    return 2 if protocol.metric == "rouge2" else 1


@dataclass(frozen=True, slots=True)
class _Words:
    """Splits texts for rouge-score, which otherwise drops all letters but a to z."""

    stems: bool

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text, stemmed if configured."""
        words = list(words_of(text))
        if not self.stems:
            return words
        stem = _stemmer()
        # As in rouge-score: short words have no stem.
        return [stem(word) if len(word) > 3 else word for word in words]


@functools.cache
def _stemmer() -> Callable[[str], str]:
    stem: Callable[[str], str] = library("nltk.stem.porter").PorterStemmer().stem
    return functools.lru_cache(maxsize=10_000)(stem)


@functools.cache
def _rouge(kind: str, *, stems: bool) -> Measure:
    words = _Words(stems)
    scorer = library("rouge_score.rouge_scorer").RougeScorer([kind], tokenizer=words)

    def measure(response: str, reference: str) -> float:
        if kind == "rougeL":
            n_cells = len(words_of(response)) * len(words_of(reference))
            if n_cells > MOST_CELLS:
                raise InputError(
                    f"the texts are too long for ROUGE-L: {n_cells:,} pairs of words, of at most "
                    f"{MOST_CELLS:,}"
                )
        return 100.0 * float(scorer.score(reference, response)[kind].fmeasure)

    return measure


@functools.cache
def _sacrebleu(name: str, **settings: Any) -> Measure:
    score = getattr(library("sacrebleu"), name)(**settings).sentence_score
    return lambda response, known: min(max(float(score(response, [known]).score), 0.0), 100.0)


class _NoSynonyms:
    """Stands in for WordNet: no word has a synonym."""

    def synsets(self, word: str) -> tuple[()]:
        return ()


@functools.cache
def _meteor(*, synonyms: bool) -> Measure:
    module = library("nltk.translate.meteor_score")
    thesaurus = _wordnet() if synonyms else _NoSynonyms()

    def measure(response: str, reference: str) -> float:
        known, said = words_of(reference), words_of(response)
        return 100.0 * float(module.single_meteor_score(known, said, wordnet=thesaurus))

    return measure


def _wordnet() -> object:
    reader = library("nltk.corpus").wordnet
    try:
        reader.ensure_loaded()
    except LookupError:
        raise InputError(
            "METEOR with synonyms needs WordNet where NLTK looks for it, and nothing is downloaded "
            "here: put 'wordnet' into a folder that NLTK_DATA names, or choose synonyms=none."
        ) from None
    return reader


def reference_once(protocol: ReferenceConfig, asking: Asking) -> Once:
    """Compare one response with what ``protocol`` says, and return a judgement."""
    yield from ()
    measure = measure_of(protocol)
    item = asking.item
    known = compared_with(protocol, item)
    if isinstance(known, Cause):
        return Judgement.unscored(known)
    if not item.response.strip():
        return Judgement(score=0.0, raw=0.0)  # nothing in common, whatever a metric smooths
    try:
        found = [measure(item.response, one) for one in known]
    except ValueError as fault:
        return Judgement.unscored(str(fault), reason=Reason.UNSUITABLE)
    score = max(found) if protocol.several == "max" else fmean(found)
    return Judgement(score=score, raw=score)


def compared_with(protocol: ReferenceConfig, item: RatedItem) -> tuple[str, ...] | Cause:
    """Return the texts that a response is compared with, or why there are none."""
    known = {
        "references": item.references,
        "source": (item.source,),
        "context": (item.context,),
    }
    given = tuple(one for one in known[protocol.against] if one is not None)
    if not given:
        why = {
            "references": "no reference: the item has none, and a source is taken for one only "
            "where that is chosen",
            "context": "no context to compare with",
        }
        return Cause(Reason.UNSUITABLE, why[protocol.against])
    least = least_words(protocol)
    kept = tuple(one for one in given if len(words_of(one)) >= least)
    if not kept:
        return Cause(
            Reason.UNSUITABLE,
            f"nothing to compare with: no text under {protocol.against} has "
            f"{'a word' if least == 1 else f'{least} words'}",
        )
    return kept


def reference_space(protocol: ReferenceConfig, rubrics: Rubrics = None) -> Space:
    every = tuple(name for name in get_args(Metric) if name != "bertscore")
    rouge = tuple(name for name in every if name.startswith("rouge"))
    choices = [
        field_choice(protocol, "metric", every),
        field_choice(protocol, "against", ("references", "source", "context")),
        field_choice(protocol, "several", ("max", "mean"), against=("references",)),
        field_choice(protocol, "stem", ("none", "porter"), metric=rouge),
        field_choice(protocol, "tokens", ("13a", "intl", "zh", "char"), metric=("bleu",)),
    ]
    # What is not installed everywhere competes only where it was asked for.
    synonyms = ("none", "wordnet") if protocol.synonyms == "wordnet" else ("none",)
    choices.append(field_choice(protocol, "synonyms", synonyms, metric=("meteor",)))
    if protocol.metric == "bertscore":
        layers = {"last": None, **{str(one): one for one in range(1, n_layers(protocol))}}
        choices.append(field_choice(protocol, "layer", layers, metric=("bertscore",)))
    return Space(choices=tuple(choices))


REFERENCE = JudgeFamily(
    name="reference",
    about="measures likeness to the item's references, by ROUGE, BLEU, chrF, METEOR, BERTScore",
    protocol=ReferenceConfig,
    forms=lambda protocol: {},
    once=reference_once,
    inputs=lambda protocol, question: {},
    calls=lambda protocol: 0,
    space=reference_space,
    judge="judgesmith.programs.families.modules:ReferenceJudge",
    reads_references=True,
)
