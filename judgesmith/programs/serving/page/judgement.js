// One judgement as part of a page: score, explanation, errors in their places, criteria.

import { beginning, counted, element, named, shown } from "./elements.js";
import { endsOf } from "./judges.js";
import { GRADES, numbered, pieces, placeText, quotedOtherwise, severityText } from "./marking.js";

const MOST = 200; // errors that are shown of one text
const WORDS = 4000; // characters of an explanation

// A judgement in one sentence, for lists and for ears.
export function summary(one) {
  const { row } = one;
  if (row.score === null) return `No score: ${beginning(row.problem ?? "no reason given", 300)}`;
  const [low, high] = endsOf(one.judge.scale);
  const n = numbered(row.errors ?? []).length;
  const errors = n ? `, ${counted(n, "error")}` : "";
  if (row.label) return `Verdict ${beginning(row.label, 60)}, probabilities ${chances(row) || "unknown"}${errors}.`;
  return `Score ${shown(row.score)} on a scale from ${low} to ${high}${errors}.`;
}

// How likely each label is, the likeliest first.
function chances(row) {
  const all = Object.entries(row.probability ?? {}).sort(([, a], [, b]) => b - a);
  return all.map(([label, p]) => `${beginning(label, 60)} ${Math.round(100 * p)}%`).join(", ");
}

export function judgementPart(one, against) {
  const { row, number, judge } = one;
  const mark = `j${number}`;
  const heading = element("h3", { id: mark, tabindex: "-1" }, `Judgement ${number} `);
  heading.append(element("span", { class: "soft" }, "by ", named(judge.name)));
  return element(
    "article",
    { class: "judgement", "aria-labelledby": mark },
    heading,
    row.score === null ? unscored(row) : scored(one, against),
    explanation(row.explanation),
    errorsPart(one, mark),
    criteriaPart(one),
    membersPart(row),
    (row.notes ?? []).map((note) => element("p", {}, element("strong", {}, "Note: "), beginning(note.text, WORDS))),
    texts(one),
  );
}

function unscored(row) {
  const reason = beginning(row.problem ?? "no reason given", WORDS);
  return element("p", { class: "unscored", dir: "auto" }, element("strong", {}, "No score: "), reason);
}

function scored({ row, judge }, against) {
  const { scale } = judge;
  const ends = endsOf(scale);
  const share = (points) => Math.min(1, Math.max(0, (points - scale.low) / (scale.high - scale.low)));
  const fill = element("i");
  fill.style.width = `${100 * share(row.score)}%`;
  const bar = element(
    "div",
    {
      class: "gauge",
      role: "meter",
      "aria-label": "Score",
      "aria-valuemin": scale.low,
      "aria-valuemax": scale.high,
      "aria-valuenow": row.score,
      "aria-valuetext": `${shown(row.score)} on a scale from ${ends[0]} to ${ends[1]}`,
    },
    fill,
  );
  const expected = typeof row.low === "number" && typeof row.high === "number";
  if (expected) {
    const range = element("b");
    range.style.left = `${100 * share(row.low)}%`;
    range.style.width = `${100 * (share(row.high) - share(row.low))}%`;
    bar.append(range);
  }
  const label = !row.label && scale.labels?.length && scale.labels[Math.round(row.score - scale.low)];
  return element(
    "div",
    {},
    element(
      "p",
      { class: "score" },
      element("strong", {}, row.label ? named(row.label, 60) : shown(row.score)),
      label ? element("span", {}, " ", named(label, 60)) : "",
      element("span", { class: "soft" }, ` ${chances(row) || `from ${shown(scale.low)} to ${shown(scale.high)}`}`),
    ),
    bar,
    element("p", { class: "ends", "aria-hidden": "true" }, ends.map((end) => element("span", {}, end))),
    expected && element("p", {}, `People are expected to say between ${shown(row.low)} and ${shown(row.high)}.`),
    against && element("p", {}, difference(row, against)),
  );
}

function difference(row, against) {
  if (row.label && row.label !== against.row.label) return `Judgement ${against.number} says ${against.row.label}.`;
  const apart = row.score - against.row.score;
  if (Math.abs(apart) < 1e-9) return `The same as judgement ${against.number}.`;
  return `${shown(Math.abs(apart))} ${apart > 0 ? "more" : "less"} than judgement ${against.number}.`;
}

function explanation(words) {
  if (!words?.trim()) return null;
  return [
    element("h4", {}, "Explanation"),
    element("p", { class: "words", dir: "auto" }, beginning(words, WORDS)),
  ];
}

