// The adjudication page of an essay.  The form works without this: here its fields for a correction of one's own are
// shown where they are asked for, and what nobody marked can be marked, on the desk of the marking page.

import { Announcer } from "./announce.js";
import { Desk } from "./desk.js";
import { Text } from "./text.js";
import { byId } from "./page.js";
import { hideTheRest, partsOfPage, wireButtons } from "./tools.js";
import { sendOnce } from "../send-once.js";
import { stateOf } from "./versions.js";
import { toWire } from "./marks.js";
import { wireKeys } from "./decisions.js";

function wirePlaces() {
  for (const place of document.querySelectorAll(".place")) {
    const [own, remark, opener] = [".own", ".remark", ".remark-open"].map((part) => place.querySelector(part));
    const [choice, comment] = [place.querySelector('input[value="own"]'), remark.querySelector("input")];
    const show = () => { own.hidden = !choice.checked; };
    place.addEventListener("change", show);
    show();
    remark.hidden = !comment.value;
    opener.hidden = false;
    opener.addEventListener("click", () => {
      remark.hidden = false;
      comment.focus();
    });
  }
}

/** The desk on which marks of one's own are made; they go along in a field of the form. */
function layDesk(sent, field) {
  const text = new Text(sent.text);
  const announcer = new Announcer(byId("announce"));
  hideTheRest();
  byId("own-desk").hidden = false;
  const desk = new Desk({
    text,
    tags: sent.tags,
    state: stateOf({ edits: editsIn(field.value) }),
    parts: partsOfPage(),
    say: (words) => announcer.say(words),
    changed: ({ marks }) => {
      field.value = JSON.stringify(toWire(marks, text));
      field.dispatchEvent(new Event("change", { bubbles: true }));
    },
  });
  if (desk.state.marks.length) byId("whole").open = true;
  wireButtons(desk);
  return desk;
}

/** The form was refused for what stands in the field: the page shows why. */
function editsIn(words) {
  try {
    return JSON.parse(words);
  } catch {
    return [];
  }
}

/** A mark that owes a correction is opened instead of sent; a slip still open is put away first, or stays. */
function holdBack(event, desk) {
  if (!desk.putAway()) {
    event.preventDefault();
    byId("whole").open = true;
    return;
  }
  const [first] = desk.unfinished();
  if (!first) return;
  event.preventDefault();
  byId("whole").open = true;
  desk.openMark(first);
  desk.say("This mark has no correction yet.");
}

wirePlaces();
wireKeys();
const desk = layDesk(JSON.parse(byId("marking-data").textContent), byId("more"));
byId("decision").addEventListener("submit", (event) => holdBack(event, desk));
sendOnce(byId("decision"));
window.addEventListener("beforeunload", (event) => desk.editing.isTyped && event.preventDefault());
