// The tags to choose from: all at a glance as small keys in their groups, and a field that finds them by a few letters.

import { element } from "./element.js";
import { ranked } from "./ranking.js";

const FEW = 6; // that many that fit show their names, too
const NAMED = 30; // a set of so many shows all its names where the page has room

export class TagField {
  /** `chosen(tag)` hears of a choice made by mouse or touch. */
  constructor({ field, list, help, tags, chosen }) {
    Object.assign(this, { field, list, help, tags, chosen });
    this.byCode = new Map(tags.map((tag) => [tag.code, tag]));
    this.fitting = [];
    this.active = null;
    this.options = new Map();
    this.#build();
    field.addEventListener("input", () => this.#typed());
    field.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Begins with a tag, or with letters, or with nothing. */
  show({ code = "", typed = "" }) {
    this.field.value = code || typed;
    this.fitting = [];
    if (typed && !code) this.#typed();
    else this.#activate(this.byCode.get(code) ?? null);
    this.#dim();
  }

  get tag() {
    return this.active;
  }

  /** Writes the tag that is lit into the field. */
  settle() {
    if (this.active) this.field.value = this.active.code;
  }

  #build() {
    const groups = new Map();
    for (const tag of this.tags) {
      if (!groups.has(tag.group)) groups.set(tag.group, this.#group(tag.group));
      const option = element("span", "tag", tag.code);
      option.append(element("span", "tag-name", tag.name));
      option.id = `tag-${tag.code.replace(/[^A-Za-z0-9]/g, "_")}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.setAttribute("aria-label", `${tag.code}, ${tag.name}`);
      option.title = `${tag.name}. ${tag.description}`;
      option.addEventListener("mousedown", (event) => event.preventDefault());
      option.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.#explain(tag));
      option.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.#explain(this.active));
      option.addEventListener("click", () => this.#pick(tag));
      this.options.set(tag.code, option);
      groups.get(tag.group).append(option);
    }
    this.list.classList.toggle("named", this.tags.length <= NAMED);
    this.list.replaceChildren(...groups.values());
  }

  #group(name) {
    const group = element("div", "tag-group");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", name);
    return group;
  }

  #pick(tag) {
    this.#activate(tag);
    this.settle();
    this.chosen(tag);
  }

  #typed() {
    this.fitting = ranked(this.tags, this.field.value);
    this.#activate(this.fitting[0] ?? null);
    this.#dim();
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const among = this.fitting.length ? this.fitting : this.tags;
    const here = among.indexOf(this.active);
    this.#activate(among[here < 0 ? (step > 0 ? 0 : among.length - 1) : (here + step + among.length) % among.length]);
  }

  #activate(tag) {
    if (this.active) this.options.get(this.active.code).setAttribute("aria-selected", "false");
    this.active = tag;
    if (tag) {
      this.options.get(tag.code).setAttribute("aria-selected", "true");
      this.field.setAttribute("aria-activedescendant", this.options.get(tag.code).id);
    } else this.field.removeAttribute("aria-activedescendant");
    this.#explain(tag);
  }

  #dim() {
    const isOpen = this.fitting.length === 0;
    this.list.classList.toggle("few", !isOpen && this.fitting.length <= FEW);
    for (const tag of this.tags) {
      this.options.get(tag.code).classList.toggle("unfit", !isOpen && !this.fitting.includes(tag));
    }
  }

  #explain(tag) {
    const parts = tag
      ? [element("strong", "", `${tag.code} · ${tag.name}`), ` ${tag.description} `, element("em", "", tag.example)]
      : [this.field.value.trim() ? "No kind of error matches these letters." : "Type a few letters of its code or its name, or pick one to read what it means."];
    this.help.replaceChildren(...parts);
  }
}
