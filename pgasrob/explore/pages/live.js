/** The numbers of the events of a choice, as the graph has them: of a barrier, "5–6". */
function numbers({ first, last }) {
  return first === last ? String(first) : `${first}–${last}`;
}

/** The page: one question to the server for each position, and all that is shown comes with the answer. */
class Live {
  constructor() {
    this.opening = JSON.parse(document.getElementById("opening").textContent);
    this.server = new Server();
    this.way = null; // the choices to the nearest violation, from where it was asked for
    this.answer = null;
    this.searching = null;
    this.idle = Promise.resolve();
    this.turn = Promise.resolve();
    this.language = this.opening.language;
    this.editor = new Editor(() => this.changed());
    // The second click of two finds that its choice has been taken.
    this.choices = new Choices((choice, on) => this.pressed(() => (this.choices.keys.includes(choice) ? choice : null), on));
    this.graph = new Graph();
    this.by = (id) => document.getElementById(id);
    this.connect();
    this.open();
  }

  async open() {
    let held = this.opening;
    let damaged = false;
    try {
      held = (await fromFragment(location.hash)) ?? held;
    } catch {
      damaged = true;
    }
    this.by("nodes").max = this.opening.mostNodes;
    this.original = this.opening.text;
    if (held.text !== this.opening.text && !this.opening.file) this.called(`program.${held.language}`, held.text);
    await this.load(held);
    if (damaged) this.note("The link is damaged, or of another version: this is the program that the server opens with.");
  }

  /** What the program is called that is `text` until someone edits it. */
  called(name, text) {
    const last = name.split("/").pop();
    const heading = document.querySelector(".name h1");
    heading.textContent = last;
    heading.title = name;
    document.title = `${last}: explorer`;
    this.original = text;
  }

  /** Show another program and run. */
  load(held) {
    this.language = held.language;
    this.editor.text = held.text;
    this.by("nodes").value = held.nodes ?? "";
    this.by("nodes").placeholder = "";
    this.runs = new Runs([...held.run]);
    this.forgetWay();
    return this.ask();
  }

  get question() {
    const nodes = Number.parseInt(this.by("nodes").value, 10);
    // What every program in C has, and no other program.
    if (this.editor.text.trim()) this.language = /^[ \t]*#|\bmain\s*\(/m.test(this.editor.text) ? "c" : "pgas";
    return {
      text: this.editor.text,
      language: this.language,
      nodes: Number.isNaN(nodes) ? null : nodes,
      run: this.runs.taken,
      automatic: this.by("automatic").checked,
    };
  }

  /** Ask what can be said of the run now, and show it; `idle` is when that is done. */
  ask() {
    this.idle = this.asked();
    return this.idle;
  }

  async asked() {
    const answer = await this.server.ask("position", this.question, (state) => this.say(Server.words(state), "open"));
    if (!answer) return;
    const stale = Boolean(answer.errors || answer.refused);
    document.body.classList.toggle("stale", stale);
    this.by("edited").textContent = this.editor.text === this.original ? "" : this.opening.file ? "edited here; the file stays as it is" : "edited";
    if (stale) {
      this.choices.keys = [];
      for (const button of document.querySelectorAll(".choice")) button.disabled = true;
      this.editor.complain(answer.errors ?? []);
      this.say(answer.errors ? "The program has errors" : "Refused", "open");
      if (answer.refused) this.note(answer.refused);
      return;
    }
    this.answer = answer;
    this.runs.settle(answer);
    this.show();
    if (answer.stop) this.note(`The run was cut before ${answer.stop.choice}: ${answer.stop.reason}.`);
    await this.address();
  }

  show() {
    const { answer } = this;
    const { current } = this.runs;
    this.by("nodes").placeholder = answer.nodes;
    this.by("count").textContent = answer.nodes === 1 ? "on 1 node" : `on ${answer.nodes} nodes`;
    const step = answer.steps.at(-1);
    const hinted = this.hinted();
    this.choices.show(answer, hinted);
    showMemory(answer.memory, answer.nodes);
    this.graph.show(answer);
    this.editor.show(answer.ranks, step?.line ?? null);
    if (answer.violating) this.say("violation: no SC run looks like this run", "not-robust");
    else this.say(answer.ending?.sentence ?? "looks sequentially consistent so far", "robust");
    if (answer.ending?.style === "bad" && !answer.violating) this.by("verdict").className = "verdict not-robust";
    const now = this.by("now");
    now.replaceChildren();
    const what = make("p", "what");
    if (step) {
      what.append(chip(step.rank, step.name), ` Step ${numbers(step)}: ${step.what}. `);
      for (const effect of step.effects) what.append(make("b", `effect${effect === "FAILS" ? " bad" : ""}`, effect), " ");
    } else {
      what.append("The start. Choose what happens next.");
    }
    now.append(what);
    if (!step && answer.count_note) now.append(make("p", "", answer.count_note));
    for (const failed of answer.failed.slice(-1)) now.append(make("p", "bad", failed));
    if (answer.ending && answer.violating) now.append(make("p", answer.ending.style, answer.ending.sentence));
    this.past(current);
    this.by("back").setAttribute("aria-disabled", current.at === 0);
    this.by("forward").setAttribute("aria-disabled", current.at === current.run.length);
    if (this.way) this.showWay();
  }

