// What was done, so that it can be undone.  A state is a value: { marks, setAside, reason }.

const MOST_STEPS = 1000;

export class History {
  constructor(state) {
    this.state = state;
    this.done = []; // [{ state before, what }]
    this.undone = [];
  }

  /** Makes `state` the present; `what` says to the annotator what was done. */
  apply(state, what) {
    this.done.push({ state: this.state, what });
    if (this.done.length > MOST_STEPS) this.done.shift();
    this.undone = [];
    this.state = state;
  }

  undo() {
    return this.#step(this.done, this.undone);
  }

  redo() {
    return this.#step(this.undone, this.done);
  }

  #step(from, to) {
    const step = from.pop();
    if (!step) return null;
    to.push({ state: this.state, what: step.what });
    this.state = step.state;
    return step.what;
  }
}
