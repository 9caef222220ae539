// A new element with its class and its words; words are always text, never markup.

export function element(name, className = "", words = "") {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (words) node.textContent = words;
  return node;
}
