import hostile
import marking
import pytest

PLANTED = ["errors", "scores.jsonl", "data.jsonl"]


def row_of(item):
    return {
        **{name: getattr(item, name) for name in ("source_id", "system_id", "source", "response")},
        "human": {},
        **item.extra,
    }


@pytest.fixture
def write(folder):
    """Write texts, and rows of scores with the errors that ``errors_of`` returns for each."""

    def writing(items, errors_of, **fields):
        marking.write_lines(folder / "data.jsonl", [row_of(item) for item in items])
        rows = [
            marking.score_row(item, errors_of(item)) | fields.get(item.system_id, {})
            for item in items
        ]
        marking.write_lines(folder / "scores.jsonl", rows)

    return writing


@pytest.fixture
def planted(write):
    """Five texts, of which a judge marks all that was changed in them, and a name everywhere."""
    items = marking.changed_items(5)
    places = marking.places_in(marking.changed_set(5))

    def errors_of(item):
        changed = places.get((item.source_id, item.system_id), ())
        return marking.marked(item.response, (0, 5), *changed)

    write(items, errors_of)
    return items


def test_texts_are_shown_with_numbered_marks_and_reasons(run, write):
    item = marking.changed_items(1)[0]
    errors = marking.marked(item.response, (0, 11), (6, 15))
    errors[0] |= {"criterion": "consistency", "severity": 5}
    errors[1] |= {"text": "Rossi lost", "located": "fuzzy", "ambiguous": True, "severity": None}
    errors.append({"text": "nobody", "located": "unresolved", "severity": 2})
    errors.append({"text": "", "located": "missing", "explanation": "Who was second?"})
    write([item], lambda item: errors)
    out = run(*PLANTED).out
    assert "scores.jsonl on data: 4 errors in 1 of 1 text; 0 unscored, 0 with a note" in out
    assert "[1>Maria [2>Rossi<1] won<2] 04 of the 20 races" in out
    assert "  1 critical, 5 of 5; characters 0 to 11; about consistency\n" in out
    assert "    why: Number 1 is wrong.\n" in out
    assert "of no stated severity; characters 6 to 15, quoted with other letters" in out
    assert "    quoted: Rossi lost\n" in out
    assert "  3 minor, 2 of 5; quoted, but not in the text\n    quoted: nobody\n" in out
    assert "missing from the text\n    why: Who was second?\n" in out
    assert "one of several such places" in out


def test_of_a_panel_it_is_told_who_found_an_error_and_one_member_can_be_read(run, write):
    item = marking.changed_items(1)[0]
    own = {"annotations": {"gemma": marking.marked(item.response, (0, 5)), "qwen": []}}
    of_panel = own | {"members": {"gemma": 20, "qwen": 80}, "support": [["gemma"]]}
    write([item], lambda item: marking.marked(item.response, (0, 5)), m=of_panel)
    assert "1 major, 4 of 5; characters 0 to 5; found by gemma\n" in run(*PLANTED).out
    gemma, qwen = (run(*PLANTED, "--member", name, "--all").out for name in ("gemma", "qwen"))
    assert "gemma of scores.jsonl on data: 1 error in 1 of 1 text" in gemma
    assert "0 errors in 0 of 1 text" in qwen
    assert "0, m: score 80" in qwen


def test_few_texts_are_shown_and_the_command_says_how_to_see_more(run, planted):
    out = run(*PLANTED, "--rows", "2", "--start", "4", "--gold", "none").out
    assert out.count(": score 40") == 2
    assert "texts 4 to 5 of" in " ".join(out.split())
    assert "the next with --start 6" in " ".join(out.split())
    assert ": score 40" not in run(*PLANTED, "--rows", "0").out
    last = run(*PLANTED, "--rows", "9", "--start", "999")
    assert (last.status, ": score" in last.out) == (0, False)
    assert "and --start is 999.\n" in last.out


def test_the_worst_texts_can_come_first_and_those_without_errors_too(run, write):
    items = marking.changed_items(3)[::4]
    severities = {items[0].key: 1, items[1].key: 5}
    write(
        items,
        lambda item: [
            error
            for key, severity in severities.items()
            for error in marking.marked(item.response, (0, 5), severity=severity)
            if item.key == key
        ],
    )
    worst = run(*PLANTED, "--worst").out
    assert worst.index("critical, 5 of 5") < worst.index("neutral, 1 of 5")
    assert run(*PLANTED).out.count(": score 40") == 2
    assert run(*PLANTED, "--all").out.count(": score 40") == 4


