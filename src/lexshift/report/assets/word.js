// One word: its two clouds of usages, the sentences to read first, and e_swap against e_original.
const FIRST = 6; // sentences shown before the button
const article = document.getElementById("word");

function saying(word) {
  const counts = [0, 1].flatMap((side) => [side ? " and " : "", plural(word.n[side], "usage"), " in ", corpusName(side),
    word.found[side] > word.n[side] ? ` (of ${word.found[side].toLocaleString("en")})` : ""]);
  const per = `${word.rate.map((rate) => Number(rate.toPrecision(3)).toLocaleString("en")).join(" and ")} in a million words`;
  if (word.score === undefined) {
    return [el("p", { class: "saying" }, "Too few usages to say anything: ", bdi(word.reason), "."), el("p", { class: "saying" }, ...counts, "; ", per, ".")];
  }
  const relation = word.approximate ? "≈" : word.p <= 1 / (word.permutations + 1) + 1e-12 ? "≤" : "=";
  return [
    el("p", { class: `saying ${word.verdict}` }, el("span", { class: "verdict" }, word.verdict === "changed" ? "Changed" : "Stable"),
      ": score ", el("b", {}, digits(word.score)), `, 95 % interval ${digits(word.low)} to ${digits(word.high)}; p ${relation} ${chance(word.p)}, q = ${chance(word.q)}.`,
      word.verdict === "stable" ? " What differs below may be chance." : ""),
    word.above === undefined ? null : el("p", { class: "saying" },
      `Changed more than ${word.above === 1 ? "all" : `${percent(word.above)} of`} the words of similar frequency and spread.`),
    el("p", { class: "saying" }, ...counts, "; ", per, "."),
  ];
}

function cloud(word, items) {
  return (width) => {
    const height = Math.max(260, Math.min(460, width * 0.72));
    const box = { left: 10, right: width - 10, top: 26, bottom: height - 26 };
    const all = word.usages.flat();
    const extent = (i) => [Math.min(...all.map((u) => u[i])), Math.max(...all.map((u) => u[i]))];
    const [[x0, x1], [y0, y1]] = [extent(4), extent(5)];
    // One scale for both axes, so that distances are what they are.
    const scale = Math.min((box.right - box.left - 16) / (x1 - x0 || 1), (box.bottom - box.top - 16) / (y1 - y0 || 1));
    const x = (v) => (box.left + box.right) / 2 + (v - (x0 + x1) / 2) * scale;
    const y = (v) => (box.top + box.bottom) / 2 - (v - (y0 + y1) / 2) * scale;
    const r = all.length > 150 ? 4 : 5.5;
    const points = [];
    const [pc1, pc2] = word.explained.map((share) => `${Math.round(share * 100)} %`);
    const parts = [svg("g", { class: "axis" },
      svg("path", { d: `M${box.left},${box.top}V${box.bottom}H${box.right}` }),
      text(box.right, height - 8, `first principal component (${pc1})`, { "text-anchor": "end" }),
      text(box.left, 12, `second principal component (${pc2})`, {}))];
    word.usages.forEach((usages, side) => usages.forEach((usage, i) => {
      const mark = svg("path", { class: `usage ${SIDES[side]}`, d: MARKS[side](x(usage[4]), y(usage[5]), r) });
      points.push({ px: x(usage[4]), py: y(usage[5]), mark, usage, side, item: items[side][i] });
    }));
    // In turns, so that neither corpus covers the other.
    points.sort((a, b) => Math.sin(a.px * 99 + a.py) - Math.sin(b.px * 99 + b.py));
    parts.push(...points.map((p) => p.mark));
    const [[cx0, cy0], [cx1, cy1]] = word.centres; // of all usages, also those that the page does not hold
    parts.push(...arrow(x(cx0), y(cy0), x(cx1), y(cy1)));
    const drawn = picture(width, height, ...parts);
    let pointed = null;
    const point = (p) => {
      if (pointed) { pointed.mark.classList.remove("pointed"); pointed.item?.classList.remove("pointed"); }
      pointed = p;
      if (p) { p.mark.classList.add("pointed"); p.item?.classList.add("pointed"); }
    };
    const look = (event) => {
      const frame = drawn.getBoundingClientRect();
      const [mx, my] = [((event.clientX - frame.left) / frame.width) * width, ((event.clientY - frame.top) / frame.height) * height];
      const near = points.reduce((best, p) => {
        const d = Math.hypot(p.px - mx, p.py - my);
        return d < best.d ? { d, p } : best;
      }, { d: 22, p: null }).p;
      point(near);
      if (!near) return hideTip();
      return showTip(event.pageX, event.pageY, el("small", {}, corpusName(near.side), " ", bdi(near.usage[6])),
        el("div", { class: SIDES[near.side] }, ...sentence(near.usage)));
    };
    drawn.addEventListener("pointermove", look);
    drawn.addEventListener("pointerdown", look);
    drawn.addEventListener("pointerleave", () => { point(null); hideTip(); });
    for (const p of points) {
      if (!p.item) continue;
      p.item.onpointerenter = () => point(p);
      p.item.onpointerleave = () => point(null);
      p.item.onfocus = () => point(p);
      p.item.onblur = () => point(null);
    }
    return drawn;
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
    const end = (v) => (x(v) > width / 2 ? "end" : "start");
    return picture(width, height,
      axisX(x, ticks(least, most, 4), box.bottom, `${data.metric} between the two sets`, box),
      ...dots,
      svg("line", { class: "original", x1: x(word.eOriginal), x2: x(word.eOriginal), y1: box.top, y2: box.bottom }),
      text(x(word.eOriginal), box.top - 8, "e_original", { class: "label", "text-anchor": end(word.eOriginal) }),
      text(x(mean), box.top + 12, "e_swap", { class: "label", "text-anchor": "middle" }),
      text((x(mean) + x(word.eOriginal)) / 2, box.top + 34, digits(gap), { class: "label", "text-anchor": "middle" }),
      svg("line", { class: "gap", x1: x(mean), x2: x(word.eOriginal), y1: box.top + 20, y2: box.top + 20 }));
  };
}

