import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.cli.shared.printing import print_table, say, say_under, shortened, visible

ATTACK = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x08\u202e\x7f\ud800"


@pytest.mark.no_cover
@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "L"])))
def test_nothing_but_line_ends_and_tabs_can_move_a_cursor(text):
    assert all(c.isprintable() or c in "\n\t" for c in visible(text))


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_letters_are_shown_as_they_are(text):
    assert visible(text) == text


@given(st.text())
def test_text_made_visible_can_always_be_written(text):
    assert visible(visible(text)) == visible(text)
    visible(text).encode("utf-8")


def test_sentences_and_cells_reach_the_terminal_harmless(capsys):
    say(ATTACK)
    print_table(ATTACK, [[ATTACK, "1"]], header=[ATTACK, "n"])
    out = capsys.readouterr().out
    assert "\\x1b]0;title\\x07" in out
    assert all(c.isprintable() or c == "\n" for c in out)


def test_long_texts_are_cut_on_one_line():
    assert shortened("a\n b\tc") == "a b c"
    assert shortened("x" * 20, 10) == "x" * 9 + "…"


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("indent", [0, 2])
def test_a_long_text_is_wrapped_under_its_beginning(capsys, monkeypatch, columns, indent):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = "Some well-chosen words that say why.\n" * 9 + "\x1b[2J"
    say_under("because", text, indent=indent)
    out = capsys.readouterr().out
    first, *rest = out.splitlines()
    assert first.startswith(" " * indent + "because: Some")
    start = " " * (indent + len("because: "))
    assert all(line.startswith(start) and line[len(start)] != " " for line in rest)
    assert max(map(len, [first, *rest])) <= columns
    assert out.split() == ["because:", *visible(text).split()]


def test_a_text_with_little_room_goes_on_under_its_label(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    say_under("response", "one two three four five", indent=2)
    assert capsys.readouterr().out.splitlines() == ["  response: one two", "  three four five"]


def test_without_text_there_is_the_label(capsys):
    say_under("because", "")
    assert capsys.readouterr().out == "because:\n"
