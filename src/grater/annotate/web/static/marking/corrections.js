// The correction fields: each begins with the marked words themselves, so that a small change is a small change.
//
// Left as they are, the words are found but not corrected; emptied, they are to go; anything else stands in their
// place.  In a gap an empty field says nothing.  Further fields are alternatives.

import { element } from "./element.js";

export class Corrections {
  constructor(root, hint, addButton) {
    Object.assign(this, { root, hint, addButton });
    this.fields = [];
    addButton.addEventListener("click", () => this.add("").focus());
  }

  /** Shows the replacements of a mark on `quote`, or the fields as they were left. */
  show(quote, replacements, left = null) {
    this.quote = quote;
    this.fields = [];
    this.root.replaceChildren();
    const values = left ?? (replacements.length ? replacements : [quote]);
    for (const value of values) this.add(value);
    this.#explain();
  }

  /** The words of the mark are others now; a field without an answer follows. */
  requote(quote) {
    this.quote = quote;
    for (const each of this.fields) {
      const isUntouched = each.field.value === each.untouched;
      each.untouched = asInField(quote);
      if (isUntouched) each.field.value = quote;
    }
    this.#explain();
  }

  add(value) {
    const number = this.fields.length + 1;
    const label = element("label", number > 1 ? "" : "only-read", number > 1 ? `or else (${number})` : "Correction");
    const field = element("textarea", "correction");
    field.id = `correction-${number}`;
    label.htmlFor = field.id;
    field.rows = 1;
    field.spellcheck = true;
    field.setAttribute("aria-describedby", this.hint.id);
    field.value = value;
    field.addEventListener("input", () => this.#explain());
    field.addEventListener("focus", () => field.select());
    this.fields.push({ field, untouched: asInField(this.quote) });
    this.root.append(label, field);
    return field;
  }

  focus() {
    this.fields[0]?.field.focus();
  }

  /** What stands in the fields, letter by letter. */
  get words() {
    return this.fields.map(({ field }) => field.value);
  }

  /** As on the wire. */
  get replacements() {
    const isGap = this.quote === "";
    const given = this.fields.filter(({ field, untouched }, n) => {
      if (field.value === "") return !isGap && n === 0;
      return field.value !== untouched;
    });
    return [...new Set(given.map(({ field }) => field.value))];
  }

  #explain() {
    const [first] = this.fields;
    if (first.field.value === "") this.hint.textContent = this.quote === "" ? "Write what is missing." : "Empty: the words are deleted.";
    else if (first.field.value === first.untouched) this.hint.textContent = "Unchanged: no correction yet.";
    else this.hint.textContent = "Replaces the marked words.";
  }
}

/** A text area writes every line end as \n, so such a field itself says what "unchanged" looks like. */
function asInField(words) {
  const field = element("textarea");
  field.value = words;
  return field.value;
}
