// What is typed into a form is not lost without a word.
//
// Leaving a page asks first where something was typed and not sent.  Until the server has answered a form with a page
// that is neither an error nor the login, its fields are kept in this tab, by person and address: whoever was signed
// out while typing, was refused or came back later finds them filled in again, and sees a note.

if (!document.body.dataset.person && "caches" in window) caches.delete("essays"); // nobody is logged in: `offline.js`

/** Times as they are where the reader is; the page says UTC. */
function inLocalTime() {
  for (const time of document.querySelectorAll("time[datetime]:not([title])")) {
    const when = new Date(time.dateTime);
    time.title = time.textContent;
    time.textContent = new Date(when - when.getTimezoneOffset() * 60_000).toISOString().slice(0, 16).replace("T", " ");
  }
}

inLocalTime();
new MutationObserver(inLocalTime).observe(document.body, { childList: true, subtree: true }); // pages that renew themselves

const PREFIX = "grater:typed:";
const MINE = `${PREFIX}${document.body.dataset.person ?? ""}:`;
const TYPED = "textarea, input:is(:not([type]), [type=text], [type=number], [type=url], [type=email], [type=search], [data-keep])";
const KEPT = `:is(${TYPED}, select, input[type=radio], input[type=checkbox])[name]`;

let leaving = null; // the form that is on its way

class Kept {
  constructor() {
    try {
      this.storage = window.sessionStorage;
    } catch {
      this.storage = null; // a setting forbids it, and then even asking throws
    }
  }

  names(prefix) {
    return this.storage ? Object.keys(this.storage).filter((name) => name.startsWith(prefix)) : [];
  }

  read(name) {
    try {
      return JSON.parse(this.storage?.getItem(name) ?? "null");
    } catch {
      return null; // not ours, or cut short
    }
  }

  write(name, value) {
    try {
      this.storage?.setItem(name, JSON.stringify(value));
    } catch {
      // Full: leaving still asks.
    }
  }

  forget(name) {
    this.storage?.removeItem(name);
  }
}

const kept = new Kept();

const fieldsOf = (form) => [...form.elements].filter((field) => field.matches(KEPT));

/** By page, address and whatever else tells two forms of a page apart. */
function nameOf(form) {
  const hidden = [...form.elements].filter((field) => field.matches("[type=hidden]:not([data-keep], [name=csrf], [name=version])"));
  return [MINE + window.location.pathname, form.getAttribute("action"), ...hidden.map(({ value }) => value)].join(" ");
}

/** A hidden field has no default of its own: its value is its default. */
const firstOf = (field) => field.dataset.first ?? field.defaultValue;

function isChanged(field) {
  if (field.matches("[type=radio], [type=checkbox]")) return field.checked !== field.defaultChecked;
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected && option.selected);
  return field.value !== firstOf(field);
}

/** Whether words would be lost with the form: typed since the page came, or shown by a page that did not store them. */
function isTyped(form) {
  const isUnsaved = form.dataset.unsaved !== undefined || document.querySelector("main [role=alert]") !== null;
  return fieldsOf(form).some((field) => field.matches(TYPED) && (isChanged(field) || (isUnsaved && field.value !== "")));
}

function keepForm(form) {
  const fields = fieldsOf(form);
  const values = fields.map((field) => [field.name, field.value, field.checked ?? null]);
  if (fields.some(isChanged)) kept.write(nameOf(form), { page: window.location.pathname, values, isSent: false });
  else kept.forget(nameOf(form));
}

/** Fills a form as it was left; false where the form is another one by now. */
function fill(form, values) {
  const fields = fieldsOf(form);
  const isSame = fields.length === values.length && fields.every(({ name }, n) => name === values[n][0]);
  if (!isSame) return false;
  fields.forEach((field, n) => {
    const [, value, isChecked] = values[n];
    if (isChecked !== null && field.matches("[type=radio], [type=checkbox]")) field.checked = isChecked;
    else field.value = value;
  });
  for (let around = form.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  return true;
}

function notice(words, before) {
  const node = document.createElement("p");
  node.className = "note";
  node.setAttribute("role", "status");
  node.append(...words);
  before.prepend(node);
}

function linkTo(path) {
  const link = document.createElement("a");
  link.href = path;
  link.textContent = "go back to it";
  return link;
}

/** What became of the forms that were sent: an error or the login means that they were not stored. */
function settleSent(isStored) {
  for (const name of kept.names(isStored ? MINE : PREFIX)) {
    const entry = kept.read(name);
    if (!entry?.isSent) continue;
    if (isStored) kept.forget(name);
    else kept.write(name, { ...entry, isSent: false, isRefused: true });
  }
}

function takeUp(forms) {
  for (const form of forms) {
    const entry = kept.read(nameOf(form));
    if (entry && fill(form, entry.values)) notice(["What you filled in earlier is back. It is not saved yet."], form);
  }
}

function tellOfOthers() {
  const entries = kept.names(MINE).map((name) => kept.read(name));
  const other = entries.find((entry) => entry?.isRefused && entry.page !== window.location.pathname);
  if (other) notice(["A form you sent was not saved. What you filled in is kept: ", linkTo(other.page), "."], document.querySelector("main"));
}

function watchForm(form) {
  for (const field of form.querySelectorAll("[data-keep]")) field.dataset.first ??= field.value;
  for (const event of ["input", "change"]) form.addEventListener(event, () => keepForm(form));
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  leaving = form;
  if (form.getAttribute("action") === "/logout") for (const name of kept.names(MINE)) kept.forget(name);
  const entry = kept.read(nameOf(form));
  if (entry) kept.write(nameOf(form), { ...entry, isSent: true });
});
window.addEventListener("pageshow", () => { leaving = null; });

let forms = [];

/** The forms of the page as it is now; it may change without being loaded (quick.js). */
function takeForms() {
  forms = [...document.querySelectorAll('main form[method="post"]')].filter((form) => fieldsOf(form).length);
  forms.forEach(watchForm);
}

document.addEventListener("grater:stored", (event) => kept.forget(nameOf(event.detail)));
document.addEventListener("grater:arrived", takeForms);

const isLogin = document.body.dataset.person === undefined;
const isError = document.body.dataset.error !== undefined;
const isOver = document.body.dataset.over !== undefined; // the last answer ended the session, and is stored
settleSent(!isLogin && !isError);
if (isOver) {
  for (const name of kept.names(PREFIX)) kept.forget(name);
} else if (isLogin) {
  if (kept.names(PREFIX).length) notice(["What you filled in is kept in this tab: log in to continue."], document.querySelector("main"));
} else {
  takeForms();
  takeUp(forms);
  tellOfOthers();
  window.addEventListener("beforeunload", (event) => {
    if (forms.some((form) => form !== leaving && form.isConnected && isTyped(form))) event.preventDefault();
  });
}