  past(current) {
    const list = this.by("history");
    list.replaceChildren(
      ...current.run.map((choice, index) => {
        const about = current.steps[index];
        const item = make("li");
        const button = make("button", `past-step${about?.step ? " step" : ""}${index >= current.at ? " later" : ""}`);
        button.type = "button";
        button.textContent = about ? numbers(about) : "·";
        button.title = about ? `${about.what}${about.effects.length ? `: ${about.effects.join("; ")}` : ""}` : choice;
        button.setAttribute("aria-label", button.title);
        if (about) button.style.setProperty("--own", `var(--rank${about.rank % 8})`);
        if (index === current.at - 1) button.setAttribute("aria-current", "step");
        button.addEventListener("click", () => this.after(() => this.go(index + 1)));
        item.append(button);
        return item;
      }),
    );
    list.querySelector('[aria-current="step"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const tabs = this.by("tabs");
    tabs.hidden = this.runs.all.length < 2;
    tabs.replaceChildren(
      ...this.runs.all.map((each) => {
        const tab = make("button", "tab", each.name);
        tab.type = "button";
        tab.setAttribute("role", "tab");
        tab.setAttribute("aria-selected", each === current);
        tab.title = each.from === undefined ? "The first run" : each.from ? `Goes its own way after ${each.from} choices` : "From the start";
        tab.addEventListener("click", () => {
          this.runs.current = each;
          this.forgetWay();
          this.ask();
        });
        if (each === current && this.runs.all.length > 1) {
          const close = make("span", "close", "×");
          close.title = "Close this run";
          close.addEventListener("click", (event) => {
            event.stopPropagation();
            this.runs.close(each);
            this.ask();
          });
          tab.append(close);
        }
        return tab;
      }),
    );
  }

  say(sentence, kind) {
    this.by("verdict").textContent = sentence;
    this.by("verdict").className = `verdict ${kind}`;
  }

  note(sentence) {
    this.by("now").prepend(make("p", "open note", sentence));
  }

  choose(choice) {
    this.runs.choose(choice);
    return this.ask();
  }

  /** Choose, and go on with that rank while it can but issue one command, and that of the same line. */
  async chooseOn(choice) {
    const moves = () => this.answer.ranks.map(({ moves: [...own] }) => own);
    const rank = moves().findIndex((own) => own.some((move) => move.choice === choice));
    const line = moves()[rank]?.find((move) => move.choice === choice).line;
    let next = choice;
    for (let taken = 0; next && taken < 100; taken += 1) {
      await this.choose(next);
      const own = moves()[rank] ?? [];
      next = own.length === 1 && own[0].line === line ? own[0].choice : null;
    }
  }

  changed() {
    this.runs.forget();
    this.forgetWay();
    return this.ask();
  }

  // The nearest violation

  hinted() {
    if (!this.way) return null;
    const taken = this.runs.taken;
    const way = this.way.run;
    return taken.length < way.length && taken.every((choice, index) => way[index] === choice) ? way[taken.length] : null;
  }

  async nearest() {
    const box = this.by("search");
    box.hidden = false;
    box.className = "panel";
    box.replaceChildren(make("p", "faint", "Searching for the nearest violation from here …"));
    this.way = null;
    const taken = this.runs.taken;
    const answer = await this.server.ask("violation", this.question);
    if (!answer) return;
    if (answer.errors || answer.refused) {
      box.replaceChildren(make("p", "open", answer.refused ?? "The program has errors."));
      return;
    }
    if (answer.found) {
      this.way = { run: [...taken, ...answer.choices], from: taken.length, sentence: answer.sentence };
      this.show();
      return;
    }
    box.replaceChildren();
    box.classList.toggle("proved", answer.proved);
    box.append(make("p", answer.proved ? "good found-none" : "open found-none", answer.sentence));
    const buttons = make("p", "buttons-line");
    if (answer.elsewhere) buttons.append(this.action("Show that one", () => {
      this.runs.add(answer.elsewhere, [], 0);
      this.forgetWay();
      this.ask();
    }));
    buttons.append(this.action("Close", () => this.forgetWay()));
    box.append(buttons);
  }

  showWay() {
    const box = this.by("search");
    box.className = "panel";
    const left = this.way.run.length - this.runs.current.at;
    const next = this.hinted();
    box.hidden = false;
    box.replaceChildren();
    if (this.answer.violating && !next) {
      box.append(make("p", "bad", this.way.run.length > this.way.from ? "Here it is: the cycle is closed." : this.way.sentence));
    } else if (next) {
      box.append(make("p", "", this.runs.current.at === this.way.from ? this.way.sentence : `${left} more to the violation.`));
    } else {
      box.append(make("p", "faint", "This is off the way to the violation that was found."));
    }
    const buttons = make("p", "buttons-line");
    if (next) {
      const take = this.action("Next step of it", () => this.choose(next));
      take.id = "follow";
      take.append(make("kbd", "", "Space"));
      buttons.append(take, this.action("All of it", () => this.follow()));
    }
    buttons.append(this.action("Close", () => this.forgetWay()));
    box.append(buttons);
  }

  follow() {
    for (let next = this.hinted(); next; next = this.hinted()) this.runs.choose(next);
    return this.ask();
  }

  forgetWay() {
    this.server.stop("violation");
    this.way = null;
    this.by("search").hidden = true;
    for (const button of document.querySelectorAll(".hinted")) button.classList.remove("hinted");
  }

  action(label, does) {
    const button = make("button", "", label);
    button.type = "button";
    button.addEventListener("click", does);
    return button;
  }

  // Links

  async address() {
    if (!("CompressionStream" in window)) return;
    const { text, language, nodes, run } = this.question;
    this.fragment = await toFragment({ text, language, nodes, run });
    history.replaceState(null, "", this.fragment);
  }

  async share() {
    await this.address();
    this.by("link").value = location.href;
    this.by("command").value = `pgasrob explore --run '${this.fragment}'`;
    this.by("sharing").showModal();
    this.by("link").select();
  }

  // Buttons and keys

  connect() {
    const on = (id, does) => this.by(id).addEventListener("click", does);
    on("back", () => this.after(() => this.back()));
    on("forward", () => this.after(() => this.forward()));
    on("fork", () => this.after(() => this.fork()));
    on("nearest", () => this.search());
    on("share", () => this.share());
    on("theme", () => this.theme());
    on("help-open", () => this.by("help").showModal());
    on("wide", () => this.wide());
    this.by("nodes").addEventListener("change", () => this.changed());
    this.by("automatic").addEventListener("change", () => this.ask());
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.addEventListener("click", async () => {
        const field = this.by(button.dataset.copy);
        field.select();
        try {
          await navigator.clipboard.writeText(field.value);
          button.textContent = "Copied";
        } catch {
          button.textContent = "Press Ctrl+C";
        }
      });
    }
    addEventListener("hashchange", () => this.open());
    addEventListener("keydown", (event) => this.key(event));
  }

