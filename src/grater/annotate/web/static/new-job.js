// The form of a new job: a preview that follows what is filled in, and people who are searched instead of listed.
//
// Without this module a button shows the preview, and everybody is listed.

const PAUSE = 400; // ms without a change until the preview is asked for
const MANY = 12; // people that need no search

const form = document.querySelector("form.new-job");
const preview = document.getElementById("preview");
let waiting = 0;
let asked = 0;

async function showPreview() {
  if (!form.querySelector("[name=task]:checked")) return;
  asked += 1;
  const mine = asked;
  preview.setAttribute("aria-busy", "true");
  const reply = await fetch("/manage/jobs/preview", { method: "POST", body: new FormData(form) }).catch(() => null); // no network: the button still works
  if (mine !== asked) return;
  preview.removeAttribute("aria-busy");
  if (!reply || reply.redirected || !reply.headers.get("content-type")?.startsWith("text/html")) return;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  const shown = page.getElementById("preview");
  if (shown) preview.replaceChildren(...shown.childNodes);
}

function onChange() {
  clearTimeout(waiting);
  waiting = setTimeout(showPreview, PAUSE);
}

function searchPeople() {
  const people = [...document.querySelectorAll(".people-list .choice")];
  if (people.length <= MANY) return;
  const search = document.getElementById("people-search");
  const count = document.getElementById("people-count");
  const show = () => {
    const words = search.value.trim().toLocaleLowerCase();
    let n = 0;
    for (const person of people) {
      const isChosen = person.querySelector("input").checked;
      const isMeant = words !== "" && person.textContent.toLocaleLowerCase().includes(words);
      person.hidden = !isChosen && !isMeant;
      n += isMeant;
    }
    count.textContent = words ? `${n} of ${people.length} people` : `${people.length} people: type part of a name`;
  };
  search.parentElement.hidden = false;
  search.addEventListener("input", show);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  show();
}

for (const button of document.querySelectorAll(".without-script")) button.hidden = true;
form.addEventListener("input", onChange);
form.addEventListener("change", onChange);
searchPeople();
onChange();
