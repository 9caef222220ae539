"use strict";
(() => {
  const named = (id) => document.getElementById(id);

  // Whatever a link leads to is unfolded.
  const folded = "details:not([open])";
  const reveal = () => {
    const target = location.hash && named(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.closest(folded)) return;
    for (let fold = target.closest(folded); fold; fold = fold.parentElement.closest(folded)) fold.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // The section that is read is marked in the contents.
  const links = [...document.querySelectorAll("#contents li a")];
  const mark = () => {
    const above = links.filter((link) => {
      const part = named(link.hash.slice(1));
      const fold = part.parentElement.closest(folded);
      return !fold && part.getBoundingClientRect().top < innerHeight / 3;
    });
    for (const link of links) {
      if (link === (above.at(-1) ?? links[0])) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", mark, { passive: true });
  addEventListener("resize", mark);
  mark();

  // A threshold is moved: the point on the curve moves with it, and the sentences say what becomes of them.
  const box = named("thresholds-tried");
  if (!box) return;
  const sliders = JSON.parse(named("sliders").textContent);
  const [range, choice, curve, words] = ["threshold", "threshold-system", "threshold-curve", "threshold-words"].map(named);
  const items = [...document.querySelectorAll("[data-scores]")].map((item) => ({
    item, scores: JSON.parse(item.dataset.scores), state: item.querySelector(".state"),
  }));
  const draw = (name, attributes) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
    return shape;
  };
  const across = (recall) => 40 + 240 * recall;
  const down = (precision) => 10 + 180 * (1 - precision);
  let slider, dots, ghost;

  const flags = (threshold, score) => (slider.flags_high ? score >= threshold : score <= threshold);
  const move = () => {
    const [threshold, , , verdict] = slider.points[range.value];
    const place = Number(range.value);
    const which = threshold === null ? "as it is" : `at threshold ${Number(threshold.toPrecision(3))}`;
    words.textContent = `${slider.system} ${which}${place === slider.own ? " (its own)" : ""}: ${verdict}`;
    range.setAttribute("aria-valuetext", words.textContent);
    dots.forEach((dot, number) => dot.classList.toggle("here", number === place));
    for (const { item, scores, state } of items) {
      const score = scores[slider.system];
      const known = threshold !== null && score !== undefined;
      item.classList.toggle("is-flagged", known && flags(threshold, score));
      state.textContent = known ? (flags(threshold, score) ? "flagged at this threshold" : "not flagged at this threshold") : "";
    }
  };
  const choose = () => {
    slider = sliders[choice.value];
    range.max = slider.points.length - 1;
    range.value = slider.own;
    const places = slider.points.map(([, precision, recall]) => [across(recall), down(precision)]);
    const line = draw("polyline", { points: [...places].sort((one, other) => one[0] - other[0]).join(" ") });
    dots = places.map(([cx, cy], number) => {
      const dot = draw("circle", { cx, cy, r: number === slider.own ? 5 : 4 });
      dot.classList.toggle("own", number === slider.own);
      dot.addEventListener("click", () => { range.value = number; move(); });
      return dot;
    });
    ghost = draw("circle", { r: 9, class: "ghost" });
    curve.replaceChildren(line, ...dots, ghost);
    move();
  };
  // From a sentence to the chart: the last threshold that still flags it.
  for (const { item, scores } of items) {
    const show = () => {
      const place = slider.points.findIndex(([threshold]) => threshold !== null && flags(threshold, scores[slider.system]));
      if (place < 0) return;
      ghost.setAttribute("cx", dots[place].getAttribute("cx"));
      ghost.setAttribute("cy", dots[place].getAttribute("cy"));
      ghost.classList.add("shown");
    };
    item.addEventListener("pointerenter", show);
    item.addEventListener("pointerleave", () => ghost.classList.remove("shown"));
  }
  range.addEventListener("input", move);
  choice.addEventListener("change", choose);
  named("threshold-own").addEventListener("click", () => { range.value = slider.own; move(); });
  box.hidden = false;
  choose();
})();
