// How long the annotator has had the essay before their eyes: a page in the background does not count.

export class Watch {
  constructor() {
    this.before = 0;
    this.since = document.hidden ? null : performance.now();
    document.addEventListener("visibilitychange", () => this.#turn());
  }

  seconds() {
    const now = this.since === null ? 0 : performance.now() - this.since;
    return (this.before + now) / 1000;
  }

  #turn() {
    if (document.hidden && this.since !== null) {
      this.before += performance.now() - this.since;
      this.since = null;
    } else if (!document.hidden && this.since === null) this.since = performance.now();
  }
}
