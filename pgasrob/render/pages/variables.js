/** A table of variables: a row for each, a column for each rank. Arrays and structs show their parts in one cell. */
class Variables {
  constructor(box, run) {
    Object.assign(this, { box, run, marked: [], spots: new Map() });
    this.build(false);
  }

  /** Whether there is more than what the run uses. */
  get more() {
    return this.run.about.variables.some((each) => this.partsOf(each, true).length > this.partsOf(each, false).length);
  }

  /** The places of the parts to show: of a small variable all of them, of a large one those that the run uses. */
  partsOf({ cells, used }, all) {
    const places = range(cells.length);
    if (all || (used.length && cells.length <= Variables.FEW)) return places;
    return used;
  }

  build(all) {
    const { nodes } = this.run.witness;
    let room = Math.max(1, Math.floor(Variables.MOST / nodes));
    this.spots.clear();
    this.marked = [];
    let left = 0;
    const rows = [];
    for (const variable of this.run.about.variables) {
      const wanted = this.partsOf(variable, all);
      const parts = wanted.slice(0, room);
      room -= parts.length;
      left += wanted.length - parts.length;
      if (parts.length) rows.push(this.row(variable, parts, nodes));
    }
    const ranks = range(nodes).map((rank) => make("th", { scope: "col" }, String(rank)));
    const head = make("tr", {}, make("th", { scope: "col" }, "rank"), ...ranks);
    const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
    this.box.replaceChildren(rows.length ? table : make("p", { class: "faint" }, "The run uses no variable."));
    if (left) this.box.append(make("p", { class: "faint" }, `${left} more values are not shown.`));
    for (const key of this.spots.keys()) this.put(key);
  }

  row({ name, where, kind, cells, parts }, shown, nodes) {
    const whole = shown.length === cells.length && parts.every((part, place) => part === `[${place}]`);
    const note = where ? ` in ${where}()` : !whole ? "" : parts.length > 1 ? ` [0–${parts.length - 1}]` : " [0]";
    const head = make("th", { scope: "row" }, name, note && make("span", { class: "faint" }, note));
    return make("tr", {}, head, ...range(nodes).map((rank) => {
      const spot = (place, tag) => {
        const key = `${kind}:${cells[place]}@${rank}`;
        const node = make(tag, { class: "spot", "data-key": key });
        this.spots.set(key, { node, label: whole ? "" : parts[place] });
        return node;
      };
      if (shown.length === 1) return spot(shown[0], "td");
      return make("td", {}, make("span", { class: "parts" }, ...shown.map((place) => spot(place, "span"))));
    }));
  }

  valueOf(key) {
    const [, kind, name] = /^(memory|register):(.*)$/s.exec(key);
    return String((kind === "memory" ? this.run.memory : this.run.registers).get(name));
  }

  /** Fill a spot with `nodes` behind the name of its part. */
  fill({ node, label }, ...nodes) {
    node.replaceChildren(...(label ? [make("span", { class: "part" }, label)] : []), ...nodes);
  }

  put(key) {
    const spot = this.spots.get(key);
    if (!spot) return;
    spot.node.className = "spot";
    this.fill(spot, make("span", { class: "value" }, this.valueOf(key)));
  }

  /** Show new values, and mark those that the current step writes, reads, or that have something on the way. */
  show(touched, writes, reads, coming) {
    for (const key of new Set([...touched, ...this.marked])) this.put(key);
    this.marked = [];
    const mark = (key, kind, ...nodes) => {
      const spot = this.spots.get(key);
      if (!spot) return;
      spot.node.classList.add(kind);
      spot.node.append(...nodes);
      this.marked.push(key);
    };
    for (const { key, before, after } of writes) {
      const spot = this.spots.get(key);
      if (spot && before === after) {
        spot.node.append(make("span", { class: "tag" }, "unchanged"));
      } else if (spot) {
        const old = make("del", {}, make("span", { class: "unseen" }, "was "), String(before));
        this.fill(spot, old, make("span", { class: "arrow" }, " → "), make("span", { class: "value" }, String(after)));
      }
      mark(key, "written");
    }
    for (const key of reads) mark(key, "read", make("span", { class: "tag" }, "read"));
    for (const [key, value] of coming) {
      const text = value === null ? "⇠" : `⇠ ${value}`;
      mark(key, "awaits", make("span", { class: "coming", title: "on its way" }, text, make("span", { class: "unseen" }, " on its way")));
    }
    const first = [...writes.map(({ key }) => key), ...reads].map((key) => this.spots.get(key)).find(Boolean);
    if (first) reveal(this.box, first.node, true);
  }

  /** Have the column of a rank in view. */
  turnTo(rank) {
    const head = this.box.querySelectorAll("thead th")[rank + 1];
    if (head) reveal(this.box, head, "only");
  }
}
Variables.MOST = 8192; // values
Variables.FEW = 8; // parts of a variable that are all shown when the run uses one