function evidence(word, side) {
  const usages = word.usages[side];
  const items = usages.map((usage, i) => {
    const item = el("li", { tabindex: "0", dir: "auto", title: usage[6] }, ...sentence(usage));
    item.hidden = i >= FIRST;
    return item;
  });
  const more = el("button", { type: "button" }, `Show all ${usages.length}`);
  more.addEventListener("click", () => { for (const item of items) item.hidden = false; more.remove(); });
  const title = el("h3", {}, word.score === undefined ? "In " : "Most like the use in ", corpusName(side));
  const none = usages.length ? null : el("p", { class: "hint" }, "No usage in this corpus.");
  const block = el("div", { class: SIDES[side] }, title, none, el("ol", {}, ...items), usages.length > FIRST ? more : null);
  if (usages.length < word.n[side]) block.append(el("p", { class: "hint" }, `The page holds ${usages.length} of ${word.n[side]} usages.`));
  return { block, items };
}

function legend() {
  const key = (side) => el("li", { class: SIDES[side] }, svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" },
    svg("path", { d: MARKS[side](7, 7, 5) })), corpusName(side));
  return el("ul", { class: "legend" }, key(0), key(1), el("li", {}, "arrow: from the mean of one to the mean of the other"));
}

// A word with its details; without them, and why.
function showWord(word, missing = null) {
  const parts = [el("h2", {}, bdi(word.word)), ...saying(word)].filter((part) => part !== null);
  if (missing) {
    article.replaceChildren(...parts, el("p", { class: "caution" }, missing));
    return;
  }
  const sides = [0, 1].map((side) => evidence(word, side));
  const later = [];
  const figures = [];
  if (word.explained) {
    const frame = el("div", { class: "chart" });
    figures.push(el("div", {}, el("h3", {}, "Usages"), legend(), frame));
    later.push(() => chart(frame, `Usages of ${word.word}`, cloud(word, sides.map((s) => s.items))));
  }
  if (word.eSwap) {
    const frame = el("div", { class: "chart" });
    figures.push(el("div", {}, el("h3", {}, "Before and after swapping"), el("p", { class: "hint" },
      `${word.eSwap.length > 1 ? "Each dot is the distance after a random swap of contexts." : "The dot is the distance after the swap of contexts."} The farther e_original lies from them, the more the meaning depends on the corpus. The change score is the mean gap${data.keep ? ` and ${Number((100 * data.keep).toPrecision(3))} % of e_original` : ""}.`), frame));
    later.push(() => chart(frame, `Swaps of ${word.word}`, swaps(word)));
  }
  if (figures.length) parts.push(el("div", { class: figures.length > 1 ? "pair" : "" }, ...figures));
  parts.push(el("div", { class: "evidence" }, ...sides.map((s) => s.block)));
  article.replaceChildren(...parts);
  for (const draw of later) draw();
}
