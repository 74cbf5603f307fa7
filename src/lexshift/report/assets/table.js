// The table: sort, filter, and the interval of each word drawn on one common scale.
const table = document.getElementById("ranking");
const body = table.tBodies[0];
const rows = [...body.rows].map((row) => ({ row, word: data.words[Number(row.dataset.index)] }));
const verdictOrder = { changed: 0, stable: 1, "too few": 2 };
const KEYS = {
  word: (w) => w.word, score: (w) => w.score, n_old: (w) => w.n[0], n_new: (w) => w.n[1], p: (w) => w.p, q: (w) => w.q,
  verdict: (w) => verdictOrder[w.verdict],
};
const DOWN_FIRST = new Set(["score", "n_old", "n_new"]);

function sortBy(header) {
  const key = header.dataset.key;
  const before = header.getAttribute("aria-sort");
  const down = before ? before === "ascending" : DOWN_FIRST.has(key);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = KEYS[key];
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  // Words without a number come last, whichever way.
  const sorted = [...rows].sort((a, b) => {
    const [x, y] = [value(a.word), value(b.word)];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return (down ? -1 : 1) * compare(x, y);
  });
  body.append(...sorted.map((r) => r.row));
}

const filter = document.getElementById("filter");
const verdicts = document.getElementById("verdicts");
function applyFilter() {
  const wanted = filter.value.trim().toLocaleLowerCase();
  let shown = 0;
  for (const { row, word } of rows) {
    row.hidden = !word.word.toLocaleLowerCase().includes(wanted) || (verdicts.value !== "" && word.verdict !== verdicts.value);
    shown += !row.hidden;
  }
  document.getElementById("shown").textContent = `${shown} of ${rows.length}`;
}

function drawIntervals() {
  const most = Math.max(...scored.map((w) => w.high));
  const x = linear(0, most, 0, 100);
  for (const { row, word } of rows) {
    const forest = row.querySelector(".forest");
    if (!forest) continue;
    const height = 16;
    const place = (value) => `${x(value).toFixed(1)}%`;
    forest.append(svg("svg", { class: word.verdict, "aria-hidden": "true" },
      svg("line", { class: "whisker", x1: place(word.low), x2: place(word.high), y1: height / 2, y2: height / 2 }),
      svg("circle", { class: `dot ${word.verdict}`, cx: place(word.score), cy: height / 2, r: 4.5 })));
  }
}

// Scrolls the table, not the page.
function showRow(row) {
  const frame = table.parentElement;
  const [head, place] = [table.tHead.offsetHeight, row.offsetTop];
  if (place < frame.scrollTop + head || place + row.offsetHeight > frame.scrollTop + frame.clientHeight) frame.scrollTop = place - head * 2;
}

function setUpTable() {
  for (const header of table.tHead.rows[0].cells) {
    const button = el("button", { type: "button" });
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => sortBy(header));
  }
  filter.addEventListener("input", applyFilter);
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { filter.value = ""; applyFilter(); }
  });
  verdicts.addEventListener("change", applyFilter);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row && !event.target.closest("a") && getSelection().isCollapsed) row.querySelector("a").click();
  });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const links = [...body.querySelectorAll("tr:not([hidden]) a")];
    const next = links[links.indexOf(document.activeElement) + step];
    if (next) { event.preventDefault(); next.focus(); }
  });
  drawIntervals();
  applyFilter();
}
