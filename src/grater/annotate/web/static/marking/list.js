// The marks in a list beside the text: to look over, to jump to, to remove.
//
// No <li>: a rule on `li + li` in any style sheet would have the browser style 500 of them anew for each new one.

import { inOrder, inWords } from "./marks.js";
import { element } from "./element.js";

export class MarkList {
  /** `opened(id)` and `removed(id)` hear what the annotator asked for. */
  constructor(root, count, { text, tags, opened, removed }) {
    Object.assign(this, { root, count, text, opened, removed });
    this.owes = new Map(tags.map((tag) => [tag.code, tag.owes_correction]));
    this.names = new Map(tags.map((tag) => [tag.code, tag.name]));
    this.entries = new Map(); // id -> { mark, node }
    this.here = null; // the entry of the mark at the cursor
    root.addEventListener("click", (event) => this.#click(event));
  }

  draw(marks, chosen) {
    const ordered = inOrder(marks);
    this.count.textContent = String(ordered.length);
    this.#forget(new Set(ordered.map((mark) => mark.id))); // first, so that the others need not move
    let next = this.root.firstChild;
    for (const mark of ordered) {
      const node = this.#entry(mark);
      node.classList.toggle("chosen", mark.id === chosen);
      if (node === next) next = next.nextSibling;
      else this.root.insertBefore(node, next);
    }
  }

  #forget(present) {
    for (const [id, { node }] of this.entries) {
      if (present.has(id)) continue;
      node.remove();
      this.entries.delete(id);
    }
  }

  show(id) {
    this.entries.get(id)?.node.scrollIntoView({ block: "nearest" });
  }

  /** Lights the mark at the cursor, and brings it into view inside the list: the page itself stays where it is. */
  follow(id) {
    const node = this.entries.get(id)?.node ?? null;
    if (node === this.here) return;
    this.here?.classList.remove("here");
    this.here = node;
    if (!node) return;
    node.classList.add("here");
    const [box, frame] = [node.getBoundingClientRect(), this.root.getBoundingClientRect()];
    if (box.top < frame.top) this.root.scrollTop -= frame.top - box.top;
    else if (box.bottom > frame.bottom) this.root.scrollTop += box.bottom - frame.bottom;
  }

  #entry(mark) {
    const known = this.entries.get(mark.id);
    if (known?.mark === mark) return known.node;
    const node = known?.node ?? element("div", "entry");
    node.setAttribute("role", "listitem");
    node.dataset.id = mark.id;
    node.replaceChildren(...this.#parts(mark));
    this.entries.set(mark.id, { mark, node });
    return node;
  }

  #parts(mark) {
    const open = element("button", "open");
    open.type = "button";
    const name = element("span", "entry-name", this.names.get(mark.tag) ?? "");
    open.append(element("span", "entry-code", mark.tag), name, element("span", "entry-words", inWords(mark, this.text)));
    if (isUnfinished(mark, this.owes)) open.append(element("span", "entry-note", "no correction yet"));
    if (mark.comment) open.append(element("span", "entry-comment", mark.comment));
    const remove = element("button", "remove", "×");
    remove.type = "button";
    remove.setAttribute("aria-label", `Remove ${mark.tag}, ${inWords(mark, this.text)}`);
    return [open, remove];
  }

  #click(event) {
    const button = event.target.closest("button");
    const id = Number(button?.closest(".entry").dataset.id);
    if (!button) return;
    if (button.classList.contains("remove")) this.removed(id);
    else this.opened(id);
  }
}

/** Whether the tag owes a correction that is not there. */
export function isUnfinished(mark, owes) {
  return mark.replacements.length === 0 && owes.get(mark.tag) === true;
}
