// What the server has not acknowledged is kept in this browser, by person and essay, until it has.

export class Keep {
  constructor(storage, person, lease) {
    this.storage = storage;
    this.prefix = `grater:${person}:`;
    this.lease = lease;
  }

  /** Keeps the marks as they are, with the revision that they were made on.  False where the browser cannot. */
  keepDraft(draft) {
    return this.#write(`draft:${this.lease}`, draft);
  }

  draft() {
    return this.#read(`draft:${this.lease}`);
  }

  forgetDraft() {
    this.storage?.removeItem(`${this.prefix}draft:${this.lease}`);
  }

  /** Keeps what the server acknowledged, for a page that is shown again without it. */
  keepSeen(draft) {
    return this.#write(`seen:${this.lease}`, draft);
  }

  seen() {
    return this.#read(`seen:${this.lease}`);
  }

  /** Keeps what stands on a slip that is not saved yet; null forgets it.  False where the browser cannot. */
  keepSlip(slip) {
    const name = `slip:${this.lease}`;
    if (slip) return this.#write(name, slip);
    this.storage?.removeItem(this.prefix + name);
    return true;
  }

  slip() {
    return this.#read(`slip:${this.lease}`);
  }

  /** Keeps an answer on its way; it knows its address, so that any later page can send it. */
  keepAnswer(answer) {
    return this.#write(`answer:${answer.lease}`, answer);
  }

  /** An answer that the server refuses is an essay still at work: its marks stay. */
  takeBack(lease) {
    this.storage?.removeItem(`${this.prefix}answer:${lease}`);
  }

  forgetAnswer(lease) {
    this.takeBack(lease);
    for (const kind of ["draft", "slip", "seen"]) this.storage?.removeItem(`${this.prefix}${kind}:${lease}`);
  }

  answers() {
    if (!this.storage) return [];
    const start = `${this.prefix}answer:`;
    const names = Object.keys(this.storage).filter((name) => name.startsWith(start));
    return names.map((name) => this.#read(name.slice(this.prefix.length))).filter(Boolean);
  }

  #read(name) {
    const words = this.storage?.getItem(this.prefix + name);
    if (!words) return null;
    try {
      return JSON.parse(words);
    } catch {
      return null; // not ours, or cut short: the server's state stands
    }
  }

  #write(name, value) {
    try {
      this.storage.setItem(this.prefix + name, JSON.stringify(value));
      return true;
    } catch {
      return false; // full, or switched off: the page says so
    }
  }
}

/** The browser's storage, or null where a setting forbids it: then even asking throws. */
export function browserStorage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
