"use strict";
// The list sorts, filters and refreshes itself; a run in progress shows the events of its stream. Texts stay texts: the server
// escapes them, and this file sets no HTML but what the server rendered.

const REFRESH_MS = 2000;

function sortable(table) {
  for (const button of table.querySelectorAll("th button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("th[aria-sort]")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sort(table);
    });
  }
}

function sort(table) {
  const heads = [...table.querySelectorAll("thead th")];
  const column = heads.findIndex((head) => /ending$/.test(head.getAttribute("aria-sort") ?? ""));
  if (column < 0) return;
  const sign = heads[column].getAttribute("aria-sort") === "descending" ? -1 : 1;
  const isFigure = !heads[column].classList.contains("words");
  const value = (row) => row.cells[column].dataset.value ?? "";
  const compared = (a, b) => (isFigure ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true }));
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const [first, second] = [value(a), value(b)];
    // Rows without a value come last in either order.
    if (first === "" || second === "") return (first === "") - (second === "");
    return sign * compared(first, second);
  });
  table.tBodies[0].append(...rows);
}

function filter(table, words, count) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !wanted.every((word) => text.includes(word));
    shown += !row.hidden;
  }
  const all = table.tBodies[0].rows.length;
  const runs = all === 1 ? "run" : "runs";
  count.textContent = shown === all ? `${all} ${runs}` : `${shown} of ${all} ${runs}`;
}

function listOfRuns(table) {
  const words = document.getElementById("filter");
  const count = document.getElementById("count");
  const compare = document.getElementById("compare");
  const chosen = document.getElementById("chosen");
  const choose = () => {
    const runs = table.querySelectorAll("input:checked").length;
    compare.disabled = runs < 2;
    chosen.textContent = runs > 1 ? `${runs} chosen` : "Choose two or more runs to compare them.";
  };
  sortable(table);
  words.addEventListener("input", () => filter(table, words.value, count));
  table.addEventListener("change", choose);
  choose();
  refresh("/", (page) => {
    const fresh = page.querySelector("#runs tbody");
    if (!fresh || fresh.innerHTML === table.dataset.rows) return;
    table.dataset.rows = fresh.innerHTML;
    const checked = new Set([...table.querySelectorAll("input:checked")].map((box) => box.value));
    table.tBodies[0].replaceWith(document.importNode(fresh, true));
    for (const box of table.querySelectorAll("input")) box.checked = checked.has(box.value);
    sort(table);
    filter(table, words.value, count);
    choose();
  });
}

function runInProgress(figures) {
  const connection = document.getElementById("connection");
  let source = null;
  const follow = () => {
    source?.close();
    // A browser opens few connections to one server: pages that are not seen leave theirs to others.
    if (document.hidden) return;
    source = new EventSource(figures.dataset.stream);
    source.addEventListener("figures", ({ data }) => {
      const event = JSON.parse(data);
      connection.textContent = "";
      figures.innerHTML = event.figures;
      document.dispatchEvent(new CustomEvent("plots", { detail: event.plots }));
    });
    source.addEventListener("ended", () => {
      source.close();
      location.reload(); // What comes is its report.
    });
    source.addEventListener("failed", ({ data }) => {
      source.close();
      connection.textContent = JSON.parse(data);
    });
    source.addEventListener("error", () => {
      connection.textContent = "not connected: the figures are old";
    });
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

async function refresh(address, show) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
    if (document.hidden) continue;
    try {
      const response = await fetch(address, { cache: "no-store" });
      if (response.ok) show(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      // The server has ended or is busy: what is shown stays.
    }
  }
}

function queryBox(box) {
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.form.requestSubmit();
  });
}

document.documentElement.classList.add("js");
for (const [name, start] of [["runs", listOfRuns], ["live", runInProgress], ["query", queryBox]]) {
  const element = document.getElementById(name);
  if (element) start(element);
}
