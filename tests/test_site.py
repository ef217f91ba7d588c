"""The documentation is a site: it builds, and every public name is on a reference page."""

import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.no_cover

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "reference" / "api"
NOT_PUBLIC = {"judgesmith.cli", "judgesmith.errors"}


def doors():
    """Return the public modules: the package, its parts and the groups of metrics."""
    import judgesmith
    import judgesmith.metrics

    names = ["judgesmith"]
    for package in (judgesmith, judgesmith.metrics):
        found = pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
        names += [one.name for one in found if "__main__" not in one.name]
    modules = {name: import_module(name) for name in names if name not in NOT_PUBLIC}
    return {name: one for name, one in modules.items() if hasattr(one, "__all__")}


def test_every_public_module_has_a_page_that_the_index_lists():
    text = {page: page.read_text(encoding="utf-8") for page in PAGES.glob("*.md")}
    shown = [name for one in text.values() for name in re.findall(r"^::: (\S+)$", one, re.M)]
    assert sorted(shown) == sorted(doors())
    listed = re.findall(r"^\| \[`([\w.]+)`\]\(([\w-]+\.md)\)", text[PAGES / "index.md"], re.M)
    assert {name: f"::: {name}\n" in text[PAGES / page] for name, page in listed} == dict.fromkeys(
        doors(), True
    )


def test_every_public_function_documents_its_parameters_and_result():
    lacking = []
    for module, door in doors().items():
        for name in door.__all__:
            thing = getattr(door, name)
            if not inspect.isfunction(thing):
                continue
            text = inspect.getdoc(thing) or ""
            sections = set(re.findall(r"^(\w+)\n-{3,}$", text, re.MULTILINE))
            signature = inspect.signature(thing)
            wanted = {"Parameters"} if signature.parameters else set()
            typed = signature.return_annotation is not signature.empty
            if wanted - sections or not (typed or sections & {"Returns", "Yields"}):
                lacking.append(f"{module}.{name}")
    assert lacking == []


@pytest.mark.docs
def test_the_site_builds_without_a_warning_and_has_an_entry_for_every_public_name(tmp_path):
    if find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed: .ci/services/docs installs it")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    entries = {
        entry
        for page in (tmp_path / "site" / "reference" / "api").rglob("*.html")
        for entry in re.findall(r'id="(judgesmith[\w.]*)"', page.read_text(encoding="utf-8"))
    }
    names = {f"{module}.{name}" for module, door in doors().items() for name in door.__all__}
    assert names - entries == set()
    assert (tmp_path / "site" / "search" / "search_index.json").stat().st_size > 100_000
