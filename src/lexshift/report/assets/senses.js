// The senses of a word: a card for each one, marks that differ in colour and number, and the shares as a stream over the periods.
const SENSE_COLOURS = 8;
const MOST_BARS = 6; // periods whose shares a card shows without a click
const CHANGE_WORDS = { gained: "new sense", lost: "no longer used", grew: "more frequent", shrank: "less frequent", kept: "no significant change" };
const periodNames = data.periods ?? data.labels;
const senseClass = (number) => `sense-${((number - 1) % SENSE_COLOURS) + 1}`;
const badge = (number) => el("span", { class: `badge ${senseClass(number)}`, title: `Sense ${number}` }, String(number));
const hasSeveral = (word) => (word.senses?.length ?? 0) > 1;
const wholePercent = (share) => `${Math.round(100 * share)} %`;
const sharesText = ([, share, low, high]) => (share === null ? "no usages" : `${wholePercent(share)} (${Math.round(100 * low)} to ${wholePercent(high)})`);

// A period's share of a sense, with its interval. show(number, period) shows the sentences.
function shareRow(sense, period, show) {
  const values = sense.shares[period];
  const [n, share, low, high] = values;
  const at = (value) => `${(100 * value).toFixed(1)}%`;
  const bar = share === null ? null : svg("svg", { class: "share", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 3, width: at(share), height: 10 }),
    svg("line", { class: "range", x1: at(low), x2: at(high), y1: 8, y2: 8 }));
  const words = sharesText(values);
  const number = n ? el("button", { type: "button", title: `Show ${plural(n, "usage")} of sense ${sense.number} in ${periodNames[period]}` }, words) : el("span", {}, words);
  if (n) number.addEventListener("click", () => show(sense.number, period));
  return [el("dt", {}, bdi(periodNames[period])), el("dd", {}, bar, number)];
}

const descriptionParts = (sense) => sense.description.map(([kind, items]) => el("p", { class: "described" }, el("small", {}, `${kind}: `), bdi(items)));

function senseCard(sense, show) {
  const rows = el("dl", { class: "shares" }, ...periodNames.flatMap((_, i) => shareRow(sense, i, show)));
  const shares = periodNames.length <= MOST_BARS ? rows
    : el("details", {}, el("summary", {}, `Shares in ${periodNames.length} periods`), rows);
  const total = sense.shares.reduce((sum, [n]) => sum + n, 0);
  const all = el("button", { type: "button" }, `Show ${plural(total, "usage")}`);
  all.addEventListener("click", () => show(sense.number, null));
  const examples = sense.examples.map(([before, word, after, place, period]) => el("li", { dir: "auto", title: place },
    before, el("mark", {}, word), after, " ", el("small", {}, bdi(periodNames[period]))));
  return el("section", { class: `sense ${senseClass(sense.number)} ${sense.change}`, "aria-label": `Sense ${sense.number}` },
    el("h4", {}, badge(sense.number), sense.known ? bdi(sense.known) : `Sense ${sense.number}`, sense.known === "" ? el("small", {}, " not in the inventory") : null),
    el("p", { class: "said-change" }, el("b", {}, sense.change), `: ${CHANGE_WORDS[sense.change]}`, sense.q === null ? "" : ` (q = ${chance(sense.q)})`,
      sense.stability === null ? "" : `; stability ${sense.stability}`),
    shares,
    ...descriptionParts(sense),
    el("ol", {}, ...examples), all);
}

// Returns the parts of a word's view that show its senses; show(number, period) shows sentences, period null all of them.
function senseParts(word, show) {
  if (!word.senses) return [];
  if (!hasSeveral(word)) {
    const [only] = word.senses;
    const saying = only.known ? ["All usages have the sense ", bdi(only.known), " of the inventory."] : ["One sense was found: the usages do not fall into groups."];
    return [el("h3", {}, "Senses"), el("p", { class: "saying" }, ...saying), ...descriptionParts(only)];
  }
  const hint = "Bars are shares of the usages of a period, lines their 95 % intervals. q is adjusted for all senses of all words. Click a share to read its sentences.";
  return [el("h3", {}, `${word.senses.length} senses`), el("p", { class: "hint" }, hint),
    el("div", { class: "senses" }, ...word.senses.map((sense) => senseCard(sense, show)))];
}

