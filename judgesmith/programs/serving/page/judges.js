// What a judge is, in words: what it judges, on which scale, by which criteria, how far to trust it.

import { beginning, counted, element, named, shown } from "./elements.js";

const LEVELS = {
  dataset: "over all of them",
  sample: "within each source",
  system: "between the systems that wrote them",
};
const STATISTICS = {
  pearson: "Pearson’s correlation",
  spearman: "Spearman’s rank correlation",
  kendall: "Kendall’s rank correlation",
  q: "Q, the sum of three correlations,",
};

// Both ends of a scale, each with its meaning.
export function endsOf(scale) {
  const meanings = scale.higher_is_better === false ? ["best", "worst"] : ["worst", "best"];
  const labels = scale.labels ?? [];
  return [scale.low, scale.high].map((end, n) => {
    const label = labels.length ? beginning(labels[n * (labels.length - 1)], 40) : shown(end);
    return `${label} (${meanings[n]})`;
  });
}

// Agreement with people, in sentences; a judge that was never tested says so.
export function agreementText(judge) {
  const found = judge.agreement;
  if (found === undefined) return ["The server does not say."];
  if (!found || typeof found.value !== "number") {
    return [
      "It was never tested on ratings that it was not made from: nobody knows how far it agrees with people.",
    ];
  }
  const texts = [counted(found.n, "text")];
  if (found.n_groups) texts.push(counted(found.n_groups, "source"));
  const what = STATISTICS[found.statistic] ?? beginning(String(found.statistic), 60);
  const where = LEVELS[found.level] ? ` ${LEVELS[found.level]}` : "";
  const sentences = [
    `On ${texts.join(" from ")} that it was not made from, ${what} with people’s ratings${where} is ` +
      `${found.value.toFixed(2)}${interval(found)}.`,
  ];
  if (typeof found.low === "number" && found.low <= 0) {
    sentences.push("It may be that it does not agree with people at all.");
  }
  return sentences;
}

function interval(found) {
  if (typeof found.low !== "number" || typeof found.high !== "number") return "";
  const sure = found.confidence ? ` with ${Math.round(100 * found.confidence)}% confidence` : "";
  return `;${sure} it is between ${found.low.toFixed(2)} and ${found.high.toFixed(2)}`;
}

// The card of a judge, as parts of a page.
export function card(judge) {
  const [low, high] = endsOf(judge.scale);
  const models = judge.models ?? [];
  const asked = models.flatMap((one, n) => [n ? ", " : "", element("code", {}, named(one))]);
  const facts = [
    ["Judges", [named(judge.target ?? "the whole")]],
    ["Scale", [`${low} to ${high}`]],
    [models.length > 1 ? "Models" : "Model", asked],
    ["Fingerprint", [element("code", {}, judge.fingerprint ?? "unknown")]],
  ].filter(([, value]) => value.length);
  const offline = models.length === 1 && models[0] === "offline";
  return [
    element(
      "div",
      {},
      judge.task && element("p", { dir: "auto" }, beginning(judge.task, 2000)),
      element(
        "dl",
        { class: "about" },
        facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
      ),
    ),
    element(
      "div",
      {},
      element("p", {}, element("strong", {}, "Agreement: "), agreementText(judge).join(" ")),
      offline &&
        element("p", { class: "soft" }, "The offline model is a classical model of text quality, not a language model."),
      judge.criteria?.length && criteria(judge.criteria),
    ),
  ];
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
