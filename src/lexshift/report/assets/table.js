// The table of words: sorting, filtering, and the choice of a word, which has its own address (#word=plane).
// All rows have one height. Of thousands of rows only those in view and some around them are in the document.
const table = document.getElementById("ranking");
const body = table.tBodies[0];
const scroller = table.closest(".scroll");
const stretched = table.parentElement; // as high as all rows together, by its padding
const rest = document.getElementById("rest"); // says how many words are not printed
const filter = document.getElementById("filter");
const verdicts = document.getElementById("verdicts");
const article = document.getElementById("word");
const MARGIN = 20; // rows above and below the view
const PRINTED = 200;
const paper = matchMedia("print");
const phone = matchMedia("(max-width: 44rem)");
const VERDICTS = ["changed", "appeared", "disappeared", "differs", "unclear", "stable", "too few"];
const NONE = "–";
const collator = new Intl.Collator();
const indexOf = new Map(data.words.map((word, i) => [word, i]));
const byName = new Map(data.words.map((word) => [word.word, word]));
const lowercase = new Map(data.words.map((word) => [word, word.word.toLocaleLowerCase()]));
const link = (word) => `#word=${encodeURIComponent(word)}`;

let columns = null; // see startPage
let sorted = data.words;
let shown = []; // the words that the filter leaves
let chosenWord = null;
let lastFocus = -1; // position of the row that had the focus last
let rowHeight = 0;
const drawnRows = new Map(); // words to their rows in the document

function cell(kind, ...children) {
  return el("td", { class: kind }, ...children);
}

function verdictCell(word, reason = "", span = 1) {
  const said = el("div", { class: "said" }, el("span", { class: "verdict", title: word.reason ?? "" }, word.verdict));
  if (reason) said.append(" ", el("small", { class: "reason" }, reason));
  return el("td", { colspan: span }, said);
}

function rowOf(word) {
  const name = el("a", { href: link(word.word) }, bdi(word.word));
  const row = el("tr", { "data-index": indexOf.get(word), class: word.verdict.replace(" ", "-") },
    el("th", { scope: "row" }, name), ...columns.cells(word));
  markRow(row, word === chosenWord);
  return row;
}

function markRow(row, chosen) {
  row.classList.toggle("chosen", chosen);
  if (chosen) row.querySelector("a").setAttribute("aria-current", "true");
  else row.querySelector("a").removeAttribute("aria-current");
}

function sortBy(header) {
  const key = header.dataset.key;
  const before = header.getAttribute("aria-sort");
  const down = before ? before === "ascending" : columns.descendingFirst.includes(key);
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = key === "word" ? (word) => word.word : columns.values[key];
  const compare = key === "word" ? collator.compare : (a, b) => a - b;
  // Words without a value come last in both directions.
  sorted = [...data.words].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return (down ? -1 : 1) * compare(x, y);
  });
  applyFilter();
}

function applyFilter() {
  const wanted = filter.value.trim().toLocaleLowerCase();
  shown = sorted.filter((word) => lowercase.get(word).includes(wanted) && (verdicts.value === "" || word.verdict === verdicts.value));
  table.setAttribute("aria-rowcount", shown.length + 1);
  document.getElementById("shown").textContent = `${count(shown.length)} of ${count(data.words.length)}`;
  scroller.scrollTop = 0;
  lastFocus = -1;
  drawRows();
}

// The positions of the rows in the document; on paper, of all that are printed.
function inView() {
  if (paper.matches) return [0, Math.min(shown.length, PRINTED)];
  const height = rowHeight || 40;
  const first = Math.floor(scroller.scrollTop / height);
  const begin = Math.max(0, Math.min(first, shown.length) - MARGIN);
  return [begin, Math.min(shown.length, first + Math.ceil(Math.max(scroller.clientHeight, innerHeight) / height) + MARGIN)];
}

function drawRows() {
  const [begin, end] = inView();
  const wanted = shown.slice(begin, end);
  const remaining = new Set(wanted);
  for (const [word, row] of drawnRows) {
    if (remaining.has(word)) continue;
    if (row.contains(document.activeElement)) scroller.focus({ preventScroll: true }); // arrow keys continue from there
    row.remove();
    drawnRows.delete(word);
  }
  // Rows that are in their place stay untouched, so that none loses the focus.
  let next = body.firstElementChild;
  wanted.forEach((word, i) => {
    let row = drawnRows.get(word);
    if (!row) {
      row = rowOf(word);
      drawnRows.set(word, row);
    }
    row.setAttribute("aria-rowindex", begin + i + 2); // the head is the first
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next);
  });
  const left = shown.length - end;
  stretch(begin, left); // before anything is measured: an element that is too short for a moment would scroll
  if (wanted.length && !paper.matches) {
    const measured = body.getBoundingClientRect().height / wanted.length;
    if (measured !== rowHeight) {
      rowHeight = measured;
      stretch(begin, left);
    }
  }
  rest.hidden = left === 0;
  rest.textContent = `${columns.file} lists ${plural(left, "more word")}.`;
}

