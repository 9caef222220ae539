// Two versions of the same work: the one on this screen or in this browser, and a newer one on the server.  What each
// changed since they parted is put together; only spans that both changed, and differently, are a choice.

import { byId, showState } from "./page.js";
import { fromWire, inWords, isSameDraft } from "./marks.js";
import { element } from "./element.js";

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
  saver.base = kept.base ?? null;
  showState("stale");
  chooseVersion({ desk, saver, theirs, body: () => kept.body });
}

/** The marks of both; where they clash those of `mine`, or else of `theirs`. */
export function merged(base, mine, theirs, isMine = true) {
  const [before, here, there] = [base, mine, theirs].map(bySpan);
  const clashes = [];
  const marks = [];
  for (const span of new Set([...before.keys(), ...here.keys(), ...there.keys()])) {
    const [was, my, their] = [before, here, there].map((spans) => spans.get(span) ?? []);
    const isClash = says(my) !== says(their) && says(my) !== says(was) && says(their) !== says(was);
    if (isClash) clashes.push({ mine: my, theirs: their });
    const isKept = isClash ? isMine : says(my) !== says(was) || says(my) === says(their);
    marks.push(...(isKept ? my : their));
  }
  return { marks, clashes };
}

function bySpan(marks) {
  const spans = new Map();
  for (const mark of marks) {
    const span = `${mark.start}-${mark.end}`;
    spans.set(span, [...(spans.get(span) ?? []), mark]);
  }
  return spans;
}

function says(marks) {
  return JSON.stringify(marks.map(({ tag, replacements, comment }) => JSON.stringify([tag, replacements, comment])).sort());
}

/** The state of both versions in one, and the spans on which they clash. */
function bothOf(base, state, body, isMine) {
  const theirs = stateOf(body);
  const { marks, clashes } = merged(stateOf(base).marks, state.marks, theirs.marks, isMine);
  const isMyAside = state.setAside !== stateOf(base).setAside;
  const rejected = [...new Set([...state.rejected, ...theirs.rejected])];
  return { both: { ...state, marks, setAside: isMyAside ? state.setAside : theirs.setAside, rejected }, clashes };
}

export function chooseVersion({ desk, saver, theirs, body }) {
  if (isSameDraft(body(desk.state), theirs.body)) {
    saver.resume(theirs, null); // the same marks: there is nothing to choose
    return;
  }
  const base = saver.base;
  const take = (isMine, words) => {
    const { both } = bothOf(base, desk.state, theirs.body, isMine);
    desk.history.apply(both, words); // undo brings mine back
    desk.draw();
    saver.resume(theirs, body(desk.state));
  };
  const { clashes } = bothOf(base, desk.state, theirs.body, true);
  if (!clashes.length) {
    take(true, "took in what another tab had marked");
    return;
  }
  const dialog = byId("stale");
  byId("stale-differences").replaceChildren(...clashes.map((clash) => difference(clash, desk.text)));
  dialog.oncancel = (event) => event.preventDefault(); // Escape is no choice
  byId("take-theirs").onclick = () => {
    dialog.close();
    take(false, "took the other version");
  };
  byId("keep-mine").onclick = () => {
    dialog.close();
    take(true, "kept the version here");
  };
  if (!dialog.open) dialog.showModal();
}

function difference({ mine, theirs }, text) {
  const said = (mark) => `${inWords(mark, text)} (${mark.tag})${mark.comment && ` “${mark.comment}”`}`;
  const words = (marks) => marks.map(said).join("; ") || "no mark";
  return element("li", "", `Here: ${words(mine)}. There: ${words(theirs)}.`);
}
