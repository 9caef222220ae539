// The finished essay on its way.  One answer has one id for ever, so sending it again can never count twice.

import { isLogin, jsonOf } from "./saving.js";

const WAIT = 3000;

export class Sender {
  constructor({ token, keep, tell }) {
    Object.assign(this, { token, keep, tell });
  }

  /** Sends until the server has it; gives the address of the next page, or null where the server refuses. */
  async deliver(answer) {
    this.keep.keepAnswer(answer);
    for (;;) {
      this.tell("sending");
      const reply = await this.post(answer);
      if (reply.status === 200) {
        this.keep.forgetAnswer(answer.lease);
        return reply.url;
      }
      if (reply.status !== 0 && reply.status < 500 && reply.status !== 429) {
        const isSignedOut = reply.status === 401;
        if (!isSignedOut) this.keep.takeBack(answer.lease);
        this.tell(isSignedOut ? "signed-out" : "refused", reply.message);
        return null;
      }
      this.tell(reply.status === 0 ? "unsent" : "failing");
      await backOnline(WAIT);
    }
  }

  async post(answer) {
    try {
      const form = new URLSearchParams({ ...answer.form, csrf: this.token });
      const reply = await fetch(answer.url, { method: "POST", body: form });
      const status = isLogin(reply) ? 401 : reply.status;
      return { status, url: reply.url, message: reply.ok ? "" : await reasonOf(reply) };
    } catch {
      return { status: 0, url: "", message: "" }; // no network
    }
  }
}

/** What the server has against it: errors are pages for people, and this is the page's own words. */
async function reasonOf(reply) {
  const isPage = (reply.headers.get("Content-Type") ?? "").includes("html");
  if (!isPage) return (await jsonOf(reply)).message ?? "";
  const page = new DOMParser().parseFromString(await reply.text(), "text/html"); // inert: nothing in it runs
  return [...page.querySelectorAll("main p")].map((line) => line.textContent.trim()).join(" ");
}

function backOnline(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    window.addEventListener("online", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
