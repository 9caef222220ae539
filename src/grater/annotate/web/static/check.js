// Check my writing, with a script: marks come into the text while somebody types, and are accepted in place.
//
// The text stays a field of the browser, with its own keys and its own undo; the marks are drawn under it.  Only
// paragraphs that changed are sent, after a pause and one request at a time; where an address has had its share, the
// server says how long to wait.  The text is kept in this tab.  Without this module a button sends the whole text.

const form = document.querySelector("[data-live]");
const area = form.querySelector("textarea");
const [under, list, status, sample, share] = ["under", "notes", "status", "note", "share"].map((name) => document.querySelector(`[data-${name}]`));
const csrf = form.elements.csrf.value;

const PAUSE = 700; // milliseconds without a key until the server is asked
const KEPT = "grater:check";

const found = new Map(); // a paragraph -> its marks, counted from its start
const answers = new Map(); // what was sent -> the answers to its marks, by item
const rejected = new Set();
let [text, marks, here, timer, isAsking] = ["", [], null, 0, false];

function paragraphs() {
  let at = 0;
  return area.value.split("\n").map((words) => {
    const start = at;
    at += words.length + 1;
    return { words, start };
  });
}

const moved = (mark, by) => ({ ...mark, start: mark.start + by, end: mark.end + by });
const isIn = (mark, start, words) => mark.start >= start && mark.end <= start + words.length;
const placeOf = (mark) => text.slice(Math.max(0, mark.start - 20), mark.end + 20) + mark.better;

/** The marks where they are now: those of a paragraph that is being changed move along until it is checked again. */
function follow() {
  const value = area.value;
  const shorter = Math.min(text.length, value.length);
  let [before, after] = [0, 0];
  while (before < shorter && text[before] === value[before]) before += 1;
  while (after < shorter - before && text.at(-1 - after) === value.at(-1 - after)) after += 1;
  const [end, by] = [text.length - after, value.length - text.length];
  const old = marks.filter((mark) => mark.end <= before || mark.start >= end).map((mark) => (mark.end <= before ? mark : moved(mark, by)));
  text = value;
  marks = paragraphs()
    .flatMap(({ words, start }) => found.get(words)?.map((mark) => moved(mark, start)) ?? old.filter((mark) => isIn(mark, start, words)))
    .filter((mark) => !rejected.has(placeOf(mark)));
  for (const mark of marks) answers.get(mark.sent)?.delete(mark.item_id); // it was accepted, and that was undone
  draw();
}

function draw() {
  let at = 0;
  under.replaceChildren();
  for (const mark of marks) {
    const spot = document.createElement("mark");
    spot.textContent = text.slice(mark.start, mark.end);
    under.append(text.slice(at, mark.start), spot);
    at = mark.end;
  }
  under.append(`${text.slice(at)}\n`);
  list.replaceChildren(...marks.map(noteOf));
  share.hidden = nAnswers() === 0;
  point();
}

const nAnswers = () => [...answers.values()].reduce((n, given) => n + given.size, 0);

function noteOf(mark) {
  const note = sample.content.firstElementChild.cloneNode(true);
  for (const name of ["advice", "source", "why"]) note.querySelector(`[data-${name}]`).textContent = mark[name];
  const example = note.querySelector("details");
  if (mark.rule.length) [example.querySelector("[data-wrong]").textContent, example.querySelector("[data-right]").textContent] = mark.rule;
  else example.remove();
  for (const button of note.querySelectorAll("button")) {
    button.setAttribute("aria-label", `${button.textContent}: ${mark.advice}`);
    button.addEventListener("click", () => {
      const number = marks.indexOf(mark);
      answer(mark, button.value);
      (list.children[Math.min(number, list.children.length - 1)]?.querySelector("button") ?? area).focus();
    });
  }
  return note;
}

function answer(mark, value) {
  if (value === "accept") {
    area.focus({ preventScroll: true });
    area.setSelectionRange(mark.start, mark.end);
    const isDone = mark.better ? document.execCommand("insertText", false, mark.better) : document.execCommand("delete");
    if (!isDone) area.setRangeText(mark.better, mark.start, mark.end, "end");
    const { words, start } = paragraphs().findLast((each) => each.start <= mark.start);
    const others = marks.filter((each) => isIn(each, start, words));
    if (others.length) found.set(words, others.map((each) => moved(each, -start))); // no need to ask again yet
  } else rejected.add(placeOf(mark));
  answers.set(mark.sent, (answers.get(mark.sent) ?? new Map()).set(mark.item_id, value));
  changed();
}

/** The note of the mark at the caret, and how many there are. */
function point() {
  const caret = area.selectionStart;
  here = marks.find((mark) => mark.start <= caret && caret <= mark.end && area.matches(":focus")) ?? null;
  const number = marks.indexOf(here);
  for (const [i, note] of [...list.children].entries()) note.classList.toggle("is-here", i === number);
  for (const [i, spot] of [...under.querySelectorAll("mark")].entries()) spot.classList.toggle("is-here", i === number);
  const note = list.children[number];
  if (note && list.scrollHeight > list.clientHeight) list.scrollTop = note.offsetTop - list.offsetTop;
}

