// Keys that were typed before the page could act on them, struck again in their order once it can.

export class TypedAhead {
  constructor() {
    this.keys = [];
  }

  /** Keeps a key for later, unless it is one that only goes with others. */
  keep(event) {
    const { key, shiftKey, altKey } = event;
    if (event.ctrlKey || event.metaKey || !(isText(key) || NAMED.test(key))) return;
    event.preventDefault();
    this.keys.push({ key, shiftKey, altKey });
  }

  strike() {
    for (const key of this.keys.splice(0)) strike(key);
  }
}

const NAMED = /^(Arrow\w+|Backspace|Delete|End|Enter|Escape|Home|Insert|Tab)$/;

function isText(key) {
  return [...key].length === 1;
}

/** A key where the focus is now; what the browser itself would do with it is done here, as far as a slip needs it. */
function strike({ key, shiftKey, altKey }) {
  const target = document.activeElement;
  const event = new KeyboardEvent("keydown", { key, shiftKey, altKey, bubbles: true, cancelable: true });
  const isOurs = !target.dispatchEvent(event);
  if (isOurs || altKey || !target.matches("input, textarea")) return;
  if (isText(key)) write(target, key);
  else if (key === "Backspace") write(target, "", 1);
}

function write(field, words, nBack = 0) {
  const { selectionStart: start, selectionEnd: end } = field;
  field.setRangeText(words, start === end ? Math.max(0, start - nBack) : start, end, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
