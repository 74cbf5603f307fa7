// Which word is shown is in the address: #word=plane.
const byName = new Map(data.words.map((word) => [word.word, word]));

function asked() {
  const hash = location.hash;
  if (!hash.startsWith("#word=")) return null;
  try {
    return byName.get(decodeURIComponent(hash.slice(6))) ?? null;
  } catch {
    return null;
  }
}

async function follow(moved) {
  const word = asked();
  if (!word && moved && location.hash) return; // a link to another part of the page
  const chosen = word ?? data.words[0];
  chooseRow(chosen);
  markChosen(chosen);
  hideTip();
  const [details, missing] = await detailsOf(chosen);
  if (chosen !== chosenWord) return; // another word was chosen in the meantime
  showWord({ ...chosen, ...details }, missing);
  const top = article.getBoundingClientRect().top;
  if (word && (top < 0 || top > innerHeight * 0.6)) article.scrollIntoView({ behavior: moved ? "smooth" : "instant" });
}

document.body.classList.remove("plain"); // what a page without its script shows
setUpTable();
if (scored.length) {
  chart(document.querySelector("#volcano .chart"), "Change against significance", volcano);
  chart(document.querySelector("#curve .chart"), "Mean e_swap by swap rate", rateCurve);
} else {
  document.querySelector(".overview").hidden = true;
}
addEventListener("hashchange", () => follow(true));
addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, select, textarea")) { event.preventDefault(); filter.focus(); }
});
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.innerText);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: copy it with Ctrl-C";
    }
  });
}
follow(false);