function stretch(above, below) {
  stretched.style.paddingTop = paper.matches ? "0" : `${above * rowHeight}px`;
  stretched.style.paddingBottom = paper.matches ? "0" : `${below * rowHeight}px`;
}

// Scrolls the table, not the page. A row out of view moves to the middle, or with "barely" just into view.
function showRow(at, barely = false) {
  const [head, place] = [table.tHead.offsetHeight, at * rowHeight];
  const room = scroller.clientHeight - head - rowHeight; // from the first row in view to the last
  const off = place - scroller.scrollTop;
  if (off >= 0 && off <= room) return;
  scroller.scrollTop = barely ? place - (off < 0 ? 0 : room) : place - room / 2;
  drawRows();
}

function chooseRow(word) {
  if (drawnRows.has(chosenWord)) markRow(drawnRows.get(chosenWord), false);
  chosenWord = word;
  if (drawnRows.has(word)) markRow(drawnRows.get(word), true);
  const at = shown.indexOf(word);
  if (at >= 0) showRow(at);
}

const positionOf = (row) => Number(row.getAttribute("aria-rowindex")) - 2;
function moveFocus(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || event.target.closest("thead")) return;
  const word = shown[lastFocus + by];
  if (!word) return;
  event.preventDefault();
  showRow(lastFocus + by, true);
  drawnRows.get(word).querySelector("a").focus({ preventScroll: true });
}

function setUpTable() {
  for (const header of table.tHead.rows[0].cells) {
    const button = el("button", { type: "button" }, ...header.childNodes);
    button.addEventListener("click", () => sortBy(header));
    header.append(button);
  }
  filter.addEventListener("input", applyFilter);
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { filter.value = ""; applyFilter(); }
  });
  verdicts.addEventListener("change", applyFilter);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    lastFocus = positionOf(row);
    if (!event.target.closest("a") && getSelection().isCollapsed) row.querySelector("a").click();
  });
  body.addEventListener("focusin", (event) => { lastFocus = positionOf(event.target.closest("tr")); });
  scroller.addEventListener("keydown", moveFocus);
  scroller.addEventListener("scroll", drawRows, { passive: true });
  new ResizeObserver(drawRows).observe(scroller);
  paper.addEventListener("change", drawRows);
  phone.addEventListener("change", () => { // rows have other cells on a phone
    drawnRows.clear();
    body.replaceChildren();
    drawRows();
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, select, textarea")) { event.preventDefault(); filter.focus(); }
  });
  body.replaceChildren();
  applyFilter();
}

function wordOfAddress() {
  if (!location.hash.startsWith("#word=")) return null;
  try {
    return byName.get(decodeURIComponent(location.hash.slice("#word=".length))) ?? null;
  } catch {
    return null;
  }
}

async function followAddress(moved) {
  const word = wordOfAddress();
  if (!word && moved && location.hash) return; // a link to another part of the page
  const chosen = word ?? data.words[0];
  chooseRow(chosen);
  hideTip();
  const parts = await columns.show(chosen);
  if (chosen !== chosenWord) return; // another word was chosen in the meantime
  article.replaceChildren(...parts);
  drawCharts(article);
  if (moved) document.getElementById("status").textContent = `Showing ${chosen.word}: ${chosen.verdict}.`;
  const top = article.getBoundingClientRect().top;
  if (word && (top < 0 || top > innerHeight * 0.6)) article.scrollIntoView({ behavior: moved ? "smooth" : "instant" });
}

// Starts the page. cells(word) returns the cells of a row after the first; values has a function for each column that returns
// the value to sort by; descendingFirst names the columns that are first sorted in descending order; show(word) returns the
// elements of the view of a word, or a promise of them; file is the name of the file that holds all words.
function startPage(settings) {
  columns = settings;
  document.body.classList.remove("plain"); // this class shows the page as it is without its script
  drawCharts(document); // before the page is scrolled to a word below them
  setUpTable();
  addEventListener("hashchange", () => followAddress(true));
  if (data.words.length) followAddress(false);
}
