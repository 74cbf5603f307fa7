// The page of a trace: the rows of the table, and for the chosen word its changes, its season and its sentences.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const hasSeasons = table.querySelector("[data-key=season]") !== null;

function section(title, name, draw) {
  const area = el("div", { class: "chart" });
  chart(area, name, draw);
  return [el("h3", {}, title), area];
}

// Scales, axes and change points of a chart over the periods. A step is [from, to, score, low, high, p, q].
function periodScales(word, steps, width, height, labelled) {
  const box = { left: 46, right: width - 14, top: 22, bottom: height - 26 };
  const n = data.periods.length;
  const x = (i) => box.left + ((i + 0.5) / n) * (box.right - box.left);
  const most = Math.max(...steps.map((step) => step[4] ?? step[2]), 1e-12);
  const y = linear(0, most, box.bottom, box.top);
  const parts = [axisY(y, ticks(0, most, 4), box.left, "", box), periodLabels(x, box)];
  for (const at of word.changes) {
    const cx = (x(at) + x(at - 1)) / 2;
    parts.push(svg("line", { class: "change", x1: cx, x2: cx, y1: box.top - 8, y2: box.bottom }));
    if (labelled) parts.push(text(cx + 4, box.top - 10, data.periods[at], { class: "changelabel" }));
  }
  return { box, x, y, parts };
}

const stepTitle = (step) => svg("title", {}, `${data.periods[step[0]]} to ${data.periods[step[1]]}: ${digits(step[2])} (${digits(step[3])} to ${digits(step[4])}), p ${chance(step[5])}, q ${chance(step[6])}`);

function fromFirst(word) {
  return (width) => {
    const height = 230;
    const steps = word.first;
    const { x, y, parts } = periodScales(word, steps, width, height, true);
    const points = (i) => steps.map((step) => [x(step[1]), y(step[i])]);
    if (steps.length > 1) parts.push(svg("path", { class: "band", d: `${joined([...points(4), ...points(3).reverse()])}Z` }));
    const start = [x(steps[0][0]), y(0)];
    parts.push(svg("path", { class: "line", d: joined([start, ...points(2)]) }),
      svg("circle", { class: "dot first", cx: start[0], cy: start[1], r: 3 }));
    for (const s of steps) {
      parts.push(svg("line", { class: "whisker", x1: x(s[1]), x2: x(s[1]), y1: y(s[3]), y2: y(s[4]) }),
        svg("circle", { class: s[6] <= data.alpha ? "dot first" : "dot first low", cx: x(s[1]), cy: y(s[2]), r: 4 }, stepTitle(s)));
    }
    return svgElement(width, height, ...parts);
  };
}

function betweenNeighbours(word) {
  return (width) => {
    const height = 170;
    const { box, x, y, parts } = periodScales(word, word.neighbours, width, height, false);
    for (const s of word.neighbours) {
      const [from, to] = [x(s[0]), x(s[1])];
      const [cx, half] = [(from + to) / 2, Math.max(2, Math.min((to - from) * 0.32, 40))];
      parts.push(svg("rect", { class: s[6] <= data.alpha ? "bar" : "bar low", x: cx - half, width: 2 * half, y: y(s[2]), height: box.bottom - y(s[2]) }, stepTitle(s)),
        svg("line", { class: "whisker", x1: cx, x2: cx, y1: y(s[3]), y2: y(s[4]) }));
    }
    return svgElement(width, height, ...parts);
  };
}

function yearChart(profile) {
  return (width) => {
    const height = 150;
    const box = { left: 10, right: width - 10, top: 10, bottom: height - 24 };
    const most = Math.max(...profile.map((v) => Math.abs(v ?? 0)), 1e-12);
    const middle = (box.top + box.bottom) / 2;
    const month = (box.right - box.left) / 12;
    const x = (i) => box.left + (i + 0.5) * month;
    const bars = profile.flatMap((value, i) => {
      if (value === null) return [];
      const size = (Math.abs(value) / most) * (box.bottom - box.top) / 2;
      return [svg("rect", { class: "bar", x: x(i) - month * 0.35, width: month * 0.7, y: value > 0 ? middle - size : middle, height: size },
        svg("title", {}, `${MONTHS[i]}: ${digits(value)}`))];
    });
    return svgElement(width, height, svg("g", { class: "axis" }, svg("line", { x1: box.left, x2: box.right, y1: middle, y2: middle }),
      ...MONTHS.map((name, i) => text(x(i), height - 6, name, { "text-anchor": "middle" }))), ...bars);
  };
}

// The numbers of the charts as a table.
function numbers(word) {
  const heads = ["from", "to", "change", "95 % interval", "p", "q"].map((name, i) => el("th", { scope: "col", class: i > 1 ? "number" : "" }, name));
  const row = ([from, to, score, low, high, p, q]) => el("tr", {},
    el("th", { scope: "row" }, bdi(data.periods[from])), el("th", { scope: "row" }, bdi(data.periods[to])),
    ...[digits(score), `${digits(low)} to ${digits(high)}`, chance(p), chance(q)].map((value) => cell("number", value)));
  const group = (title, steps) => el("tbody", {}, el("tr", {}, el("th", { scope: "rowgroup", colspan: 6 }, title)), ...steps.map(row));
  return el("details", { class: "numbers" }, el("summary", {}, "Numbers of the charts"),
    el("div", { class: "wide-table" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)),
      group("Change since the first period", word.first), group("Change from each period to the next", word.neighbours))));
}