function say(words) {
  const count = marks.length === 1 ? "1 place" : `${marks.length} places`;
  const now = words ?? (!text.trim() ? "" : marks.length ? `${count} to look at again` : "Nothing to look at again");
  if (status.textContent !== now) status.textContent = now;
}

function changed() {
  follow();
  try {
    sessionStorage.setItem(KEPT, text);
  } catch {
    // A setting forbids it, or the text is too long.
  }
  area.dataset.first = text; // leaving loses nothing: `typed.js` need not ask
  askIn(PAUSE);
}

function askIn(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(ask, milliseconds);
}

const send = (path, fields) => fetch(path, { method: "POST", body: new URLSearchParams({ csrf, ...fields }) });

async function ask() {
  const fresh = [...new Set(paragraphs().map(({ words }) => words))].filter((words) => words.trim() && !found.has(words));
  if (isAsking) return; // it looks again when it is done
  if (!fresh.length) return say();
  if (!marks.length) say("Checking…");
  isAsking = true;
  const sent = fresh.join("\n");
  const response = await send("/check/marks", { text: sent }).catch(() => null);
  if (response?.ok) {
    take(sent, fresh, (await response.json()).marks);
    say();
  }
  isAsking = false;
  if (response?.ok) return askIn(PAUSE);
  if (response && ![429, 503].includes(response.status)) return say("Marks have stopped. Reload the page; your text is kept.");
  const seconds = Number(response?.headers.get("retry-after") ?? 5);
  say(`${response?.status === 429 ? "That was much text" : "The server cannot be reached or is busy"}. New marks come in ${seconds} s.`);
  askIn(1000 * seconds);
}

function take(sent, fresh, ofAll) {
  let at = 0;
  for (const words of fresh) {
    const start = at;
    found.set(words, ofAll.filter((mark) => isIn(mark, start, words)).map((mark) => ({ ...moved(mark, -start), sent })));
    at += words.length + 1;
  }
  follow();
}

/** What was answered goes to the study, each text with its answers, and only with consent. */
async function contribute() {
  const [said, n] = [share.querySelector("[role=status]"), nAnswers()];
  for (const [sent, given] of answers) {
    const fields = [...given].map(([item, value]) => [`mark-${item}`, value]);
    if (!fields.length) continue;
    const consent = share.querySelector("[name=consent]").checked ? { consent: "yes" } : {};
    const response = await send("/check/keep", { text: sent, ...consent, ...Object.fromEntries(fields) }).catch(() => null);
    if (!response?.ok) {
      const page = new DOMParser().parseFromString((await response?.text()) ?? "", "text/html");
      said.textContent = page.querySelector(".note-bad")?.textContent.trim() ?? "Not sent. Try again in a minute.";
      return;
    }
    answers.delete(sent);
  }
  said.textContent = `Thank you. ${n === 1 ? "1 answer is" : `${n} answers are`} kept, without your name.`;
}

function onKey(event) {
  if (!event.altKey || !["ArrowDown", "ArrowUp", "Enter", "Backspace"].includes(event.key) || !marks.length) return;
  event.preventDefault();
  const caret = area.selectionStart;
  const next = event.key === "ArrowUp" ? (marks.findLast((mark) => mark.end < caret) ?? marks.at(-1)) : (marks.find((mark) => mark.start > caret) ?? marks[0]);
  if (event.key.startsWith("Arrow")) area.setSelectionRange(next.start, next.start);
  else if (here) answer(here, event.key === "Enter" ? "accept" : "reject");
  point();
}

async function read(file) {
  if (!file) return;
  area.value = await file.text();
  area.focus();
  changed();
}

function wireFiles() {
  const input = form.querySelector("input[type=file]");
  input.addEventListener("change", () => {
    const [file] = input.files;
    input.value = "";
    read(file);
  });
  for (const [name, isOver] of Object.entries({ dragover: true, dragleave: false, drop: false })) {
    form.addEventListener(name, (event) => {
      event.preventDefault();
      form.classList.toggle("is-over", isOver);
      if (name === "drop") read(event.dataTransfer.files[0]);
    });
  }
}

form.classList.add("is-live");
area.addEventListener("input", changed);
area.addEventListener("keydown", onKey);
for (const name of ["keyup", "click"]) area.addEventListener(name, point);
share.querySelector("button").addEventListener("click", contribute);
form.querySelector("[data-copy]").addEventListener("click", async (event) => {
  await navigator.clipboard?.writeText(area.value);
  event.target.textContent = "Copied";
});
wireFiles();
try {
  area.value ||= sessionStorage.getItem(KEPT) ?? "";
} catch {
  // A setting forbids it.
}
changed();
