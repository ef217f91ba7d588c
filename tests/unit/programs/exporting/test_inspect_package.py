"""What ``export --to inspect`` writes, without Inspect AI; ``test_in_inspect.py`` runs it there."""

import ast
import inspect as introspection
from importlib.util import find_spec

import pytest
from exporting import saved_of

from judgesmith.programs.artifacts.saved_ensembles import load_saved
from judgesmith.programs.exporting.export import export_judge, form_of
from judgesmith.programs.exporting.inspect_scorer import SETTINGS, inspect_scorer, inspect_scoring


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_folder_is_a_package_around_the_judge(tmp_path):
    saved = saved_of()
    done = export_judge(saved, "inspect", tmp_path / "my_judge")
    assert (done.verified.n_equal, done.verified.n_items) == (2, 2)
    assert load_saved(done.place / "judge") == saved
    names = {name for name in files(done.place) if not name.startswith("judge/")}
    assert names == {"README.md", "__init__.py", "export.json", "requirements.txt"}
    assert b"inspect-ai>=" in files(done.place)["requirements.txt"]


def test_the_same_judge_is_written_in_the_same_bytes(tmp_path):
    saved = saved_of()
    first, second = (export_judge(saved, "inspect", tmp_path / name).place for name in "ab")
    assert files(first) == files(second)


@pytest.mark.parametrize("target", ["overall", '"""\nraise SystemExit\n"""', "\\", "\x1b[2J\u202e"])
def test_no_name_ends_the_words_about_the_judge(tmp_path, target):
    saved = saved_of(texts=()).model_copy(update={"target": target})
    text = (export_judge(saved, "inspect", tmp_path / "a").place / "__init__.py").read_text()
    tree = ast.parse(text)
    kinds = [type(node).__name__ for node in tree.body]
    assert kinds == ["Expr", "ImportFrom", "ImportFrom", "ImportFrom", "Assign", "FunctionDef"]
    assert all(one.isprintable() or one == "\n" for one in text)
    assert saved.fingerprint in ast.get_docstring(tree)


def test_the_scorer_takes_every_setting_and_hands_it_on(tmp_path):
    place = export_judge(saved_of(texts=()), "inspect", tmp_path / "a").place
    function = ast.parse((place / "__init__.py").read_text()).body[-1]
    taken = [one.arg for one in function.args.args]
    handed = {
        one.arg
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "inspect_scoring"
        for one in node.keywords
    }
    assert set(taken) == handed == {"source", "context", *SETTINGS}
    assert set(introspection.signature(inspect_scoring).parameters) >= {"source", "context"}


def test_judges_that_compare_are_refused():
    saved = saved_of("pairs", texts=())
    assert "compares the responses" in form_of("inspect").check(saved)
    with pytest.raises(ValueError, match="cannot be a scorer: it compares"):
        inspect_scoring(saved)


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="the library is here")
def test_without_the_library_the_extra_is_named():
    with pytest.raises(ImportError, match=r"pip install 'judgesmith\[inspect\]'"):
        inspect_scorer(saved_of(texts=()))
