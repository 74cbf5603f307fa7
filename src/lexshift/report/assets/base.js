// Building the page: text is always put in as text.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const bdi = (text) => el("bdi", {}, text);

// Numbers as the table has them.
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
// What lies exactly between two goes to the even one, as in Python: 0.0625 is 0.062.
function fixed(value, places) {
  const long = value.toFixed(places + 40);
  const cut = long.slice(0, -40);
  return /^50*$/.test(long.slice(-40)) && /[02468]\.?$/.test(cut) ? cut.replace(/\.$/, "") : value.toFixed(places);
}
const percent = (share) => `${Math.floor(100 * share + 1e-9)} %`; // of which "more than" can be said
function exponent(value, precision) {
  const [mantissa, power] = value.toExponential(precision - 1).split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return `${short}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}
const plural = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
