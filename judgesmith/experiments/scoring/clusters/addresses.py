"""Rows at addresses of object stores and other file systems, read and written by Ray itself."""

from __future__ import annotations

import fnmatch
import io
import json
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from itertools import islice
from typing import Any

from judgesmith.data.problems import nothing_in
from judgesmith.data.reading import ColumnsGiven
from judgesmith.data.scores import score_columns, sheet_cell
from judgesmith.errors import (
    ExistingFileError,
    InputError,
    JudgesmithError,
    MissingFileError,
    file_faults,
)
from judgesmith.experiments.scoring import Scored
from judgesmith.experiments.scoring.clusters.connecting import (
    ClusterError,
    connected_ray,
    processors,
    said_by_ray,
)
from judgesmith.experiments.scoring.clusters.datasets import known_columns, with_scores
from judgesmith.experiments.scoring.clusters.judging import refuse_unfit
from judgesmith.experiments.scoring.clusters.recipes import in_environment
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.lm import AnyModel, lm_client_of
from judgesmith.programs.lm.errors import public_address
from judgesmith.signatures.judgement import Cause, Reason

FORMATS = ("parquet", "csv")
"""What rows of scores are written as."""

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_READ = {
    ".parquet": "parquet",
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".jsonl.gz": "lines",
    ".ndjson.gz": "lines",
    ".csv": "csv",
    ".csv.gz": "csv",
}
_KNOWN = (JudgesmithError, ValueError, OSError)
_TRIED = re.compile(r"\nFailed to .* after \d+/\d+ attempts")  # Ray says so after what was said
_PEEKED = 100  # rows of JSON Lines from which the columns are learned
_MANY = 1000  # lines handed on at a time


def is_address(name: str) -> bool:
    """Say whether a name is an address of a file system rather than a path."""
    return _ADDRESS.match(name) is not None


def score_addresses(
    judge: AnySaved,
    inputs: Sequence[str],
    output: str,
    *,
    lm: AnyModel,
    columns: ColumnsGiven = None,
    form: str = "parquet",
    address: str | None = None,
    workers: int | None = None,
    concurrency: int = CONCURRENCY,
    overwrite: bool = False,
) -> Scored:
    """Judge rows that Ray reads from addresses, and have Ray write them to one."""
    refuse_unfit(judge, workers=workers, concurrency=concurrency)
    for one in (*inputs, output):
        _check_bare(one)
    files, kind = _files(inputs)
    if not overwrite:
        _refuse_full(output)
    client = lm_client_of(lm)
    n_workers = None if address is not None else workers or processors()
    with (
        in_environment(None if client is None else client.ledger),
        connected_ray(address, n_workers=None if n_workers is None else n_workers + 1) as ray,
        _quietly_in_order(ray),
        _plain_faults(ray),
    ):
        dataset, names = _READERS[kind](ray, files)
        scored = with_scores(
            ray,
            dataset,
            judge,
            lm,
            columns=known_columns(names, columns),
            kept=[],
            lines=kind == "lines",
            concurrency=concurrency,
            workers=workers or n_workers,
        )
        if form != "parquet":
            scored = scored.map_batches(_sheet_cells, batch_format="pyarrow")
        write = scored.write_parquet if form == "parquet" else scored.write_csv
        write(output, mode="overwrite" if overwrite else "append")
        read = ray.data.read_parquet if form == "parquet" else ray.data.read_csv
        return _counted(read(output).select_columns(["problem", "reason"]))


def _sheet_cells(table: Any) -> Any:
    """Return scores with cells that a spreadsheet does not compute."""
    import pyarrow as pa

    kinds = score_columns(labels=True)
    rows = [
        {name: sheet_cell(kinds[name], one) for name, one in row.items()}
        for row in table.to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=table.schema)


