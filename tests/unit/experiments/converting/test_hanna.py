"""HANNA, as it is published."""

SIX = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")


def rated(story_id, model, worker, *points, story="A long, long time.", prompt="Time."):
    return {
        "Story ID": story_id,
        "Prompt": prompt,
        "Human": 'What a "time",\nit was.',
        "Story": story,
        "Model": model,
        **dict(zip(SIX, points, strict=True)),
        "Worker ID": worker,
        "Assignment ID": "x",
        "Work time in seconds": 60,
        "Name": "Time",
    }


def test_rows_of_raters_become_one_row_per_story(converted, published):
    rows = [
        rated(0, "Human", "A1", 5, 5, 5, 5, 5, 5, story='What a "time",\nit was.'),
        rated(96, "CTRL", "A2", 1, 2, 3, 4, 5, 1),
        rated(96, "CTRL", "A1", 2, 2, 3, 4, 5, 1),
        rated(97, "CTRL", "A3", 2, 2, 3, 4, 5, 1, prompt="Another."),
        rated(0, "Human", "A2", 4, 4, 4, 4, 4, 4, story='What a "time",\nit was.'),
    ]
    done = converted("hanna", published("hanna_stories_annotations.csv.gz", rows))
    human, ctrl, other = done.rows
    assert ctrl == {
        "dataset": "hanna",
        "task": "story",
        "source_id": "1",
        "system_id": "CTRL",
        "source": "Time.",
        "context": None,
        "response": "A long, long time.",
        "references": ['What a "time",\nit was.'],
        "human": {
            "relevance": [1, 2],
            "coherence": [2, 2],
            "empathy": [3, 3],
            "surprise": [4, 4],
            "engagement": [5, 5],
            "complexity": [1, 1],
        },
        "scale": {name.lower(): [1, 5] for name in SIX},
        "raters": ["rater2", "rater1"],
        "story_id": "96",
    }
    assert (human["human"]["relevance"], human["raters"]) == ([5, 4], ["rater1", "rater2"])
    assert human["references"] == []
    assert other["source_id"] == "2"
    assert done.made.changed == {"stories that are the human one themselves: no reference": 1}


def test_rows_that_contradict_each_other_are_told(faults, published):
    rows = [
        rated(96, "CTRL", "A2", 1, 2, 3, 4, 5, 1),
        rated(96, "CTRL", "A1", 1, 2, 3, 4, 5, 9, story="Another story."),
    ]
    path = published("hanna_stories_annotations.csv", rows)
    assert faults("hanna", path) == [
        "hanna_stories_annotations.csv:4: Complexity: expected a number from 1 to 5; got '9'",
        "hanna_stories_annotations.csv:4: Story: expected 'A long, long time.', as in "
        "hanna_stories_annotations.csv:2; got 'Another story.'",
    ]
