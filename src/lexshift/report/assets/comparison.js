// The page of a comparison: the overview of all words, the search for the swap rate, and the rows of the table.
const scored = data.words.filter((word) => word.score !== undefined);
const LINKED = 200; // number of dots that are links, those with the highest scores; they have a label where there is room
const hasSimilar = table.querySelector("[data-key=above]") !== null;
const hasExpected = scored.some((word) => word.expected !== undefined);
const widest = highest(scored.map((word) => word.high));

let dotOf = null; // returns the dot of a word for the current size of the chart
function markDot(word) {
  if (!dotOf) return;
  const picture = document.querySelector("#overview svg");
  let found = false;
  for (const anchor of picture.querySelectorAll("a")) {
    const here = anchor.dataset.word === word.word;
    if (anchor.classList.contains("guest") && !here) anchor.remove();
    anchor.classList.toggle("chosen", here);
    found ||= here;
  }
  if (!found && word.score !== undefined) picture.append(dotOf(word, "guest chosen"));
}

const describe = (word) => [el("b", {}, bdi(word.word)), `: ${word.verdict}, change ${digits(word.score)} ` +
  `(${digits(word.low)} to ${digits(word.high)})${word.expected === undefined ? "" : `, similar words ${digits(word.expected)}`}, q = ${chance(word.q)}`];

// Change against p, with the threshold of the false discovery rate.
function significanceScales(box, width) {
  const rise = (p) => -Math.log10(p);
  const top = Math.max(rise(data.floor), highest(scored.map((w) => rise(w.p))));
  const most = highest(scored.map((w) => w.score)) * 1.06;
  const x = linear(0, most, box.left, box.right);
  const y = linear(0, top * 1.06, box.bottom, box.top);
  const levels = ticks(0, top, 5).filter(Number.isInteger);
  const parts = [
    axisY(y, levels, box.left, "p", box, (v) => (v === 0 ? "1" : String(Number((10 ** -v).toPrecision(1))))),
    axisX(x, ticks(0, most, width < 500 ? 4 : 8), box.bottom, "change score", box),
  ];
  // Benjamini and Hochberg: with k of m words changed, those whose p is at most alpha k / m.
  const changed = scored.filter((w) => w.verdict === "changed").length;
  if (changed) {
    const level = y(rise((data.alpha * changed) / scored.length));
    parts.push(svg("line", { class: "guide", x1: box.left, x2: box.right, y1: level, y2: level }),
      text(box.right, level - 6, `changed, q ≤ ${data.alpha}`, { class: "note", "text-anchor": "end" }));
  }
  return { parts, at: (word) => [x(word.score), y(rise(word.p))] };
}

// Change against the change that is expected of a word of this frequency and spread.
function expectedScales(box, width) {
  const known = scored.filter((word) => word.expected !== undefined).map((word) => word.expected);
  const [low, right] = [Math.min(...known), highest(known)];
  const left = Math.max(0, low - (right - low) * 0.05);
  const end = right + (right - low || right || 1) * 0.05;
  const most = Math.max(highest(scored.map((w) => w.score)), right) * 1.06;
  const x = linear(left, end, box.left, box.right);
  const y = linear(0, most, box.bottom, box.top);
  return {
    parts: [
      axisY(y, ticks(0, most, 5), box.left, "change score", box),
      axisX(x, ticks(left, end, width < 500 ? 4 : 8), box.bottom, "median score of similar words", box),
      svg("line", { class: "guide", x1: x(left), x2: x(end), y1: y(left), y2: y(end) }),
    ],
    at: (word) => [x(word.expected ?? left), y(word.score)],
  };
}

function overview(width) {
  const height = Math.max(280, Math.min(360, width * 0.5));
  const box = { left: 44, right: width - 14, top: 30, bottom: height - 44 };
  const { parts, at } = (hasExpected ? expectedScales : significanceScales)(box, width);
  const order = [...scored].sort((a, b) => b.score - a.score);
  const [linked, others] = [order.slice(0, LINKED), order.slice(LINKED)];
  const place = placer(box, scored.map(at));
  dotOf = (word, kind = "") => {
    const [cx, cy] = at(word);
    const free = place(cx, cy, word.word);
    const label = free ?? { x: cx, y: cy - 9, "text-anchor": "middle" }; // shown only while the word is chosen or pointed at
    const anchor = svg("a", { class: kind, href: link(word.word), "data-word": word.word, "aria-label": `${word.word}, ${word.verdict}, change ${digits(word.score)}` },
      svg("circle", { class: `dot ${word.verdict}`, cx, cy, r: others.length ? 4.5 : 5.5 }),
      text(label.x, label.y, word.word, { class: free ? "label" : "label crowded", "text-anchor": label["text-anchor"] }));
    anchor.addEventListener("pointermove", (event) => showTip(anchor, event.pageX, event.pageY, ...describe(word)));
    anchor.addEventListener("pointerleave", hideTip);
    anchor.addEventListener("focus", () => {
      const spot = anchor.querySelector("circle").getBoundingClientRect();
      showTip(anchor, spot.right + scrollX, spot.bottom + scrollY, ...describe(word));
    });
    anchor.addEventListener("blur", hideTip);
    return anchor;
  };
  // The other dots of a verdict are drawn as one shape, because thousands of elements would make the page slow.
  for (const verdict of ["stable", "changed"]) {
    const dots = others.filter((word) => word.verdict === verdict).map((word) => MARKS[1](...at(word).map((v) => Number(v.toFixed(1))), 3));
    if (dots.length) parts.push(svg("path", { class: `dot many ${verdict}`, d: dots.join("") }));
  }
  const anchors = linked.map((word) => dotOf(word, word === chosenWord ? "chosen" : ""));
  if (others.includes(chosenWord)) anchors.push(dotOf(chosenWord, "guest chosen"));
  const picture = svgElement(width, height, ...parts, ...anchors);
  oneTabStop(picture, anchors);
  if (others.length) findAmong(picture, others.map((word) => [...at(word), word]), width);
  return picture;
}

