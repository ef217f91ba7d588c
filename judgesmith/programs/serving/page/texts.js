// The fields for texts: what is in them, and what goes to the server.

import { at, counted, element } from "./elements.js";

const FIELDS = ["source", "context", "response"];

let limit = 0; // characters of a text that the server takes; 0 where it did not say

export function listen(most) {
  limit = most;
  for (const name of FIELDS) at(name).addEventListener("input", () => count(name));
  at("response").addEventListener("input", () => invalid(""));
}

// Say how long a text is, in characters as the server counts them.
function count(name) {
  const n = Array.from(at(name).value).length;
  const most = limit && n > limit / 2 ? `, of at most ${counted(limit, "", "")}` : "";
  at(`${name}-count`).textContent = n ? `${counted(n, "character")}${most}` : "";
  at(`${name}-count`).classList.toggle("over", limit > 0 && n > limit);
}

// Why a text is not pasted, or nothing: browsers hang on what is far longer than the server takes.
export function tooLong(text) {
  const n = Array.from(text).length;
  if (!limit || n <= limit) return "";
  return `A text of ${counted(n, "character")} was not pasted: the server takes at most ${counted(limit, "", "")}.`;
}

export function invalid(words) {
  at("response-fault").textContent = words;
  if (words) at("response").setAttribute("aria-invalid", "true");
  else at("response").removeAttribute("aria-invalid");
}

// Say whether a judge looks at references, and offer several responses to one that compares.
export function unread(judge) {
  at("references-unread").textContent = judge.reads_references ? "" : "This judge does not look at them.";
  at("others-part").hidden = !judge.compares;
  if (judge.compares && !at("others").children.length) addResponse();
}

const written = (id) => Array.from(at(id).querySelectorAll("textarea"), (one) => one.value).filter((one) => one.trim());

export function textsGiven(judge) {
  const more = judge.compares ? written("others") : [];
  return {
    source: at("source").value,
    context: at("context").value,
    references: written("references"),
    responses: [at("response").value, ...more],
  };
}

// The items that texts stand for: one for every response.
export function itemsOf({ source, context, references, responses }) {
  return responses.map((response, n) => ({
    ...(responses.length > 1 ? { source_id: "tried", system_id: String(n + 1) } : {}),
    source,
    response,
    ...(context ? { context } : {}),
    ...(references.length ? { references } : {}),
  }));
}

export function fill({ source = "", context = "", references = [], responses = [""] }) {
  Object.entries({ source, context, response: responses[0] }).forEach(([name, text]) => {
    at(name).value = text;
    count(name);
  });
  at("references").replaceChildren();
  references.forEach((text) => addReference(text));
  at("others").replaceChildren();
  responses.slice(1).forEach((text) => addResponse(text));
  at("more").open = Boolean(context || references.length);
  invalid("");
}

export const addReference = (text = "") => addText("references", "Reference", 1, "add", text);
export const addResponse = (text = "") => addText("others", "Response", 2, "add-response", text);

let made = 0;

function addText(place, name, first, back, text) {
  const id = `text-${++made}`;
  const about = { id, rows: 2, dir: "auto", spellcheck: "false", autocomplete: "off" };
  const area = element("textarea", about);
  area.value = text;
  const label = element("label", { for: id });
  const remove = element("button", { type: "button", class: "quiet" });
  const part = element("div", { class: "field" }, label, area, remove);
  remove.addEventListener("click", () => {
    part.remove();
    renumber(place, name, first);
    at(back).focus();
  });
  at(place).append(part);
  renumber(place, name, first);
  return area;
}

function renumber(place, name, first) {
  Array.from(at(place).children).forEach((part, n) => {
    part.querySelector("label").textContent = `${name} ${n + first}`;
    part.querySelector("button").textContent = `Remove ${name.toLowerCase()} ${n + first}`;
  });
}