def _check_bare(address: str) -> None:
    """Refuse an address with a secret in it, which would travel to workers."""
    named = public_address(address)
    if named.lower() != address.rstrip("/").lower():
        raise InputError(
            f"{named} came with a user, password or query, which are not sent to workers.",
            hint="set what "
            "opens the store in the environment of every node (AWS_PROFILE, AWS_ENDPOINT_URL).",
        )


def _files(inputs: Sequence[str]) -> tuple[list[str], str]:
    """Return every file at some addresses, sorted, and what kind they all are."""
    found = [file for one in inputs for file in _at(one)]
    files = list(dict.fromkeys(found))
    kinds: dict[str, str] = {}
    for file in files:
        name = file.rpartition("/")[2].lower()
        kind = next((kind for ending, kind in _READ.items() if name.endswith(ending)), None)
        if kind is None:
            raise InputError(
                f"expected an ending of {', '.join(_READ)}.",
                at=public_address(file),
                hint="name files that have one, or a pattern of them.",
            )
        kinds.setdefault(kind, file)
    if len(kinds) > 1:
        two = " and ".join(public_address(one) for one in list(kinds.values())[:2])
        raise InputError(
            f"rows at addresses are read in one format; got {two}.", hint="name one kind."
        )
    return files, next(iter(kinds))


def _at(address: str) -> Iterator[str]:
    """Yield the files at an address: itself, those of a folder, or those of a pattern."""
    from pyarrow import fs

    head, _, pattern = address.rpartition("/")
    by_pattern = any(one in pattern for one in "*[")
    system, path = _system(head if by_pattern else address)
    scheme = address.partition("://")[0]
    info = system.get_file_info(path)
    if info.type == fs.FileType.File:
        yield address
        return
    chosen = fs.FileSelector(path, allow_not_found=True)
    names = sorted(
        one.path
        for one in system.get_file_info(chosen)
        if one.type == fs.FileType.File
        and not one.base_name.startswith((".", "_"))
        and (not by_pattern or fnmatch.fnmatchcase(one.base_name, pattern))
    )
    if not names:
        raise MissingFileError(f"there is no file at {public_address(address)}.")
    yield from (f"{scheme}://{name}" for name in names)


@file_faults()
def _refuse_full(output: str) -> None:
    from pyarrow import fs

    system, path = _system(output)
    chosen = fs.FileSelector(path, allow_not_found=True)
    if system.get_file_info(path).type == fs.FileType.File or system.get_file_info(chosen):
        raise ExistingFileError(
            f"{public_address(output)} holds something.",
            hint="name an empty folder, or replace it with --force.",
        )


def _system(address: str) -> tuple[Any, str]:
    """Return the file system at an address, and the path in it."""
    from pyarrow import ArrowException, fs

    try:
        system, path = fs.FileSystem.from_uri(address)
    except (ArrowException, ValueError, OSError) as fault:
        said = said_by_ray(fault)
        raise InputError(f"{public_address(address)} cannot be reached: {said}.") from None
    return system, path


@file_faults()
def _lines(ray: Any, files: list[str]) -> tuple[Any, list[str]]:
    """Return numbered lines of JSON, which Ray's readers would change, and fields of the first."""
    system, path = _system(files[0])
    with system.open_input_stream(path) as opened:
        first = list(islice(io.BufferedReader(opened), _PEEKED))
    names: dict[str, None] = {}
    for line in first:
        with suppress(ValueError, RecursionError):
            found = json.loads(line)
            names.update(dict.fromkeys(found if isinstance(found, dict) else ()))
    whole = ray.data.read_binary_files(files, include_paths=True)
    return whole.map_batches(address_lines, batch_size=1, batch_format="numpy"), list(names)


def address_lines(files: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, list[Any]]]:
    r"""Yield the lines of files that hold something, many at a time."""
    for path, whole in zip(files["path"], files["bytes"], strict=True):
        numbered = enumerate(io.BytesIO(whole), start=1)
        while some := list(islice(numbered, _MANY)):
            kept = [
                (number, line.decode("utf-8", "replace").rstrip("\r\n"))
                for number, line in some
                if line.strip()
            ]
            yield {
                "path": [str(path)] * len(kept),
                "number": [number for number, _ in kept],
                "line": [line for _, line in kept],
            }


