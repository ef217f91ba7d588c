"""Where the rated data is, and what happens to a test that needs it when it is not there."""

import gc
import importlib
import os
import pkgutil
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from _pytest.pathlib import import_path
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent / "unit" / "support"))  # what tests share

# No test cuts the power, so none waits for the disk: kills lose nothing that was written.
os.fsync = os.fstat
# Products of small matrices in several threads take half as much again of the processors, which
# other workers of the tests could use.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Lines of progress come by the clock, which tests do not wait for.
os.environ.setdefault("JUDGESMITH_PROGRESS", "off")
# A busy machine makes single examples slow; how long they take is no property of the code. Every
# run draws other examples, so fewer than by default find as much in a few runs more.
settings.register_profile("judgesmith", deadline=None, max_examples=30)
settings.load_profile("judgesmith")

ROOT = Path(__file__).resolve().parents[1]
DEFAULT_DATA = ROOT.parent / "shared" / "data"
N_SLOWEST = 10
_missing: list[str] = []
_seconds: Counter[str] = Counter()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of rated data sets; skip, or fail if it was required, without one."""
    folder = Path(os.environ.get("JUDGESMITH_DATA") or DEFAULT_DATA)
    if (folder / "checks.json").is_file():
        return folder
    message = "set JUDGESMITH_DATA to the folder of rated data sets; it has no checks.json"
    if os.environ.get("JUDGESMITH_REQUIRE_DATA") == "1":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture
def own_families() -> Iterator[None]:
    """Let a test register families of judges that no other test meets."""
    registry = importlib.import_module("judgesmith.programs.judging.registry")
    before = dict(registry._FAMILIES)
    yield
    registry._FAMILIES.clear()
    registry._FAMILIES.update(before)


@pytest.fixture
def server(running_server: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the model server of the module or folder, its ``running_server``, as new."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    running_server.reset()
    return running_server


def pytest_configure(config: pytest.Config) -> None:
    """Know pytest-cov's marker without pytest-cov, and let Ctrl-C reach what tests start."""
    config.addinivalue_line("markers", "no_cover: leave this test out of coverage")
    # Its plugin has pytest rewrite the asserts of the whole package, which has none to explain.
    getattr(config.pluginmanager.rewrite_hook, "_must_rewrite", set()).discard("judgesmith")
    # Shells let what runs behind an "&" ignore Ctrl-C, and so would the commands that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that asks for the data, so that ``-m data`` finds them all.

    They are left out of coverage, which is then the same with and without the data.
    """
    for item in items:
        if "data_folder" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
            item.add_marker("no_cover")


def counting_of(config: pytest.Config) -> Any:
    """Return what counts lines for pytest-cov in this process, or None where nothing does."""
    return getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)


@contextmanager
def uncounted(config: pytest.Config) -> Iterator[None]:
    """Leave what happens meanwhile out of coverage, as pytest-cov does the call of such a test."""
    counting = counting_of(config)
    if counting is None:
        yield
        return
    counting.pause()
    # Workers of xdist have a second count below it, which nobody reads and which would go on.
    while (unread := type(counting.cov).current()) is not None:
        unread.stop()
    try:
        yield
    finally:
        counting.resume()


def import_from_behind(config: pytest.Config) -> None:
    """Import the last tests first in all workers but one, where all tests are to be run.

    Python has compiled none of them in a new clone: workers that begin at both ends compile half
    each, as one finds what another has written.
    """
    first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
    if first or Path(config.args[0]).resolve() != ROOT / "tests":
        return
    for path in sorted((ROOT / "tests").rglob("test_*.py"), reverse=True):
        # What cannot be imported is told of when it is collected.
        with suppress(Exception, pytest.skip.Exception):
            import_path(
                path, mode="importlib", root=config.rootpath, consider_namespace_packages=False
            )


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Count what importing our modules runs, and not the work of finding and rewriting tests.

    Hardly anything of it is garbage, and looking for that took a third of its time.
    """
    gc.disable()
    try:
        return (yield from collected(session))
    finally:
        gc.enable()


def collected(session: pytest.Session) -> Generator[None, object, object]:
    import_from_behind(session.config)
    if counting_of(session.config) is None:
        return (yield)
    for found in pkgutil.walk_packages([str(ROOT / "judgesmith")], "judgesmith."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    with uncounted(session.config):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Leave what a test marked ``no_cover`` sets up out of coverage as well.

    Counting lines more than doubles what Python takes: long tests over lines that short ones
    reach as well are marked.
    """
    if item.get_closest_marker("no_cover") is None:
        return (yield)
    with uncounted(item.config):
        return (yield)


def unsynced(prepare: Any) -> Any:
    """Return what prepares a database that waits for the disk no more than ``os.fsync`` does."""

    def prepared(connection: Any, path: Path) -> None:
        connection.execute("PRAGMA synchronous=OFF")
        prepare(connection, path)
        connection.execute("PRAGMA synchronous=OFF")

    return prepared


def pytest_collection_finish() -> None:
    """Have the cache not wait for the disk, nor the collector of cycles look at what was collected.

    Half a million objects of modules and tests stay to the end; looking at them again and again
    took a tenth of the time of all tests.
    """
    if records := sys.modules.get("judgesmith.programs.lm.cache.records"):
        records._prepare = unsynced(records._prepare)
    gc.collect()
    gc.freeze()
    gc.set_threshold(2000, 10, 25)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the seconds of each file, and remember the tests that lacked their data."""
    _seconds[report.location[0]] += report.duration
    if report.skipped and "JUDGESMITH_DATA" in str(report.longrepr):
        _missing.append(report.nodeid)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the slowest files, and how many tests needed data that was not there."""
    if len(_seconds) > N_SLOWEST:
        terminalreporter.write_sep("=", f"slowest {N_SLOWEST} files")
        for path, seconds in _seconds.most_common(N_SLOWEST):
            terminalreporter.write_line(f"{seconds:7.1f} s  {path}")
    if _missing:
        terminalreporter.write_line(
            f"{len(_missing)} tests on real data were not run: no rated data at $JUDGESMITH_DATA"
        )
