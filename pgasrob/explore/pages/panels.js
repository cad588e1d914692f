// The panels of a position: what may happen next and what not, values, the graph.
function make(tag, style = "", text = null) {
  const node = document.createElement(tag);
  if (style) node.className = style;
  if (text !== null) node.textContent = text;
  return node;
}

/** A rank, or a thread of one, whose `name` says which. */
function chip(rank, name = rank) {
  const node = make("span", "chip", name);
  node.style.setProperty("--own", `var(--rank${rank % 8})`);
  return node;
}

/** The buttons of a position, and the choice behind each key. */
class Choices {
  constructor(choose) {
    this.choose = choose;
    this.keys = [];
  }

  /** `hinted` is the choice that leads to the nearest violation. */
  show(answer, hinted) {
    this.keys = [];
    this.hinted = hinted;
    const box = document.getElementById("ranks");
    box.replaceChildren(...answer.ranks.map((rank) => this.rank(rank)));
    box.classList.remove("stale");
  }

  rank(about) {
    const card = make("section", "panel card");
    card.dataset.rank = about.rank;
    card.style.setProperty("--own", `var(--rank${about.rank % 8})`);
    const title = make("h3");
    title.append(chip(about.rank, about.name), `rank ${about.name}`);
    card.append(title);
    if (about.ended) card.append(make("p", "faint ended", "has ended"));
    for (const move of about.moves) card.append(this.button(move, move.command, move.line));
    for (const blocked of about.blocked) card.append(this.blocked(blocked));
    if (about.pending.length) {
      card.append(make("h4", "", "on the network"));
      about.pending.forEach((operation, index) => {
        const before = about.pending[index - 1];
        const same = before && before.line === operation.line && before.command === operation.command;
        card.append(this.operation(operation, same));
      });
    }
    if (about.registers.length) {
      const registers = make("p", "registers-line");
      for (const { name, value } of about.registers) registers.append(make("span", "", `${name} = ${value}`));
      card.append(registers);
    }
    return card;
  }

  button({ choice, effects }, command, line, step = "") {
    const button = make("button", `choice${step ? " step" : ""}${choice === this.hinted ? " hinted" : ""}`);
    button.type = "button";
    button.dataset.choice = choice;
    if (!this.keys.includes(choice)) this.keys.push(choice);
    const key = this.keys.indexOf(choice) + 1;
    button.append(make("kbd", "", key <= 9 ? key : "·"));
    const description = make("span", "description");
    const first = make("span", "command");
    if (step) first.append(make("b", "", step), ` ${effects.join("; ")}`);
    else first.append(make("span", "at", line ?? ""), ` ${command}`);
    description.append(first);
    if (!step && effects.length) description.append(make("span", `effects${effects.includes("FAILS") ? " bad" : ""}`, effects.join("; ")));
    button.append(description);
    button.addEventListener("click", (event) => this.choose(choice, event.shiftKey));
    return button;
  }

  blocked({ line, command, why }) {
    const box = make("div", "blocked");
    const first = make("span", "command");
    first.append(make("span", "at", line ?? ""), ` ${command}`);
    box.append(first, make("span", "why", why));
    return box;
  }

  /** `same`: it is of the same command of the source as the one above. */
  operation(about, same) {
    const box = make("div", "operation");
    const title = make("p", "of");
    title.append(make("span", "at", about.line ?? ""), ` ${about.command}`);
    if (!same) box.append(title);
    const where = [`step ${about.number}`];
    if (about.queue !== null) where.push(`queue ${about.queue}`);
    if (about.later) where.push(`${about.later} more to come`);
    box.title = where.join(", ");
    if (about.choice) box.append(this.button(about, about.command, about.line, about.step));
    else box.append(this.blocked({ line: null, command: `${about.step} ${about.effects.join("; ")}`, why: about.why }));
    return box;
  }
}

function showMemory(cells, nodes) {
  const table = make("table");
  const head = table.createTHead().insertRow();
  head.append(make("th", "", "memory"));
  for (let rank = 0; rank < nodes; rank += 1) {
    const cell = make("th");
    cell.append(chip(rank));
    head.append(cell);
  }
  const body = table.createTBody();
  for (const { name, values } of cells) {
    const row = body.insertRow();
    row.append(make("th", "", name));
    for (const { value, written, coming } of values) {
      const cell = make("td", written ? "written" : "");
      cell.append(make("span", "value", value));
      if (coming) {
        const mark = make("span", "coming", "⇠");
        mark.title = "a value is on its way here";
        cell.append(mark);
      }
      row.append(cell);
    }
  }
  const box = document.getElementById("memory");
  box.hidden = !cells.length;
  box.replaceChildren(table);
}

