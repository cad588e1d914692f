const LEAST_SCALE = 0.55; // a drawing that would have to be smaller to fit keeps its size, and can be scrolled

/** The menu of examples, and the answers about all runs: the verdict with a picture, and the repair. */
class Checking {
  constructor() {
    this.by = (id) => document.getElementById(id);
    this.box = this.by("found");
    this.answer = null;
    for (const [folder, names] of live.opening.examples) {
      const group = make("optgroup");
      group.label = folder;
      for (const name of names) {
        const option = make("option", "", name);
        option.value = folder === "." ? name : `${folder}/${name}`;
        group.append(option);
      }
      this.by("examples").append(group);
    }
    this.by("examples").addEventListener("change", (event) => this.example(event.target));
    this.by("check").addEventListener("click", () => this.check());
    this.by("repair").addEventListener("click", () => this.repair());
    this.by("through").addEventListener("click", () => this.through());
    this.by("take").addEventListener("click", () => this.take());
    this.by("answer").addEventListener("close", () => ["check", "repair"].forEach((what) => live.server.stop(what)));
  }

  async example(menu) {
    const name = menu.value;
    menu.value = "";
    menu.blur();
    if (!name) return;
    const found = await live.server.ask("example", { name });
    if (!found) return;
    if (found.refused) {
      live.note(found.refused);
      return;
    }
    live.called(name, found.text);
    live.load({ ...found, nodes: null, run: [] });
  }

  /** Ask, show how that goes, and give the answer; null where there is none. */
  async ask(what, working) {
    for (const id of ["through", "repair", "take"]) this.by(id).hidden = true;
    this.by("answer-title").textContent = working;
    this.by("answer-title").className = "";
    this.box.replaceChildren(make("p", "faint", "Working …"));
    if (!this.by("answer").open) this.by("answer").showModal();
    const letter = parseFloat(getComputedStyle(this.box).fontSize) * 0.605;
    const columns = Math.max(40, Math.min(100, Math.floor(this.box.clientWidth / letter)));
    const answer = await live.server.ask(what, { ...live.question, columns }, (state) => {
      this.box.replaceChildren(make("p", "open", Server.words(state)));
    });
    if (answer?.errors || answer?.refused) {
      this.title(answer.errors ? "The program has errors" : "No answer", "error");
      this.box.replaceChildren(...(answer.errors ?? [{ message: answer.refused }]).map((error) => {
        const line = error.line ? `Line ${error.line}: ` : "";
        return make("p", "bad", `${line}${error.message}${error.hint ? ` (${error.hint})` : ""}.`);
      }));
      return null;
    }
    return answer;
  }

  title(text, kind) {
    this.by("answer-title").textContent = text;
    this.by("answer-title").className = `verdict ${kind}`;
  }

  async check() {
    const answer = await this.ask("check", "Checking all runs");
    if (!answer) return;
    this.answer = answer;
    this.title(answer.headline, answer.kind);
    this.by("repair").hidden = !answer.repairable;
    this.by("through").hidden = !answer.run;
    const first = answer.report.findIndex((line) => !line.length);
    if (first < 0) {
      this.box.replaceChildren(this.report(answer.report));
      return;
    }
    this.box.replaceChildren(this.report(answer.report.slice(0, first)), make("h3", "", answer.title));
    if (answer.drawing) {
      const picture = make("figure", "scroll picture");
      picture.tabIndex = 0;
      picture.innerHTML = answer.drawing;
      this.box.append(picture);
      const drawn = picture.firstElementChild;
      if (drawn.getBoundingClientRect().width * LEAST_SCALE <= picture.clientWidth) drawn.classList.add("fits");
    }
    const steps = make("details");
    steps.append(make("summary", "", "The run as text, and its cycle edge by edge"), this.report(answer.report.slice(first + 1)));
    this.box.append(steps);
  }

  async repair() {
    const answer = await this.ask("repair", "Searching for the cheapest repair");
    if (!answer) return;
    this.answer = answer;
    this.title(answer.state, answer.text === null ? "unknown" : "robust");
    this.by("take").hidden = answer.text === null;
    this.box.replaceChildren(this.report(answer.report));
  }

  report(lines) {
    const text = make("pre", "report");
    for (const line of lines) {
      for (const [piece, style] of line) text.append(make("span", style, piece));
      text.append("\n");
    }
    return text;
  }

  through() {
    this.by("answer").close();
    live.runs.add(this.answer.run, [], 0);
    live.forgetWay();
    live.ask();
  }

  take() {
    this.by("answer").close();
    live.editor.text = this.answer.text;
    live.changed();
  }
}

window.checking = new Checking();
