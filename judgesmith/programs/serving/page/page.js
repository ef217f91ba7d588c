// The page to try a judge: texts go to the server, judgements come back and stay for this visit.

import { ask, hasToken, keepToken, Refused } from "./asking.js";
import { asCurl, asJson, copied } from "./copying.js";
import { beginning, counted, element, named, shown } from "./elements.js";
import { judgementPart, summary } from "./judgement.js";
import { card } from "./judges.js";

const MOST = 50; // judgements of a visit that are kept
const EXAMPLE = {
  source:
    "The bridge over the Aare opened in May 1998. It carries two lanes of traffic and a path for cyclists, " +
    "and was paid for by the town.",
  context: "",
  response:
    "The the bridge in Paris opened in May 1989. It carries two lanes of traffic, and a path for cyclists.",
};
const FIELDS = ["source", "context", "response"];

const at = (id) => document.getElementById(id);
const state = { judges: [], limit: 0, visit: [], shown: null, kept: null, count: 0, waiting: null, references: 0 };
const chosen = () => state.judges[at("judge").selectedIndex];
const addressOf = (judge) => `v1/judges/${encodeURIComponent(judge.name)}/judge`;

function tell(words) {
  at("told").textContent = "";
  // A live region speaks when its text changes, also to the same words.
  requestAnimationFrame(() => { at("told").textContent = words; });
}

function refuse(words) {
  at("fault").textContent = words;
  at("fault").hidden = !words;
}

// Judges

async function begin() {
  refuse("");
  try {
    const found = await ask("v1/judges");
    state.judges = found.judges;
    state.limit = found.limits?.max_chars ?? 0;
  } catch (fault) {
    return failed(fault);
  }
  at("token-part").hidden = true;
  at("again").hidden = true;
  at("judge").replaceChildren(...state.judges.map((one) => element("option", {}, beginning(one.name, 200))));
  at("judge-part").hidden = at("judging").hidden = false;
  choose();
}

function choose() {
  const judge = chosen();
  at("card").replaceChildren(...card(judge));
  const reads = judge.reads ?? [...FIELDS, "references"];
  for (const name of [...FIELDS, "references"]) {
    const unread = !reads.includes(name) && name !== "response";
    at(`${name}-unread`).textContent = unread ? "This judge does not look at it." : "";
  }
}

// Texts

function count(name) {
  const n = Array.from(at(name).value).length;
  const over = state.limit && n > state.limit;
  const most = state.limit && n > state.limit / 2 ? ` of at most ${counted(state.limit, "")}` : "";
  at(`${name}-count`).textContent = n ? `${counted(n, "character")}${most}` : "";
  at(`${name}-count`).classList.toggle("over", Boolean(over));
}

function fill(request) {
  for (const name of FIELDS) {
    at(name).value = request[name] ?? "";
    count(name);
  }
  at("references").replaceChildren();
  state.references = 0;
  for (const text of request.references ?? []) addReference(text);
  at("more").open = Boolean(request.context || request.references?.length);
  invalid("");
}

function addReference(text = "") {
  const number = ++state.references;
  const name = `Reference ${number}`;
  const area = element("textarea", { id: `reference-${number}`, rows: 2, dir: "auto", spellcheck: "false", autocomplete: "off" });
  area.value = text;
  const part = element("div", { class: "field" }, element("label", { for: area.id }, name), area);
  const remove = () => {
    part.remove();
    at("add").focus();
  };
  part.append(element("button", { type: "button", class: "quiet", click: remove }, `Remove ${name.toLowerCase()}`));
  at("references").append(part);
  return area;
}

function request() {
  const texts = Array.from(at("references").querySelectorAll("textarea"), (one) => one.value);
  const given = { source: at("source").value, response: at("response").value };
  if (at("context").value) given.context = at("context").value;
  const references = texts.filter((one) => one.trim());
  if (references.length) given.references = references;
  return given;
}

function invalid(words) {
  at("response-fault").textContent = words;
  at("response").toggleAttribute("aria-invalid", Boolean(words));
  if (words) at("response").setAttribute("aria-invalid", "true");
}

// Judging

async function judge() {
  if (state.waiting) return;
  const asked = request(), by = chosen();
  refuse("");
  invalid(asked.response.trim() ? "" : "Write a response to be judged.");
  if (!asked.response.trim()) return at("response").focus();
  state.waiting = new AbortController();
  waiting(true);
  tell("Judging.");
  try {
    const row = await ask(addressOf(by), asked, state.waiting.signal);
    add({ judge: by, request: asked, row });
  } catch (fault) {
    failed(fault);
  } finally {
    state.waiting = null;
    waiting(false);
  }
}