// The heading of sentences while only those of a sense are shown, with a button that shows all.
function senseFilter(number, showAll) {
  const all = el("button", { type: "button" }, "Show all senses");
  all.addEventListener("click", showAll);
  return [badge(number), ` Only usages of sense ${number} are shown. `, all];
}

// Shares as a stacked area. Periods without usages are gaps.
function shareStream(senses, show) {
  return (width) => {
    const height = 240;
    const n = periodNames.length;
    const box = { left: 46, right: width - 14, top: 12, bottom: height - 26 };
    const x = (i) => box.left + ((i + 0.5) / n) * (box.right - box.left);
    const y = linear(0, 1, box.bottom, box.top);
    const below = senses.map((_, k) => periodNames.map((__, i) => senses.slice(0, k).reduce((sum, sense) => sum + (sense.shares[i][1] ?? 0), 0)));
    const present = periodNames.map((_, i) => senses[0].shares[i][1] !== null);
    const runs = []; // consecutive periods with usages
    present.forEach((here, i) => { if (here) (present[i - 1] ? runs.at(-1) : runs[runs.push([]) - 1]).push(i); });
    const half = Math.min(14, (box.right - box.left) / n / 2);
    const periodAt = (event, picture) => {
      const frame = picture.getBoundingClientRect();
      const at = ((event.clientX - frame.left) * width) / frame.width;
      return periodNames.reduce((best, _, i) => (present[i] && Math.abs(x(i) - at) < Math.abs(x(best) - at) ? i : best), present.indexOf(true));
    };
    const parts = [axisY(y, [0, 0.25, 0.5, 0.75, 1], box.left, "", box, wholePercent)];
    senses.forEach((sense, k) => {
      const top = (i) => below[k][i] + (sense.shares[i][1] ?? 0);
      for (const run of runs) {
        // The first and the last period of a run extend to both sides, so that a single one is visible.
        const places = [[x(run[0]) - half, run[0]], ...run.map((i) => [x(i), i]), [x(run.at(-1)) + half, run.at(-1)]];
        const upper = places.map(([px, i]) => [px, y(top(i))]);
        const lower = places.map(([px, i]) => [px, y(below[k][i])]).reverse();
        const area = svg("path", { class: `area ${senseClass(sense.number)}`, d: `${joined([...upper, ...lower])}Z` });
        area.addEventListener("pointermove", (event) => {
          const i = periodAt(event, area.ownerSVGElement);
          showTip(area, event.pageX, event.pageY, badge(sense.number), " ", bdi(periodNames[i]), ` ${sharesText(sense.shares[i])}, ${plural(sense.shares[i][0], "usage")}`);
        });
        area.addEventListener("pointerleave", hideTip);
        area.addEventListener("click", (event) => show(sense.number, periodAt(event, area.ownerSVGElement)));
        parts.push(area);
      }
      const largest = periodNames.reduce((best, _, i) => ((sense.shares[i][1] ?? 0) > (sense.shares[best][1] ?? 0) ? i : best), 0);
      if (y(0) - y(sense.shares[largest][1] ?? 0) > 13) {
        parts.push(text(x(largest), (y(below[k][largest]) + y(top(largest))) / 2 + 4, String(sense.number), { class: `digit ${senseClass(sense.number)}`, "text-anchor": "middle" }));
      }
    });
    return svgElement(width, height, ...parts, periodLabels(x, box));
  };
}

// The names of as many periods as there is room for.
function periodLabels(x, box) {
  const longest = Math.max(...periodNames.map((label) => [...label].length));
  const every = Math.max(1, Math.ceil((periodNames.length * (longest * 6.4 + 10)) / (box.right - box.left)));
  return svg("g", { class: "axis" }, ...periodNames.flatMap((label, i) => (i % every ? [] : [text(x(i), box.bottom + 17, label, { "text-anchor": "middle" })])));
}
