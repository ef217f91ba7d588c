"""The tree keeps its promises: root links, declared imports, a portable lock, no local names."""

import ast
import re
import sys
import tomllib
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from looping import for_each
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("signatures", "programs", "metrics", "optimizers", "experiments")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / ".ci" / "requirements.lock").read_text()

# Names that would tie the tree to one machine or one index. Each pattern is written so that it
# does not match itself.
FOREIGN = {
    "a home or system folder": r"(?<![\w.~$}\]-])/(?:home|Users|root|work|opt|srv|mnt)/\w",
    "a Windows folder": r"\b[C-Z]:\\\w",
    "a file address": r"file:/[/]",
    "a package index": r"\b(?:pypi[.]org|pythonhosted[.]org|conda[.]anaconda|registry[.]npmjs)",
    "an index option": r"--(?:extra-)?index-ur[l]\b(?![ \t]*\\)|--find-link[s]\b(?![ \t]*\\)",
}


IGNORED = (
    ".git",
    *(line.strip().strip("/") for line in (ROOT / ".gitignore").read_text().split("\n") if line),
)


@cache
def our_files(folder=ROOT, names=IGNORED):
    """Return every file that belongs to the tree: not ignored, not reached through a link."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or any(fnmatch(path.name, name) for name in names):
            continue
        found += our_files(path, names) if path.is_dir() else [path]
    return found


def our_texts():
    """Yield each text file of ours with its content."""
    for path in our_files():
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


IMPORTED = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+(.+))", re.MULTILINE)


@cache
def maybe_imported(path):
    """Return the top-level names that lines like imports name, which may be part of a text."""
    found = set()
    for module, names in IMPORTED.findall(path.read_text(encoding="utf-8")):
        found |= {module} if module else set(re.findall(r"(?:^|,)\s*(\w+)", names))
    return found


@cache
def imported(path):
    """Return the top-level names that a Python file imports, at module level or anywhere below."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    assert found <= maybe_imported(path)
    return found


def distributions(requirements):
    """Return the canonical distribution names of requirement strings."""
    return {canonicalize_name(Requirement(text).name) for text in requirements}


@for_each("room", ROOMS)
def test_the_root_shows_each_room_through_a_relative_link_that_points_inside(room):
    link = ROOT / room
    assert link.is_symlink()
    assert link.readlink() == Path("judgesmith") / room
    assert link.resolve() == (ROOT / "judgesmith" / room).resolve()
    assert (link / "__init__.py").is_file()


def test_nothing_is_imported_through_the_root_links():
    through = {
        str(path.relative_to(ROOT)): names
        for path in our_files()
        if path.suffix == ".py"
        and maybe_imported(path) & set(ROOMS)
        and (names := imported(path) & set(ROOMS))
    }
    assert through == {}


@pytest.mark.parametrize("shipped", [True, False])
def test_everything_imported_is_declared(shipped):
    declared = distributions(PROJECT["dependencies"])
    for extra, requirements in PROJECT["optional-dependencies"].items():
        if extra != "dev" or not shipped:
            declared |= distributions(requirements)
    providers = packages_distributions()
    files = [path for path in our_files() if path.suffix == ".py"]
    files = [path for path in files if (ROOT / "judgesmith" in path.parents) == shipped]
    beside = set() if shipped else {path.stem for path in files} | {"benchmarks", "tests"}
    undeclared = {}
    for path in files:
        for name in maybe_imported(path) - sys.stdlib_module_names - beside - {"judgesmith"}:
            ours = {canonicalize_name(provider) for provider in providers.get(name, ())}
            if not ours & declared and name in imported(path):
                undeclared.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert undeclared == {}


def test_every_declared_requirement_is_pinned_at_a_version_it_allows():
    # What is too large for the lock file is pinned by the service of .ci/services that installs it.
    pinned = [LOCK, *(path.read_text() for path in (ROOT / ".ci" / "services").iterdir())]
    pins = {
        canonicalize_name(name): version
        for text in pinned
        for name, version in re.findall(r"(?:^|\s)([\w.-]+)==(\d[\w.]*)", text)
    }
    wanted = [Requirement(text) for text in PROJECT["dependencies"]]
    for extra in PROJECT["optional-dependencies"].values():
        wanted += [Requirement(text) for text in extra]
    assert [
        str(requirement)
        for requirement in wanted
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ] == []


def test_the_lock_file_holds_hashes_and_nothing_but_pinned_names():
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE).strip())
    assert len(entries) > len(PROJECT["dependencies"])
    shape = re.compile(r"[\w.-]+==[\w.]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+")
    assert [entry.splitlines()[0] for entry in entries if not shape.fullmatch(entry)] == []
    assert not re.search(r"^(torch|nvidia)", LOCK, flags=re.MULTILINE)


def test_no_file_names_a_folder_of_one_machine_or_a_package_index():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {what}: {line.strip()[:80]}"
        for path, text in our_texts()
        for what, pattern in FOREIGN.items()
        if re.search(pattern, text)
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(pattern, line)
    ]
    assert found == []


@for_each(
    "line",
    [
        "read /ho" + "me/ana/data.csv",
        "cd /Use" + "rs/ana",
        "see file:" + "//share/wheels",
        "--index-" + "url https://example.org",
        "https://py" + "pi.org/simple",
    ],
)
def test_the_search_for_foreign_names_finds_them(line):
    assert any(re.search(pattern, line) for pattern in FOREIGN.values())


def test_the_tree_is_what_the_search_walks():
    walked = {str(path.relative_to(ROOT)) for path in our_files()}
    assert {"README.md", ".ci/run", "judgesmith/py.typed", "tests/test_layout.py"} <= walked
    assert not any(
        name.startswith((".git/", ".venv/", *(f"{room}/" for room in ROOMS))) for name in walked
    )