function errorsPart({ row, request }, mark) {
  const every = numbered(row.errors ?? [], row.support);
  const errors = every.slice(0, MOST);
  const heading = element("h4", {}, "Errors in the response");
  if (!errors.length) {
    return row.score === null ? null : [heading, element("p", { class: "soft" }, "No error was named; not every judge looks for them.")];
  }
  const letters = Array.from(request.response);
  const grades = GRADES.map((grade) => [grade, errors.filter((one) => one.grade === grade).length]);
  const told = grades.filter(([, n]) => n).map(([grade, n]) => `${n} ${grade}`);
  const text = element("p", { class: "text", dir: "auto", tabindex: "0", role: "region" });
  text.setAttribute("aria-label", `The response of judgement ${mark.slice(1)} with its errors`);
  for (const piece of pieces(letters, errors)) text.append(...marked(piece, mark));
  return [
    heading,
    element("p", { class: "soft" }, `${counted(every.length, "error")}: ${told.join(", ")}.`),
    text,
    element("ol", { class: "errors" }, errors.map((one) => entry(one, letters, mark))),
    every.length > MOST && element("p", { class: "soft" }, `And ${every.length - MOST} more, which are not shown.`),
  ];
}

const inShort = (one) =>
  beginning(`${one.number}. ${severityText(one.severity)}: ${one.explanation || "no explanation"}`, 300);

function* marked(piece, mark) {
  for (const one of piece.closes) yield element("span", { class: `n ${one.grade}` }, `${one.number}]`);
  for (const one of piece.opens) {
    yield element(
      "a",
      {
        class: `n ${one.grade}`,
        id: `${mark}m${one.number}`,
        href: `#${mark}e${one.number}`,
        title: inShort(one),
        "aria-label": `error ${one.number}, ${one.grade}, begins`,
      },
      `[${one.number}`,
    );
  }
  const worst = GRADES.find((grade) => piece.over.some((one) => one.grade === grade));
  const title = piece.over.map(inShort).join("\n");
  if (worst) yield element("mark", { class: worst, title }, piece.text);
  else if (piece.text) yield document.createTextNode(piece.text);
}

function entry(one, letters, mark) {
  const back = `error ${one.number}, back to the text`;
  const number = one.placed
    ? element("a", { href: `#${mark}m${one.number}`, "aria-label": back }, String(one.number))
    : element("strong", {}, String(one.number));
  const there = one.placed ? letters.slice(one.start, one.end).join("") : "";
  const quoted = quotedOtherwise(one, letters);
  return element(
    "li",
    { id: `${mark}e${one.number}`, class: one.grade, tabindex: "-1" },
    element(
      "p",
      {},
      number,
      element("span", { class: `tag ${one.grade}` }, severityText(one.severity)),
      one.criteria.map((name) => element("span", { class: "kind" }, named(name), " · ")),
      element("span", { class: "soft" }, placeText(one), one.finders.length ? " · found by " : ""),
      one.finders.flatMap((name, n) => [n ? ", " : "", named(name)]),
    ),
    there && element("p", {}, element("q", { dir: "auto" }, beginning(there, 300))),
    quoted && element("p", {}, "Quoted: ", element("q", { dir: "auto" }, beginning(quoted, 300))),
    one.explanation?.trim() && element("p", { dir: "auto" }, beginning(one.explanation, WORDS)),
  );
}

function criteriaPart({ row, judge }) {
  const all = Object.entries(row.criteria ?? {});
  if (!all.length) return null;
  const lines = all.map(([name, one]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", dir: "auto" }, named(name)),
      element("td", { class: "num" }, one.score === null ? "none" : shown(one.score)),
      element("td", { dir: "auto" }, beginning(one.explanation ?? "", WORDS)),
    ),
  );
  const [low, high] = judge.human_scale ? endsOf(judge.scale) : ["0 (worst)", "100 (best)"];
  return table("Criteria", `Points from ${low} to ${high}`, ["Criterion", "Score", "Explanation"], lines);
}

function membersPart(row) {
  const all = Object.entries(row.members ?? {});
  if (!all.length) return null;
  const lines = all.map(([name, score]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row", dir: "auto" }, named(name)),
      element("td", { class: "num" }, score === null ? "none" : shown(score)),
    ),
  );
  return table("Members", "Each on its own scale", ["Judge", "Score"], lines);
}

function table(title, caption, heads, lines) {
  const head = element("tr", {}, heads.map((one) => element("th", { scope: "col" }, one)));
  return [
    element("h4", {}, title),
    element(
      "table",
      { class: heads.length < 3 ? "short" : "", "aria-label": title },
      element("caption", { class: "soft" }, caption),
      element("thead", {}, head),
      element("tbody", {}, lines),
    ),
  ];
}

function texts({ request }) {
  const names = { source: "Source", context: "Context", response: "Response" };
  const given = Object.entries(names).map(([key, name]) => [name, request[key]]);
  (request.references ?? []).forEach((text, n) => given.push([`Reference ${n + 1}`, text]));
  return element(
    "details",
    {},
    element("summary", {}, "What was judged"),
    given
      .filter(([, text]) => text)
      .map(([name, text]) => [element("h4", {}, name), element("p", { class: "text", dir: "auto" }, text)])
      .flat(),
  );
}
