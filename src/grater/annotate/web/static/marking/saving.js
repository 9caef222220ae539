// Autosave with a revision number.  A save says which revision it was made on; where the server has a newer one it
// answers 409 with it, and both are merged, or the annotator chooses: nothing is ever overwritten in silence.

const PAUSE = 700; // ms after the last change
const FIRST_WAIT = 2000;
const LONGEST_WAIT = 30000;

export class Saver {
  /** `tell(state, words)` shows where the work stands; `choose(theirs)` asks the annotator about a newer revision;
   * `heard(reply)` gets what the server says of the draft. */
  constructor({ url, token, revision, base, keep, tell, choose, heard }) {
    Object.assign(this, { url, token, revision, base, keep, tell, choose, heard }); // `base`: the body of the revision
    this.wanted = null; // the newest body, until it is acknowledged
    this.isKept = true;
    this.isBusy = false;
    this.isStopped = false;
    this.wait = FIRST_WAIT;
    this.timer = 0;
  }

  /** Takes note of the newest state of the work. */
  changed(body) {
    this.wanted = body;
    this.isKept = this.keep.keepDraft({ revision: this.revision, body, base: this.base });
    if (this.isStopped) return;
    this.tell(this.isKept ? "changed" : "unkept");
    this.#later(PAUSE);
  }

  /** Whether leaving now would lose something: neither the server nor this browser has it. */
  get isAtRisk() {
    return this.wanted !== null && !this.isKept;
  }

  /** Sends what there is to send now; for the end of a page and for coming back to the network. */
  now() {
    clearTimeout(this.timer);
    return this.#send();
  }

  /** Goes on after a choice, from the server's version. */
  resume({ revision, body: base }, body) {
    this.revision = revision;
    this.base = base;
    this.isStopped = false;
    if (body) {
      this.changed(body);
      return this.now();
    }
    this.wanted = null;
    this.keep.forgetDraft();
    this.tell("saved");
    return Promise.resolve();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** After a stop that came to nothing. */
  goOn() {
    this.isStopped = false;
    return this.now();
  }

  #later(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#send(), milliseconds);
  }

  async #send() {
    if (this.isBusy || this.isStopped || this.wanted === null) return;
    this.isBusy = true;
    const body = this.wanted;
    this.tell("saving");
    const reply = await this.#put(body);
    this.isBusy = false;
    this.#heard(reply, body);
  }

  async #put(body) {
    try {
      const answer = await fetch(this.url, {
        method: "PUT",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": this.token, Accept: "application/json" },
        body: JSON.stringify({ revision: this.revision, body }),
        keepalive: JSON.stringify(body).length < 60000, // browsers refuse more than 64 KiB on the way out
      });
      return { status: isLogin(answer) ? 401 : answer.status, json: await jsonOf(answer) };
    } catch {
      return { status: 0, json: {} }; // no network: fetch throws a TypeError
    }
  }

  #heard({ status, json }, body) {
    if (status === 200) this.#acknowledged(json, body);
    else if (status === 409 && Number.isInteger(json.revision)) this.#stale(json);
    else if (status === 0 || status >= 500 || status === 429) this.#again(status);
    else this.#refused(status, json);
  }

  #acknowledged(json, body) {
    this.revision = json.revision;
    this.base = body;
    this.wait = FIRST_WAIT;
    this.keep.keepSeen({ revision: this.revision, body });
    this.heard(json);
    if (this.wanted !== body) {
      this.keep.keepDraft({ revision: this.revision, body: this.wanted, base: body });
      this.#later(PAUSE);
      return;
    }
    this.wanted = null;
    this.keep.forgetDraft();
    this.tell("saved");
  }

  #stale(json) {
    this.stop();
    this.tell("stale");
    this.choose(json);
  }

  #again(status) {
    this.tell(status === 0 ? "offline" : "failing");
    this.#later(this.wait);
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
  }

  #refused(status, json) {
    this.tell(status === 401 || status === 403 ? "signed-out" : "refused", json.message ?? "");
  }
}

/** Whether the server led us to the login page instead: the session is over. */
export function isLogin(answer) {
  return answer.redirected && new URL(answer.url).pathname === "/login";
}

export async function jsonOf(answer) {
  const isJson = (answer.headers.get("Content-Type") ?? "").includes("json");
  return isJson ? answer.json() : {};
}
