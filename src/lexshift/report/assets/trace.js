// The page of a trace: a table of words, and for the chosen word its changes, its season and its sentences.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// A chart in a frame of its own.
function framed(title, draw) {
  const frame = el("div", { class: "chart" });
  chart(frame, title, draw);
  return frame;
}

// A step is [from, to, score, low, high, p, q].
function frameOf(word, steps, width, height, marked) {
  const box = { left: 46, right: width - 14, top: 22, bottom: height - 26 };
  const n = data.periods.length;
  const x = (i) => box.left + ((i + 0.5) / n) * (box.right - box.left);
  const most = Math.max(...steps.map((step) => step[4] ?? step[2]), 1e-12);
  const y = (value) => box.bottom - (value / most) * (box.bottom - box.top);
  const longest = Math.max(...data.periods.map((label) => [...label].length));
  const every = Math.max(1, Math.ceil((n * (longest * 6.4 + 10)) / (box.right - box.left)));
  const parts = [svg("g", { class: "axis" },
    ...ticks(0, most, 4).flatMap((v) => [
      svg("line", { x1: box.left, x2: box.right, y1: y(v), y2: y(v) }),
      text(box.left - 6, y(v) + 4, String(v), { "text-anchor": "end" })]),
    ...data.periods.flatMap((label, i) => (i % every ? [] : [text(x(i), box.bottom + 17, label, { "text-anchor": "middle" })])))];
  for (const at of word.changes) {
    const cx = (x(at) + x(at - 1)) / 2;
    parts.push(svg("line", { class: "change", x1: cx, x2: cx, y1: box.top - 8, y2: box.bottom }));
    if (marked) parts.push(text(cx + 4, box.top - 10, data.periods[at], { class: "changelabel" }));
  }
  return { box, x, y, parts };
}

const stepTitle = (step) => svg("title", {}, `${data.periods[step[0]]} to ${data.periods[step[1]]}: ${digits(step[2])} (${digits(step[3])} to ${digits(step[4])}), p ${chance(step[5])}, q ${chance(step[6])}`);

function fromFirst(word) {
  return (width) => {
    const height = 230;
    const steps = word.first;
    const { x, y, parts } = frameOf(word, steps, width, height, true);
    const upper = steps.map((s) => `${x(s[1])},${y(s[4])}`);
    const lower = steps.map((s) => `${x(s[1])},${y(s[3])}`).reverse();
    if (steps.length > 1) parts.push(svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }));
    const start = steps[0][0];
    parts.push(svg("path", { class: "first", d: `M${x(start)},${y(0)}L${steps.map((s) => `${x(s[1])},${y(s[2])}`).join("L")}` }));
    parts.push(svg("circle", { class: "dot first", cx: x(start), cy: y(0), r: 3 }));
    for (const s of steps) {
      parts.push(svg("line", { class: "whisker", x1: x(s[1]), x2: x(s[1]), y1: y(s[3]), y2: y(s[4]) }),
        svg("circle", { class: s[6] <= data.alpha ? "dot first" : "dot first low", cx: x(s[1]), cy: y(s[2]), r: 4 }, stepTitle(s)));
    }
    return picture(width, height, ...parts);
  };
}

function betweenNeighbours(word) {
  return (width) => {
    const height = 170;
    const { box, x, y, parts } = frameOf(word, word.neighbours, width, height, false);
    for (const s of word.neighbours) {
      const [from, to] = [x(s[0]), x(s[1])];
      const [cx, half] = [(from + to) / 2, Math.max(2, (to - from) * 0.32)];
      parts.push(svg("rect", { class: s[6] <= data.alpha ? "bar" : "bar low", x: cx - half, width: 2 * half, y: y(s[2]), height: box.bottom - y(s[2]) }, stepTitle(s)),
        svg("line", { class: "whisker", x1: cx, x2: cx, y1: y(s[3]), y2: y(s[4]) }));
    }
    return picture(width, height, ...parts);
  };
}

function months(profile) {
  return (width) => {
    const height = 150;
    const box = { left: 10, right: width - 10, top: 10, bottom: height - 24 };
    const most = Math.max(...profile.map((v) => Math.abs(v ?? 0)), 1e-12);
    const middle = (box.top + box.bottom) / 2;
    const x = (i) => box.left + ((i + 0.5) / 12) * (box.right - box.left);
    const parts = [svg("g", { class: "axis" }, svg("line", { x1: box.left, x2: box.right, y1: middle, y2: middle }),
      ...MONTHS.map((name, i) => text(x(i), height - 6, name, { "text-anchor": "middle" })))];
    profile.forEach((value, i) => {
      if (value === null) return;
      const size = (Math.abs(value) / most) * (box.bottom - box.top) / 2;
      const half = ((box.right - box.left) / 12) * 0.35;
      parts.push(svg("rect", { class: "bar", x: x(i) - half, width: 2 * half, y: value > 0 ? middle - size : middle, height: size }));
    });
    return picture(width, height, ...parts);
  };
}

