"""Tables that are no text: Parquet, workbooks, Hugging Face datasets, and what is in memory."""

from __future__ import annotations

import importlib
import itertools
import json
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from judgesmith.data.formats.raw import RawRows, Row
from judgesmith.data.problems import DataError, shown_value
from judgesmith.errors import MissingExtraError, did_you_mean
from judgesmith.signatures.plain_data import rows_of_columns
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    import pandas as pd

_BATCH = 1_000
LARGEST_WORKBOOK = 256 * 2**20
"""Bytes of a workbook, unpacked: a few kilobytes may unpack to all of memory."""
_MOST_ROWS, _MOST_COLUMNS = 2**20, 2**14  # of a sheet, as spreadsheets have it
_ENCRYPTED = b"\xd0\xcf\x11\xe0"  # how files begin that Excel encrypts, and old .xls files
_STATE, _SPLITS = "state.json", "dataset_dict.json"


def parquet_rows(raw: RawRows, path: Path) -> Iterator[Row]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(
            "reading Parquet needs pyarrow: pip install 'judgesmith[parquet]'"
        ) from error
    number = 0
    try:
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        # What a damaged file breaks depends on where the damage is.
        if getattr(error, "errno", None) is not None:
            raise
        raise DataError.of(path.name, "file", "a Parquet file", _in_short(error)) from error


def _in_short(error: Exception) -> str:
    """Return the first line of what a library says of a file."""
    return str(error).partition("\n")[0][:200] or type(error).__name__


def workbook_rows(raw: RawRows, stream: IO[bytes]) -> Iterator[Row]:
    """Yield the rows of a sheet below its first row, which names the columns."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError(
            "reading workbooks needs openpyxl: pip install 'judgesmith[xlsx]'"
        ) from error
    _check_packed(raw, stream)
    try:
        # A formula has the value that the program which saved the file computed.
        values = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        sheet = _sheet_of(raw, values)
        stream.seek(0)
        formulas = openpyxl.load_workbook(stream, read_only=True)[sheet.title]
        yield from _sheet_rows(raw, _cells(raw, sheet), _cells(raw, formulas))
    except (DataError, MemoryError):
        raise
    except Exception as error:
        # What a damaged file breaks depends on where the damage is.
        raise DataError.of(raw.name, "file", "a workbook (.xlsx)", _in_short(error)) from error


def _check_packed(raw: RawRows, stream: IO[bytes]) -> None:
    """Refuse what is no workbook, is encrypted, or unpacks to too much."""
    if stream.read(4) == _ENCRYPTED:
        expected = "a workbook (.xlsx) without a password (save a copy without one)"
        raise DataError.of(raw.name, "file", expected, "an encrypted or an older one (.xls)")
    stream.seek(0)
    try:
        with zipfile.ZipFile(stream) as book:  # leaves the stream open
            parts = book.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        expected = "a whole workbook (.xlsx)"
        raise DataError.of(
            raw.name, "file", expected, "another kind of file, or a damaged one"
        ) from error
    if sum(part.file_size for part in parts) > LARGEST_WORKBOOK:
        expected = f"at most {LARGEST_WORKBOOK // 2**20} MiB unpacked (save the sheet as .csv)"
        raise DataError.of(raw.name, "file", expected, "more")
    stream.seek(0)


def _sheet_of(raw: RawRows, workbook: Any) -> Any:
    """Return the sheet that the user named, or the first."""
    names = [one.title for one in workbook.worksheets]
    wanted = raw.options.sheet
    if wanted is not None and wanted not in names:
        hint = did_you_mean(wanted, names)
        came = shown_value(wanted) + (f"; {hint}" if hint else "")
        raise DataError.of(raw.name, "--sheet", f"one of the sheets {', '.join(names)}", came)
    if not names:
        raise DataError.of(raw.name, "file", "a workbook with a sheet of cells", "one without")
    if wanted is None and len(names) > 1:
        raw.notes.append(
            f"{raw.name} has {len(names)} sheets; {names[0]!r}, the first, was read (--sheet NAME "
            "reads another)."
        )
    return workbook[wanted or names[0]]


def _cells(raw: RawRows, sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each row, up to its last cell; files may claim any number of rows."""
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > _MOST_ROWS or len(row) > _MOST_COLUMNS:
            raise DataError.of(
                raw.name,
                "sheet",
                f"at most {_MOST_ROWS:,} rows and {_MOST_COLUMNS:,} columns",
                "more",
            )
        yield row


