// The end of an essay: is it ready, and then on its way.

import { Sender } from "./sending.js";
import { byId, countWords } from "./page.js";
import { toWire } from "./marks.js";

export function wireFinish({ desk, saver, sender, sent, text, watch }) {
  byId("finish").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!(await isReady(desk))) return;
    setClosed(true);
    saver.stop();
    const form = {
      submission_id: sent.submission,
      edits: JSON.stringify(toWire(desk.state.marks, text)),
      ...(desk.state.rejected.length ? { rejected: JSON.stringify(desk.state.rejected) } : {}),
      seconds: watch.seconds().toFixed(1),
      ...(desk.state.setAside ? { set_aside: "1" } : {}),
    };
    const next = await sender.deliver({ lease: sent.lease, url: sent.urls.submit, form });
    if (next) {
      window.location.assign(next);
      return;
    }
    setClosed(false);
    saver.goOn();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    byId("finish").requestSubmit();
  });
}

/** What is on its way cannot be changed any more: a mark made now would be lost. */
function setClosed(isClosed) {
  for (const id of ["essay", "list", "finish"]) byId(id).inert = isClosed;
  for (const button of document.querySelectorAll(".tools button")) button.inert = isClosed;
}

/** Whether the essay can go: nothing is left on an open slip, every correction that is owed is there, and an essay without marks is meant so. */
async function isReady(desk) {
  if (!desk.putAway()) {
    byId("save-state").textContent = "One mark has no kind of error yet: choose one, or press Esc to discard the mark";
    return false;
  }
  const [first, ...others] = desk.unfinished();
  if (first) {
    desk.openMark(first);
    desk.say(`${countWords(others.length + 1)} without a correction. This is the first.`);
    byId("save-state").textContent = `${countWords(others.length + 1)} without a correction: this is the first`;
    return false;
  }
  return desk.state.setAside || desk.state.marks.length > 0 || asks(byId("no-marks"));
}

function asks(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

/** Answers that never got through go now, those to other essays quietly: their ids make them count once. */
export async function sendLeftovers({ keep, sent, tell }) {
  for (const answer of keep.answers()) {
    const isThisEssay = answer.lease === sent.lease;
    if (isThisEssay) setClosed(true);
    const sender = new Sender({ token: sent.token, keep, tell: isThisEssay ? tell : () => {} });
    const next = await sender.deliver(answer);
    if (next && isThisEssay) window.location.assign(next);
    else if (isThisEssay) setClosed(false);
  }
}