function sentencesOf(word) {
  const begins = new Set(word.changes ?? []);
  const last = data.periods.length - 1;
  return el("div", { class: "periods" }, ...data.periods.map((label, i) => {
    const n = word.n[i];
    const rows = word.sentences[i].map((s) => el("li", { dir: "auto", title: s[3] }, s[0], el("mark", {}, s[1]), s[2]));
    const note = [` ${plural(n, "usage")}`, word.found[i] > n ? ` of ${word.found[i].toLocaleString("en")}` : "",
      n && n < data.least ? ", too few to compare" : "", begins.has(i) ? ", begins something new" : ""].join("");
    const block = el("details", { class: begins.has(i) ? "begins" : "" }, el("summary", {}, bdi(label), el("small", {}, note)),
      rows.length ? el("ol", {}, ...rows) : null);
    block.open = n > 0 && (i === 0 || i === last || begins.has(i) || begins.has(i + 1));
    return block;
  }));
}

const article = document.getElementById("word");
function showWord(word) {
  const parts = [el("h2", {}, bdi(word.word))];
  if (word.changes === undefined) {
    parts.push(el("p", {}, `Too few usages: ${data.least} are needed in two periods.`));
  } else {
    const begins = [" Something new begins in ", bdi(word.changes.map((i) => data.periods[i]).join(", "))];
    const none = word.shape === "gradual" ? " The change is a gradual drift, so there is no change point." : " There is no change point.";
    const when = word.changes.length ? [...begins, "."] : [none];
    parts.push(el("p", { class: `saying ${word.verdict}` }, el("span", { class: "verdict" }, word.verdict === "changed" ? "Changed" : "Stable"),
      ` over the periods (p = ${chance(word.p)}, q = ${chance(word.q)}).`, ...when));
    parts.push(el("h3", {}, "Against the first period"), framed(`Change of ${word.word} against the first period`, fromFirst(word)));
    parts.push(el("h3", {}, "From each period to the next"), framed(`Change of ${word.word} from each period to the next`, betweenNeighbours(word)));
  }
  if (word.season) {
    const { seasonal, p, q, strength, profile } = word.season;
    parts.push(el("h3", {}, "Over the year"), el("p", { class: "hint" },
      `${seasonal ? "Seasonal" : "No season"}: p = ${chance(p)}, q = ${chance(q)}, likeness of the same months of different years ${digits(strength)}.`));
    if (seasonal) parts.push(framed(`Season of ${word.word}`, months(profile)));
  }
  parts.push(el("h3", {}, "Sentences most typical of each period"), sentencesOf(word));
  article.replaceChildren(...parts);
}

const table = document.getElementById("ranking");
const rows = [...table.tBodies[0].rows];
const indexOf = (row) => Number(row.dataset.index);

const verdictOrder = { changed: 0, stable: 1, "too few": 2 };
const KEYS = {
  word: (w) => w.word, score: (w) => w.first?.at(-1)?.[2], verdict: (w) => verdictOrder[w.verdict] + (w.q ?? 0) / 2,
  changes: (w) => w.changes?.[0], season: (w) => w.season?.q,
};
const collator = new Intl.Collator();

function sortBy(header) {
  const key = header.dataset.key;
  const before = header.getAttribute("aria-sort");
  const down = before ? before === "ascending" : key === "score";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const compare = key === "word" ? collator.compare : (a, b) => a - b;
  // Words without a value come last in both directions.
  rows.sort((a, b) => {
    const [x, y] = [a, b].map((row) => KEYS[key](data.words[indexOf(row)]));
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return (down ? -1 : 1) * compare(x, y);
  });
  table.tBodies[0].append(...rows);
}
for (const header of table.tHead.rows[0].cells) {
  const button = el("button", { type: "button" }, ...header.childNodes);
  button.addEventListener("click", () => sortBy(header));
  header.replaceChildren(button);
}

const filter = document.getElementById("filter");
function applyFilter() {
  const wanted = filter.value.trim().toLocaleLowerCase();
  for (const row of rows) row.hidden = !data.words[indexOf(row)].word.toLocaleLowerCase().includes(wanted);
  const left = rows.filter((row) => !row.hidden).length;
  document.getElementById("shown").textContent = `${left.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
}
filter.addEventListener("input", applyFilter);
document.querySelector(".tools").hidden = false;
applyFilter();

function choose(index) {
  for (const row of rows) {
    const chosen = indexOf(row) === index;
    row.classList.toggle("chosen", chosen);
    if (chosen) row.querySelector("a").setAttribute("aria-current", "true");
    else row.querySelector("a").removeAttribute("aria-current");
  }
  showWord(data.words[index]);
}
function fromAddress(moved) {
  if (moved && location.hash && !location.hash.startsWith("#word=")) return; // a link to another part of the page
  let name = "";
  try { name = decodeURIComponent(location.hash.replace(/^#word=/, "")); } catch { /* not from here */ }
  const index = data.words.findIndex((word) => word.word === name);
  choose(Math.max(0, index));
  const top = article.getBoundingClientRect().top;
  if (index >= 0 && (top < 0 || top > innerHeight * 0.6)) article.scrollIntoView({ behavior: moved ? "smooth" : "instant" });
}
for (const row of rows) {
  row.addEventListener("click", (event) => {
    if (!event.target.closest("a")) location.hash = `word=${encodeURIComponent(data.words[indexOf(row)].word)}`;
  });
}
addEventListener("hashchange", () => fromAddress(true));
if (data.words.length) fromAddress(false);
