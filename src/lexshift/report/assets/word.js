// The view of one word of a comparison: its two clouds of usages, its sentences, and e_swap against e_original.
const FIRST_SENTENCES = 6; // shown before the button is pressed
const OPEN_GROUPS = 4;
const SIDES = ["old", "new"];
const corpusName = (side) => el("bdi", { class: SIDES[side] }, data.labels[side]);
const inSentence = (side) => el("bdi", { class: SIDES[side] }, data.names[side]);
const opened = new Map();

// A usage is [text before, word, text after, leaning, x, y, file and line, sense].
const sentence = (usage) => [usage[0], el("mark", {}, usage[1]), usage[2]];

// The usages are packed in groups of words, by gzip and base64; a group is opened when one of its words is chosen.
async function open(group) {
  const bytes = Uint8Array.from(atob(document.getElementById(`group-${group}`).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Returns [details, null], or [null, the reason why there are none].
async function detailsOf(word) {
  if (typeof DecompressionStream === "undefined") {
    return [null, "This browser cannot open the packed sentences of this page, because it lacks DecompressionStream. Use a newer browser."];
  }
  const index = indexOf.get(word);
  const group = data.groups.findLastIndex((start) => start <= index);
  const found = opened.get(group) ?? open(group);
  opened.delete(group);
  opened.set(group, found); // the group used last is the last one to be closed
  if (opened.size > OPEN_GROUPS) opened.delete(opened.keys().next().value);
  try {
    return [(await found)[index - data.groups[group]], null];
  } catch {
    return [null, "The sentences of this word cannot be read, because the page is damaged."];
  }
}

// A gap as text, as in Python: in percentage points, or without a calibration as a plain number.
function gapNumber(gap) {
  if (!data.background.is_calibrated) return Math.abs(gap) < 1e-4 && gap ? exponent(gap, 3) : String(Number(gap.toPrecision(3)));
  return Math.abs(gap) >= 0.095 ? fixed(100 * gap, 0) : decimal(100 * gap);
}
const gapText = (gap) => gapNumber(gap) + (data.background.is_calibrated ? " points" : "");
const gapRange = (word) => `${gapNumber(word.gap_low)} to ${gapNumber(word.gap_high)}`;

const rateText = (rate) => (rate < 0.001 ? "less than 0.001" : String(Number(rate.toPrecision(2))));

// The gap of a word in a sentence.
function gapSentence(word) {
  const pair = ["a usage from ", inSentence(0), " and one from ", inSentence(1)];
  const size = el("b", {}, data.background.is_calibrated ? `${gapNumber(word.gap)} percentage points` : gapNumber(word.gap));
  if (!data.background.is_calibrated) {
    return ["On average, the cosine between ", ...pair, " is ", size, ` (95 % interval ${gapRange(word)}) lower than between two usages of one corpus.`];
  }
  return ["A", pair[0].slice(1), ...pair.slice(1), " are ", size, ` (95 % interval ${gapRange(word)}) less likely to share a sense than two usages of one corpus.`];
}

function summary(word) {
  const counts = [0, 1].flatMap((side) => [side ? " and " : "", plural(word.n[side], "usage"), " in ", inSentence(side),
    word.found[side] > word.n[side] ? ` (a sample of ${count(word.found[side])})` : ""]);
  const rates = word.rate.map((rate) => Number(rate.toPrecision(3)).toLocaleString("en")).join(" and ");
  const frequency = el("p", { class: "saying" }, ...counts, `; ${rates} per million words.`);
  const verdict = el("p", { class: `saying ${word.verdict.replace(" ", "-")}` }, el("span", { class: "verdict" }, word.verdict), " ", bdi(word.reason), ".");
  if (word.score === undefined) return [verdict, frequency];
  const relation = word.approximate ? "≈" : word.p <= 1 / (word.permutations + 1) + 1e-12 ? "≤" : "=";
  return [
    verdict,
    el("p", { class: "saying" }, ...gapSentence(word)),
    ...(word.excess === undefined ? [] : [el("p", { class: "saying" }, word.excess < 0 ? "It falls short of the gap of ordinary words by " : "It exceeds the gap of ordinary words by ",
      el("b", {}, decimal(Math.abs(word.excess))), ` of their standard deviations (excess); a word with this excess is an ordinary one with a probability of ${rateText(word.local_fdr)} (local fdr).`)]),
    el("p", { class: "saying" }, "Change score ", el("b", {}, digits(word.score)), `, 95 % interval ${digits(word.low)} to ${digits(word.high)}; average pairwise distance ${digits(word.distance)}, SSCD ${digits(word.sscd)}; p ${relation} ${chance(word.p)}, q = ${chance(word.q)}.`),
    frequency,
  ];
}

function cloud(word, items) {
  return (width) => {
    const height = Math.max(260, Math.min(460, width * 0.72));
    const box = { left: 10, right: width - 10, top: 26, bottom: height - 26 };
    const all = word.usages.flat();
    const extent = (i) => [Math.min(...all.map((u) => u[i])), Math.max(...all.map((u) => u[i]))];
    const [[x0, x1], [y0, y1]] = [extent(4), extent(5)];
    // Both axes have the same scale, so that distances are true.
    const scale = Math.min((box.right - box.left - 16) / (x1 - x0 || 1), (box.bottom - box.top - 16) / (y1 - y0 || 1));
    const x = (v) => (box.left + box.right) / 2 + (v - (x0 + x1) / 2) * scale;
    const y = (v) => (box.top + box.bottom) / 2 - (v - (y0 + y1) / 2) * scale;
    const several = hasSeveral(word);
    const r = all.length > 150 ? 4 : 5.5;
    const [pc1, pc2] = word.explained.map((share) => `${Math.round(share * 100)} %`);
    const points = word.usages.flatMap((usages, side) => usages.map((usage, i) => {
      const [px, py] = [x(usage[4]), y(usage[5])];
      const shape = svg("path", { class: `usage ${several ? senseClass(usage[7]) : SIDES[side]}`, d: MARKS[side](px, py, several ? r + 2 : r) });
      const mark = several ? svg("g", {}, shape, text(px, py + 3, String(usage[7]), { class: `digit ${senseClass(usage[7])}`, "text-anchor": "middle", "font-size": 9 })) : shape;
      return [px, py, { mark, usage, side, item: items[side][i] }];
    }));
    // The corpora are drawn in turns, so that neither covers the other.
    points.sort(([ax, ay], [bx, by]) => Math.sin(ax * 99 + ay) - Math.sin(bx * 99 + by));
    const [[cx0, cy0], [cx1, cy1]] = word.centres; // of all usages, also those that the page does not hold
    const picture = svgElement(width, height, svg("g", { class: "axis" },
      svg("path", { d: `M${box.left},${box.top}V${box.bottom}H${box.right}` }),
      text(box.right, height - 8, `first principal component (${pc1})`, { "text-anchor": "end" }),
      text(box.left, 12, `second principal component (${pc2})`, {})),
    ...points.map(([, , { mark }]) => mark), ...arrow(x(cx0), y(cy0), x(cx1), y(cy1)));
    let pointed = null;
    const point = (to) => {
      for (const node of [pointed?.mark, pointed?.item]) node?.classList.remove("pointed");
      pointed = to;
      for (const node of [to?.mark, to?.item]) node?.classList.add("pointed");
    };
    const look = (event) => {
      const near = nearest(picture, width, event, points, 22);
      point(near);
      if (!near) return hideTip();
      return showTip(picture, event.pageX, event.pageY, el("small", {}, several ? badge(near.usage[7]) : null, corpusName(near.side), " ", bdi(near.usage[6])),
        el("div", { class: SIDES[near.side] }, ...sentence(near.usage)));
    };
    picture.addEventListener("pointermove", look);
    picture.addEventListener("pointerdown", look);
    picture.addEventListener("pointerleave", () => { point(null); hideTip(); });
    for (const [, , value] of points) {
      value.item.onpointerenter = value.item.onfocus = () => point(value);
      value.item.onpointerleave = value.item.onblur = () => point(null);
    }
    return picture;
  };
}

function arrow(x0, y0, x1, y1) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 14) return [];
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const [bx, by] = [x1 - ux * 9, y1 - uy * 9];
  return [svg("line", { class: "shift", x1: x0, y1: y0, x2: bx, y2: by }),
    svg("path", { class: "arrow", d: `M${x1},${y1}L${bx - uy * 5},${by + ux * 5}L${bx + uy * 5},${by - ux * 5}Z` })];
}

function swaps(word) {
  return (width) => {
    const height = 210;
    const box = { left: 12, right: width - 12, top: 44, bottom: height - 46 };
    const values = word.eSwap;
    const most = Math.max(word.eOriginal, ...values);
    const least = Math.min(word.eOriginal, ...values, most * 0.5);
    const x = linear(least - (most - least) * 0.08, most + (most - least) * 0.08, box.left, box.right);
    const stacks = new Map();
    const places = [...values].sort((a, b) => a - b).map((v) => {
      const bin = Math.round(x(v) / 9);
      const n = stacks.get(bin) ?? 0;
      stacks.set(bin, n + 1);
      return [x(v), n];
    });
    const step = Math.min(8.5, (box.bottom - box.top - 50) / Math.max(...stacks.values()));
    const dots = places.map(([cx, n]) => svg("circle", { class: "swap", cx, cy: box.bottom - 6 - n * step, r: 4 }));
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const gap = values.reduce((sum, v) => sum + Math.abs(word.eOriginal - v), 0) / values.length;
    const original = x(word.eOriginal);
    return svgElement(width, height,
      axisX(x, ticks(least, most, 4), box.bottom, `distance (${data.metric})`, box),
      ...dots,
      svg("line", { class: "original", x1: original, x2: original, y1: box.top, y2: box.bottom }),
      text(original, box.top - 8, "e_original", { class: "label", "text-anchor": original > width / 2 ? "end" : "start" }),
      text(x(mean), box.top + 12, "e_swap", { class: "label", "text-anchor": "middle" }),
      text((x(mean) + original) / 2, box.top + 34, digits(gap), { class: "label", "text-anchor": "middle" }),
      svg("line", { class: "gap", x1: x(mean), x2: original, y1: box.top + 20, y2: box.top + 20 }));
  };
}

// The sentences of a corpus. show(number) leaves only those of a sense, show(null) shows the first ones of all senses.
function evidence(word, side, showSense) {
  const usages = word.usages[side];
  const several = hasSeveral(word);
  const items = usages.map((usage) => el("li", { dir: "auto", title: usage[6] }, several ? badge(usage[7]) : null, ...sentence(usage)));
  const list = el("ol", {}, ...items);
  const stopAt = oneTabStop(list, items);
  const more = el("button", { type: "button" }, `Show all ${usages.length}`);
  more.addEventListener("click", () => { for (const item of items) item.hidden = false; more.hidden = true; });
  const title = el("h3", { tabindex: -1 }, word.score === undefined ? "Usages in " : "Usages most typical of ", inSentence(side));
  const none = el("p", { class: "hint" });
  const filtered = el("p", { class: "hint filtered" });
  const block = el("div", { class: SIDES[side] }, title, list, more);
  const show = (number) => {
    items.forEach((item, i) => { item.hidden = number === null ? i >= FIRST_SENTENCES : usages[i][7] !== number; });
    more.hidden = number !== null || usages.length <= FIRST_SENTENCES;
    filtered.replaceChildren(...(number === null ? [] : senseFilter(number, () => showSense(null, side))));
    none.textContent = `No usage ${number === null ? "" : "of this sense "}in this corpus.`;
    const first = items.find((item) => !item.hidden);
    if (first) stopAt(first);
    for (const [note, isShown] of [[filtered, number !== null], [none, !first]]) {
      if (isShown) list.before(note);
      else note.remove();
    }
  };
  show(null);
  if (usages.length < word.n[side]) block.append(el("p", { class: "hint" }, `This page shows ${usages.length} of ${word.n[side]} usages.`));
  return { block, items, title, show };
}

function legend(word) {
  const senses = hasSeveral(word) ? word.senses.map((sense) => el("li", {}, badge(sense.number), `sense ${sense.number}`)) : [];
  const key = (side) => el("li", { class: SIDES[side] }, svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" },
    svg("path", { d: MARKS[side](7, 7, 5) })), corpusName(side));
  return el("ul", { class: "legend" }, key(0), key(1), ...senses, el("li", {}, "The arrow leads from the mean of the old usages to that of the new ones."));
}

