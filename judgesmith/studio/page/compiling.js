// Shows how far a compilation is, as the server tells it, and stops it.
import { asked, tell } from "/page/send.js";

const at = (id) => document.getElementById(id);
const STEPS = {
  compile: "Compiling", score: "Scoring the labelled rows", "score-before": "Scoring them with the version before it",
  compare: "Comparing both versions", suggest: "Choosing the rows to label next",
};
const ENDS = { done: "Done.", stopped: "Stopped. It can be resumed.", failed: "It failed." };
const runs = (status) => status === "running" || status === "stopping";
let last = null;

function show(state) {
  // The page itself says which judge is the next, and what can be resumed.
  if (runs(last) && ENDS[state.status]) return location.reload();
  at("running").hidden = state.status === "idle";
  const going = runs(state.status);
  at("step").textContent = ENDS[state.status]
    ?? `${state.status === "stopping" ? "Stopping after what is in flight" : STEPS[state.step] ?? "Starting"} (v${state.number})`;
  at("line").textContent = state.line ?? "";
  const bar = at("bar");
  if (state.status === "done") bar.value = 1;
  else if (state.total) bar.value = Math.min(state.done / state.total, 1);
  else bar.removeAttribute("value");
  bar.hidden = !going && state.status !== "done";
  at("stop").hidden = !going;
  at("result").hidden = state.status !== "done";
  at("result").href = `/judges/v${state.number}`;
  at("new").hidden = going;
  last = state.status;
}

const events = new EventSource("/api/compile/events");
events.addEventListener("message", ({ data }) => show(JSON.parse(data)));

async function doing(work) {
  try {
    tell("");
    await work();
  } catch (error) {
    tell(error.message);
  }
}

at("stop").addEventListener("click", () => doing(() => asked("/api/compile/stop", {})));
at("estimate").addEventListener("click", () => doing(async () => {
  const form = at("new");
  const body = Object.fromEntries(new FormData(form));
  for (const box of form.querySelectorAll("input[type=checkbox]")) body[box.name] = box.checked;
  at("estimated").textContent = "Estimating…";
  let told = "";
  try {
    told = (await asked("/api/compile/estimate", body)).said;
  } finally {
    at("estimated").textContent = told;
  }
}));
