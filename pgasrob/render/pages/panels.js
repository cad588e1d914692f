// The panels: each is built once and then shown for a row. All text goes in as text nodes.

const byId = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}

const range = (count) => Array.from({ length: count }, (_, index) => index);
const toStep = (place, text = `step ${place + 1}`) => make("a", { href: link(place + 1) }, text);

/** A sentence in which every "step 7" of the run is a link. */
function linked(sentence, length) {
  return sentence.split(/(\bsteps? \d+\b)/).map((piece) => {
    const step = /^steps? (\d+)$/.exec(piece);
    return step && step[1] >= 1 && step[1] <= length ? toStep(step[1] - 1, piece) : piece;
  });
}

const toReveal = [];

/** Have a part of a box scrolled well inside, when all panels have been changed: asking for places in between would
    have the page laid out again for each. Nothing but the box itself scrolls. */
function reveal(box, part, sideways = false) {
  toReveal.push({ box, part, sideways });
}

function revealAll() {
  const found = toReveal.splice(0).map(({ box, part, sideways }) => {
    const outer = box.getBoundingClientRect();
    const inner = part.getBoundingClientRect();
    const margin = Math.min(outer.height / 4, 120);
    const hidden = sideways !== "only" && (inner.top < outer.top + margin || inner.bottom > outer.bottom - margin);
    const aside = sideways && (inner.left < outer.left || inner.right > outer.right);
    return {
      box,
      down: hidden ? (inner.top + inner.bottom) / 2 - (outer.top + outer.bottom) / 2 : 0,
      right: aside ? Math.min(inner.left - outer.left - 24, Math.max(inner.right - outer.right + 24, 0)) : 0,
    };
  });
  for (const { box, down, right } of found) {
    if (down) box.scrollTop += down;
    if (right) box.scrollLeft += right;
  }
}

class Queues {
  constructor(box, run) {
    Object.assign(this, { box, run, shown: null });
    // Room for an operation, where one is ever pending, so that what is below does not jump.
    const change = new Array(run.events.length + 1).fill(0);
    for (const { issue, steps, open } of run.operations) {
      change[issue]++;
      if (steps.length && !open) change[steps[steps.length - 1]]--;
    }
    let most = 0;
    change.reduce((count, each) => ((most = Math.max(most, count + each)), count + each), 0);
    box.style.setProperty("--room", `${Math.min(most, 1) * 4}rem`);
  }

  show() {
    const { run } = this;
    const groups = new Map();
    for (const operation of run.pending()) {
      const event = run.events[operation.issue];
      const key = `${event.rank} ${event.queue.id}`;
      if (!groups.has(key)) groups.set(key, { rank: event.rank, queue: event.queue, operations: [] });
      groups.get(key).operations.push(operation);
    }
    this.changed = this.shown !== null && this.shown !== this.key();
    this.shown = this.key();
    const ordered = [...groups.values()].sort((a, b) => a.rank - b.rank || a.queue.id - b.queue.id);
    if (!ordered.length) {
      this.box.replaceChildren(make("p", { class: "faint" }, "Nothing is on its way."));
      return;
    }
    this.box.replaceChildren(...ordered.map(({ rank, queue, operations }) => make("div", { class: "queue" },
      make("h3", {}, `rank ${rank}${this.among(operations[0], queue)} `, term(queue.unordered ? "unordered" : "FIFO")),
      make("ol", {}, ...operations.map((operation) => this.line(operation))))));
  }

  /** Among which operations of its rank `operation` is: the queues of a C program have names of no meaning to users. */
  among(operation, queue) {
    const { call, target } = this.run.events[operation.issue];
    if (call === undefined) return `, queue ${queue.name}`;
    return target === null ? "" : ` to rank ${target}`;
  }

  /** What is on its way, and how far it has come. */
  key() {
    const now = this.run.end(this.run.row);
    return this.run.pending().map(({ issue, steps }) => `${issue}:${steps.filter((place) => place <= now).length}`).join(" ");
  }