def _sheet_rows(
    raw: RawRows, rows: Iterator[tuple[Any, ...]], formulas: Iterator[tuple[Any, ...]]
) -> Iterator[Row]:
    header: list[str] | None = None
    unnamed = False
    for number, (row, written) in enumerate(zip(rows, formulas, strict=True), start=1):
        if all(cell is None for cell in (*row, *written)):
            continue
        if header is None:
            header = ["" if cell is None else str(cell).strip() for cell in row]
            named = [name for name in header if name]
            twice = sorted({name for name in named if named.count(name) > 1})
            if twice:
                expected = "column names that differ from each other"
                came = f"{', '.join(map(repr, twice))} more than once"
                raise DataError.of(raw.where(number), "header", expected, came)
            continue
        found = dict.fromkeys((name for name in header if name), None)
        for name, value, formula in itertools.zip_longest(header, row, written):
            if name:
                found[name] = _plain(value)
                if value is None and formula is not None:
                    expected = "a value (open the file in a spreadsheet program and save it again)"
                    raw.problem(number, at=name, expected=expected, came="a formula without one")
            elif value is not None and not unnamed:
                unnamed = True
                raw.notes.append(f"{raw.where(number)}: not read: cells without a heading.")
        yield number, found


def _plain(value: Any) -> Any:
    """Return dates as the text that they are in JSON."""
    return value.isoformat() if isinstance(value, datetime | date | time) else value


def is_saved_dataset(folder: Path) -> bool:
    return (folder / _STATE).is_file() or (folder / _SPLITS).is_file()


