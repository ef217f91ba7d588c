// One text at a time: shows it, takes an answer by key, and has it on disk before the next.
import { asked, tell } from "/page/send.js";

const at = (id) => document.getElementById(id);
const others = new BroadcastChannel("judgesmith-label");
const mine = Math.random();
let row = null;
let busy = false;
let active = 0;
let timer = 0;
let unsaved = null;
let path = JSON.parse(sessionStorage.getItem("path") ?? "[]");

const WORDS = { unsure: "unsure", "n/a": "does not apply", skipped: "skipped" };

function notice(text) {
  at("told").textContent = text;
  at("told").hidden = !text;
}

function made(tag, set, ...inside) {
  const found = Object.assign(document.createElement(tag), set);
  found.append(...inside);
  return found;
}

function show(found) {
  row = found;
  unsaved = null;
  notice("");
  at("row").hidden = !row.key;
  at("state").textContent = row.key
    ? `${row.labelled} of ${row.rows} rows labelled by you.`
    : `Nothing is left to label. ${row.labelled} of ${row.rows} rows labelled by you.`;
  if (!row.key) return;
  if (path.at(-1) !== row.key) path.push(row.key);
  path = path.slice(-200);
  sessionStorage.setItem("path", JSON.stringify(path));
  for (const name of ["source", "context", "response"]) {
    at(name).textContent = row[name] ?? "";
    at(name).scrollTop = 0;
  }
  at("source-part").hidden = !row.source && !row.context;
  at("context-part").hidden = !row.context;
  at("skip-form").hidden = true;
  at("reason").value = "";
  active = Math.max(0, row.criteria.findIndex((one) => !said(one.name)));
  at("criteria").replaceChildren(...row.criteria.map(criterion));
  marked();
  mark();
}

function said(name) {
  const one = row.mine[name];
  return one && one.state !== "open" ? one : null;
}

function criterion(one, place) {
  const own = row.mine[one.name];
  const buttons = one.answers.map((answer, number) => {
    const key = number < 9 ? made("kbd", {}, String(number + 1)) : "";
    const end = number === 0 ? one.low : number === one.answers.length - 1 ? one.high : "";
    const button = made("button", { type: "button" }, key, ` ${answer}`, end && ` (${end})`);
    button.dataset.value = answer;
    button.addEventListener("click", () => answered(place, answer, "value"));
    return button;
  });
  for (const state of one.verdict ? ["unsure", "n/a"] : []) {
    const key = state === "unsure" ? made("kbd", {}, "?") : "";
    const button = made("button", { type: "button" }, key, ` ${WORDS[state]}`);
    button.dataset.state = state;
    button.addEventListener("click", () => answered(place, null, state));
    buttons.push(button);
  }
  const why = made("textarea", { rows: 2, maxLength: 20000, value: own?.rationale ?? "", id: `why-${place}` });
  why.addEventListener("input", () => typed(one.name, why.value));
  why.addEventListener("blur", () => written());
  const group = made("fieldset", { id: `criterion-${place}` },
    made("legend", {}, one.name),
    made("p", { className: "soft" }, one.definition),
    made("p", { className: "answers" }, ...buttons),
    made("label", { htmlFor: why.id }, "Why ", made("kbd", {}, "W")),
    why);
  return group;
}

function mark() {
  row.criteria.forEach((one, place) => {
    const own = said(one.name);
    const group = at(`criterion-${place}`);
    group.classList.toggle("active", place === active && row.criteria.length > 1);
    for (const button of group.querySelectorAll(".answers button")) {
      const chosen = own && (own.state === "value"
        ? button.dataset.value === own.value
        : button.dataset.state === own.state);
      button.setAttribute("aria-pressed", String(Boolean(chosen)));
    }
  });
}

async function alone(work) {
  if (busy) return;
  busy = true;
  try {
    tell("");
    await work();
  } catch (error) {
    tell(error.message);
  } finally {
    busy = false;
  }
}

function answered(place, value, state, rationale, stays = false) {
  return alone(async () => {
    const name = row.criteria[place].name;
    const words = rationale ?? at(`why-${place}`).value;
    clearTimeout(timer);
    unsaved = null;
    const found = await asked("/api/label/rate", {
      key: row.key, criterion: name, value, state, rationale: words,
      seen: row.mine[name]?.change ?? 0, again: row.again,
    });
    row.mine[name] = { value, state, rationale: words, change: found.change };
    others.postMessage({ from: mine, key: row.key, criterion: name, value: value ?? state });
    const over = found.overtaken;
    active = row.criteria.findIndex((one) => !said(one.name));
    if (active === -1 && !stays) await forth();
    else {
      mark();
      if (active !== -1) at(`criterion-${active}`).scrollIntoView({ block: "nearest" });
    }
    if (over) {
      notice(`Another tab had saved “${over.value ?? over.state}” for ${name} of that row. Yours is the later one and counts; both are in the history. K goes back to it.`);
    }
  });
}

