// The slip on which a mark is made: kind of error, correction, comment.  Nothing is changed until it is saved.

import { Corrections } from "./corrections.js";
import { TagField } from "./tags.js";

const TOOLS = 90; // the height of the tool bar that stays at the top

export class Picker {
  /** `saved(values)`, `removed()`, `closed(left)` hear what the annotator did, `typed()` of every change on the slip;
   * `left` is what stood on a slip that was left without saving, or null. */
  constructor(root, { tags, saved, removed, closed, typed, say }) {
    Object.assign(this, { root, saved, removed, closed, typed, say });
    const part = (name) => root.querySelector(`[data-part="${name}"]`);
    this.words = part("words");
    this.comment = part("comment");
    this.removeButton = part("remove");
    this.corrections = new Corrections(part("corrections"), part("correction-hint"), part("add"));
    this.field = part("tag");
    this.tagField = new TagField({
      field: this.field,
      list: part("tags"),
      help: part("tag-help"),
      tags,
      chosen: () => this.corrections.focus(),
    });
    part("save").addEventListener("click", () => this.save());
    part("cancel").addEventListener("click", () => this.cancel());
    this.removeButton.addEventListener("click", () => this.removed());
    root.addEventListener("keydown", (event) => this.#key(event));
    for (const name of ["input", "click"]) root.addEventListener(name, () => this.isOpen && this.typed());
  }

  get isOpen() {
    return !this.root.hidden;
  }

  /** Whether something stands on the slip that would be lost with it. */
  get isTyped() {
    return this.isOpen && this.#summary() !== this.opened;
  }

  /** What stands on the slip, to be put there again. */
  get values() {
    return { letters: this.field.value, corrections: this.corrections.words, comment: this.comment.value };
  }

  /** Opens for words, at a rectangle of the page; `mark` where there is one already, `typed` what was typed ahead,
   * `left` what stood there before. */
  open({ quote, mark = null, typed = "", left = null, rect, isTouch = false }) {
    this.#quote(quote);
    this.tagField.show({ code: mark?.tag ?? "" });
    this.corrections.show(quote, mark?.replacements ?? []);
    this.comment.value = mark?.comment ?? "";
    this.opened = this.#summary();
    if (typed) this.tagField.show({ typed });
    if (left) this.#putBack(quote, left);
    this.removeButton.hidden = mark === null;
    this.root.hidden = false;
    this.#place(rect);
    if (isTouch) this.root.focus(); // a field would call up the phone's keyboard over the tags
    else this.field.focus();
    if (mark && !isTouch) this.field.select();
  }

  /** The mark has other words now: one of its ends was moved. */
  requote(quote) {
    this.#quote(quote);
    this.corrections.requote(quote);
  }

  close() {
    this.root.hidden = true;
  }

  cancel() {
    const left = this.isTyped ? this.values : null;
    this.close();
    this.closed(left);
  }

  /** Stays open, and says what is missing. */
  hold() {
    this.say("What you typed is not saved yet: choose the kind of error, or press Esc to discard it.");
    this.field.focus();
  }

  /** Saves what is on the slip; false where the kind of error is not chosen yet. */
  save() {
    const tag = this.tagField.tag;
    if (!tag) {
      this.say("Choose the kind of error first.");
      this.field.focus();
      return false;
    }
    const values = { tag: tag.code, replacements: this.corrections.replacements, comment: this.comment.value.trim() };
    this.close();
    this.saved(values);
    return true;
  }

  #summary() {
    return JSON.stringify([this.field.value, this.corrections.replacements, this.comment.value.trim()]);
  }

  #putBack(quote, { letters, corrections, comment }) {
    this.tagField.show({ typed: letters });
    this.corrections.show(quote, [], corrections);
    this.comment.value = comment;
  }

  #quote(quote) {
    this.words.textContent = quote === "" ? "Insert here" : quote;
  }

  #key(event) {
    if (event.isComposing) return;
    if (event.key === "Escape") this.#handled(event, () => this.cancel());
    else if (event.key === "Enter" && event.target.tagName !== "BUTTON") this.#enter(event);
    else if (event.key === "Tab" && !event.shiftKey && event.target === this.field) {
      this.#handled(event, () => this.#onToCorrections());
    }
  }

  #enter(event) {
    if (event.shiftKey && event.target.tagName === "TEXTAREA") return; // a new line of the correction
    const isTagOnly = event.target === this.field && !event.ctrlKey && !event.metaKey;
    const tag = this.tagField.tag;
    if (isTagOnly && tag?.owes_correction) {
      this.#handled(event, () => this.#onToCorrections());
    } else this.#handled(event, () => this.save());
  }

  #onToCorrections() {
    this.tagField.settle();
    this.corrections.focus();
  }

  #handled(event, action) {
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  /** Below the words where there is room, else above; on a narrow page the style sheet keeps it at the bottom. */
  #place(rect) {
    const around = this.root.offsetParent?.getBoundingClientRect() ?? { left: 0, top: 0, width: window.innerWidth };
    const { offsetWidth: width, offsetHeight: height } = this.root;
    const left = Math.max(0, Math.min(rect.left - around.left - 16, around.width - width));
    const isAbove = rect.bottom + height + 30 > window.innerHeight && rect.top - height - 8 > TOOLS;
    const top = isAbove ? rect.top - around.top - height - 8 : rect.bottom - around.top + 22;
    this.root.style.setProperty("--left", `${Math.round(left)}px`);
    this.root.style.setProperty("--top", `${Math.round(top)}px`);
    const hidden = this.root.getBoundingClientRect().bottom + 8 - window.innerHeight;
    if (hidden > 0) window.scrollBy(0, Math.min(hidden, rect.top - TOOLS)); // the words themselves stay in sight
  }
}
