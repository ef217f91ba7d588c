// Where errors begin and end in a text. Offsets count code points, as Python does, not UTF-16 units.

const WORDS = ["neutral", "minor", "moderate", "major", "critical"];
const OTHERWISE = {
  normalised: "quoted with other spaces, case or quotation marks",
  fuzzy: "quoted with other letters",
};
const WITHOUT_PLACE = {
  missing: "missing from the text",
  unresolved: "quoted, but not in the text",
};

export const GRADES = ["major", "moderate", "minor", "ungraded"];

const isPlaced = (error) => Number.isInteger(error.start) && Number.isInteger(error.end);
const level = (severity) => Math.floor(severity + 0.5);

// One of four ways to mark an error, which readers can tell apart.
export function gradeOf(severity) {
  if (typeof severity !== "number") return "ungraded";
  const points = level(severity);
  return points < 3 ? "minor" : points === 3 ? "moderate" : "major";
}

export function severityText(severity) {
  if (typeof severity !== "number") return "of no stated severity";
  const word = WORDS[level(severity) - 1];
  const points = Number(severity.toPrecision(6));
  return word ? `${word}, ${points} of 5` : `severity ${points}`;
}

export function placeText(error) {
  if (!isPlaced(error)) return WITHOUT_PLACE[error.located] ?? "without a place";
  const parts = [
    error.start === error.end
      ? `before character ${error.end}`
      : `characters ${error.start} to ${error.end}`,
  ];
  if (OTHERWISE[error.located]) parts.push(OTHERWISE[error.located]);
  if (error.ambiguous) parts.push("one of several such places");
  return parts.join(", ");
}

// Errors in the order of the text, then those without a place. Those that differ by their criterion
// alone are one error that offends several. A panel's row says in `support` who found each.
export function numbered(errors, support = []) {
  const found = new Map();
  errors.forEach((error, n) => {
    const { criterion, ...rest } = error;
    const key = JSON.stringify(Object.entries(rest).sort());
    if (!found.has(key)) found.set(key, { ...rest, criteria: [], finders: [] });
    const { criteria, finders } = found.get(key);
    if (criterion && !criteria.includes(criterion)) criteria.push(criterion);
    finders.push(...(support[n] ?? []).filter((one) => !finders.includes(one)));
  });
  const all = [...found.values()];
  const placed = all.filter(isPlaced).sort((a, b) => a.start - b.start || a.end - b.end);
  return [...placed, ...all.filter((one) => !isPlaced(one))].map((error, n) => ({
    ...error,
    number: n + 1,
    placed: isPlaced(error),
    grade: gradeOf(error.severity),
  }));
}

// What was quoted, where that is not what stands at the place that was found.
export function quotedOtherwise(error, letters) {
  const there = error.placed ? letters.slice(error.start, error.end).join("") : "";
  return error.located === "missing" || error.text === there ? "" : String(error.text ?? "").trim();
}

// A text cut wherever an error begins or ends: errors may overlap. Each piece names the errors that
// end and that begin right before it, and those that it is part of.
export function pieces(letters, errors) {
  const spans = errors.filter((one) => one.placed);
  const edges = spans.flatMap((one) => [one.start, one.end]);
  const points = [...new Set([0, letters.length, ...edges])].sort((a, b) => a - b);
  const cut = [];
  points.forEach((start, n) => {
    const end = points[n + 1] ?? letters.length;
    const empty = spans.filter((one) => one.start === start && one.end === start);
    const opens = spans.filter((one) => one.start === start && one.end > start);
    const over = spans.filter((one) => one.start <= start && one.end > start);
    let closes = spans.filter((one) => one.start < start && one.end === start);
    if (empty.length) {
      cut.push({ text: "", closes, opens: empty, over: [] });
      closes = empty;
    }
    if (end > start || closes.length) {
      cut.push({ text: letters.slice(start, end).join(""), closes, opens, over });
    }
  });
  return cut;
}