def saved_rows(raw: RawRows, folder: Path) -> Iterator[Row]:
    """Yield the rows that ``save_to_disk`` wrote; of several splits the user names one."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError(
            "reading saved datasets needs pyarrow: pip install 'judgesmith[parquet]'"
        ) from error
    if (folder / _SPLITS).is_file():
        splits = sorted(one.parent.name for one in folder.glob(f"*/{_STATE}"))
        if len(splits) != 1:
            named = ", ".join(str(folder / one) for one in splits) or "none"
            raise DataError.of(raw.name, "folder", "one split (name its folder)", named)
        folder = folder / splits[0]
    number = 0
    try:
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        for one in state["_data_files"]:
            with (
                pa.memory_map(str(folder / Path(one["filename"]).name)) as source,
                pa.ipc.open_stream(source) as batches,
            ):
                for batch in batches:
                    for row in batch.to_pylist():
                        number += 1
                        yield number, row
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        expected = "a folder that save_to_disk wrote, whole"
        raise DataError.of(raw.name, "folder", expected, _in_short(error)) from error


def hub_rows(raw: RawRows, address: str) -> Iterator[Row]:
    """Yield the rows of a dataset on the Hugging Face Hub, or of its copy in the cache."""
    try:
        datasets = importlib.import_module("datasets")
    except ImportError as error:
        raise MissingExtraError(
            f"reading {address} needs datasets: pip install 'judgesmith[hf]'"
        ) from error
    name, _, split = address.partition("://")[2].partition(":")
    owner, *rest = name.strip("/").split("/")
    if not owner or len(rest) > 2 or not all(rest):
        raise DataError.of(
            address, "address", "hf://OWNER/NAME[/CONFIG][:SPLIT]", shown_value(name)
        )
    path, config = "/".join([owner, *rest[:1]]), (rest[1] if len(rest) > 1 else None)
    try:
        found = datasets.load_dataset(path, config, split=split or None)
    except Exception as error:
        # Of the network, the Hub and the files there, each by a class of its own.
        expected = "a dataset that can be loaded (check the name, the split and the network)"
        raise DataError.of(address, "dataset", expected, _in_short(error)) from error
    if isinstance(found, Mapping):
        if len(found) != 1:
            named = ", ".join(f"{address}:{one}" for one in found)
            raise DataError.of(
                address, "dataset", f"one split, as in {named}", f"{len(found)} splits"
            )
        found = next(iter(found.values()))
    yield from _numbered(raw, found)


def memory_rows(source: Any) -> tuple[str, Callable[..., Iterator[Row]]]:
    """Return what messages call a table in memory, and what yields its rows."""
    # A dataset of Hugging Face is told by what it has: its library need not be there.
    if hasattr(source, "column_names") and hasattr(source, "features"):
        if isinstance(source, Mapping):
            names = ", ".join(map(str, source))
            raise TypeError(f"expected one split of a dataset; got all of {names}. Choose one.")
        return "dataset", lambda raw: _numbered(raw, source)
    pandas = sys.modules.get("pandas")  # a caller with a frame has imported it
    if pandas and isinstance(source, pandas.DataFrame):
        return "data frame", _frame_rows(source)
    if isinstance(source, Mapping):
        source = rows_of_columns(source)
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return "rows", lambda raw: _numbered(raw, source)
    raise TypeError(
        "expected a path, '-', a pandas DataFrame, a Hugging Face dataset, a list of dicts or of "
        f"dspy.Examples, or a dict of columns; got {type(source).__name__}."
    )


def _numbered(raw: RawRows, rows: Any) -> Iterator[Row]:
    for number, given in enumerate(rows, start=1):
        as_dict = getattr(given, "toDict", None)  # of a dspy.Example
        row = given if as_dict is None else as_dict()
        if as_dict is not None and isinstance(given.get("scale"), Scale):
            row = _rated_row(given)
        if isinstance(row, Mapping):
            yield number, {str(name): _native(value) for name, value in row.items()}
        else:
            raw.problem(number, at="row", expected="a mapping of columns", came=shown_value(row))


def _rated_row(example: Any) -> dict[str, Any]:
    """Return the row of an example that ``judgesmith.to_examples`` made."""
    scale, score = example["scale"], example["score"]
    human = scale.labels[round(score - scale.low)] if scale.labels else score
    texts = ("source", "context", "response", "references", "system_id")
    return {
        **{name: example[name] for name in texts if example.get(name)},
        "source_id": str(example.get("group", "")),
        "human": {"overall": [human]},
        "scale": {"overall": scale.model_dump()},
    }


def _frame_rows(frame: pd.DataFrame) -> Callable[..., Iterator[Row]]:
    if not frame.columns.is_unique:
        twice = sorted(set(map(str, frame.columns[frame.columns.duplicated()])))
        expected = "column names that differ from each other"
        came = f"{', '.join(map(repr, twice))} more than once"
        raise DataError.of("data frame", "header", expected, came)

    def rows(_: RawRows) -> Iterator[Row]:
        names = [str(column) for column in frame.columns]
        # In a frame NaN, NaT and NA all mean that nothing is there.
        for start in range(0, len(frame), _BATCH):
            part = frame.iloc[start : start + _BATCH].astype(object)
            cells = part.where(part.notna(), None).itertuples(index=False, name=None)
            for offset, values in enumerate(cells, start=start + 1):
                yield offset, dict(zip(names, map(_native, values), strict=True))

    return rows


def _native(value: Any) -> Any:
    """Return NumPy scalars and arrays as the Python values they hold."""
    return value.tolist() if hasattr(value, "tolist") else value
