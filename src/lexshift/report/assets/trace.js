// Building the page: text is always put in as text.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const text = (x, y, words, attributes = {}) => svg("text", { x, y, ...attributes }, words);
const bdi = (words) => el("bdi", {}, words);

function digits(value) {
  const size = Math.abs(value);
  if (!size) return "0";
  if (size < 1e-4 || size >= 1e9) return value.toExponential(2);
  return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))));
}
const chance = (value) => (value >= 0.001 ? value.toFixed(3) : value >= 1e-5 ? value.toFixed(5).replace(/0+$/, "") : value.toExponential(0));
const plural = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;

function ticks(to, about) {
  const rough = (to || 1) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let k = 0; k * step <= to * 1.0001; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

// draw(width) answers with an svg; it is called again when the frame is wider or narrower.
function chart(title, draw) {
  const frame = el("div", { class: "chart" });
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.round(frame.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    const picture = draw(width);
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", title);
    frame.replaceChildren(picture);
  }).observe(frame);
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
    ...ticks(most, 4).flatMap((v) => [
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

const picture = (width, height, parts) => svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height }, ...parts);

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
    return picture(width, height, parts);
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
    return picture(width, height, parts);
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
    return picture(width, height, parts);
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
    parts.push(el("h3", {}, "Against the first period"), chart(`Change of ${word.word} against the first period`, fromFirst(word)));
    parts.push(el("h3", {}, "From each period to the next"), chart(`Change of ${word.word} from each period to the next`, betweenNeighbours(word)));
  }
  if (word.season) {
    const { seasonal, p, q, strength, profile } = word.season;
    parts.push(el("h3", {}, "Over the year"), el("p", { class: "hint" },
      `${seasonal ? "Seasonal" : "No season"}: p = ${chance(p)}, q = ${chance(q)}, likeness of the same months of different years ${digits(strength)}.`));
    if (seasonal) parts.push(chart(`Season of ${word.word}`, months(profile)));
  }
  parts.push(el("h3", {}, "Sentences most typical of each period"), sentencesOf(word));
  article.replaceChildren(...parts);
}

const rows = [...document.querySelectorAll("#ranking tbody tr")];
function choose(index) {
  rows.forEach((row, i) => {
    row.classList.toggle("chosen", i === index);
    if (i === index) row.querySelector("a").setAttribute("aria-current", "true");
    else row.querySelector("a").removeAttribute("aria-current");
  });
  showWord(data.words[index]);
}
function fromAddress(moved) {
  if (moved && location.hash && !location.hash.startsWith("#word=")) return; // a link to another part of the page
  let name = "";
  try { name = decodeURIComponent(location.hash.replace(/^#word=/, "")); } catch { /* not from here */ }
  choose(Math.max(0, data.words.findIndex((word) => word.word === name)));
}
for (const row of rows) {
  row.addEventListener("click", (event) => {
    if (!event.target.closest("a")) location.hash = `word=${encodeURIComponent(data.words[Number(row.dataset.index)].word)}`;
  });
}
addEventListener("hashchange", () => fromAddress(true));
if (data.words.length) fromAddress(false);