function swapHint(word) {
  const dots = word.eSwap.length > 1 ? "Each dot is the distance after one random swap of usages (e_swap)." : "The dot is the distance after the swap of usages (e_swap).";
  const score = data.weights ? `The mean gap is SSCD. The change score is ${data.weights}.` : "The change score is the mean gap.";
  return el("p", { class: "hint" }, `${dots} The line is the distance before swapping (e_original). The larger the gap between them, the more the usages depend on the corpus. ${score}`);
}

// Returns the parts of the view of a word.
async function wordView(word) {
  const parts = [el("h2", {}, bdi(word.word)), ...summary(word)];
  const [details, missing] = await detailsOf(word);
  if (missing) return [...parts, el("p", { class: "caution" }, missing)];
  const full = { ...word, ...details };
  const showSense = (number, side) => {
    for (const { show } of sides) show(number);
    sides[side ?? 0].title.focus({ preventScroll: true });
    sides[side ?? 0].block.scrollIntoView({ block: "nearest" });
  };
  const sides = [0, 1].map((side) => evidence(full, side, showSense));
  parts.push(...senseParts(full, showSense));
  const figures = [];
  const figure = (title, draw, ...children) => {
    const area = el("div", { class: "chart" });
    chart(area, title, draw);
    figures.push(el("div", {}, ...children, area));
  };
  if (full.explained) figure(`Usages of ${word.word}`, cloud(full, sides.map((s) => s.items)), el("h3", {}, "Usages"), legend(full));
  if (full.eSwap) figure(`Swaps of ${word.word}`, swaps(full), el("h3", {}, "Before and after swapping"), swapHint(full));
  if (figures.length) parts.push(el("div", { class: figures.length > 1 ? "pair" : "" }, ...figures));
  return [...parts, el("div", { class: "evidence" }, ...sides.map((s) => s.block))];
}