function waiting(is) {
  at("go").setAttribute("aria-disabled", String(is));
  at("go").firstChild.textContent = is ? "Judging… " : "Judge ";
  at("results").setAttribute("aria-busy", String(is));
  const focused = document.activeElement === at("stop");
  at("stop").hidden = !is;
  if (!is && focused) at("go").focus();
}

function failed(fault) {
  if (!(fault instanceof Refused)) throw fault;
  tell("");
  if (fault.status === 401 || fault.status === 403) {
    at("token-part").hidden = false;
    at("token-fault").textContent = fault.message;
    at("token").focus();
    return;
  }
  refuse(fault.message);
  at("again").hidden = state.judges.length > 0;
}

function add(judged) {
  const one = { ...judged, number: ++state.count };
  state.visit.push(one);
  while (state.visit.length > MOST) {
    const oldest = state.visit.find((each) => each !== state.kept);
    state.visit.splice(state.visit.indexOf(oldest), 1);
  }
  show(one);
  tell(summary(one));
}

// Judgements

function show(one, { focus = true } = {}) {
  state.shown = one;
  const { kept } = state;
  const beside = kept && kept !== one;
  const same = beside && kept.judge === one.judge && kept.row.score !== null && one.row.score !== null;
  const parts = [judgementPart(one, same ? kept : null)];
  parts[0].append(actions(one));
  if (beside) {
    parts.unshift(judgementPart(kept, null));
    parts[0].append(actions(kept));
  }
  at("none").hidden = true;
  at("results").replaceChildren(...parts);
  listed();
  if (focus) at(`j${one.number}`).focus();
}

function actions(one) {
  const isKept = state.kept === one;
  const keep = () => {
    state.kept = isKept ? null : one;
    show(state.shown, { focus: false });
    at(`keep-${one.number}`)?.focus();
    tell(isKept ? "No longer kept." : `Judgement ${one.number} stays; the next one appears beside it.`);
  };
  const edit = () => {
    at("judge").selectedIndex = state.judges.indexOf(one.judge);
    choose();
    fill(one.request);
    at("response").focus();
  };
  const place = new URL(addressOf(one.judge), document.baseURI).href;
  const button = (words, click, about = {}) => element("button", { type: "button", click, ...about }, words);
  const bar = element(
    "div",
    { class: "actions", role: "group", "aria-label": `With judgement ${one.number}` },
    button("Keep for comparing", keep, { id: `keep-${one.number}`, "aria-pressed": String(isKept) }),
    button("Edit its texts", edit),
    button("Copy as curl", () => take(bar, "curl command", asCurl(place, one.request, hasToken()))),
    button("Copy as JSON", () => take(bar, "JSON", asJson(one.request, one.row))),
  );
  return bar;
}

async function take(bar, what, text) {
  bar.querySelector(".taken")?.remove();
  if (await copied(text)) return tell(`Copied the ${what}.`);
  const area = element("textarea", { readonly: true, rows: 5, "aria-label": `The ${what}, to be copied` });
  area.value = text;
  bar.append(element("div", { class: "taken field" }, area));
  area.focus();
  area.select();
}

function listed() {
  const others = state.visit.filter((one) => one !== state.shown && one !== state.kept);
  at("earlier").hidden = !others.length;
  at("visit").replaceChildren(
    ...others.reverse().map((one) =>
      element(
        "li",
        {},
        element(
          "button",
          { type: "button", class: "quiet", click: () => show(one) },
          `${one.number}. `,
          named(one.judge.name, 60),
          one.row.score === null ? ", no score: " : `, ${shown(one.row.score)}: `,
          named(one.request.response, 80),
        ),
      ),
    ),
  );
}

// Keys and buttons

at("judge").addEventListener("change", choose);
at("judging").addEventListener("submit", (event) => {
  event.preventDefault();
  judge();
});
at("judging").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
  event.preventDefault();
  judge();
});
for (const name of FIELDS) at(name).addEventListener("input", () => count(name));
at("response").addEventListener("input", () => invalid(""));
at("stop").addEventListener("click", () => state.waiting?.abort());
at("add").addEventListener("click", () => addReference().focus());
at("example").addEventListener("click", () => {
  fill(EXAMPLE);
  at("response").focus();
});
at("clear").addEventListener("click", () => {
  fill({});
  at("source").focus();
});
at("again").addEventListener("click", begin);
at("token-part").addEventListener("submit", async (event) => {
  event.preventDefault();
  const wrong = keepToken(at("token").value);
  at("token-fault").textContent = wrong;
  if (wrong) return at("token").focus();
  at("token").value = "";
  await (state.judges.length ? (at("token-part").hidden = true, judge()) : begin());
  if (at("token-part").hidden && !state.judges.length === false) at("response").focus();
});

let opened = [];
addEventListener("beforeprint", () => {
  opened = Array.from(document.querySelectorAll("details:not([open])"));
  for (const one of opened) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of opened) one.open = false;
});

begin();
