// The page to try a judge: texts go to the server, judgements come back and stay for this visit.

import { ask, hasToken, keepToken, Refused } from "./asking.js";
import { asCurl, asJson, copied } from "./copying.js";
import { at, beginning, element, named, parsed, shown } from "./elements.js";
import { judgementPart, summary } from "./judgement.js";
import { about, asRated, onScale } from "./judges.js";
import { addReference, addResponse, fill, invalid, itemsOf, listen, textsGiven, tooLong, unread } from "./texts.js";

const MOST = 50; // judgements of a visit that are kept

const state = { judges: [], visit: [], shown: [], kept: null, count: 0, waiting: null };
const chosen = () => state.judges[at("judge").selectedIndex];

function tell(words) {
  at("told").textContent = "";
  // A live region speaks when its text changes, also to the same words.
  setTimeout(() => { at("told").textContent = words; }, 50);
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
    state.judges = found.judges.map(asRated);
    listen(found.limits?.max_chars ?? 0);
  } catch (fault) {
    return failed(fault);
  }
  at("again").hidden = true;
  at("judge").replaceChildren(...state.judges.map((one) => element("option", {}, beginning(one.name, 200))));
  at("judge-part").hidden = at("judging").hidden = false;
  choose();
}

async function choose() {
  const judge = chosen();
  at("card").replaceChildren(...about(judge));
  at("trust").replaceChildren();
  at("example").hidden = !judge.example;
  unread(judge);
  if (!judge.card) return;
  const card = await ask(`v1/judges/${encodeURIComponent(judge.name)}/card`).catch(failed);
  if (card && judge === chosen()) at("trust").replaceChildren(...parsed(card.html));
}

// Judging

async function judge() {
  if (state.waiting) return;
  const by = chosen(), texts = textsGiven(by);
  refuse("");
  invalid(texts.responses.some((one) => one.trim()) ? "" : "Write a response to be judged.");
  if (at("response-fault").textContent) return at("response").focus();
  const items = itemsOf(texts);
  const place = `v1/judges/${encodeURIComponent(by.name)}/${by.compares ? "batch" : "judge"}`;
  const body = by.compares ? { items } : items[0];
  state.waiting = new AbortController();
  waiting(true);
  tell("Judging.");
  try {
    const found = await ask(place, body, state.waiting.signal);
    const rows = by.compares ? found.results : [found];
    add(rows.map((said, n) => ({ judge: by, texts, request: items[n], place, body, said, row: onScale(said, by) })));
  } catch (fault) {
    failed(fault);
  } finally {
    state.waiting = null;
    waiting(false);
  }
}

function waiting(is) {
  const onStop = document.activeElement === at("stop");
  at("go").setAttribute("aria-disabled", String(is));
  at("go").firstChild.textContent = is ? "Judging… " : "Judge ";
  at("results").setAttribute("aria-busy", String(is));
  at("stop").hidden = !is;
  if (!is && onStop) at("go").focus();
}

function failed(fault) {
  if (!(fault instanceof Refused)) throw fault;
  tell("");
  if (fault.status === 401) {
    at("token-part").hidden = false;
    at("token-fault").textContent = fault.message;
    return at("token").focus();
  }
  refuse(fault.message);
  at("again").hidden = state.judges.length > 0;
}

async function useToken() {
  const wrong = keepToken(at("token").value);
  at("token-fault").textContent = wrong;
  if (wrong) return at("token").focus();
  at("token").value = "";
  at("token-part").hidden = true;
  if (state.judges.length) return judge();
  await begin();
  if (at("token-part").hidden) at("source").focus();
}

// Judgements

function add(judged) {
  const several = judged.map((one) => ({ ...one, number: ++state.count }));
  state.visit.push(...several);
  while (state.visit.length > MOST) {
    state.visit.splice(state.visit.findIndex((one) => one !== state.kept), 1);
  }
  show(several);
  tell(several.map(summary).join(" "));
}

function show(several, { focus = true } = {}) {
  state.shown = several;
  const { kept } = state;
  const beside = kept && !several.includes(kept) ? [kept] : [];
  const parts = [...beside, ...several].map((one) => {
    const part = judgementPart(one, comparable(one) ? kept : null);
    part.append(actions(one));
    return part;
  });
  at("none").hidden = true;
  at("results").replaceChildren(...parts);
  list();
  if (focus) lead(at(`j${several[0].number}`));
}

// Move the focus to a heading, and the page where it shows less than the half below it.
function lead(heading) {
  heading.focus({ preventScroll: true });
  const { top } = heading.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) heading.scrollIntoView({ block: "start" });
}

function comparable(one) {
  const { kept } = state;
  const scores = kept && kept.row.score !== null && one.row.score !== null;
  return scores && kept !== one && kept.judge === one.judge && !one.judge.compares;
}

function actions(one) {
  const isKept = state.kept === one;
  const keep = () => {
    state.kept = isKept ? null : one;
    show(state.shown, { focus: false });
    (at(`keep-${one.number}`) ?? at(`j${state.shown[0].number}`)).focus();
    tell(isKept ? "No longer kept." : `Judgement ${one.number} stays; the next one appears beside it.`);
  };
  const edit = () => {
    at("judge").selectedIndex = state.judges.indexOf(one.judge);
    choose();
    fill(one.texts);
    at("response").focus();
  };
  const address = new URL(one.place, document.baseURI).href;
  const button = (words, click, about = {}) => element("button", { type: "button", click, ...about }, words);
  const bar = element(
    "div",
    { class: "actions", role: "group", "aria-label": `With judgement ${one.number}` },
    button("Keep for comparing", keep, { id: `keep-${one.number}`, "aria-pressed": String(isKept) }),
    button("Edit its texts", edit),
    button("Copy as curl", () => take(bar, "curl command", asCurl(address, one.body, hasToken()))),
    button("Copy as JSON", () => take(bar, "JSON", asJson(one.request, one.said))),
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

function list() {
  const others = state.visit.filter((one) => !state.shown.includes(one) && one !== state.kept);
  at("earlier").hidden = !others.length;
  at("visit").replaceChildren(...others.reverse().map((one) => {
    const score = one.row.score === null ? ", no score: " : `, ${one.row.label ?? shown(one.row.score)}: `;
    const words = [`${one.number}. `, named(one.judge.name, 60), score, named(one.request.response, 80)];
    return element("li", {}, element("button", { type: "button", class: "quiet", click: () => show([one]) }, words));
  }));
}

// Keys and buttons

const on = (id, event, handle) => at(id).addEventListener(event, handle);

on("judge", "change", choose);
on("judging", "submit", (event) => {
  event.preventDefault();
  judge();
});
on("judging", "keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
  event.preventDefault();
  judge();
});
on("judging", "paste", (event) => {
  const words = tooLong(event.clipboardData?.getData("text/plain") ?? "");
  refuse(words);
  if (words) event.preventDefault();
});
on("stop", "click", () => state.waiting?.abort());
on("add", "click", () => addReference().focus());
on("add-response", "click", () => addResponse().focus());
on("example", "click", () => {
  fill(chosen().example);
  at("response").focus();
});
on("clear", "click", () => {
  fill({});
  at("source").focus();
});
on("again", "click", begin);
on("token-part", "submit", (event) => {
  event.preventDefault();
  useToken();
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
