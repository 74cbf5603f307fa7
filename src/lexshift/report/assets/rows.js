// A row of the table, as the template writes it for those without a script.
const table = document.getElementById("ranking");
const similar = table.querySelector("[data-key=above]") !== null;
const indexOf = new Map(data.words.map((word, i) => [word, i]));
const NONE = "–";
const widest = highest(scored.map((word) => word.high));

function cell(kind, ...children) {
  return el("td", { class: kind }, ...children);
}

function interval(word) {
  const x = linear(0, widest, 0, 100);
  const place = (value) => `${x(value).toFixed(1)}%`;
  const middle = 8;
  return el("span", { class: "forest" }, svg("svg", { class: word.verdict, "aria-hidden": "true" },
    svg("line", { class: "whisker", x1: place(word.low), x2: place(word.high), y1: middle, y2: middle }),
    svg("circle", { class: `dot ${word.verdict}`, cx: place(word.score), cy: middle, r: 4.5 })));
}

function amongSimilar(word) {
  const made = cell("number similar", word.above === undefined ? NONE : percent(word.above));
  if (word.excess !== undefined) made.title = `${fixed(word.excess, 2)} scaled median absolute deviations above their median`;
  return made;
}

function rowOf(word) {
  const few = word.score === undefined;
  const said = el("div", { class: "said" }, el("span", { class: "verdict" }, word.verdict));
  if (word.reason) {
    said.append(" ", el("small", { class: "reason" }, word.reason));
    said.title = word.reason;
  }
  return el("tr", { "data-index": indexOf.get(word), class: word.verdict.replace(" ", "-") },
    el("th", { scope: "row" }, el("a", { href: link(word.word) }, bdi(word.word))),
    few ? cell("number change", NONE)
      : cell("number change", interval(word), el("span", { title: `95 % interval: ${digits(word.low)} to ${digits(word.high)}` }, digits(word.score))),
    cell("number count", String(word.n[0])),
    cell("number count", String(word.n[1])),
    cell("number p", few ? NONE : chance(word.p)),
    cell("number", few ? NONE : chance(word.q)),
    similar ? amongSimilar(word) : null,
    cell("", said));
}
