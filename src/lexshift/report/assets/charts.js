// Charts: scales, axes, and a frame that draws its chart again when its width changes.
function linear(from, to, low, high) {
  const span = to - from || 1;
  return (value) => low + ((value - from) / span) * (high - low);
}

function ticks(from, to, about) {
  const rough = (to - from || 1) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

const text = (x, y, words, attributes = {}) => svg("text", { x, y, ...attributes }, words);
const highest = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);
const joined = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

function axisX(scale, values, y, name, box) {
  return svg("g", { class: "axis" },
    svg("line", { x1: box.left, x2: box.right, y1: y, y2: y }),
    ...values.flatMap((v) => [
      svg("line", { x1: scale(v), x2: scale(v), y1: y, y2: y + 4 }),
      text(scale(v), y + 17, String(v), { "text-anchor": "middle" }),
    ]),
    text((box.left + box.right) / 2, y + 34, name, { "text-anchor": "middle" }));
}

function axisY(scale, values, x, name, box, show = String) {
  return svg("g", { class: "axis" },
    ...values.flatMap((v) => [
      svg("line", { class: "grid", x1: x, x2: box.right, y1: scale(v), y2: scale(v) }),
      text(x - 7, scale(v) + 4, show(v), { "text-anchor": "end" }),
    ]),
    name ? text(0, box.top - 14, name) : null);
}

// draw(width) returns an svg element; it is called again when the frame becomes wider or narrower. A frame that is not in
// the document yet is drawn when it receives the event "attached", or else before the browser paints the next frame.
function chart(frame, title, draw) {
  let drawn = 0;
  const redraw = () => {
    const width = Math.round(frame.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    const picture = draw(width);
    picture.setAttribute("role", "group");
    picture.setAttribute("aria-label", title);
    const save = el("button", { type: "button", class: "save", title: "Save this chart as an SVG file" }, "Save SVG");
    save.addEventListener("click", () => saveSvg(picture, title));
    frame.replaceChildren(picture, save);
  };
  new ResizeObserver(redraw).observe(frame);
  frame.addEventListener("attached", redraw);
  redraw();
}

function drawCharts(holder) {
  for (const frame of holder.querySelectorAll(".chart")) frame.dispatchEvent(new Event("attached"));
}

// The marks of usages in the old and in the new corpus: a diamond and a circle.
const MARKS = [(x, y, r) => `M${x},${y - r * 1.25}l${r * 1.25},${r * 1.25}l${-r * 1.25},${r * 1.25}l${-r * 1.25},${-r * 1.25}z`,
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`];

const svgElement = (width, height, ...children) => svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height }, ...children);

const STYLES = ["display", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight"];
// eslint-disable-next-line no-control-regex -- these characters are not allowed in XML
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
function saveSvg(source, title) {
  const copy = source.cloneNode(true);
  const [from, to] = [source, copy].map((node) => [node, ...node.querySelectorAll("*")]);
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of STYLES) to[i].setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", SVG);
  const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy).replace(CONTROLS, "\ufffd")], { type: "image/svg+xml" }));
  el("a", { href: url, download: `${title}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Returns the point nearest to the pointer, or null if none is within reach. Points are [x, y, value].
function nearest(drawn, width, event, points, reach) {
  const frame = drawn.getBoundingClientRect();
  const [mx, my] = [event.clientX - frame.left, event.clientY - frame.top].map((v) => (v * width) / frame.width);
  return points.reduce((best, [x, y, value]) => {
    const distance = Math.hypot(x - mx, y - my);
    return distance < best.distance ? { distance, value } : best;
  }, { distance: reach, value: null }).value;
}

// Returns a function that finds room for a label, or null where it would cover another one.
function placer(box, dots) {
  const taken = dots.map(([x, y]) => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  return (x, y, words) => {
    const width = words.length * 7 + 4;
    for (const [dx, dy, anchor] of [[9, 4, "start"], [-9, 4, "end"], [0, -9, "middle"], [0, 18, "middle"], [9, -8, "start"], [9, 16, "start"]]) {
      const left = anchor === "start" ? x + dx : anchor === "end" ? x + dx - width : x - width / 2;
      const place = { left, right: left + width, top: y + dy - 11, bottom: y + dy + 4 };
      const inside = place.left >= box.left && place.right <= box.right + 10 && place.top >= 0 && place.bottom <= box.bottom;
      if (inside && !taken.some((t) => t.left < place.right && place.left < t.right && t.top < place.bottom && place.top < t.bottom)) {
        taken.push(place);
        return { x: x + dx, y: y + dy, "text-anchor": anchor };
      }
    }
    return null;
  };
}
