// The whole run: change against significance, and the curve over the swap rate.
const scored = data.words.filter((word) => word.score !== undefined);
const link = (word) => `#word=${encodeURIComponent(word)}`;

const LINKED = 200; // dots that are links, with a label where there is room; of more words those with the highest scores
const highest = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);

let chosenWord = null;
let dotOf = null; // makes the dot of a word in the chart as it is drawn now
function markChosen(word) {
  chosenWord = word;
  if (!dotOf) return;
  const drawn = document.querySelector("#volcano svg");
  let found = false;
  for (const anchor of drawn.querySelectorAll("a")) {
    const here = anchor.dataset.word === word.word;
    if (anchor.classList.contains("guest") && !here) anchor.remove();
    anchor.classList.toggle("chosen", here);
    found ||= here;
  }
  if (!found && word.score !== undefined) drawn.append(dotOf(word, "guest chosen"));
}

const tellWord = (event, word) => showTip(event.pageX, event.pageY, el("b", {}, bdi(word.word)), `: ${word.verdict}, change ${digits(word.score)} ` +
  `(${digits(word.low)} to ${digits(word.high)}), q = ${chance(word.q)}`);

function volcano(width) {
  const height = Math.max(280, Math.min(360, width * 0.5));
  const box = { left: 44, right: width - 14, top: 30, bottom: height - 44 };
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
    const line = y(rise((data.alpha * changed) / scored.length));
    parts.push(svg("line", { class: "guide", x1: box.left, x2: box.right, y1: line, y2: line }),
      text(box.right, line - 6, `changed, q ≤ ${data.alpha}`, { class: "note", "text-anchor": "end" }));
  }
  const at = (word) => [x(word.score), y(rise(word.p))];
  const order = [...scored].sort((a, b) => b.score - a.score);
  const [linked, others] = [order.slice(0, LINKED), order.slice(LINKED)];
  const place = placer(box, scored.map(at));
  dotOf = (word, kind = "") => {
    const [cx, cy] = at(word);
    const label = place(cx, cy, word.word);
    const anchor = svg("a", { class: kind, href: link(word.word), "data-word": word.word, "aria-label": `${word.word}, ${word.verdict}, change ${digits(word.score)}` },
      svg("circle", { class: `dot ${word.verdict}`, cx, cy, r: others.length ? 4.5 : 5.5 }),
      label && text(label.x, label.y, word.word, { class: "label", "text-anchor": label["text-anchor"] }));
    anchor.addEventListener("pointermove", (event) => tellWord(event, word));
    anchor.addEventListener("pointerleave", hideTip);
    return anchor;
  };
  // The dots of all others of a verdict are one shape: thousands of elements would make the page slow.
  for (const verdict of ["stable", "changed"]) {
    const dots = others.filter((word) => word.verdict === verdict).map((word) => MARKS[1](...at(word).map((v) => v.toFixed(1)).map(Number), 3));
    if (dots.length) parts.push(svg("path", { class: `dot many ${verdict}`, d: dots.join("") }));
  }
  parts.push(...linked.map((word) => dotOf(word, word === chosenWord ? "chosen" : "")));
  if (others.includes(chosenWord)) parts.push(dotOf(chosenWord, "guest chosen"));
  const drawn = picture(width, height, ...parts);
  if (others.length) findAmong(drawn, others.map((word) => [...at(word), word]), width);
  return drawn;
}

// Hovering and clicking find the nearest of the dots that are not links.
function findAmong(drawn, dots, width) {
  const near = (event) => {
    const frame = drawn.getBoundingClientRect();
    const scale = width / frame.width;
    const [mx, my] = [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
    return dots.reduce((best, [px, py, word]) => {
      const d = Math.hypot(px - mx, py - my);
      return d < best.d ? { d, word } : best;
    }, { d: 8, word: null }).word;
  };
  let pointed = null; // the word that was told of is the one that a click means
  const look = (event) => {
    pointed = event.target.closest("a") ? null : near(event);
    drawn.classList.toggle("found", Boolean(pointed));
    if (pointed) tellWord(event, pointed);
    else if (!event.target.closest("a")) hideTip();
  };
  drawn.addEventListener("pointermove", look);
  drawn.addEventListener("pointerdown", look);
  drawn.addEventListener("pointerleave", hideTip);
  drawn.addEventListener("click", () => { if (pointed) location.hash = link(pointed.word); });
}

function rateCurve(width) {
  const { rates, mean, std, original, chosen, least } = data.curve;
  const height = Math.max(280, Math.min(360, width * 0.7));
  const box = { left: 52, right: width - 14, top: 30, bottom: height - 44 };
  const most = Math.max(original, ...mean.map((m, i) => m + std[i]));
  const x = linear(0, 1, box.left, box.right);
  const y = linear(0, most * 1.06, box.bottom, box.top);
  const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)},${y(b).toFixed(1)}`).join("");
  const upper = rates.map((r, i) => [r, mean[i] + std[i]]);
  const lower = rates.map((r, i) => [r, mean[i] - std[i]]).reverse();
  const nearest = rates.reduce((best, r, i) => (Math.abs(r - chosen) < Math.abs(rates[best] - chosen) ? i : best), 0);
  const parts = [
    axisY(y, ticks(0, most, 5), box.left, "mean e_swap", box),
    axisX(x, [0, 0.2, 0.4, 0.6, 0.8, 1], box.bottom, "swap rate", box),
    svg("line", { class: "guide", x1: box.left, x2: box.right, y1: y(original), y2: y(original) }),
    text(box.left + 6, y(original) - 6, "before swapping (e_original)", { class: "note" }),
    svg("path", { class: "band", d: `${path([...upper, ...lower])}Z` }),
    svg("path", { class: "line", d: path(rates.map((r, i) => [r, mean[i]])) }),
    svg("line", { class: "original", x1: x(chosen), x2: x(chosen), y1: box.bottom, y2: y(mean[nearest]) }),
    svg("circle", { class: "dot changed", cx: x(chosen), cy: y(mean[nearest]), r: 5.5 }),
    text(x(chosen), y(mean[nearest]) - 12, `used: ${chosen}`, { class: "label", "text-anchor": "middle" }),
  ];
  if (least !== chosen) parts.push(text(x(least), box.bottom - 8, `least at ${least}`, { class: "note", "text-anchor": "middle" }));
  return picture(width, height, ...parts);
}
