"""Published files with anything in them: sound rows of rated texts, or faults; nothing else."""

import csv
import io
import json
import re

from draws import Draws, mutated, mutated_plain
from places import scratch, written

from judgesmith.data import DataError, read_items
from judgesmith.data.convert import CONVERSIONS, convert

FOUR = {"coherence": 5, "consistency": 1, "fluency": 3, "relevance": 2}
SIX = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
USR = {"Understandable": [1, 0], "Natural": [1, 3], "Maintains Context": [3, 3], "Engaging": [2, 2],
       "Uses Knowledge": [0, 1], "Overall": [5, 1]}  # fmt: skip
MEDIANS = {"informativeness": 6, "naturalness": 5, "quality": 4.5, "overall": 4}
TEXT = {"task": "Dialogue", "aspect": "Coherence", "source": "s", "target": "t", "rating": 2}
ERROR = {"system": "A", "doc": "d", "doc_id": "1", "seg_id": "7", "rater": "r",
         "source": '"s ""x"""', "target": "Es <v>hat</v> so.", "category": "Style",
         "severity": "Minor"}  # fmt: skip
SAID_OF_TRACE = {"assessment_name": "ok", "source": {"source_type": "HUMAN", "source_id": "a"},
                 "feedback": {"value": True}, "rationale": "w"}  # fmt: skip
