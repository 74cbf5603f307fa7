// What pages of two corpora share: the names of the corpora, sentences, and a tooltip.
const [OLD, NEW] = data.labels;
const SIDES = ["old", "new"];
const corpusName = (side) => el("bdi", { class: SIDES[side] }, data.labels[side]);

// A usage is [before, word, after, leaning, x, y, place].
function sentence(usage) {
  return [usage[0], el("mark", {}, usage[1]), usage[2]];
}

const tip = document.getElementById("tip");
function showTip(x, y, ...children) {
  tip.replaceChildren(...children);
  tip.hidden = false;
  const left = Math.min(x + 14, scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
  const below = y + 18 + tip.offsetHeight < scrollY + innerHeight;
  tip.style.left = `${Math.max(left, scrollX + 4)}px`;
  tip.style.top = `${below ? y + 18 : y - tip.offsetHeight - 12}px`;
}
const hideTip = () => { tip.hidden = true; };
