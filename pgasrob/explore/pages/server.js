/** Asks the server; of several questions of a kind the last one alone is answered. */
class Server {
  constructor() {
    this.asking = {};
  }

  /** The answer, `{ errors }` or `{ refused }`; null when another question has come in between. */
  async ask(what, question) {
    this.asking[what]?.abort();
    const asking = (this.asking[what] = new AbortController());
    try {
      const answer = await fetch(what, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(question),
        signal: asking.signal,
      });
      const text = await answer.text();
      if (asking.signal.aborted) return null;
      try {
        return JSON.parse(text);
      } catch {
        return { refused: text };
      }
    } catch (error) {
      if (asking.signal.aborted) return null;
      return { refused: "The server does not answer. Is `pgasrob explore` still running?" };
    }
  }

  stop(what) {
    this.asking[what]?.abort();
  }
}
