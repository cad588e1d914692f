const PATIENCE = 1000; // milliseconds that a question waits for the one before it

/** Asks the server: one question of a kind at a time, and of those that come meanwhile the last one. */
class Server {
  constructor() {
    this.asking = {};
    this.latest = {};
  }

  /** The answer, `{ errors }` or `{ refused }`; null when another question has come after it. */
  async ask(what, question) {
    const own = (this.latest[what] = Symbol(what));
    const before = this.asking[what];
    if (before) {
      await Promise.race([before.done, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
      if (this.latest[what] !== own) return null;
      before.control.abort(); // the server gives it up, too
    }
    const control = new AbortController();
    const done = this.answer(what, question, control.signal);
    this.asking[what] = { control, done };
    const answer = await done;
    if (this.latest[what] !== own) return null;
    delete this.asking[what];
    return answer;
  }

  async answer(what, question, signal) {
    try {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(what, { method: "POST", headers, body: JSON.stringify(question), signal });
      const text = await answer.text();
      try {
        return JSON.parse(text);
      } catch {
        return { refused: text };
      }
    } catch {
      return signal.aborted ? null : { refused: "The server does not answer. Is `pgasrob explore` still running?" };
    }
  }

  stop(what) {
    this.latest[what] = null;
    this.asking[what]?.control.abort();
    delete this.asking[what];
  }
}
