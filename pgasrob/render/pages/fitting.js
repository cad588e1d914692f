/** How large the drawing is in its box: as wide as that, with the whole cycle in view, until somebody zooms. It is moved
    by dragging it, too. */
class Fitting {
  constructor(box, changed) {
    Object.assign(this, { box, changed, svg: null, cycle: null, zoom: null, whole: false, scale: 1, dragged: false });
    const middle = () => {
      const { left, top, width, height } = box.getBoundingClientRect();
      return { clientX: left + width / 2, clientY: top + height / 2 };
    };
    byId("zoom-in").addEventListener("click", () => this.by(Fitting.STEP, middle()));
    byId("zoom-out").addEventListener("click", () => this.by(1 / Fitting.STEP, middle()));
    byId("zoom-fit").addEventListener("click", () => this.all());
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.by(event.deltaY < 0 ? Fitting.STEP : 1 / Fitting.STEP, event);
    }, { passive: false });
    box.addEventListener("pointerdown", (event) => this.drag(event));
    // The end of a drag is no click on what happens to be there.
    box.addEventListener("click", (event) => this.dragged && event.stopPropagation(), true);
  }

  /** Another drawing is in the box; `cycle` is from where to where its cycle reaches. */
  show(svg, cycle) {
    Object.assign(this, { svg, cycle, zoom: null, whole: false });
    this.fit();
  }

  get natural() {
    return this.svg?.viewBox.baseVal ?? { width: 0, height: 0 };
  }

  /** The scale at which it is as wide as the box, and no larger than it is by itself. */
  get fitting() {
    return Math.min(1, this.box.clientWidth / (this.natural.width || 1));
  }

  /** The scale at which so much of its height is in the box, too. */
  within(height) {
    this.svg.style.width = `${this.natural.width * this.fitting}px`;
    const most = parseFloat(getComputedStyle(this.box).maxHeight); // NaN where the box has a share of the window
    const room = Number.isNaN(most) ? this.box.clientHeight : most;
    return Math.min(this.fitting, (room - 2) / (height || 1));
  }

  fit() {
    if (!this.svg) return;
    const { scrollLeft, scrollTop } = this.box; // which measuring changes
    const all = this.within(this.natural.height);
    const cycle = this.cycle ? this.within(this.cycle.bottom - this.cycle.top + Drawing.HEAD) : this.fitting;
    this.scale = this.whole ? all : this.zoom ?? cycle;
    this.svg.style.width = `${this.natural.width * this.scale}px`;
    this.box.scrollTo(scrollLeft, scrollTop);
    byId("zoom").textContent = `${Math.round(100 * this.scale)} %`;
    byId("zoom-fit").setAttribute("aria-pressed", String(Math.abs(this.scale - all) < 0.001));
    this.box.classList.toggle("larger", this.natural.width * this.scale > this.box.clientWidth + 1);
    this.changed();
  }

  to(zoom) {
    Object.assign(this, { zoom, whole: false });
    this.fit();
  }

  /** Have all rows in view. */
  all() {
    this.whole = true;
    this.fit();
  }

  /** Larger or smaller by a factor; what is at a place of the window stays there. */
  by(factor, { clientX, clientY }) {
    if (!this.svg) return;
    const before = this.svg.getBoundingClientRect();
    this.to(Math.min(Fitting.LARGEST, Math.max(Math.min(Fitting.LEAST, this.scale), this.scale * factor)));
    const after = this.svg.getBoundingClientRect();
    const moved = (at, from, size) => ((at - before[from]) / before[size]) * after[size] + after[from] - at;
    this.box.scrollLeft += moved(clientX, "left", "width");
    this.box.scrollTop += moved(clientY, "top", "height");
  }

  drag(start) {
    this.dragged = false;
    if (start.pointerType !== "mouse" || start.button !== 0) return; // a finger scrolls by itself
    const { scrollLeft, scrollTop } = this.box;
    const move = (event) => {
      const [right, down] = [event.clientX - start.clientX, event.clientY - start.clientY];
      if (Math.abs(right) + Math.abs(down) > 4) this.dragged = true;
      if (!this.dragged) return;
      getSelection().removeAllRanges();
      this.box.scrollTo(scrollLeft - right, scrollTop - down);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", () => removeEventListener("pointermove", move), { once: true });
  }
}

