// Where the work stands, in words for the annotator.

export const STATES = {
  saved: "All marks saved",
  changed: "Not saved yet",
  saving: "Saving …",
  offline: "No connection: your marks are kept in this browser and will be saved when it is back",
  failing: "The server cannot save now: your marks are kept in this browser and will be sent again shortly",
  unkept: "Not saved yet, and this browser stores nothing: stay on this page until it says saved",
  stale: "Another tab or device has saved this essay: choose which version to keep",
  "signed-out": "You are logged out: log in again in another tab, then reload this page; your marks are kept in this browser",
  refused: "The server refused this",
  sending: "Sending …",
  unsent: "No connection: your finished essay is kept in this browser and will be sent when it is back",
};