def _parquet(ray: Any, files: list[str]) -> tuple[Any, list[str]]:
    dataset = ray.data.read_parquet(files)
    return dataset, list(dataset.columns())


def _csv(ray: Any, files: list[str]) -> tuple[Any, list[str]]:
    settings = _as_texts(files[0])
    names = list(settings["convert_options"].column_types)
    return ray.data.read_csv(files, **settings), names


_READERS: dict[str, Callable[[Any, list[str]], tuple[Any, list[str]]]] = {
    "csv": _csv,
    "lines": _lines,
    "parquet": _parquet,
}


@file_faults()
def _as_texts(file: str) -> dict[str, Any]:
    """Return what has Arrow read every cell of a CSV file as the text that stands there."""
    import pyarrow as pa
    from pyarrow import csv

    system, path = _system(file)
    with system.open_input_stream(path) as opened:
        # Of a packed file Arrow sees by its name that it is one.
        header = csv.open_csv(opened, parse_options=csv.ParseOptions(newlines_in_values=True))
        names = header.schema.names
    kinds = dict.fromkeys(names, pa.string())
    return {
        "convert_options": csv.ConvertOptions(column_types=kinds, strings_can_be_null=False),
        "parse_options": csv.ParseOptions(newlines_in_values=True),
    }


@contextmanager
def _quietly_in_order(ray: Any) -> Iterator[None]:
    """Keep the order of rows, and Ray's own reports to itself, for the length of a block."""
    context = ray.data.DataContext.get_current()
    before = context.execution_options.preserve_order, context.enable_progress_bars
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    # What Ray puts around a worker's fault loses the fault on its way here.
    wrapped = getattr(context, "raise_original_map_exception", False)
    context.raise_original_map_exception = True
    handlers = logging.getLogger("ray.data").handlers
    screens = {one: one.level for one in handlers if isinstance(one, logging.StreamHandler)}
    for screen in screens:
        screen.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        context.execution_options.preserve_order, context.enable_progress_bars = before
        context.raise_original_map_exception = wrapped
        for screen, level in screens.items():
            screen.setLevel(level)


@contextmanager
def _plain_faults(ray: Any) -> Iterator[None]:
    """Raise what a worker raised, rather than Ray's report of it."""
    from pyarrow import ArrowException

    try:
        yield
    except ray.exceptions.RayError as fault:
        found: BaseException | None = fault
        while found is not None:
            # Ray's own report is of the class of what it reports, too.
            if isinstance(found, _KNOWN) and not isinstance(found, ray.exceptions.RayError):
                plain = copy(found)
                plain.args = tuple(
                    _TRIED.split(one)[0] if isinstance(one, str) else one for one in found.args
                )
                if isinstance(found, ArrowException):
                    raise InputError(str(plain)) from None
                with file_faults():
                    raise plain from None
            found = getattr(found, "cause", None) or found.__cause__
        raise ClusterError(f"Ray gave up: {said_by_ray(fault)}.") from None


def _counted(problems: Any) -> Scored:
    """Return how many rows were written, and why some have no score."""
    counts: Counter[tuple[str | None, str | None]] = Counter()
    for batch in problems.iter_batches(batch_format="pyarrow"):
        pairs = zip(batch["problem"].to_pylist(), batch["reason"].to_pylist(), strict=True)
        counts.update(pairs)
    n_rows = counts.total()
    if not n_rows:
        raise nothing_in("the inputs")
    causes = {
        Cause(Reason.read(code), problem): n
        for (problem, code), n in counts.most_common()
        if problem
    }
    return Scored(n_rows=n_rows, n_unscored=sum(causes.values()), causes=causes)
