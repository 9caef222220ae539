// A system's marks on the essay, as suggestions: accepted, changed or rejected by one key each, where the job offers them.
//
// A suggestion is open until a mark is made of it or it is rejected; undo opens it again.  In the text it is drawn like a
// mark, but dotted, with its correction; ids of suggestions are negative, so that no mark has the same.

import { byId } from "./page.js";
import { inWords } from "./marks.js";

export class Ghosts {
  constructor(suggestions) {
    this.all = suggestions.map((each, number) => Object.freeze({ ...each, id: -1 - number, number, isGhost: true, comment: "" }));
    this.memory = {};
  }

  /** Those that nothing has become of yet. */
  open({ marks, rejected = [] }) {
    if (!this.all.length) return this.all;
    const settled = new Set([...rejected, ...marks.map(({ suggestion }) => suggestion)]);
    return this.all.filter(({ number }) => !settled.has(number));
  }

  /** The open one that stands exactly there. */
  at({ start, end }, state) {
    return this.open(state).find((ghost) => ghost.start === start && ghost.end === end) ?? null;
  }

  /** What is drawn: the marks and the open suggestions; the same list again as long as neither changes. */
  among(marks, state) {
    if (!this.all.length) return marks;
    if (this.memory.marks !== marks || this.memory.rejected !== state.rejected) {
      this.memory = { marks, rejected: state.rejected, drawn: [...marks, ...this.open(state)] };
    }
    return this.memory.drawn;
  }
}

/** The line that says what is offered at the cursor, with a button for each answer. */
export function wireGhosts(desk) {
  const line = byId("ghost-line");
  if (!desk.ghosts.all.length) return;
  line.hidden = false;
  const names = new Map(desk.tags.map((tag) => [tag.code, tag.name]));
  desk.drawn = () => {
    const { ghost } = desk;
    const open = desk.ghosts.open(desk.state).length;
    byId("ghost-words").textContent = ghost
      ? `Suggestion: ${inWords(ghost, desk.text)} (${names.get(ghost.tag) ?? ghost.tag})`
      : `${open} of ${desk.ghosts.all.length} suggestions open`;
    for (const button of line.querySelectorAll("[data-ghost]")) {
      button.hidden = button.dataset.ghost === "step" ? ghost !== null || !open : ghost === null;
    }
  };
  line.addEventListener("mousedown", (event) => event.preventDefault()); // the cursor stays
  line.addEventListener("click", ({ target }) => {
    const asked = target.closest("[data-ghost]")?.dataset.ghost;
    if (!asked) return;
    if (asked === "step") desk.stepToGhost();
    else desk[asked]();
    if (asked !== "change") byId("essay").focus({ preventScroll: true });
  });
  desk.drawn();
}