  line(operation) {
    const { run } = this;
    const now = run.end(run.row);
    const carried = run.carried(operation);
    const steps = operation.steps.map((place) => {
      const event = run.events[place];
      const done = place <= now;
      return make("span", { class: done ? "done" : "left" }, done ? "✓ " : "○ ", run.about.steps[place].name, " ", nameOf(event.address),
        make("span", { class: "unseen" }, done ? " done" : " to come"));
    });
    if (operation.open) steps.push(make("span", { class: "left" }, "○ not complete in this run"));
    return make("li", { "data-issue": operation.issue },
      make("code", {}, run.events[operation.issue].command), " ", toStep(operation.issue), " ",
      carried === null ? "" : make("span", { class: "carried" }, `carries ${carried}`),
      make("span", { class: "steps" }, ...steps));
  }
}

class Source {
  constructor(box, run) {
    Object.assign(this, { box, run, marked: [], lines: [], said: new Map() });
    this.texts = [];
    this.before = new Map(); // the files: how many lines come before those of each
    const files = [["", run.witness.source], ...Object.entries(run.witness.sources || {})];
    box.replaceChildren(...files.flatMap(([file, source]) => this.add(file, source)));
  }

  /** The lines of a further file under its name, those of the first one under none. */
  add(file, source) {
    this.before.set(file, this.texts.length);
    const texts = source.split(/\r\n|\r|\n/);
    if (texts.length > 1 && texts[texts.length - 1] === "") texts.pop();
    this.texts.push(...texts);
    const lines = make("div", { class: "lines" }, ...texts.map((text, index) => {
      const where = make("span", { class: "where" });
      const code = make("code", {}, text);
      const line = make("div", { class: "line" }, where, make("span", { class: "count" }, String(index + 1)), code);
      this.lines.push({ line, where, code });
      return line;
    }));
    return file ? [make("h3", {}, file), lines] : [lines];
  }

  /** The number of the first line of an event among those of all files. */
  lineOf(event) {
    return event.line > 0 ? (this.before.get(event.file || "") ?? 0) + event.line : 0;
  }

  show(places) {
    const { run } = this;
    for (const number of this.marked) {
      this.lines[number - 1].line.classList.remove("now");
      this.lines[number - 1].code.replaceChildren(this.texts[number - 1]);
    }
    this.marked = [];
    const event = places.length ? run.events[places[0]] : null;
    if (event && event.line > 0) {
      const first = this.lineOf(event), last = Math.min(first + event.end_line - event.line, this.lines.length);
      for (let number = first; number <= last; number++) this.mark(event, number, number === first, number === last);
    }
    const standing = new Map();
    for (const rank of range(run.witness.nodes)) {
      const place = run.standing(rank);
      const line = place === null ? 0 : this.lineOf(run.events[place]);
      if (line > 0 && line <= this.lines.length) standing.set(line, [...(standing.get(line) || []), rank]);
    }
    for (const number of this.said.keys()) if (!standing.has(number)) this.stand(number, []);
    for (const [number, ranks] of standing) if (this.said.get(number) !== String(ranks)) this.stand(number, ranks);
    if (this.marked.length) reveal(this.box, this.lines[this.marked[0] - 1].line);
  }

  mark(event, number, isFirst, isLast) {
    const { line, code } = this.lines[number - 1];
    const text = [...this.texts[number - 1]]; // columns count characters, not halves of them
    const from = isFirst ? event.column - 1 : text.findIndex((char) => char.trim() !== "");
    const to = isLast ? event.end_column - 1 : text.length;
    line.classList.add("now");
    code.replaceChildren(text.slice(0, Math.max(from, 0)).join(""), make("mark", {}, text.slice(Math.max(from, 0), to).join("")), text.slice(to).join(""));
    this.marked.push(number);
  }

