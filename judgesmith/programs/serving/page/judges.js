// What a judge is, in words: what it judges, on which scale, by which criteria, how far to trust it.

import { beginning, counted, element, named, shown } from "./elements.js";

// Both ends of a scale, each with its meaning.
export function endsOf(scale) {
  const meanings = scale.higher_is_better === false ? ["best", "worst"] : ["worst", "best"];
  const labels = scale.labels ?? [];
  return [scale.low, scale.high].map((end, n) => {
    const label = labels.length ? beginning(labels[n * (labels.length - 1)], 40) : shown(end);
    return `${label} (${meanings[n]})`;
  });
}

// A judge as the page has it: its scores are told on the scale of its raters.
export function asRated(judge) {
  return { ...judge, own: judge.scale, scale: judge.human_scale ?? judge.scale };
}

// A row whose scores, and those of its criteria, are on the scale of the raters.
export function onScale(row, { own, scale, human_scale: rated }) {
  if (!rated) return row;
  const turned = own.higher_is_better !== scale.higher_is_better;
  const point = (share) => scale.low + share * (scale.high - scale.low);
  const moved = (one) => {
    if (typeof one !== "number") return one;
    const share = (one - own.low) / (own.high - own.low);
    return point(turned ? 1 - share : share);
  };
  const criteria = Object.entries(row.criteria ?? {}).map(([name, one]) => {
    const share = scale.higher_is_better === false ? 1 - one.score / 100 : one.score / 100;
    return [name, one.score === null ? one : { ...one, score: point(share) }];
  });
  const [score, low, high] = [row.score, row.low, row.high].map(moved);
  return { ...row, score, low, high, criteria: Object.fromEntries(criteria) };
}

// What a judge is asked for; where the server has no card of it, also on which scale and by which model.
export function about(judge) {
  const [low, high] = endsOf(judge.scale);
  const models = (judge.models ?? []).flatMap((one, n) => [n ? ", " : "", element("code", {}, named(one))]);
  const facts = [
    ["Judges", [named(judge.target ?? "the whole")]],
    ["Scale", [`${low} to ${high}`]],
    ["Model", models],
    ["Fingerprint", [element("code", {}, judge.fingerprint ?? "unknown")]],
  ];
  const parts = facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return [
    judge.task && element("p", { dir: "auto" }, beginning(judge.task, 2000)),
    !judge.card && element("dl", { class: "about" }, parts),
    judge.criteria?.length && criteria(judge.criteria),
  ].filter(Boolean);
}

function criteria(several) {
  const entries = several.map((one) => {
    const ends = [
      one.worst && `worst: ${one.worst}`,
      one.best && `best: ${one.best}`,
    ].filter(Boolean);
    return element(
      "li",
      { dir: "auto" },
      element("strong", {}, named(one.name)),
      one.definition ? ` — ${one.definition}` : "",
      ends.length > 0 && element("span", { class: "soft" }, ` (${ends.join("; ")})`),
    );
  });
  return element(
    "details",
    {},
    element("summary", {}, counted(several.length, "criterion", "criteria")),
    element("ul", { class: "criteria" }, entries),
  );
}
