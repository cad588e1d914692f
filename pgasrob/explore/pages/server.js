const PATIENCE = 1000; // milliseconds that a question waits for the one before it
const ATTEMPTS = 5; // how often a server that is busy is asked again

/** Asks the server: one question of a kind at a time, and of those that come meanwhile the last one. */
class Server {
  constructor() {
    this.asking = {};
    this.latest = {};
  }

  /** What a line before an answer says. */
  static words({ before, wait }) {
    if (wait) return `The server is busy: it is asked again in ${wait} s.`;
    if (!before) return "Working …";
    return before === 1 ? "Waiting: 1 request is before this one." : `Waiting: ${before} requests are before this one.`;
  }

  /** The answer, `{ errors }` or `{ refused }`; null when another question has come after it. */
  async ask(what, question, waiting = () => {}) {
    const own = (this.latest[what] = Symbol(what));
    const before = this.asking[what];
    if (before) {
      await Promise.race([before.done, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
      if (this.latest[what] !== own) return null;
      before.control.abort(); // the server gives it up, too
    }
    const control = new AbortController();
    const done = this.answer(what, question, control.signal, waiting);
    this.asking[what] = { control, done };
    const answer = await done;
    if (this.latest[what] !== own) return null;
    delete this.asking[what];
    return answer;
  }

  /** The answer. Lines before it say how many others are before this question; a server that is busy is asked again. */
  async answer(what, question, signal, waiting) {
    const headers = { "Content-Type": "application/json" };
    const asked = { method: "POST", headers, body: JSON.stringify(question), signal };
    try {
      for (let left = ATTEMPTS; ; left -= 1) {
        const answer = await fetch(what, asked);
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
          const lines = (rest + piece.value).split("\n");
          rest = lines.pop();
          if (answer.headers.get("Content-Type") === "application/x-ndjson") lines.forEach((line) => waiting(JSON.parse(line)));
          else rest = [...lines, rest].join("\n");
        }
        let found = { refused: rest || "The answer was cut off." };
        try {
          found = JSON.parse(rest);
        } catch {
          // a refusal in plain text
        }
        if (!found.wait || !left) return found;
        waiting(found);
        await new Promise((resolve) => setTimeout(resolve, 1000 * found.wait));
      }
    } catch {
      return signal.aborted ? null : { refused: "The server does not answer. Is it still running?" };
    }
  }

  stop(what) {
    this.latest[what] = null;
    this.asking[what]?.control.abort();
    delete this.asking[what];
  }
}
