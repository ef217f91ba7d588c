"use strict";
(() => {
  const table = document.getElementById("rows");
  const form = document.getElementById("choose");
  if (!table || !form) return;
  const told = document.getElementById("told");
  const bodies = Array.from(table.tBodies);
  const words = new Map(bodies.map((one) => [one, one.textContent.toLowerCase()]));
  const value = (one, name) => one.hasAttribute(name) ? Number(one.getAttribute(name)) : null;
  const kinds = {
    all: () => true,
    higher: (one) => value(one, "data-apart") > 0,
    lower: (one) => value(one, "data-apart") < 0,
    unscored: (one) => !one.hasAttribute("data-judge"),
    errors: (one) => one.hasAttribute("data-errors"),
  };
  const filter = () => {
    const cell = form.elements.cell.value, kind = kinds[form.elements.kind.value];
    const wanted = form.elements.words.value.toLowerCase();
    let n = 0;
    for (const one of bodies) {
      const shown = (!cell || one.getAttribute("data-cell") === cell) && kind(one)
        && words.get(one).includes(wanted);
      one.hidden = !shown;
      n += shown;
    }
    told.textContent = n + " of " + bodies.length + " rows shown";
  };
  const heads = Array.from(table.tHead.querySelectorAll("th[data-sort]"));
  const sort = (head) => {
    const name = head.getAttribute("data-sort");
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const one of heads) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (one) => {
      const found = value(one, name);
      return found !== null && name === "data-apart" ? Math.abs(found) : found;
    };
    bodies.sort((a, b) => {
      const x = key(a), y = key(b);
      if (x === null || y === null) return (x === null) - (y === null);
      return down ? y - x : x - y;
    });
    table.append(...bodies);
  };
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
  const closed = () => document.querySelectorAll("main > section:not(#texts) details:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(closed());
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
  });
})();
