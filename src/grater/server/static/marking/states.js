// Where the work stands, in words for the annotator.

export const STATES = {
  saved: "All marks saved",
  changed: "Not saved yet",
  saving: "Saving …",
  offline: "No connection: your marks are kept in this browser, and saved as soon as it is back",
  failing: "The server cannot save now: your marks are kept in this browser, and sent again shortly",
  unkept: "Not saved yet, and this browser keeps nothing: stay on this page until it says saved",
  stale: "Another tab or device has saved this essay: choose which version stays",
  "signed-out": "You are signed out: sign in again in another tab, then load this page again; your marks are kept in this browser",
  refused: "The server did not take this",
  sending: "Sending …",
  unsent: "No connection: your finished essay is kept in this browser, and sent as soon as it is back",
};