async function forth() {
  const found = await asked(`/api/label/next?after=${row?.key ?? ""}`);
  show(found);
  at("title").focus({ preventScroll: true });
  scrollTo(0, 0);
}

async function onward() {
  await written();
  const here = path.indexOf(row.key);
  if (here !== -1 && here < path.length - 1) show(await asked(`/api/label/row?key=${path[here + 1]}`));
  else await forth();
}

async function back() {
  await written();
  const here = row.key ? path.indexOf(row.key) : path.length;
  if (here > 0) show(await asked(`/api/label/row?key=${path[here - 1]}`));
}

async function undo() {
  const found = await asked("/api/label/undo", { key: row.key ?? "" });
  if (!found.key) notice("There is nothing to undo.");
  else {
    show(found);
    notice("Your last change is undone.");
  }
}

function typed(name, text) {
  unsaved = { key: row.key, criterion: name, rationale: text };
  clearTimeout(timer);
  timer = setTimeout(written, 500);
}

async function written() {
  clearTimeout(timer);
  if (!unsaved || row.again) return;
  const sent = unsaved;
  unsaved = null;
  try {
    const own = row.mine[sent.criterion];
    const found = await asked("/api/label/words", { ...sent, seen: own?.change ?? 0 });
    if (row.key === sent.key) {
      row.mine[sent.criterion] = { value: null, state: "open", ...own, rationale: sent.rationale, change: found.change };
    }
  } catch (error) {
    unsaved ??= sent; // sent again by what comes next
    tell(error.message);
  }
}

function skip() {
  at("skip-form").hidden = false;
  at("reason").focus();
}

// Words of the response that neither the source nor the context has.
function marked() {
  const on = at("diff").getAttribute("aria-pressed") === "true";
  const response = at("response");
  response.textContent = row.response;
  if (!on || row.response.length > 200_000) return;
  const word = /[\p{L}\p{N}]+/gu;
  const known = new Set(`${row.source} ${row.context ?? ""}`.toLowerCase().match(word));
  const parts = [];
  let end = 0;
  for (const found of row.response.matchAll(word)) {
    if (known.has(found[0].toLowerCase())) continue;
    parts.push(row.response.slice(end, found.index), made("mark", { className: "ungraded" }, found[0]));
    end = found.index + found[0].length;
  }
  response.replaceChildren(...parts, row.response.slice(end));
}

at("diff").addEventListener("click", () => {
  const on = at("diff").getAttribute("aria-pressed") === "true";
  at("diff").setAttribute("aria-pressed", String(!on));
  marked();
});
at("skip").addEventListener("click", skip);
at("back").addEventListener("click", () => alone(back));
at("on").addEventListener("click", () => alone(onward));
at("undo").addEventListener("click", () => alone(undo));
at("skip-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const reason = at("reason").value.trim();
  if (!reason) return;
  const names = row.criteria.map((_, place) => place);
  const { key } = row;
  for (const place of names) {
    if (row.key === key) await answered(place, null, "skipped", reason, place < names.length - 1);
  }
});
others.addEventListener("message", ({ data }) => {
  if (row?.key && data.from !== mine && data.key === row.key) {
    notice(`Another tab has just saved “${data.value}” for ${data.criterion} of this row.`);
  }
});
addEventListener("beforeunload", () => { written(); });

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return document.activeElement.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || !row) return;
  if (event.target.matches("input, textarea, select")) return;
  const key = event.key.toLowerCase();
  const moves = { j: onward, k: back, u: undo };
  const clicks = { s: skip, d: () => at("diff").click(), w: () => at(`why-${Math.max(active, 0)}`).focus() };
  if (moves[key]) alone(moves[key]);
  else if (!row.key) return;
  else if (clicks[key]) {
    event.preventDefault();
    clicks[key]();
  } else {
    const place = active === -1 ? 0 : active;
    const one = row.criteria[place];
    const number = /^[1-9]$/.test(key) ? Number(key) - 1 : -1;
    const letter = one.labels && (key === "p" || key === "f")
      ? one.answers.find((answer) => answer.toLowerCase().startsWith(key)) : undefined;
    const answer = number === -1 ? letter : one.answers[number];
    if (answer !== undefined) answered(place, answer, "value");
    else if (key === "?" && one.verdict) answered(place, null, "unsure");
  }
});

alone(forth);
