// The first page of a study: counts what was pasted, and takes files that are dropped anywhere on the form.

const pasted = document.getElementById("pasted");
const count = document.getElementById("pasted-count");
const drop = document.getElementById("drop");
const files = document.getElementById("files");

const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

function tell() {
  const essays = pasted.value.split(/^-{3,}[ \t]*$/m).filter((text) => text.trim());
  const words = essays.flatMap((text) => text.replace(/^\s*#.*\n/, "").split(/\s+/).filter(Boolean));
  count.textContent = essays.length ? `${counted(essays.length, "essay")}, ${counted(words.length, "word")}` : "";
}

pasted.addEventListener("input", tell);
tell();

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
