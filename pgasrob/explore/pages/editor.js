/** The text of the program: a text area over its lines, which show where the ranks stand and where it has errors. */
class Editor {
  constructor(changed) {
    this.area = document.getElementById("text");
    this.lines = document.getElementById("lines");
    this.box = document.getElementById("editor");
    this.errors = document.getElementById("errors");
    this.standing = new Map();
    this.found = [];
    this.step = null;
    this.changed = changed;
    this.waiting = null;
    this.area.addEventListener("input", () => {
      this.found = [];
      this.standing = new Map();
      this.step = null;
      this.draw();
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.flush(), 400);
    });
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.area.blur();
      if (event.key === "Tab" && !event.shiftKey) {
        event.preventDefault();
        document.execCommand("insertText", false, "  ");
      }
      event.stopPropagation();
    });
  }

  /** Ask about the text as it is now, if it has changed since. */
  flush() {
    if (this.waiting === null) return;
    clearTimeout(this.waiting);
    this.waiting = null;
    this.changed();
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.draw();
  }

  /** The ranks at the lines that they stand before, and the line of the last step. */
  show(ranks, step) {
    this.standing = new Map();
    for (const { rank, name, lines } of ranks) {
      for (const line of lines) this.standing.set(line, [...(this.standing.get(line) ?? []), { rank, name }]);
    }
    this.found = [];
    this.step = step;
    this.draw();
    const first = [...this.standing.keys()].sort((a, b) => a - b);
    this.into(step ?? first[0], first.at(-1));
  }

  complain(errors) {
    this.found = errors;
    this.standing = new Map();
    this.step = null;
    this.draw();
  }

  /** Scroll so that the lines from `first` to `last` are in view. */
  into(first, last) {
    if (document.activeElement === this.area) return;
    const [top, bottom] = [first, last ?? first].map((line) => this.lines.children[line - 1]?.offsetTop);
    if (top === undefined) return;
    const low = Math.min(top, bottom ?? top);
    const high = Math.max(top, bottom ?? top) + 24;
    if (low < this.box.scrollTop || high > this.box.scrollTop + this.box.clientHeight) {
      this.box.scrollTop = Math.max(0, low - 48);
    }
  }

  draw() {
    const texts = this.text.split("\n");
    let comment = false;
    this.lines.replaceChildren(
      ...texts.map((text, index) => {
        const number = index + 1;
        const ranks = this.standing.get(number) ?? [];
        const line = make("div", `code-line${ranks.length ? " stands" : ""}${this.step === number ? " last" : ""}`);
        const gutter = make("span", "gutter");
        gutter.append(...ranks.map(({ rank, name }) => chip(rank, name)), make("span", "count", number));
        const code = make("code");
        for (const [piece, isComment] of this.pieces(text, comment)) code.append(make("span", isComment ? "comment" : "", piece));
        comment = this.endsIn(text, comment);
        const wrong = this.found.filter((error) => error.line === number && !error.file);
        if (wrong.length) {
          line.classList.add("wrong");
          this.underline(code, text, wrong[0]);
        }
        line.append(gutter, code);
        return line;
      }),
    );
    this.errors.replaceChildren(
      ...this.found.slice(0, 6).map((error) => {
        const message = make("p", "bad");
        const where = error.file_name ? `${error.file_name}:${error.line}: ` : error.line ? `Line ${error.line}: ` : "";
        message.append(make("b", "", where), `${error.message}.`);
        if (error.hint) message.append(make("span", "faint", ` ${error.hint[0].toUpperCase()}${error.hint.slice(1)}.`));
        if (error.line) message.addEventListener("click", () => this.into(error.line));
        return message;
      }),
    );
  }

  /** Comments stand back; whether a line ends in one. */
  pieces(text, within) {
    const found = [];
    let rest = text;
    let inside = within;
    while (rest) {
      const at = inside ? rest.indexOf("*/") : rest.search(/\/\/|\/\*/);
      if (inside) {
        const end = at < 0 ? rest.length : at + 2;
        found.push([rest.slice(0, end), true]);
        rest = rest.slice(end);
        inside = at < 0;
      } else if (at < 0) {
        found.push([rest, false]);
        rest = "";
      } else if (rest[at + 1] === "/") {
        found.push([rest.slice(0, at), false], [rest.slice(at), true]);
        rest = "";
      } else {
        found.push([rest.slice(0, at), false], [rest.slice(at, at + 2), true]);
        rest = rest.slice(at + 2);
        inside = true;
      }
    }
    return found;
  }

  endsIn(text, within) {
    let inside = within;
    for (const mark of text.matchAll(/\/\/|\/\*|\*\//g)) {
      if (!inside && mark[0] === "//") break;
      if (mark[0] === "/*") inside = true;
      if (mark[0] === "*/") inside = false;
    }
    return inside;
  }

  underline(code, text, error) {
    const letters = [...text]; // columns count characters, not the units of JavaScript
    const first = Math.min(Math.max(0, error.column - 1), Math.max(0, letters.length - 1));
    const end = Math.max(first + 1, first + error.length);
    const mark = make("span", "squiggle", letters.slice(first, end).join("") || " ");
    code.replaceChildren(letters.slice(0, first).join(""), mark, letters.slice(end).join(""));
  }
}
