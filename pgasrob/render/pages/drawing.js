const SVG = "http://www.w3.org/2000/svg";

/** The diagram: what has not happened yet is faded, what happens now has a band behind it. */
class Drawing {
  constructor(box, run, drawing) {
    this.box = box;
    this.run = run;
    for (const each of box.querySelectorAll(".drawing")) each.hidden = each !== drawing;
    this.svg = drawing?.querySelector("svg");
    this.events = new Map();
    this.edges = [];
    if (!this.svg) return;
    for (const node of this.svg.querySelectorAll("[data-step]")) {
      for (const place of JSON.parse(node.dataset.steps ?? `[${node.dataset.step}]`)) { // a band stands for several
        if (!this.events.has(place)) this.events.set(place, []);
        this.events.get(place).push(node);
      }
      node.classList.add("future");
    }
    for (const node of this.svg.querySelectorAll("[data-from]")) {
      this.edges.push({ node, last: Math.max(Number(node.dataset.from), Number(node.dataset.to)) });
      node.classList.add("future");
    }
    // How the ranks end is to come as long as an event is.
    for (const node of this.svg.querySelectorAll(".standing")) {
      this.edges.push({ node, last: run.events.length - 1 });
      node.classList.add("future");
    }
    const cycle = run.witness.cycle || [];
    for (const node of this.svg.querySelectorAll("[data-number]")) {
      const edge = cycle[(run.about.first + Number(node.dataset.number) - 1) % cycle.length];
      this.edges.push({ node, last: Math.max(edge.from, edge.to) });
      node.classList.add("future");
    }
    this.edges.sort((a, b) => a.last - b.last);
    this.done = -1;
    this.edgesDone = 0;
    for (const old of this.svg.querySelectorAll(".band")) old.remove();
    this.band = document.createElementNS(SVG, "rect");
    this.band.setAttribute("class", "band");
    // Over the shading of the parts, under everything else.
    const above = this.svg.querySelector(".row, .lane, [data-step]");
    above?.parentNode.insertBefore(this.band, above);
    this.touched = [];
    this.pin();
    this.cycle = this.around([...this.svg.querySelectorAll(".cycle, [data-number]")]);
    for (const node of this.svg.querySelectorAll(".edge.po, .edge.cf, .edge.id, .badge")) {
      node.dataset.term ??= ["po", "cf", "id"].find((each) => node.classList.contains(each) || node.textContent.endsWith(each));
    }
    for (const node of this.svg.querySelectorAll(".part-name")) node.dataset.term = "tau";
  }

  /** From where to where `nodes` reach, in the units of the drawing; null where there are none. */
  around(nodes) {
    if (!nodes.length) return null;
    const outer = this.svg.getBoundingClientRect();
    const scale = this.svg.viewBox.baseVal.height / (outer.height || 1);
    const boxes = nodes.map((node) => node.getBoundingClientRect());
    return {
      top: (Math.min(...boxes.map((box) => box.top)) - outer.top) * scale,
      bottom: (Math.max(...boxes.map((box) => box.bottom)) - outer.top) * scale,
    };
  }

  /** The names of the ranks stay in view when the diagram is scrolled. */
  pin() {
    if (this.svg.querySelector(".pinned")) return; // the run has been shown before
    const nodes = [...this.svg.querySelectorAll(".lane .rank")];
    if (!nodes.length) return;
    const group = document.createElementNS(SVG, "g");
    const ground = document.createElementNS(SVG, "rect");
    group.setAttribute("class", "pinned");
    ground.setAttribute("visibility", "hidden");
    this.svg.querySelector(".lane").parentNode.append(group);
    group.append(ground, ...nodes);
    const view = this.svg.viewBox.baseVal;
    const measure = () => this.svg.getBoundingClientRect();
    // Its place in the drawing, in the units of that; the ground reaches over the whole width.
    const box = group.getBBox();
    const place = { x: view.x, y: box.y - 4, width: view.width, height: box.height + 8 };
    for (const [name, value] of Object.entries(place)) ground.setAttribute(name, value);
    const scale = () => view.width / measure().width;
    const start = (Math.min(...nodes.map((node) => node.getBoundingClientRect().top)) - measure().top) * scale() - 4;
    this.box.addEventListener("scroll", () => {
      if (!measure().width) return; // another run is shown
      const outer = this.box.getBoundingClientRect();
      const hidden = Math.max(0, (outer.top - measure().top) * scale() - start);
      group.setAttribute("transform", `translate(0 ${hidden})`);
      ground.setAttribute("visibility", hidden ? "visible" : "hidden");
    }, { passive: true });
  }

  show(places, end) {
    if (!this.svg) return;
    const fade = (place, future) => (this.events.get(place) || []).forEach((node) => node.classList.toggle("future", future));
    while (this.done < end) fade(++this.done, false);
    while (this.done > end) fade(this.done--, true);
    while (this.edgesDone < this.edges.length && this.edges[this.edgesDone].last <= end) {
      this.edges[this.edgesDone++].node.classList.remove("future");
    }
    while (this.edgesDone > 0 && this.edges[this.edgesDone - 1].last > end) {
      this.edges[--this.edgesDone].node.classList.add("future");
    }
    for (const node of this.touched) node.classList.remove("now");
    this.touched = places.flatMap((place) => this.events.get(place) || []);
    for (const node of this.touched) node.classList.add("now");
    this.place();
  }

  /** Put the band behind what happens now and bring it into view. */
  place() {
    const current = this.touched.filter((node) => node.getBBox);
    this.band.toggleAttribute("hidden", !current.length);
    if (!current.length) {
      this.box.scrollTop = 0;
      return;
    }
    const boxes = current.map((node) => node.getBBox());
    const [x, y] = ["x", "y"].map((side) => Math.min(...boxes.map((box) => box[side])) - 6);
    const width = Math.max(...boxes.map((box) => box.x + box.width)) + 6 - x;
    const height = Math.max(...boxes.map((box) => box.y + box.height)) + 6 - y;
    for (const [name, value] of Object.entries({ x, y, width, height, rx: 8 })) this.band.setAttribute(name, value);
    if (this.showCycle(y, y + height)) return;
    reveal(this.box, current[0], current.length === 1); // a barrier is on all sides
  }

  /** Have the whole cycle in view where there is room for it, if it is about what is from `top` to `bottom`. */
  showCycle(top, bottom) {
    const { cycle, box } = this;
    if (!cycle || top < cycle.top - Drawing.NEAR || bottom > cycle.bottom + Drawing.NEAR) return false;
    const scale = this.svg.getBoundingClientRect().height / this.svg.viewBox.baseVal.height;
    if ((cycle.bottom - cycle.top + Drawing.HEAD) * scale > box.clientHeight + 2) return false;
    const [least, most] = [cycle.bottom * scale - box.clientHeight, (cycle.top - Drawing.HEAD) * scale];
    if (box.scrollTop < least || box.scrollTop > most) box.scrollTop = Math.max(0, (least + most) / 2);
    return true;
  }
}

Drawing.HEAD = 56; // the names of the ranks and the distance to them, in the units of the drawing
Drawing.NEAR = 30;
