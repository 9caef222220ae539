// The first page of a study: counts what was pasted, offers to split it where whoever pasted left two lines blank, and
// takes files that are dropped anywhere on the form.

const pasted = document.getElementById("pasted");
const count = document.getElementById("pasted-count");
const gaps = document.getElementById("pasted-gaps");
const GAP = /\n[ \t]*\n[ \t]*\n\s*(?=\S)/g;
const drop = document.getElementById("drop");
const files = document.getElementById("files");

const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

function tell() {
  const essays = pasted.value.split(/^-{3,}[ \t]*$/m).filter((text) => text.trim());
  const words = essays.flatMap((text) => text.replace(/^\s*#.*\n/, "").split(/\s+/).filter(Boolean));
  gaps.hidden = essays.length !== 1 || !essays[0].trim().match(GAP);
  count.textContent = essays.length ? `${counted(essays.length, "essay")}, ${counted(words.length, "word")}` : "";
}

pasted.addEventListener("input", tell);
tell();

gaps.querySelector("button").addEventListener("click", () => {
  pasted.value = pasted.value.trim().replace(GAP, "\n---\n");
  tell();
  pasted.focus();
});

for (const name of ["dragenter", "dragover"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add("dragged");
  });
}
for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("dragged"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  const all = new DataTransfer();
  for (const file of [...files.files, ...event.dataTransfer.files]) all.items.add(file);
  files.files = all.files;
});
