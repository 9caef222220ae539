// Puts the marking page together: what the server sent, the desk, the buttons, saving and sending.

import { Announcer } from "./announce.js";
import { Desk } from "./desk.js";
import { Keep, browserStorage } from "./keep.js";
import { Saver } from "./saving.js";
import { Sender } from "./sending.js";
import { Text } from "./text.js";
import { Watch } from "./watch.js";
import { byId, showState } from "./page.js";
import { hideTheRest, partsOfPage, wireButtons } from "./tools.js";
import { chooseVersion, stateOf, takeUpKept } from "./versions.js";
import { drawFindings } from "./findings.js";
import { sendLeftovers, wireFinish } from "./finish.js";
import { toWire } from "./marks.js";
import { wireGhosts } from "./ghosts.js";

export function start(sent) {
  hideTheRest();
  const text = new Text(sent.text);
  const keep = new Keep(browserStorage(), sent.person, sent.lease);
  const seen = keep.seen();
  if (seen && seen.revision > sent.draft.revision) sent.draft = seen; // a kept page, older than the work
  const announcer = new Announcer(byId("announce"));
  const watch = new Watch();
  const slip = keep.slip();
  let isSlipKept = true;
  const body = (state) => ({
    edits: toWire(state.marks, text),
    set_aside: state.setAside,
    ...(state.rejected.length ? { rejected: state.rejected } : {}),
  });
  const drawNotes = ({ findings }) => drawFindings(byId("findings"), findings, (span) => desk.jump(span));
  const desk = new Desk({
    text,
    tags: sent.tags,
    suggestions: sent.suggestions,
    state: stateOf(sent.draft.body),
    parts: partsOfPage(),
    say: (words) => announcer.say(words),
    changed: (state) => saver.changed(body(state)),
    typed: (slip) => { isSlipKept = keep.keepSlip(slip); },
  });
  const saver = new Saver({
    url: sent.urls.draft,
    token: sent.token,
    revision: sent.draft.revision,
    base: sent.draft.body,
    keep,
    tell: showState,
    choose: (theirs) => chooseVersion({ desk, saver, theirs, body }),
    heard: (reply) => drawNotes(reply),
  });
  wireButtons(desk);
  wireGhosts(desk);
  drawNotes(sent);
  wireFinish({ desk, saver, sender: new Sender({ token: sent.token, keep, tell: showState }), sent, text, watch });
  wirePage(saver, () => saver.isAtRisk || !isSlipKept);
  wireReturn(desk, saver);
  showState("saved");
  takeUpKept({ desk, saver, keep, sent });
  if (slip) desk.reopen(slip);
  else if (document.activeElement === document.body) byId("essay").focus({ preventScroll: true });
  sendLeftovers({ keep, sent, tell: showState });
  keepPage();
  requestAnimationFrame(() => setTimeout(() => performance.mark("drawn"))); // for measurements of the page
  return { desk, saver };
}

/** Leaving, hiding and coming back on line all save at once; a page out of the back-forward cache is a stale one. */
function wirePage(saver, isAtRisk) {
  document.addEventListener("visibilitychange", () => document.hidden && saver.now());
  window.addEventListener("online", () => saver.now());
  window.addEventListener("beforeunload", (event) => isAtRisk() && event.preventDefault());
  window.addEventListener("pageshow", (event) => event.persisted && window.location.reload());
}

/** Keeps this page for a reload without a network; the worker does so itself once it looks after the page. */
async function keepPage() {
  if (!("serviceWorker" in navigator) || navigator.serviceWorker.controller) return; // only on https, or on this computer
  try {
    await navigator.serviceWorker.register("/static/offline.js", { scope: "/" });
    const files = [...document.querySelectorAll("script[src], link[rel=stylesheet]")].map((node) => node.src || node.href);
    await (await caches.open("essays")).addAll([window.location.href, ...files]);
  } catch {
    // A setting forbids it: then a reload needs the network.
  }
}

/** An essay that is given back takes the open slip along as a mark, and what is not saved yet. */
function wireReturn(desk, saver) {
  for (const form of document.querySelectorAll("form.stop")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!desk.putAway()) return;
      await saver.now();
      form.submit();
    });
  }
}

const data = byId("marking-data");
if (data) start(JSON.parse(data.textContent));
