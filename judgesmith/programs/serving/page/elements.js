// Elements and numbers. A text becomes a text node, so that whatever it holds is shown and not obeyed.

export const at = (id) => document.getElementById(id);

export function element(name, about = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(about)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== undefined && value !== null && value !== false) {
      made.setAttribute(key, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(2)) {
    if (child instanceof Node || typeof child === "string") made.append(child);
  }
  return made;
}

// Markup of the server's own as nodes; scripts in it would not run.
export const parsed = (markup) => new DOMParser().parseFromString(markup, "text/html").body.children;

const points = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });
const whole = new Intl.NumberFormat("en");

// A score, with at most four digits that say something.
export const shown = (number) => points.format(number);

// How many: "1 error", "2 errors".
export function counted(n, one, several = `${one}s`) {
  return `${whole.format(n)} ${n === 1 ? one : several}`.trim();
}

// Names and other short texts of anybody's, cut where they are long.
export function named(text, longest = 200) {
  return element("bdi", {}, beginning(String(text), longest));
}

export function beginning(text, longest) {
  const letters = Array.from(text.slice(0, 2 * longest + 2));
  return letters.length > longest ? `${letters.slice(0, longest).join("")}…` : text;
}
