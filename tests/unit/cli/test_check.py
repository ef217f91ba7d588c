def test_a_set_is_described_for_people(run):
    done = run("check", "sample")
    assert done.status == 0
    lines = [line.split() for line in done.out.splitlines()]
    assert ["rows", "160"] in lines
    assert ["criterion", "overall", "faithfulness", "fluency"] in lines
    assert max(map(len, done.out.split("\n\n!")[0].splitlines())) <= 80


def test_unrated_texts_are_described_too(run, folder):
    path = folder / "texts.jsonl"
    path.write_text('{"source": "a", "response": "b"}\n')
    done = run("check", path)
    assert done.status == 0
    assert "Ratings" not in done.out


def test_names_from_the_data_cannot_move_the_cursor(run, folder):
    path = folder / "texts\x1b[2J.jsonl"
    path.write_text(
        '{"source": "a", "response": "b", "human": {"\\u001b[31mred": [1]}, '
        '"scale": {"\\u001b[31mred": [1, 5]}}\n'
    )
    done = run("check", path)
    assert "\\x1b[31mred" in done.out
    assert "\x1b" not in done.out + done.err
