"""judgesmith.yaml: defaults for commands, found upwards; flags win, and an address needs naming."""

import pytest

from judgesmith.cli.shared.project import find_project

CSV = "Article,Bot answer,r1,r2\n" + "".join(
    f"Text {n // 2} has words.,Answer {n} has words.,{1 + n % 5},{1 + (n + 1) % 5}\n"
    for n in range(24)
)
PROJECT = """\
data: ratings.csv
map:
  source: Article
  response: Bot answer
  score: [r1, r2]
scale: 1..5
"""
QUICK = ["--rounds", "2"]


@pytest.fixture
def project(folder):
    """Write the data and the project file, with more lines."""
    (folder / "ratings.csv").write_text(CSV)

    def written(more=""):
        (folder / "judgesmith.yaml").write_text(PROJECT + more)
        return folder

    return written


def test_data_map_and_scale_are_read_also_from_below_but_not_past_a_repository(
    run, project, monkeypatch
):
    project()
    done = run("check", "--json")
    assert done.status == 0
    assert done.json["n_items"] == 24
    assert [one["scale"] for one in done.json["criteria"]] == ["1..5"]
    below = project() / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert run("check", "--json").json["n_items"] == 24


def test_the_search_ends_at_the_root_of_a_repository(project, monkeypatch):
    below = project() / "repository"
    (below / ".git").mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_project(None) is None


def test_options_win(run, project):
    project("budget: {calls: 0}\n")
    done = run("check", "--scale", "1..10", "--json")
    assert [one["scale"] for one in done.json["criteria"]] == ["1..10"]
    assert run("compile", "-o", "judge", *QUICK, "--max-calls", "5000", "--json").json["judge"]


def test_other_data_is_read_without_the_map_unless_it_has_the_columns(run, project):
    folder = project()
    assert run("check", "sample").status == 0
    (folder / "more.csv").write_text(CSV)
    assert run("check", "more.csv", "--json").json["n_items"] == 24


def test_labels_are_a_scale(run, folder):
    (folder / "rated.csv").write_text(
        "source,response,score\n"
        + "".join(f"s{n},r{n},{'no' if n % 2 else 'yes'}\n" for n in range(9))
    )
    (folder / "judgesmith.yaml").write_text("data: rated.csv\nlabels: ['no', 'yes']\n")
    assert run("check", "--json").json["n_items"] == 9
    assert run("check", "rated.csv", "--scale", "no|yes", "--project", "none").status == 0


def test_a_found_file_never_supplies_an_address(run, project, server):
    server.reset()
    project(f"model: openai/m\napi_base: {server.url}\n")
    done = run("compile", "-o", "judge", *QUICK, "--json")
    assert done.status == 2
    assert "--project judgesmith.yaml" in done.fault["hint"]
    assert not server.counts()["requests"]


def test_a_named_file_supplies_an_address(run, project, server):
    server.reset()
    project(f"model: openai/m\napi_base: {server.url}\n")
    named = ["--project", "judgesmith.yaml", "--max-calls", "1", "--json"]
    run("infer", "-o", "rubric.yaml", *named)
    assert server.counts()["requests"] == 1


def test_the_model_of_a_found_file_is_not_named_by_the_user(run, project, server, on_server):
    folder = project()
    assert run("compile", "-o", "judge", *QUICK, *on_server).status == 0
    project("model: openai/m\n")
    (folder / "new.csv").write_text("Article,Bot answer\nA text.,An answer.\n")
    score = ["score", "judge", "new.csv", "-o", "s.jsonl", "--api-base", server.url, "--json"]
    done = run(*score)
    assert done.status == 2
    assert done.fault["where"] == "--allow-model"
    assert run(*score, "--project", "judgesmith.yaml").status == 0


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("data: a.csv\nmapp: {}\n", 2, "did you mean map"),
        ("data: a.csv\n\nscale: 5..1\n", 3, "scale"),
        ("budget: {dollars: 3}\n", 1, "dollars"),
        ("budget: {usd: -3}\n", 1, "usd"),
        ("map: {source: [a, b]}\n", 1, "map"),
        ("prices: {openai/m: cheap}\n", 1, "prices"),
        ("labels: [no, yes]\n", 1, "quote"),
        ("data: a\ndata: b\n", 2, "twice"),
        ("data: [\n", 2, "not YAML"),
        ("- data\n", 1, "KEY: VALUE"),
        ("model: [a, b]\n", 1, "model"),
    ],
)
def test_a_wrong_file_is_one_error_with_its_line(run, folder, text, line, said):
    (folder / "judgesmith.yaml").write_text(text)
    done = run("check", "sample", "--json")
    assert done.status == 2
    assert f"judgesmith.yaml, line {line}" in done.fault["error"]
    assert said in done.fault["error"] + str(done.fault["hint"])


def test_init_proposes_a_project_that_the_commands_read(run, folder):
    (folder / "ratings.csv").write_text(
        "Article,Bot answer,r1,r2,verdict,id number\n"
        + "".join(
            f"Text {n // 2} has words.,Answer {n} has words.,{1 + n % 5},"
            f"{'n/a' if n == 3 else 2},{'bad' if n % 2 else 'good'},x{n}\n"
            for n in range(24)
        )
    )
    done = run("init", "ratings.csv")
    assert done.status == 0
    assert "judgesmith check" in done.out
    assert "Answer 2 has" in done.out
    project = find_project(None)
    assert project.map == "source=Article,response=Bot answer,score=r1+r2,verdict=verdict"
    assert project.scales == ("score=1..5", "verdict=bad|good")
    assert project.reading == {"missing": "n/a"}
    assert run("check", "--json").json["n_items"] == 24
    again = run("init", "ratings.csv", "--json")
    assert (again.status, "--force" in again.fault["hint"]) == (2, True)


def test_init_says_what_it_does_not_know(run, folder):
    (folder / "texts.csv").write_text("a,b,c\n" + "x1,y y,red\nx2,z z,blue\n" * 4)
    done = run("init", "texts.csv")
    assert "order of the labels" in done.out
    (folder / "texts.csv").write_text("a\nx1\nx2\n")
    done = run("init", "texts.csv", "--force")
    assert "no column looks like the response" in done.out


GERMAN = "Frage;Bot-Antwort;Bot;Note Müller;Note Schmidt\n" + "".join(
    f"Was kostet Versand {n // 2}?;Der Versand {n} kostet etwas.;{'AB'[n % 2]};"
    f"{n % 5 + 1};{n % 5 + 1 if n else 'n/a'}\n"
    for n in range(24)
)


def test_systems_and_raters_are_recognised_and_the_encoding_is_kept(run, folder):
    (folder / "noten.csv").write_text(GERMAN, encoding="cp1252")
    done = run("init", "noten.csv", "--encoding", "cp1252")
    assert "write 'score: [Note Müller, Note Schmidt]' in the map" in done.out
    text = (folder / "judgesmith.yaml").read_text(encoding="utf-8")
    assert "encoding: cp1252\n" in text
    assert "system_id: Bot\n" in text
    assert run("check", "--json").json["n_items"] == 24
    assert run("check", "noten.csv", "--json", "--encoding", "cp1252").json["n_items"] == 24


def test_a_marker_of_missing_ratings_is_told_to_be_named(run, folder):
    (folder / "noten.csv").write_text(GERMAN)
    names = "source=Frage,response=Bot-Antwort,score=Note Schmidt"
    done = run("check", "noten.csv", "--map", names, "--scale", "1..5")
    assert done.status == 2
    assert "noten.csv:2: Note Schmidt" in done.err
    assert "--missing n/a" in done.err
