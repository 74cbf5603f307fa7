// The details of the words are packed in groups, gzip and base64; a group is opened when one of its words is chosen.
const KEPT = 4; // groups that stay open
const opened = new Map();

async function open(group) {
  const bytes = Uint8Array.from(atob(document.getElementById(`group-${group}`).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// [details, null], or [null, why there are none]
async function detailsOf(word) {
  if (typeof DecompressionStream === "undefined") {
    return [null, "This browser cannot open the packed sentences of this page: it lacks DecompressionStream. A newer browser can."];
  }
  const index = indexOf.get(word);
  const group = data.groups.findLastIndex((start) => start <= index);
  const found = opened.get(group) ?? open(group);
  opened.delete(group);
  opened.set(group, found); // the last one used is the last one to go
  if (opened.size > KEPT) opened.delete(opened.keys().next().value);
  try {
    return [(await found)[index - data.groups[group]], null];
  } catch {
    return [null, "The sentences of this word cannot be read: the page is damaged."];
  }
}
