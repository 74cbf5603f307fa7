// The table: sort, filter, and of thousands of rows, all of one height, only those in view and some around them.
const body = table.tBodies[0];
const frame = table.closest(".scroll");
const holder = table.parentElement; // as high as all rows would be, by its padding
const rest = document.getElementById("rest"); // how many words are not on the paper
const MARGIN = 20; // rows above and below the view
const PRINTED = 200;
const paper = matchMedia("print");
const verdictOrder = { changed: 0, stable: 1, "too few": 2 };
const KEYS = {
  word: (w) => w.word, score: (w) => w.score, n_old: (w) => w.n[0], n_new: (w) => w.n[1], p: (w) => w.p, q: (w) => w.q,
  above: (w) => w.above, verdict: (w) => verdictOrder[w.verdict],
};
const DOWN_FIRST = new Set(["score", "n_old", "n_new", "above"]);
const collator = new Intl.Collator();

let sorted = data.words;
let shown = []; // those of them that the filter leaves
let chosenRow = null; // its word
let lastFocus = -1; // the row that had the focus last
let rowHeight = 0;
const drawn = new Map(); // words to their rows in the document

function sortBy(header) {
  const key = header.dataset.key;
  const before = header.getAttribute("aria-sort");
  const down = before ? before === "ascending" : DOWN_FIRST.has(key);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = KEYS[key];
  const compare = key === "word" ? collator.compare : (a, b) => a - b;
  // Words without a number come last, whichever way.
  sorted = [...data.words].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return (down ? -1 : 1) * compare(x, y);
  });
  applyFilter();
}

const filter = document.getElementById("filter");
const verdicts = document.getElementById("verdicts");
const lower = new Map(data.words.map((word) => [word, word.word.toLocaleLowerCase()]));
function applyFilter() {
  const wanted = filter.value.trim().toLocaleLowerCase();
  shown = sorted.filter((word) => lower.get(word).includes(wanted) && (verdicts.value === "" || word.verdict === verdicts.value));
  table.setAttribute("aria-rowcount", shown.length + 1);
  document.getElementById("shown").textContent = `${shown.length.toLocaleString("en")} of ${data.words.length.toLocaleString("en")}`;
  frame.scrollTop = 0;
  lastFocus = -1;
  drawRows();
}

// Which rows are in the document: on paper all that are printed.
function inView() {
  if (paper.matches) return [0, Math.min(shown.length, PRINTED)];
  const height = rowHeight || 40;
  const first = Math.floor(frame.scrollTop / height);
  const begin = Math.max(0, Math.min(first, shown.length) - MARGIN);
  return [begin, Math.min(shown.length, first + Math.ceil(Math.max(frame.clientHeight, innerHeight) / height) + MARGIN)];
}

function drawRows() {
  const [begin, end] = inView();
  const wanted = shown.slice(begin, end);
  const kept = new Set(wanted);
  for (const [word, row] of drawn) {
    if (kept.has(word)) continue;
    if (row.contains(document.activeElement)) frame.focus({ preventScroll: true }); // arrow keys go on from there
    row.remove();
    drawn.delete(word);
  }
  // Rows that are in their place stay untouched, so that none loses the focus.
  let next = body.firstElementChild;
  wanted.forEach((word, i) => {
    let row = drawn.get(word);
    if (!row) {
      row = rowOf(word);
      row.classList.toggle("chosen", word === chosenRow);
      drawn.set(word, row);
    }
    row.setAttribute("aria-rowindex", begin + i + 2); // the head is the first
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next);
  });
  const left = shown.length - end;
  stretch(begin, left); // before anything is measured: a holder that is too short for a moment would scroll
  if (wanted.length && !paper.matches) {
    const measured = body.getBoundingClientRect().height / wanted.length;
    if (measured !== rowHeight) {
      rowHeight = measured;
      stretch(begin, left);
    }
  }
  rest.hidden = left === 0;
  rest.textContent = `and ${plural(left, "more word")}: scores.csv has them all.`;
}

function stretch(above, below) {
  holder.style.paddingTop = paper.matches ? "0" : `${above * rowHeight}px`;
  holder.style.paddingBottom = paper.matches ? "0" : `${below * rowHeight}px`;
}

// Scrolls the table, not the page: a row out of view comes to the middle, or as near as it is.
function showRow(at, nearest = false) {
  const [head, place] = [table.tHead.offsetHeight, at * rowHeight];
  const room = frame.clientHeight - head - rowHeight; // from the first row in view to the last
  const off = place - frame.scrollTop;
  if (off >= 0 && off <= room) return;
  frame.scrollTop = nearest ? place - (off < 0 ? 0 : room) : place - room / 2;
  drawRows();
}

function chooseRow(word) {
  drawn.get(chosenRow)?.classList.remove("chosen");
  chosenRow = word;
  drawn.get(word)?.classList.add("chosen");
  const at = shown.indexOf(word);
  if (at >= 0) showRow(at);
}

const placeOf = (row) => Number(row.getAttribute("aria-rowindex")) - 2;
function step(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || event.target.closest("thead")) return;
  const word = shown[lastFocus + by];
  if (!word) return;
  event.preventDefault();
  showRow(lastFocus + by, true);
  drawn.get(word).querySelector("a").focus({ preventScroll: true });
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
    lastFocus = placeOf(row);
    if (!event.target.closest("a") && getSelection().isCollapsed) row.querySelector("a").click();
  });
  body.addEventListener("focusin", (event) => { lastFocus = placeOf(event.target.closest("tr")); });
  frame.addEventListener("keydown", step);
  frame.addEventListener("scroll", drawRows, { passive: true });
  new ResizeObserver(drawRows).observe(frame);
  paper.addEventListener("change", drawRows);
  body.replaceChildren();
  applyFilter();
}
