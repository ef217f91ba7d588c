"""What is built from the tree: the package, its samples and its licence, and nothing else."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md")
ROOMS = ("signatures", "programs", "metrics", "optimizers", "experiments")
BUILD = """
import sys
from setuptools import build_meta
folder = sys.argv[1]  # each build sets sys.argv anew
build_meta.build_sdist(folder)
build_meta.build_wheel(folder)
"""


def run(*command, folder, **environment):
    """Run a command in ``folder`` and return what it printed; a failure shows its errors."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build both distributions, offline, from a copy, so that the tree stays as it is."""
    tree = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "judgesmith", tree / "judgesmith", ignore=ignored)
    (tree / "tests").mkdir()
    shutil.copy(__file__, tree / "tests")
    for name in SOURCES:
        shutil.copy(ROOT / name, tree)
    for room in ROOMS:
        (tree / room).symlink_to(Path("judgesmith") / room)
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-c", BUILD, str(out), folder=tree)
    return out


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


@pytest.mark.no_cover
def test_the_wheel_holds_the_package_its_marker_its_sample_and_its_licence(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.partition("/")[0] for name in names}
    assert wheel.name.startswith("judgesmith-")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert {top.partition("-")[0] for top in tops} == {"judgesmith"}
    assert {
        "judgesmith/__init__.py",
        "judgesmith/py.typed",
        "judgesmith/data/samples/answers.jsonl",
        "judgesmith/data/samples/README.md",
    } <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_wheel_holds_every_module_of_the_tree(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "judgesmith").rglob("*.py")}
    assert modules == {name for name in names if name.endswith(".py")}


def test_the_source_distribution_holds_no_link_and_no_second_copy_of_a_room(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    top = path.name.removesuffix(".tar.gz")
    names = {member.name.removeprefix(f"{top}/") for member in members}
    assert not any(member.issym() or member.islnk() for member in members)
    assert not {name.partition("/")[0] for name in names} & {*ROOMS, "tests"}
    assert {"LICENSE", "CHANGELOG.md", "pyproject.toml", "judgesmith/py.typed"} <= names


@pytest.mark.no_cover
def test_the_wheel_is_imported_and_finds_its_sample_from_an_empty_folder(wheel, tmp_path):
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    zipfile.ZipFile(wheel).extractall(site)
    program = (
        "import judgesmith; from judgesmith.data.samples import sample_path; "
        "print(judgesmith.__file__); print(sample_path())"
    )
    # -P keeps the working folder off the path, so that only the wheel can be found.
    printed = run(sys.executable, "-P", "-c", program, folder=empty, PYTHONPATH=str(site))
    assert [Path(line).is_relative_to(site) for line in printed.splitlines()] == [True, True]
