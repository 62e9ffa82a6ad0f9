"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);

  // Theme: what the system prefers, until the reader chooses.
  const root = document.documentElement;
  const keep = (value) => { try { localStorage.setItem("dpso-theme", value); } catch { /* a page without storage */ } };
  const kept = () => { try { return localStorage.getItem("dpso-theme"); } catch { return null; } };
  if (["dark", "light"].includes(kept())) root.dataset.theme = kept();
  one("#theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep(root.dataset.theme);
  });

  // Verdicts: search, section and class together.
  const rows = all(".verdicts tbody tr");
  const chips = all("#verdicts .chip");
  const search = one("#search");
  const section = one("#section");
  const pressed = (buttons, key) => buttons.filter((b) => b.getAttribute("aria-pressed") === "true").map((b) => b.dataset[key]);
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const grades = pressed(chips, "grade");
    let shown = 0;
    for (const row of rows) {
      const fits = words.every((word) => row.dataset.search.includes(word))
        && (!section.value || row.dataset.section === section.value)
        && (!grades.length || grades.includes(row.dataset.grade));
      row.hidden = !fits;
      shown += fits;
    }
    one("#count").textContent = `${shown} of ${rows.length} entries`;
    one("#nothing").hidden = shown > 0;
  };
  const toggle = (button) => button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
  for (const chip of chips) chip.addEventListener("click", () => { toggle(chip); filter(); });
  search.addEventListener("input", filter);
  section.addEventListener("change", filter);
  for (const tile of all(".tile")) tile.addEventListener("click", () => {
    for (const chip of chips) chip.setAttribute("aria-pressed", String(chip.dataset.grade === tile.dataset.grade));
    filter();
  });
  filter();

  // Errata: by severity.
  const severities = all("#errata .chip");
  for (const chip of severities) chip.addEventListener("click", () => {
    toggle(chip);
    const wanted = pressed(severities, "severity");
    for (const group of all("#errata .group")) {
      group.hidden = wanted.length > 0 && !wanted.includes(group.dataset.group);
      if (group.tagName === "DETAILS") group.open = wanted.includes(group.dataset.group);
    }
  });

  // A link into something closed or filtered away opens it.
  const reveal = () => {
    let id;
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
      if (node.classList.contains("group")) node.hidden = false;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) reveal();
  });
  reveal();

  // The graph: the lines of the node under the pointer stand out, and what they lead to.
  const edges = all(".graph .edge");
  const nodes = all(".graph .node");
  for (const node of nodes) {
    const mark = (on) => () => {
      const near = new Set([node.dataset.node]);
      for (const edge of edges) {
        const ends = edge.dataset.ends.split(" ");
        const mine = on && ends.includes(node.dataset.node);
        edge.classList.toggle("on", mine);
        if (mine) for (const end of ends) near.add(end);
      }
      for (const other of nodes) other.classList.toggle("dim", on && !near.has(other.dataset.node));
    };
    for (const name of ["pointerenter", "focus"]) node.addEventListener(name, mark(true));
    for (const name of ["pointerleave", "blur"]) node.addEventListener(name, mark(false));
  }
})();