CHAT = {"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}]}
SUMMARY = {"id": "a", "model_id": "M1", "decoded": "d", "references": ["r"], "text": "t",
           "expert_annotations": [FOUR, FOUR], "turker_annotations": [FOUR]}  # fmt: skip
SAID = ("Informativeness", "Relevance", "Fluency", "Coherence")
PROMPT = {
    "instance": "### Generated Summary\n\na\n\n### Source Article\n\nb</p><p>c",
    "annotations": {name: {"individual_human_scores": [1, 2]} for name in SAID},
}
# Whole files, and the sets that they are files of.
FILES = (
    ("summeval", ".jsonl", [SUMMARY, {**SUMMARY, "model_id": "M2"}]),
    ("summeval", ".jsonl", [{"id": "a", "text": "t", "decoded": "x"}]),
    ("qags-xsum", ".jsonl", [{"article": "a", "summary_sentences": [
        {"sentence": "b", "responses": [{"worker_id": 1, "response": "yes"}]}]}]),
    ("topical-chat", ".json", [{"context": "c", "fact": "_nofact", "annotators": ["a", "b"],
                                "responses": [{"response": "r", "model": "m", **USR}]}]),
    ("openmeva-roc", ".json", {"1": {"prompt": "p", "gold_response": "g",
                                     "gen": {"m": {"text": "t", "score": [1, "2"]}}}}),
    ("openmeva-wp", ".json", [{"doc_id": 1, "prompt": "p", "reference": "g",
                               "gen": {"m": {"text": "t", "score": {"human": 1.5}}}}]),
    ("hanna", ".csv", [{"Story ID": 1, "Prompt": "p", "Human": "h", "Story": "s", "Model": "m",
                        **dict.fromkeys(SIX, 3), "Worker ID": "w"}]),
    ("sfres", ".csv", [{"dataset": "SFRES", "system": "W", "mr": "m", "sys_ref": "s", **MEDIANS}]),
    ("sfhot", ".json", [{"doc_id": 1, "source": "s", "reference": "r", "system_output": "o",
                         "scores": MEDIANS}]),
    ("newsroom", ".csv", [{"System": "s", "ArticleID": 1, "ArticleTitle": "t",
                           "ArticleText": "&lt;p&gt;",
                           "SystemSummary": "s",
                           **{f"{name}Rating": 3 for name in SAID}}]),
    ("newsroom", ".json", {"instances": [PROMPT, PROMPT]}),
    ("wiki-da", ".csv", [{"sent_id": 1, "sys_name": "s", "orig_sent": "o", "simp_sent": "p",
                          "rater_id": 1, "simplicity": 50}]),
    ("wiki-da", ".csv", [{"sent_id": 1, "sys_name": "s", "fluency": 50, "meaning": 1.5,
                          "sys_type": "t"}]),
    ("wmt-mqm", ".tsv", [ERROR, {**ERROR, "severity": "No-error"}, {**ERROR, "category": "x"}]),
    ("nlg-dualeval", ".json", {"Coherence": [TEXT, TEXT]}),
    ("nlg-dualeval", ".json", {"Coherence": {"1": [TEXT, TEXT], "2": [TEXT]}}),
    ("mlflow", ".jsonl", [{"info": {"trace_id": "t", "assessments": [SAID_OF_TRACE]},
                           "data": {"request": CHAT, "response": "r", "spans": []}}]),
    ("langfuse", ".json", [{"id": "t", "input": CHAT, "output": {"content": "r"}, "scores": [
        {"name": "ok", "value": 1, "dataType": "BOOLEAN", "source": "ANNOTATION"}]}]),
    ("phoenix", ".json", [{"context.span_id": "s", "attributes.input.value": "i",
                           "attributes.output.value": "o", "annotations": [
        {"name": "ok", "annotator_kind": "HUMAN", "result": {"label": "pass", "score": 1}}]}]),
    ("inspect", ".json", {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [
        {"id": 1, "input": "i", "output": {"completion": "o"}, "scores": {"s": {
            "value": "C", "history": [{"value": "I"}, {"provenance": {"author": "a"}}]}}}]}),
    ("openai-evals", ".jsonl", [{"object": "eval.run.output_item", "datasource_item_id": 1,
                                 "results": [], "sample": {"input": [], "output": []}}]),
    ("promptfoo", ".json", {"results": {"version": 3, "results": [
        {"vars": {"q": "i"}, "provider": "p", "response": {"output": "o"}, "gradingResult": {
            "pass": True, "reason": "Manual result", "componentResults": []}}]}}),
)  # fmt: skip


def fuzz_one(data: bytes) -> None:
    """Convert one or two files."""
    draws = Draws(data)
    name, *_ = draws.of(FILES)
    if draws.flag(8):
        name = draws.of(sorted(CONVERSIONS))
    paths = []
    for number in range(1 + draws.below(2)):
        own = [one for one in FILES if one[0] == name] or FILES
        _, ending, content = draws.of(FILES if draws.flag(8) else own)
        for _ in range(draws.below(3)):
            content = mutated_plain(draws, content)
        whole = _spelled(content, ending)
        paths.append(
            written(f"{number}{ending}", mutated(draws, whole) if draws.flag(4) else whole)
        )
    output = scratch() / "out.jsonl"
    output.unlink(missing_ok=True)
    try:
        made = convert(CONVERSIONS[name], paths, output)
    except DataError as fault:
        assert fault.problems
        str(fault).encode("utf-8", "backslashreplace")
        assert not output.exists()
        return
    except ValueError as fault:
        assert re.search(r"nothing in the files is (of this data set|assessed by)", str(fault))
        assert not output.exists()
        return
    rows = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert len(rows) == made.n_rows > 0
    if CONVERSIONS[name].assessors:
        return  # labels that need a word, and numbers without a scale, are for the reader
    try:
        items = read_items(output)
    except DataError as fault:
        # What a set says of its sources is kept as it is.
        assert all("source text" in problem.expected for problem in fault.problems), fault
        return
    for item in items:
        for criterion, ratings in item.human.items():
            assert ratings
            assert all(one in item.scale[criterion] for one in ratings)


def _spelled(content, ending: str) -> bytes:
    if ending == ".json" or not isinstance(content, list):
        return json.dumps(content).encode("utf-8", "replace")
    if ending == ".jsonl":
        return "".join(json.dumps(row) + "\n" for row in content).encode("utf-8", "replace")
    rows = [row for row in content if isinstance(row, dict)]
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    table = io.StringIO(newline="")
    quoting = csv.QUOTE_NONE if ending == ".tsv" else csv.QUOTE_MINIMAL
    cells = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    if quoting == csv.QUOTE_NONE:
        lines = ("\t".join(line) + "\n" for line in cells)
        return "".join(lines).encode("utf-8", "replace")
    csv.writer(table).writerows(cells)
    return table.getvalue().encode("utf-8", "replace")
