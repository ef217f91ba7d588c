"""What students learn from in tests: a few questions with one answer."""

import json

ANSWER = "Errors:\nNo Error\n\nOverall score: 100"


def chat_of(question, system):
    roles = ("system", "user", "assistant")
    turns = zip(roles, (system, question, ANSWER), strict=True)
    return {"messages": [{"role": role, "content": text} for role, text in turns]}


def write_data(folder, questions, held=(), run="0123456789ab", system="You judge."):
    """Write questions to learn an answer to, as judgesmith distil writes them."""
    folder.mkdir(exist_ok=True)
    summary = {"kind": "distillation", "run": run}
    (folder / "distilled.json").write_text(json.dumps(summary), encoding="utf-8")
    for name, several in (("train", questions), ("validation", held)):
        lines = "".join(json.dumps(chat_of(one, system)) + "\n" for one in several)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder
