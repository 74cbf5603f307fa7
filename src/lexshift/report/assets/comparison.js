// The page of a comparison: the overview of all words, the search for the swap rate, and the rows of the table.
const scored = data.words.filter((word) => word.score !== undefined);
const LINKED = 200; // number of dots that are links: changed words, then those at the top
const LABELLED = 30; // up to so many words, all have a label where there is room, otherwise those that changed
const RADII = { changed: 5.5, differs: 4.5, unclear: 4.5, stable: 4 };
const hasExcess = table.querySelector("[data-key=excess]") !== null;
const heightOf = hasExcess ? (word) => word.excess ?? 0 : (word) => word.gap;
const [lowestLimit, highestLimit] = [-highest(scored.map((word) => -word.low)), highest(scored.map((word) => word.high))];

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

const describe = (word) => [el("b", {}, bdi(word.word)), `: ${word.verdict}, change ${digits(word.score)} (${digits(word.low)} to ${digits(word.high)}), ` +
  `gap ${gapText(word.gap)} (${gapRange(word)})${word.excess === undefined ? "" : `, excess ${decimal(word.excess)}`}, q = ${chance(word.q)}`];

// The excess above which the local false discovery rate is low enough, or null if no word is. Its logarithm is nearly linear in
// the square of the excess, so the limit is interpolated between the words next to it; an excess of 0 has a rate of 1.
function excessLimit() {
  const above = scored.filter((w) => w.local_fdr <= data.max_local_fdr).reduce((a, b) => (a && a.excess < b.excess ? a : b), null);
  if (!above) return null;
  const below = scored.filter((w) => w.local_fdr > data.max_local_fdr && w.excess > 0)
    .reduce((a, b) => (a.excess > b.excess ? a : b), { excess: 0, local_fdr: 1 });
  const [low, limit, high] = [below.local_fdr, data.max_local_fdr, above.local_fdr].map((rate) => Math.log(Math.max(rate, 1e-300)));
  const share = low === high ? 1 : (limit - low) / (high - low);
  return Math.sqrt(below.excess ** 2 + share * (above.excess ** 2 - below.excess ** 2));
}

// Change score against the excess over ordinary words, or without control words against the gap.
function scales(box, width) {
  const [scores, heights] = [scored.map((w) => w.score), scored.map(heightOf)];
  const [left, right] = [-highest(scores.map((v) => -v)), highest(scores)];
  const margin = (right - left || right || 1) * 0.06;
  const x = linear(Math.max(left - margin, 0), right + margin, box.left, box.right);
  const { floor, is_calibrated: isCalibrated } = data.background;
  const limit = hasExcess ? excessLimit() : floor;
  const [low, high] = [Math.min(0, -highest(heights.map((v) => -v))), Math.max(highest(heights), limit ?? 0)];
  const room = (high - low || 1) * 0.06;
  const [bottom, top] = [low - room, high + room];
  const y = linear(bottom, top, box.bottom, box.top);
  const show = (v) => (!hasExcess && isCalibrated ? String(Number((100 * v).toPrecision(6))) : String(v));
  const name = hasExcess ? "excess: standard deviations above ordinary words" : `gap${isCalibrated ? " (percentage points)" : ""}`;
  const parts = [
    axisY(y, ticks(bottom, top, 5), box.left, name, box, show),
    axisX(x, ticks(Math.max(left - margin, 0), right + margin, width < 500 ? 4 : 8), box.bottom, "change score", box),
  ];
  const guide = (at, words) => [svg("line", { class: "guide", x1: box.left, x2: box.right, y1: y(at), y2: y(at) }),
    text(at === limit ? box.left + 6 : box.right, y(at) - 5, words, { class: "note", "text-anchor": at === limit ? "start" : "end" })];
  if (limit !== null) {
    parts.unshift(svg("rect", { class: "region", x: box.left, y: box.top, width: box.right - box.left, height: Math.max(y(limit) - box.top, 0) }));
    parts.push(...guide(limit, hasExcess ? `stands out: local fdr ≤ ${data.max_local_fdr}` : `noise floor: ${gapText(floor)}`));
  }
  if (hasExcess) parts.push(...guide(0, "ordinary words"));
  return { parts, at: (word) => [x(word.score), y(heightOf(word))] };
}

function overview(width) {
  const tall = Math.max(280, Math.min(400, width * 0.5));
  const box = { left: 44, right: width - 14, top: 30, bottom: tall - 44 };
  const { parts, at } = scales(box, width);
  const order = [...scored].sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict) || heightOf(b) - heightOf(a));
  const [linked, others] = [order.slice(0, LINKED), order.slice(LINKED)];
  const place = placer(box, scored.map(at));
  dotOf = (word, kind = "") => {
    const [cx, cy] = at(word);
    const free = word.verdict === "changed" || scored.length <= LABELLED ? place(cx, cy, word.word) : null;
    const label = free ?? { x: cx, y: cy - 9, "text-anchor": "middle" }; // shown only while the word is chosen or pointed at
    const anchor = svg("a", { class: kind, href: link(word.word), "data-word": word.word, "aria-label": `${word.word}, ${word.verdict}, change ${digits(word.score)}` },
      svg("circle", { class: `dot ${word.verdict}`, cx, cy, r: RADII[word.verdict] }),
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
  for (const verdict of ["stable", "unclear", "differs", "changed"]) {
    const dots = others.filter((word) => word.verdict === verdict).map((word) => MARKS[1](...at(word).map((v) => Number(v.toFixed(1))), 3));
    if (dots.length) parts.push(svg("path", { class: `dot many ${verdict}`, d: dots.join("") }));
  }
  const anchors = linked.map((word) => dotOf(word, word === chosenWord ? "chosen" : ""));
  if (others.includes(chosenWord)) anchors.push(dotOf(chosenWord, "guest chosen"));
  const picture = svgElement(width, tall, ...parts, ...anchors);
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
  const x = linear(lowestLimit, highestLimit, 0, 100);
  const place = (value) => `${x(value).toFixed(1)}%`;
  const middle = 8;
  return el("span", { class: "forest" }, svg("svg", { class: word.verdict, "aria-hidden": "true" },
    svg("line", { class: "whisker", x1: place(word.low), x2: place(word.high), y1: middle, y2: middle }),
    svg("circle", { class: `dot ${word.verdict}`, cx: place(word.score), cy: middle, r: 3.5 })));
}

function cells(word) {
  const counts = word.n.map((n) => cell("number count", String(n)));
  if (word.score === undefined) {
    const reason = word.verdict === "too few" ? `${data.least} are needed in each corpus` : "frequent in one corpus only"; // other columns show the counts
    if (phone.matches) return [verdictCell(word, reason, 3)];
    return [cell("number change", NONE), ...counts, verdictCell(word, reason, hasExcess ? 4 : 3)];
  }
  return [
    cell("number change", interval(word), el("span", { title: `95 % interval: ${digits(word.low)} to ${digits(word.high)}` }, digits(word.score))),
    ...counts,
    el("td", { class: "number gap", title: `95 % interval: ${gapRange(word)}` }, gapText(word.gap)),
    hasExcess ? el("td", { class: "number excess", title: `local fdr ${rateText(word.local_fdr)}` }, decimal(word.excess)) : null,
    cell("number q", chance(word.q)),
    verdictCell(word),
  ];
}

// The verdicts in the chart, with their numbers of words.
function verdictLegend() {
  const items = Object.keys(RADII).map((verdict) => [verdict, scored.filter((word) => word.verdict === verdict).length]).filter(([, n]) => n);
  return el("ul", { class: "legend" }, ...items.map(([verdict, n]) => el("li", { class: `key ${verdict}` }, `${verdict} (${count(n)})`)));
}

if (scored.length) {
  document.querySelector("#overview figcaption").append(verdictLegend());
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
    score: (w) => w.score, n_old: (w) => w.n[0], n_new: (w) => w.n[1], gap: (w) => w.gap, excess: (w) => w.excess, q: (w) => w.q,
    verdict: (w) => VERDICTS.indexOf(w.verdict),
  },
  descendingFirst: ["score", "n_old", "n_new", "gap", "excess"],
  file: "scores.csv",
  show: (word) => {
    markDot(word);
    return wordView(word);
  },
});
