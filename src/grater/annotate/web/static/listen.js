// Every key of a page, those too that were pressed before its modules had come (early.js).

export function listenToKeys(onKey) {
  const early = globalThis.earlyKeys ?? [];
  globalThis.earlyKeys = null;
  document.addEventListener("keydown", onKey);
  for (const event of early.filter(isStillToDo)) onKey(event);
}

/** Letters and digits do nothing by themselves outside fields; other keys have had their effect on what had the focus. */
function isStillToDo({ key, target }) {
  return target.isConnected && (target === document.body || ([...key].length === 1 && key !== " "));
}
