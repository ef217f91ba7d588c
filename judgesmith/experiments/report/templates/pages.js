"use strict";
// Lists of a page: rows are chosen by a form, shown in portions as one scrolls, and sorted.
(() => {
  const PORTION = 40;
  const value = (one, name) => one.hasAttribute(name) ? Number(one.getAttribute(name)) : null;

  for (const form of document.querySelectorAll("form[data-list]")) {
    const list = document.getElementById(form.getAttribute("data-list"));
    if (!list) continue;
    const told = form.querySelector("[role=status]");
    const rows = Array.from(list.querySelectorAll("[data-row]"));
    const parent = rows.length ? rows[0].parentNode : list;
    const words = new Map();
    const said = (one) => {
      if (!words.has(one)) words.set(one, one.textContent.toLowerCase());
      return words.get(one);
    };
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    list.after(more);
    let room = PORTION;

    const fits = () => {
      const chosen = Array.from(form.elements).filter((one) => one.name && one.value);
      return (row) => chosen.every((one) => one.name === "words"
        ? said(row).includes(one.value.toLowerCase())
        : (row.getAttribute(`data-${one.name}`) ?? "").split(" ").includes(one.value));
    };
    const show = () => {
      const wanted = rows.filter(fits());
      const shown = new Set(wanted.slice(0, room));
      for (const one of rows) one.hidden = !shown.has(one);
      told.textContent = `${wanted.length} of ${rows.length} shown`;
      const left = wanted.length - shown.size;
      more.hidden = left <= 0;
      more.textContent = `Show more (${left} left)`;
    };
    const further = () => {
      room += PORTION;
      show();
    };
    more.addEventListener("click", further);
    if ("IntersectionObserver" in window) {
      new IntersectionObserver((seen) => {
        if (seen.some((one) => one.isIntersecting) && !more.hidden) further();
      }, { rootMargin: "600px" }).observe(more);
    }
    const again = () => {
      room = PORTION;
      show();
    };
    form.hidden = false;
    form.addEventListener("input", again);
    form.addEventListener("submit", (event) => event.preventDefault());

    const heads = Array.from(list.querySelectorAll("th[data-sort]"));
    const sort = (head) => {
      const name = head.getAttribute("data-sort");
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const one of heads) one.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (one) => {
        const found = value(one, name);
        return found !== null && name === "data-apart" ? Math.abs(found) : found;
      };
      rows.sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === null || y === null) return (x === null) - (y === null);
        return down ? y - x : x - y;
      });
      parent.append(...rows);
      again();
    };
    for (const head of heads) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(head));
      head.append(button);
    }

    // A cell of a matrix, or a chart's row, chooses the texts behind it.
    for (const link of document.querySelectorAll(`a[href="#${form.id}"][data-choose]`)) {
      link.addEventListener("click", () => {
        for (const one of form.elements) if (one.name) one.value = "";
        form.elements[link.getAttribute("data-choose")].value = link.getAttribute("data-value");
        again();
        form.querySelector("select").focus();
      });
    }
    let before = room;
    addEventListener("beforeprint", () => {
      before = room;
      room = Infinity;
      show();
    });
    addEventListener("afterprint", () => {
      room = before;
      show();
    });
    show();
  }

  // What a link leads to is not folded away.
  const reveal = () => {
    let at = document.getElementById(location.hash.slice(1));
    for (; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();

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
