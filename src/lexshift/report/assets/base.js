// Helpers of every page with a script. Text is always inserted as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const bdi = (content) => el("bdi", {}, content);

// Numbers are formatted as in the template.
function digits(value) {
  const size = Math.abs(value);
  if (!size) return "0";
  if (size < 1e-4 || size >= 1e9) return exponent(value, 3);
  return fixed(value, Math.max(0, 2 - Math.floor(Math.log10(size))));
}
function chance(value) {
  if (value >= 0.001) return fixed(value, 3);
  return value >= 1e-5 ? value.toFixed(5).replace(/0+$/, "") : exponent(value, 1);
}
// Ties are rounded to the even digit, as in Python: 0.0625 becomes 0.062.
function fixed(value, places) {
  const long = value.toFixed(places + 40);
  const cut = long.slice(0, -40);
  return /^50*$/.test(long.slice(-40)) && /[02468]\.?$/.test(cut) ? cut.replace(/\.$/, "") : value.toFixed(places);
}
const decimal = (value) => (Number(fixed(value, 1)) + 0).toFixed(1); // adding 0 turns -0 into 0
function exponent(value, precision) {
  const [mantissa, power] = value.toExponential(precision - 1).split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${short}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}
const count = (n) => n.toLocaleString("en");
const plural = (n, one) => `${count(n)} ${one}${n === 1 ? "" : "s"}`;

// The tooltip describes the element that it is shown for.
const tip = document.getElementById("tip");
let described = null;
function showTip(target, x, y, ...children) {
  if (described !== target) hideTip();
  described = target;
  target.setAttribute("aria-describedby", tip.id);
  tip.replaceChildren(...children);
  tip.hidden = false;
  const left = Math.min(x + 14, scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
  const below = y + 18 + tip.offsetHeight < scrollY + innerHeight;
  tip.style.left = `${Math.max(left, scrollX + 4)}px`;
  tip.style.top = `${below ? y + 18 : y - tip.offsetHeight - 12}px`;
}
function hideTip() {
  described?.removeAttribute("aria-describedby");
  described = null;
  tip.hidden = true;
}

// Makes one tab stop of many elements: the arrow keys move between those that are shown. Returns a function that makes an
// element the tab stop.
function oneTabStop(holder, items) {
  const stop = (item) => { for (const other of items) other.setAttribute("tabindex", other === item ? "0" : "-1"); };
  if (items.length) stop(items[0]);
  for (const item of items) item.addEventListener("focus", () => stop(item)); // on an svg, "focusin" would make a tab stop of it
  holder.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!by || !items.includes(document.activeElement)) return;
    let at = items.indexOf(document.activeElement) + by;
    while (items[at]?.hidden) at += by;
    const next = items[at];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  return stop;
}
