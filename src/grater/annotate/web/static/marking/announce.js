// Tells a screen reader what has happened, politely, and everybody else in the line under the tool bar.

export class Announcer {
  constructor(node) {
    this.node = node;
  }

  say(words) {
    // The same words twice are a new announcement only if the text changes.
    this.node.textContent = this.node.textContent === words ? `${words}\u00a0` : words;
  }
}
