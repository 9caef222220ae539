// Swipe to answer on a touch screen: to the left for the first answer, to the right for the second.
//
// Only forms that ask one question with two opposite answers have it (`data-swipe`).  A swipe that begins at the edge
// belongs to the browser, one that goes up or down to the page; lifted before it is long enough, it does nothing.

const LONG = 72; // px across until a swipe counts
const EDGE = 24; // px from the edge of the window in which the browser has swipes of its own

let start = null;

const answers = (form) => [...form.querySelectorAll("input[name=label]")].slice(0, 2);

/** The answer that a swipe of this width and height means, or null. */
function meant(form, dx, dy) {
  if (Math.abs(dx) < LONG || Math.abs(dy) > Math.abs(dx) / 2) return null;
  return answers(form)[dx < 0 ? 0 : 1] ?? null;
}

function show(form, input) {
  for (const each of answers(form)) each.closest("label").classList.toggle("swiped", each === input);
}

export function wireSwipe(form, pick) {
  if (!form.matches("[data-swipe]")) return;
  document.getElementById("swipe-hint").hidden = !window.matchMedia("(pointer: coarse)").matches;
  form.addEventListener("pointerdown", ({ pointerType, isPrimary, clientX, clientY }) => {
    const isInside = clientX > EDGE && clientX < window.innerWidth - EDGE;
    start = pointerType === "touch" && isPrimary && isInside ? { x: clientX, y: clientY } : null;
  });
  form.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (start) show(form, meant(form, clientX - start.x, clientY - start.y));
  });
  form.addEventListener("pointerup", ({ clientX, clientY }) => {
    const input = start && meant(form, clientX - start.x, clientY - start.y);
    start = null;
    show(form, null);
    if (input) pick(input);
  });
  form.addEventListener("pointercancel", () => {
    start = null;
    show(form, null);
  });
}
