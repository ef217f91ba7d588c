// Sends what is on a page as JSON, and shows why where it was not taken.

const fault = document.querySelector("#fault");

export function tell(text) {
  fault.textContent = text;
}

const sentence = (said) => said[0].toUpperCase() + said.slice(1).replace(/[^.?!]$/, "$&.");

export async function asked(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw new Error("The studio does not answer. Is it still running?");
  }
  const found = await reply.json();
  if (!reply.ok) throw new Error([found.error, found.hint].filter(Boolean).map(sentence).join(" "));
  return found;
}

// A form with data-send posts its fields by name, and then opens data-then, or the page again.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.send) return;
  event.preventDefault();
  const body = {};
  for (const [name, value] of new FormData(form, event.submitter)) body[name] = value;
  for (const box of form.querySelectorAll("input[type=checkbox]")) body[box.name] = box.checked;
  const done = form.querySelector("[data-done]");
  try {
    tell("");
    if (done) [done.hidden, done.textContent] = [false, "…"];
    const found = await asked(form.dataset.send, body);
    if (done) done.textContent = found.said ?? "Saved.";
    else if (form.dataset.then) location.assign(form.dataset.then);
    else location.reload();
  } catch (error) {
    if (done) done.hidden = true;
    tell(error.message);
    fault.scrollIntoView({ block: "nearest" });
  }
});

// J and K go through the parts of a page that carry data-part.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, textarea, select")) return;
  const step = { j: 1, k: -1 }[event.key.toLowerCase()];
  const parts = [...document.querySelectorAll("[data-part]")];
  if (!step || !parts.length) return;
  event.preventDefault();
  const at = parts.indexOf(document.activeElement.closest("[data-part]"));
  const next = parts[Math.min(Math.max(at + step, 0), parts.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "start" });
});
