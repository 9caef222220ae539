// Keys pressed while the page's modules are still on their way: they wait here for listen.js.
//
// A classic script in the head: nothing of the page is seen before it runs, so anyone who sees the page can press keys.

globalThis.earlyKeys = [];
document.addEventListener("keydown", (event) => globalThis.earlyKeys?.push(event));