  /** Say beside a line which ranks have come to it last. */
  stand(number, ranks) {
    const { where } = this.lines[number - 1];
    const spans = runsOf(ranks);
    where.replaceChildren(...(ranks.length ? [make("span", { class: "rank" }, spans)] : []));
    if (ranks.length) {
      where.title = `the last command of rank${ranks.length > 1 ? "s" : ""} ${spans}`;
      this.said.set(number, String(ranks));
    } else {
      where.removeAttribute("title");
      this.said.delete(number);
    }
  }
}

/** "0-3,7" for ranks 0, 1, 2, 3 and 7. */
function runsOf(ranks) {
  const found = [];
  for (const rank of ranks) {
    const run = found[found.length - 1];
    if (run && run[1] === rank - 1) run[1] = rank;
    else found.push([rank, rank]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}–${to}`)).join(",");
}

class Order {
  constructor(box, sentence, run) {
    Object.assign(this, { box, run, items: new Map(), marked: [] });
    const order = run.witness.sequential;
    const words = run.about.sequential;
    sentence.replaceChildren(...linked(words.sentence, run.events.length));
    box.hidden = !order;
    if (!order) return;
    const out = new Set(order.without);
    const list = make("ol", { class: "order" }, ...order.events.map((event, index) => {
      const place = order.places[index];
      const notes = [];
      if (place === words.before) notes.push(make("span", { class: "misfit" }, `${words.without} must come before this`));
      if (place === words.after) notes.push(make("span", { class: "misfit" }, `${words.without} must come after this`));
      const item = make("li", { "data-place": place, class: notes.length ? "tight" : null },
        toStep(place), ` rank ${event.rank} `, make("code", {}, STEPS.includes(event.event) ? run.about.steps[place].name : event.command), " ",
        make("span", { class: "effect" }, words.effects[index].join("; ")), ...notes);
      this.items.set(place, item);
      return item;
    }));
    box.replaceChildren(list);
    if (!out.size) return;
    const left = make("li", { class: "tight" },
      make("span", { class: "misfit" }, "does not fit: "), make("code", {}, run.events[order.without[0]].command), " (",
      ...order.without.flatMap((place, index) => [index ? ", " : "", toStep(place)]), ")");
    for (const place of order.without) this.items.set(place, left);
    box.append(make("ul", { class: "order" }, left));
    if (words.before !== null && words.after !== null) {
      box.append(make("p", { class: "misfit-sentence" }, ...linked(
        `It must come after step ${words.after + 1} and before step ${words.before + 1}, and in every such order step ` +
        `${words.before + 1} is before step ${words.after + 1}.`, run.events.length)));
    }
  }

  show(places) {
    for (const item of this.marked) item.classList.remove("now");
    this.marked = [...new Set(places.map((place) => this.items.get(place)).filter(Boolean))];
    for (const item of this.marked) item.classList.add("now");
    if (this.marked.length) reveal(this.box, this.marked[0]);
  }
}

class Cycle {
  constructor(panel, list, run) {
    Object.assign(this, { run, items: [] });
    const edges = run.witness.cycle || [];
    const { cycle, first } = run.about;
    panel.hidden = !edges.length;
    list.replaceChildren(...cycle.map((sentence, index) => {
      const edge = edges[(first + index) % edges.length];
      const item = make("li", { "data-edge": index }, term(edge.relation, `${index + 1} ${edge.relation}`, `relation ${edge.relation}`),
        make("span", {}, ...linked(sentence, run.events.length)));
      item.addEventListener("click", (event) => {
        // The links in it go to either end; the rest of the line to the end of the edge that comes last in the run.
        if (!event.target.closest("a, .term")) location.hash = link(Math.max(edge.from, edge.to) + 1);
      });
      this.items.push({ item, edge });
      return item;
    }));
  }

  show(places) {
    for (const { item, edge } of this.items) {
      item.classList.toggle("now", places.includes(edge.from) || places.includes(edge.to));
    }
  }
}