/** The happens-before graph: as wide as its box while that can be read, and its end in view. */
class Graph {
  constructor() {
    this.box = document.getElementById("drawing");
    const meant = { po: "program order", cf: "conflict", id: "one command", step: "rounded" };
    document.getElementById("legend").replaceChildren(...Object.entries(meant).flatMap(([name, text]) => {
      const pair = make("span");
      pair.append(term(name, name, name), ` ${text}`);
      return [pair, "  "];
    }));
    this.zoom = 1;
    this.drawn = null;
    new ResizeObserver(() => this.fit()).observe(this.box);
    const zoomed = (by) => () => {
      this.zoom = Math.min(2.5, Math.max(0.4, this.zoom * by));
      this.fit();
    };
    document.getElementById("zoom-in").addEventListener("click", zoomed(1.15));
    document.getElementById("zoom-out").addEventListener("click", zoomed(1 / 1.15));
  }

  show(answer) {
    const { drawing, cycle, late } = answer;
    const box = document.getElementById("cycle");
    box.hidden = !cycle.length;
    box.replaceChildren();
    if (cycle.length) {
      const edges = make("ol");
      edges.append(...cycle.slice(0, -1).map((edge) => make("li", "", edge)));
      box.append(make("p", "late", late || cycle.at(-1)), edges, make("p", "faint", cycle.at(-1)));
    }
    this.violating = answer.violating;
    if (drawing === this.drawn) return;
    this.drawn = drawing;
    this.box.replaceChildren();
    if (!drawing) {
      this.box.append(make("p", "faint hint", "Nothing has happened yet. Choose a command, and its event appears here. Its steps follow when you choose them."));
      return;
    }
    // Parsed apart from the page: the drawing is the server's own, and scripts would not run here either.
    const read = new DOMParser().parseFromString(drawing, "text/html").querySelector("svg");
    this.box.append(document.adoptNode(read));
    this.fit();
    const events = [...this.box.querySelectorAll("[data-step]")];
    const last = Math.max(...events.map((node) => Number(node.dataset.step)));
    for (const node of events.filter((each) => Number(each.dataset.step) === last)) node.classList.add("newest");
    this.box.scrollTop = this.box.scrollHeight;
    const newest = this.box.querySelector(".newest");
    if (newest) {
      const [outer, inner] = [this.box.getBoundingClientRect(), newest.getBoundingClientRect()];
      this.box.scrollTop += Math.min(0, inner.top - outer.top - 30);
    }
    this.showCycle();
  }

  /** As wide as its box, and with the whole cycle in view, if there is one. */
  fit() {
    const svg = this.box.querySelector("svg");
    if (!svg) return;
    const { width, height } = svg.viewBox.baseVal;
    const cycle = this.cycle(svg);
    const tall = this.box.clientHeight / (cycle ? cycle.bottom - cycle.top + 20 : height);
    const scale = Math.min(1.15, (this.box.clientWidth - 4) / width, cycle ? tall : 1.15) * this.zoom;
    svg.style.width = `${Math.floor(width * scale)}px`;
    this.showCycle();
  }

  /** From where to where the cycle reaches, in the units of the drawing; null where there is none. */
  cycle(svg) {
    const nodes = this.violating ? [...svg.querySelectorAll(".cycle, .badge")] : [];
    if (!nodes.length) return null;
    const outer = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.height / outer.height;
    const boxes = nodes.map((node) => node.getBoundingClientRect());
    const [top, bottom] = [Math.min(...boxes.map((box) => box.top)), Math.max(...boxes.map((box) => box.bottom))];
    return { top: (top - outer.top) * scale, bottom: (bottom - outer.top) * scale };
  }

  showCycle() {
    const svg = this.box.querySelector("svg");
    const cycle = svg && this.zoom === 1 && this.cycle(svg);
    if (!cycle) return;
    const scale = svg.getBoundingClientRect().height / svg.viewBox.baseVal.height;
    const [least, most] = [cycle.bottom * scale - this.box.clientHeight, cycle.top * scale];
    this.box.scrollTop = Math.max(0, (least + most) / 2);
  }
}
