// A form is sent once, however often it is clicked; without a network it waits for it on the page.
//
// The browser's own page for a lost connection would take the answers away.

export function sendOnce(form) {
  const notice = placeForNotice(form);
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (form.dataset.sent) event.preventDefault();
    else if (!navigator.onLine) {
      event.preventDefault();
      notice.textContent = "No connection: your answer stays on this page and will be sent when it is back.";
    } else form.dataset.sent = "yes";
  });
  window.addEventListener("online", () => notice.textContent && form.requestSubmit());
  // The page may come back from the browser's memory with the form still marked as sent.
  window.addEventListener("pageshow", () => delete form.dataset.sent);
}

/** Where the page says so; it must be there before it has something to say. */
function placeForNotice(form) {
  const node = document.createElement("p");
  node.className = "notice";
  node.setAttribute("role", "status");
  form.append(node);
  return node;
}