Fitting.STEP = 1.25;
Fitting.LEAST = 0.1;
Fitting.LARGEST = 4;

/** Drawing and text share the window: side by side, or one above the other where the drawing is too wide for that. */
class Halves {
  constructor(main, splitter, changed) {
    Object.assign(this, { main, splitter, changed, above: false, chosen: null });
    splitter.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      splitter.setPointerCapture(event.pointerId);
    });
    splitter.addEventListener("pointermove", (event) => {
      if (!splitter.hasPointerCapture(event.pointerId)) return;
      const { left, top, width, height } = this.inside();
      const half = (this.above ? splitter.offsetHeight : splitter.offsetWidth) / 2;
      this.split(this.above ? (event.clientY - half - top) / height : (event.clientX - half - left) / width);
    });
    splitter.addEventListener("dblclick", () => this.split(null));
    splitter.addEventListener("keydown", (event) => {
      const direction = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (!direction) return;
      event.preventDefault();
      event.stopPropagation();
      this.split(this.share + 0.02 * direction);
    });
    byId("above").addEventListener("click", () => {
      this.chosen = !this.above;
      changed();
    });
  }

  /** Where both halves are, without the margin of the page: what shares are of. */
  inside() {
    const { left, top, width, height } = this.main.getBoundingClientRect();
    const { paddingLeft, paddingRight, paddingTop, paddingBottom } = getComputedStyle(this.main);
    const [west, east, north, south] = [paddingLeft, paddingRight, paddingTop, paddingBottom].map(parseFloat);
    return { left: left + west, top: top + north, width: width - west - east, height: height - north - south };
  }

  /** The share of the drawing that it has now. */
  get share() {
    const [now, all] = [byId("left").getBoundingClientRect(), this.inside()];
    return this.above ? now.height / all.height : now.width / all.width;
  }

  /** Give the drawing a share; null: as if nobody had said so. */
  split(share) {
    const name = this.above ? "--above" : "--beside";
    if (share === null) this.main.style.removeProperty(name);
    else this.main.style.setProperty(name, `${(100 * Math.min(0.85, Math.max(0.15, share))).toFixed(1)}%`);
    this.changed();
  }

  /** How large a drawing of this size can be beside the text and above it. */
  scales({ width, height }) {
    const { width: all, height: tall } = this.inside();
    const within = (across, down) => Math.min(1, across / (width || 1), down / (height || 1));
    if (!wide.matches) return [within(all - Halves.FRAME, 0.55 * innerHeight), 0];
    return [
      within(Halves.BESIDE * all - Halves.FRAME, tall - Halves.AROUND),
      within(all - Halves.FRAME, Halves.MOST * tall - Halves.AROUND),
    ];
  }

  /** Settle where the drawing of this size is, and how much of the height it takes above the text by itself. */
  settle(size) {
    const [beside, above] = this.scales(size);
    this.above = wide.matches && (this.chosen ?? above > Halves.BETTER * beside);
    this.main.classList.toggle("above", this.above);
    const whole = (size.height * Math.min(1, (this.inside().width - Halves.FRAME) / (size.width || 1)) + Halves.AROUND) / (this.inside().height || 1);
    this.main.style.setProperty("--whole", `${(100 * Math.min(Halves.MOST, whole)).toFixed(1)}%`);
    this.splitter.setAttribute("aria-orientation", this.above ? "horizontal" : "vertical");
    this.splitter.setAttribute("aria-valuenow", String(Math.round(100 * this.share)));
    byId("above").setAttribute("aria-pressed", String(this.above));
  }
}

Halves.FRAME = 48; // the frame of the drawing and its scroll bar
Halves.AROUND = 92; // the title, the legend and the frame of the drawing
Halves.MOST = 0.6;
Halves.BESIDE = 0.56;
Halves.BETTER = 1.25; // the text has less room below the drawing than beside it
