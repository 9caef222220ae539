// What `corpus lint` would ask about this essay (NUCLE, section 4), as notes to jump to.

import { element } from "./element.js";

export function drawFindings(root, findings, jump) {
  root.hidden = findings.length === 0;
  const list = root.querySelector("ul");
  list.replaceChildren(...findings.map((finding) => entry(finding, jump)));
}

function entry(finding, jump) {
  const item = element("li");
  if (finding.start === null) {
    item.textContent = finding.message;
    return item;
  }
  const button = element("button", "finding", finding.message);
  button.type = "button";
  button.addEventListener("click", () => jump({ start: finding.start, end: finding.end }));
  item.append(button);
  return item;
}