// Hovering and clicking find the nearest of the dots that are not links.
function findAmong(picture, dots, width) {
  let pointed = null; // a click chooses the word that the tooltip names
  const look = (event) => {
    const onLink = event.target.closest("a") !== null;
    pointed = onLink ? null : nearest(picture, width, event, dots, 8);
    picture.classList.toggle("found", pointed !== null);
    if (pointed) showTip(picture, event.pageX, event.pageY, ...describe(pointed));
    else if (!onLink) hideTip();
  };
  picture.addEventListener("pointermove", look);
  picture.addEventListener("pointerdown", look);
  picture.addEventListener("pointerleave", hideTip);
  picture.addEventListener("click", () => { if (pointed) location.hash = link(pointed.word); });
}

function rateCurve(width) {
  const { rates, mean, std, original, chosen, least } = data.curve;
  const height = Math.max(240, Math.min(320, width * 0.6));
  const box = { left: 52, right: width - 14, top: 30, bottom: height - 44 };
  const most = Math.max(original, ...mean.map((m, i) => m + std[i]));
  const x = linear(0, 1, box.left, box.right);
  const lowest = Math.min(0, ...mean); // some metrics can be negative
  const y = linear(lowest, most * 1.06, box.bottom, box.top);
  const points = (values) => values.map((value, i) => [x(rates[i]), y(value)]);
  const upper = points(mean.map((m, i) => m + std[i]));
  const lower = points(mean.map((m, i) => m - std[i])).reverse();
  const nearestRate = rates.reduce((best, r, i) => (Math.abs(r - chosen) < Math.abs(rates[best] - chosen) ? i : best), 0);
  const used = y(mean[nearestRate]);
  return svgElement(width, height,
    axisY(y, ticks(lowest, most, 5), box.left, "mean e_swap", box),
    axisX(x, [0, 0.2, 0.4, 0.6, 0.8, 1], box.bottom, "swap rate", box),
    svg("line", { class: "guide", x1: box.left, x2: box.right, y1: y(original), y2: y(original) }),
    text(box.left + 6, y(original) - 6, "before swapping (e_original)", { class: "note" }),
    svg("path", { class: "band", d: `${joined([...upper, ...lower])}Z` }),
    svg("path", { class: "line", d: joined(points(mean)) }),
    svg("line", { class: "original", x1: x(chosen), x2: x(chosen), y1: box.bottom, y2: used }),
    svg("circle", { class: "dot changed", cx: x(chosen), cy: used, r: 5.5 }),
    text(x(chosen) + 9, used + 18, `rate used: ${chosen}`, { class: "label" }),
    least === chosen ? null : text(x(least), box.bottom - 8, `smallest at ${least}`, { class: "note", "text-anchor": "middle" }));
}

function interval(word) {
  const x = linear(0, widest, 0, 100);
  const place = (value) => `${x(value).toFixed(1)}%`;
  const middle = 8;
  return el("span", { class: "forest" }, svg("svg", { class: word.verdict, "aria-hidden": "true" },
    svg("line", { class: "whisker", x1: place(word.low), x2: place(word.high), y1: middle, y2: middle }),
    svg("circle", { class: `dot ${word.verdict}`, cx: place(word.score), cy: middle, r: 4.5 })));
}

function cells(word) {
  const counts = word.n.map((n) => cell("number count", String(n)));
  if (word.score === undefined) {
    const few = `${data.least} are needed in each corpus`; // other columns show the counts
    if (phone.matches) return [verdictCell(word, few, 3)];
    return [cell("number change", NONE), ...counts, verdictCell(word, few, hasSimilar ? 4 : 3)];
  }
  const among = hasSimilar ? cell("number similar", word.above === undefined ? NONE : percent(word.above)) : null;
  if (word.excess !== undefined) among.title = `${fixed(word.excess, 2)} scaled median absolute deviations above their median`;
  return [
    cell("number change", interval(word), el("span", { title: `95 % interval: ${digits(word.low)} to ${digits(word.high)}` }, digits(word.score))),
    ...counts,
    cell("number p", chance(word.p)),
    cell("number", chance(word.q)),
    among,
    verdictCell(word),
  ];
}

if (scored.length) {
  chart(document.querySelector("#overview .chart"), document.querySelector("#overview h2").textContent, overview);
  chart(document.querySelector("#curve .chart"), "Mean e_swap by swap rate", rateCurve);
} else {
  document.querySelector(".overview").hidden = true;
  document.getElementById("curve").hidden = true;
}
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.innerText);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "The text is selected: press Ctrl-C to copy it";
    }
  });
}
startPage({
  cells,
  values: {
    score: (w) => w.score, n_old: (w) => w.n[0], n_new: (w) => w.n[1], p: (w) => w.p, q: (w) => w.q, above: (w) => w.above,
    verdict: (w) => VERDICT_ORDER[w.verdict],
  },
  descendingFirst: ["score", "n_old", "n_new", "above"],
  file: "scores.csv",
  show: (word) => {
    markDot(word);
    return wordView(word);
  },
});