def test_errors_are_held_against_edits(run, planted):
    done = run(*PLANTED, "--rows", "0")
    assert "Places beside what was changed: 1" in done.out
    assert "character_typos/minor" in done.out
    assert "Controls, which make no text worse" in done.out
    found = run(*PLANTED, "--rows", "0", "--json").json
    assert found["evaluation"]["gold"] == "edits"
    assert found["evaluation"]["new"]["pairs"]["f1"]["value"] > 0.95
    assert found["evaluation"]["all"]["pairs"]["precision"]["value"] < 1.0
    assert {kind["name"] for kind in found["evaluation"]["kinds"]} == set(marking.KINDS)
    assert run(*PLANTED, "--gold", "none", "--json").json["evaluation"] is None


def test_errors_are_held_against_what_people_marked(run, folder, write):
    items = [
        item.model_copy(
            update={"extra": {"errors": [{"severity": "Major", "start": 0, "end": 5}] * (n % 2)}}
        )
        for n, item in enumerate(marking.changed_items(6)[::5])
    ]
    write(items, lambda item: marking.marked(item.response, (0, 5)))
    out = run(*PLANTED, "--rows", "0").out
    assert "Places beside what people marked" in out
    assert "half credit for severity" in out
    assert "Number and severity, whatever the place" in out
    data = folder / "data.jsonl"
    data.write_text(data.read_text().replace(', "start": 0, "end": 5', ""))
    done = run(*PLANTED, "--rows", "0", "--json")
    assert done.json["evaluation"]["all"] is None
    assert "not their places" in done.err


def test_unscored_texts_and_those_without_errors_are_told(run, write):
    items = marking.changed_items(2)[:3]
    second = {items[1].system_id: {"score": None, "problem": "cut \x1b[2J off", "errors": []}}
    write(items, lambda item: [], **second)
    done = run(*PLANTED, "--gold", "none", "--all")
    assert "0 errors in 0 of 3 texts; 1 unscored" in done.out
    assert "no score (cut \\x1b[2J off)" in done.out
    assert "note: no row states an error" in done.out


def test_a_page_is_written_once_and_the_same_every_time(run, folder, planted):
    page = folder / "page.html"
    done = run(*PLANTED, "--html", "page.html")
    assert done.status == 0
    assert "texts in page.html" in done.out
    assert ": score 40" not in done.out
    before = page.read_bytes()
    assert run(*PLANTED, "--html", "page.html").status == 2
    assert run(*PLANTED, "--html", "page.html", "--force", "--json").json["output"] == "page.html"
    assert page.read_bytes() == before


def test_no_terminal_obeys_and_no_page_runs_what_a_text_says(run, folder, write):
    texts = [text for text in hostile.TEXTS.values() if 8 <= len(text) < 3000]
    item = marking.changed_items(1)[0]
    items = [
        item.model_copy(update={"source_id": text[:40] + str(n), "response": text, "source": text})
        for n, text in enumerate([*texts, "<script>alert(1)</script>" * 9])
    ]
    evil = "<img src=x onerror=alert(1)>\u202e\x1b[2J"

    def errors_of(item):
        errors = marking.marked(item.response, (0, 3), (2, 7))
        return [one | {"explanation": evil + item.response, "criterion": evil} for one in errors]

    write(items, errors_of)
    done = run(*PLANTED, "--rows", "999", "--gold", "none")
    assert done.status == 0
    assert all(one.isprintable() or one in "\n\t" for one in done.out + done.err)
    assert run(*PLANTED, "--html", "page.html", "--gold", "none").status == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    for forbidden in ("<script", "<img", "\u202e", "\x1b"):
        assert forbidden not in page


def test_versions_without_their_originals_are_shown_and_held_against_nothing(run, write):
    items = marking.changed_items(2)[1:2]
    write(items, lambda item: marking.marked(item.response, (0, 5)))
    done = run(*PLANTED)
    assert (done.status, ": score 40" in done.out) == (0, True)
    assert "note: errors are held against nothing: no version in data" in done.out
    assert run(*PLANTED, "--gold", "edits").status == 2
