import pytest

from judgesmith.cli.shared.faults import OptionError
from judgesmith.cli.shared.judged import named, scores_path


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s.jsonl", ("s.jsonl", None)),
        ("s.jsonl:UniEval", ("s.jsonl", "UniEval")),
        ("s.jsonl:metric:bleu", ("s.jsonl", "metric:bleu")),
        ("a:b.jsonl", ("a:b.jsonl", None)),
        ("a:b.jsonl:x", ("a:b.jsonl", "x")),
        ("folder", None),
        ("folder:x", None),
        ("nothing:at:all", None),
    ],
)
def test_a_file_is_told_from_the_judge_in_it(folder, text, found):
    (folder / "s.jsonl").touch()
    (folder / "a:b.jsonl").touch()
    (folder / "folder").mkdir()
    path, name = scores_path(text)
    assert (None if path is None else (str(path), name)) == found


def test_what_is_not_there_is_refused(folder):
    with pytest.raises(OptionError, match="there is no judge and no file of scores called nothing"):
        named("nothing")
    (folder / "there").mkdir()
    assert named("there").path is None
