"""300 rows judged by a polite server: words around its JSON, some garbage, some refusals."""

import json

import loopback_offline
import pytest

pytestmark = pytest.mark.no_cover

N_ROWS = 300


def rows():
    """Return texts of two systems; their ratings follow from their length."""
    found = []
    for n in range(N_ROWS):
        kept = 1 + n * 7 % 5
        facts = [f"Ann left town {n // 2} on day {day}." for day in range(5)]
        found.append(
            {
                "source_id": f"s{n // 2}",
                "system_id": f"m{n % 2}",
                "source": " ".join(facts),
                "response": f"Item {n}: " + " ".join(facts[:kept]),
                "human": {"overall": [kept]},
                "scale": {"overall": [1, 5]},
            }
        )
    return found


@pytest.fixture
def polite(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with loopback_offline.serving() as server:
        server.script({"polite": True})
        yield server


def test_infer_compile_and_score_lose_the_garbage_alone(run, polite, folder):
    data = folder / "rows.jsonl"
    data.write_text("".join(json.dumps(one) + "\n" for one in rows()), encoding="utf-8")
    ask = ["--model", "openai/m", "--api-base", polite.url, "--json"]
    garbage = {f"s{n // 2}:m{n % 2}" for n in range(0, N_ROWS, 50)}

    inferred = run("infer", data, "-o", "rubric.yaml", *ask)
    assert inferred.status == 0, inferred.err
    assert "taught nothing" not in inferred.err
    assert "could not be read" not in inferred.err

    compiled = run(
        "compile", data, "-o", "judge", "--rubric", "rubric.yaml", "--optimizer", "none", *ask
    )
    assert compiled.status == 0, compiled.err
    assert compiled.json["rows"]["unscored"] <= len(garbage)

    scored = run("score", "judge", data, "-o", "scores.jsonl", *ask)
    assert scored.status == 0, scored.err
    found = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    lost = {f"{one['source_id']}:{one['system_id']}" for one in found if one["score"] is None}
    assert len(found) == N_ROWS
    assert lost == garbage