  go(at) {
    if (this.runs.go(at)) this.ask();
  }

  beside(by) {
    if (this.runs.beside(by)) this.ask();
  }

  back() {
    this.go(this.runs.current.at - 1);
  }

  forward() {
    this.go(this.runs.current.at + 1);
  }

  fork() {
    this.runs.fork();
    this.show();
  }

  theme() {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark" || (
      !document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches
    );
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    this.by("theme").setAttribute("aria-pressed", !dark);
  }

  wide() {
    const wide = document.body.classList.toggle("wide");
    this.by("wide").setAttribute("aria-pressed", wide);
  }

  /** Do what a key asks for when all is done that keys before it have asked for: none is lost, however fast they come. */
  after(does) {
    this.turn = this.turn.then(does);
    return this.turn;
  }

  /** A key stands for a choice of what is shown once all that was chosen before is. */
  pressed(choice, on) {
    return this.after(async () => {
      await this.idle;
      const chosen = choice();
      if (chosen) await (on ? this.chooseOn(chosen) : this.choose(chosen));
    });
  }

  /** The next step to the nearest violation, once that has been found. */
  follows() {
    return this.after(async () => {
      await this.searching;
      await this.idle;
      if (this.hinted()) await this.choose(this.hinted());
    });
  }

  async found() {
    await this.turn;
    await this.idle;
    await this.nearest();
  }

  /** Search for the nearest violation. Only keys that are about it wait for the end, and Escape ends it. */
  search() {
    const own = this.found().finally(() => {
      if (this.searching === own) this.searching = null;
    });
    this.searching = own;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input:not([type=checkbox]), textarea, select")) return;
    const does = {
      ArrowLeft: () => this.after(() => this.back()),
      ArrowRight: () => this.after(() => this.forward()),
      Home: () => this.after(() => this.go(0)),
      End: () => this.after(() => this.go(this.runs.current.run.length)),
      f: () => this.after(() => this.fork()),
      "[": () => this.after(() => this.beside(-1)),
      "]": () => this.after(() => this.beside(1)),
      v: () => this.search(),
      Escape: () => this.forgetWay(),
      e: () => this.editor.area.focus(),
      l: () => this.by("automatic").click(),
      g: () => this.wide(),
      "+": () => this.by("zoom-in").click(),
      "-": () => this.by("zoom-out").click(),
      s: () => this.share(),
      t: () => this.theme(),
      c: () => checking.check(),
      "?": () => this.by("help").showModal(),
    }[event.key];
    this.editor.flush();
    const digit = event.code?.match(/^(?:Digit|Numpad)([1-9])$/)?.[1] ?? event.key.match(/^[1-9]$/)?.[0];
    if (digit) this.pressed(() => this.choices.keys[Number(digit) - 1], event.shiftKey);
    else if (event.key === " " && (this.way || this.searching)) this.follows();
    else if (does) does();
    else return;
    event.preventDefault();
  }
}

window.live = new Live();
