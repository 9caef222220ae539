// Two versions of the same work: the one on this screen or in this browser, and a newer one on the server.

import { byId, countWords, showState } from "./page.js";
import { fromWire, isSameDraft } from "./marks.js";

export function stateOf(body) {
  return { marks: fromWire(body?.edits), setAside: body?.set_aside === true, rejected: body?.rejected ?? [] };
}

/** Work that this browser kept and the server never got: taken up again, or a choice where the server has moved on. */
export function takeUpKept({ desk, saver, keep, sent }) {
  const kept = keep.draft();
  if (!kept) return;
  if (isSameDraft(kept.body, sent.draft.body)) {
    keep.forgetDraft(); // it got there, and only the receipt was lost
    return;
  }
  if (kept.revision === sent.draft.revision) {
    desk.apply(stateOf(kept.body), "took up the marks kept in this browser");
    return;
  }
  const theirs = { revision: sent.draft.revision, body: sent.draft.body };
  desk.history.state = stateOf(kept.body);
  desk.draw();
  saver.stop();
  showState("stale");
  chooseVersion({ desk, saver, theirs, body: () => kept.body });
}

export function chooseVersion({ desk, saver, theirs, body }) {
  if (isSameDraft(body(desk.state), theirs.body)) {
    saver.resume(theirs.revision, null); // the same marks: there is nothing to choose
    return;
  }
  const dialog = byId("stale");
  byId("stale-theirs").textContent = countWords(theirs.body?.edits?.length ?? 0);
  byId("stale-mine").textContent = countWords(desk.state.marks.length);
  dialog.oncancel = (event) => event.preventDefault(); // Escape is no choice
  byId("take-theirs").onclick = () => {
    dialog.close();
    desk.history.apply(stateOf(theirs.body), "took the other version"); // undo brings mine back
    desk.draw();
    saver.resume(theirs.revision, null);
  };
  byId("keep-mine").onclick = () => {
    dialog.close();
    saver.resume(theirs.revision, body(desk.state));
  };
  if (!dialog.open) dialog.showModal();
}
