// The keyboard on the essay: which key asks for what.  A request is a method of the desk or of the walk, with its values.

const MOVES = {
  ArrowRight: ["move", 1],
  ArrowLeft: ["move", -1],
  ArrowDown: ["line", 1],
  ArrowUp: ["line", -1],
  Home: ["edge", -1],
  End: ["edge", 1],
};

const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/** The request that a key press makes, or null where the key is not ours. */
export function requestOf({ key, shiftKey, ctrlKey, metaKey, altKey }) {
  const isCommand = ctrlKey || metaKey;
  if (altKey && key in STEPS) return ["step", STEPS[key]];
  if (key in MOVES) {
    const [name, step] = MOVES[key];
    return [name, step, { isStretched: shiftKey, isFine: name === "edge" ? isCommand : altKey }];
  }
  if (isCommand) return null;
  if (key === "Enter") return ["mark", { isNew: shiftKey }];
  if (key === "Delete" || key === "Backspace") return ["remove"];
  if (key === "Insert" || key === "^") return ["gap", -1];
  if (key === "Escape") return ["collapse"];
  if (key === "?") return ["help"];
  if (/^[\p{L}\p{N}]$/u.test(key)) return ["mark", { isNew: true, typed: key }];
  return null;
}

/** Undo and redo are for the whole page, but in a field they belong to the field. */
export function historyRequestOf({ key, shiftKey, ctrlKey, metaKey, target }) {
  if (!(ctrlKey || metaKey) || /^(INPUT|TEXTAREA|SELECT)$/.test(target?.tagName ?? "")) return null;
  const letter = key.toLowerCase();
  if (letter === "y" || (letter === "z" && shiftKey)) return "redo";
  return letter === "z" ? "undo" : null;
}
