// The whole run: change against significance, and the curve over the swap rate.
const scored = data.words.filter((word) => word.score !== undefined);
const link = (word) => `#word=${encodeURIComponent(word)}`;

let chosenWord = null;
function markChosen(word) {
  chosenWord = word;
  for (const anchor of document.querySelectorAll("#volcano a")) anchor.classList.toggle("chosen", anchor.dataset.word === word);
}

function volcano(width) {
  const height = Math.max(280, Math.min(360, width * 0.5));
  const box = { left: 44, right: width - 14, top: 30, bottom: height - 44 };
  const rise = (p) => -Math.log10(p);
  const top = Math.max(rise(data.floor), ...scored.map((w) => rise(w.p)));
  const most = Math.max(...scored.map((w) => w.score)) * 1.06;
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
  const place = placer(box, scored.map((w) => [x(w.score), y(rise(w.p))]));
  const order = [...scored].sort((a, b) => b.score - a.score);
  for (const word of order) {
    const [cx, cy] = [x(word.score), y(rise(word.p))];
    const at = place(cx, cy, word.word);
    const anchor = svg("a", { class: word.word === chosenWord ? "chosen" : "", href: link(word.word), "data-word": word.word, "aria-label": `${word.word}, ${word.verdict}, change ${digits(word.score)}` },
      svg("circle", { class: `dot ${word.verdict}`, cx, cy, r: 5.5 }),
      at && text(at.x, at.y, word.word, { class: "label", "text-anchor": at["text-anchor"] }));
    const tell = (event) => showTip(event.pageX, event.pageY, el("b", {}, bdi(word.word)), `: ${word.verdict}, change ${digits(word.score)} ` +
      `(${digits(word.low)} to ${digits(word.high)}), q = ${chance(word.q)}`);
    anchor.addEventListener("pointermove", tell);
    anchor.addEventListener("pointerleave", hideTip);
    parts.push(anchor);
  }
  return picture(width, height, ...parts);
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