// The sentences of each period, and a function that shows only those of a sense, or with null all of them.
function sentencesOf(word) {
  const begins = new Set(word.changes ?? []);
  const last = data.periods.length - 1;
  const several = hasSeveral(word);
  const filtered = el("p", { class: "hint filtered" });
  const blocks = data.periods.map((label, i) => {
    const n = word.n[i];
    const rows = word.sentences[i].map((s) => el("li", { dir: "auto", title: s[3] }, several ? badge(s[4]) : null, s[0], el("mark", {}, s[1]), s[2]));
    const note = [` ${plural(n, "usage")}`, word.found[i] > n ? `, a sample of ${count(word.found[i])}` : "",
      n && n < data.least ? ", too few to compare" : "", begins.has(i) ? ", change point: a new use begins" : ""].join("");
    const block = el("details", { class: begins.has(i) ? "begins" : "" }, el("summary", {}, bdi(label), el("small", {}, note)),
      rows.length ? el("ol", {}, ...rows) : null);
    block.open = n > 0 && (i === 0 || i === last || begins.has(i) || begins.has(i + 1));
    return { block, rows };
  });
  const show = (number, period) => {
    filtered.hidden = number === null;
    filtered.replaceChildren(...(number === null ? [] : senseFilter(number, () => show(null, period))));
    blocks.forEach(({ block, rows }, i) => {
      // The first sentences are the most typical ones; the others are there to be shown by sense.
      rows.forEach((row, j) => { row.hidden = number === null ? j >= data.first : word.sentences[i][j][4] !== number; });
      if (number !== null) block.open = rows.some((row) => !row.hidden) && (period === null || i === period);
    });
    if (period === null && number === null) return;
    const target = blocks[period ?? blocks.findIndex(({ block }) => block.open)].block;
    target.querySelector("summary").focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest" });
  };
  show(null, null);
  return { block: el("div", { class: "periods" }, filtered, ...blocks.map(({ block }) => block)), show };
}

function meanings(word, show) {
  const drawn = hasSeveral(word) ? section("Shares of the senses", `Shares of the senses of ${word.word}`, shareStream(word.senses, show)) : [];
  return [...drawn, ...senseParts(word, show)];
}

function changes(word) {
  if (word.changes === undefined) return [el("p", {}, `Too few usages: ${data.least} are needed in at least two periods.`)];
  const when = word.changes.length ? [" A new use begins in ", bdi(word.changes.map((i) => data.periods[i]).join(", ")), "."]
    : [word.shape === "gradual" ? " The change is a gradual drift, so there is no change point." : " There is no change point."];
  return [
    el("p", { class: `saying ${word.verdict}` }, el("span", { class: "verdict" }, word.verdict), " ", bdi(word.reason),
      `. Test over all periods: p = ${chance(word.p)}, q = ${chance(word.q)}.`, ...when),
    ...section("Change since the first period", `Change of ${word.word} since the first period`, fromFirst(word)),
    ...section("Change from each period to the next", `Change of ${word.word} from each period to the next`, betweenNeighbours(word)),
    numbers(word),
  ];
}

function season(word) {
  if (!word.season) return [];
  const { seasonal, p, q, strength, profile } = word.season;
  const [title, area] = section("Seasons", `Season of ${word.word}`, yearChart(profile));
  const hint = `${seasonal ? "The word is seasonal" : "The word is not seasonal"}: p = ${chance(p)}, q = ${chance(q)}; the similarity of the same months of different years is ${digits(strength)}.`;
  return [title, el("p", { class: "hint" }, hint), ...(seasonal ? [area] : [])];
}

function cells(word) {
  const few = `${data.least} are needed in two periods`;
  if (word.changes === undefined) {
    const span = hasSeasons ? 3 : 2;
    if (phone.matches) return [cell("number", NONE), verdictCell(word, few, span + 1)];
    return [cell("number", NONE), cell("number", NONE), verdictCell(word, few, span)];
  }
  const when = word.shape === "gradual" ? "gradual drift" : word.changes.map((i) => data.periods[i]).join(", ");
  const found = word.season ? [word.season.seasonal ? "seasonal" : "none", " ", el("small", {}, `q ${chance(word.season.q)}`)] : [];
  return [
    cell("number", digits(word.score)),
    cell("number", chance(word.q)),
    verdictCell(word),
    el("td", { title: when }, el("div", { class: "said" }, bdi(when))),
    hasSeasons ? cell("", ...found) : null,
  ];
}

startPage({
  cells,
  values: {
    score: (w) => w.score, q: (w) => w.q, verdict: (w) => VERDICTS.indexOf(w.verdict) + (w.q ?? 0) / 2,
    changes: (w) => w.changes?.[0], season: (w) => w.season?.q,
  },
  descendingFirst: ["score"],
  file: "scores.csv",
  show: (word) => {
    const { block, show } = sentencesOf(word);
    return [el("h2", {}, bdi(word.word)), ...changes(word), ...meanings(word, show), ...season(word),
      el("h3", {}, "Sentences most typical of each period"), block];
  },
});
