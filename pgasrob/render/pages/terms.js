// Terms of the paper, each with one line that explains it: on hover, on focus and on a tap.

const TERMS = {
  po: "po, program order: the commands of one rank come in the order of its program.",
  cf: "cf, conflict: two accesses to the same memory, of which one writes; the line leads to the later one.",
  id: "id, identity: events of one command, such as a put and its arrival; they count as one.",
  cycle: "A cycle: each event would have to come before the next one, and so the first before itself.",
  tau: "τ₁, τ₂, …: the parts of the run. In τ₁ the commands come in program order; later parts have the delayed steps.",
  step: "A step: what the network does later for a command. It is in the lane of the rank whose memory it acts on.",
  enter: "Enter, leave: where the cycle enters a rank and where it leaves it.",
  SC: "SC, sequentially consistent: ranks take turns, and every operation is complete at once.",
  FIFO: "FIFO: operations in this queue are complete in the order in which they were issued.",
  unordered: "Unordered: operations in this queue may be complete in any order.",
  network: "Operations that have been issued and are not yet complete.",
};

/** A word with its line, which the keyboard and a finger reach, too. */
function term(name, text = name, style = "") {
  const node = document.createElement("button");
  node.type = "button";
  node.className = `term ${style}`.trim();
  node.dataset.term = name;
  node.setAttribute("aria-description", TERMS[name]);
  node.textContent = text;
  return node;
}

/** The lines appear in one box beside what has the pointer or the focus. */
class Tip {
  constructor() {
    this.box = document.createElement("div");
    Object.assign(this.box, { id: "tip", hidden: true });
    document.body.append(this.box);
    const of = (event) => event.target.closest?.("[data-term]");
    const show = (event) => of(event) && this.show(of(event));
    const hide = (event) => of(event) && this.hide();
    for (const kind of ["pointerover", "focusin", "click"]) document.addEventListener(kind, show);
    for (const kind of ["pointerout", "focusout"]) document.addEventListener(kind, hide);
    document.addEventListener("scroll", () => this.hide(), { capture: true, passive: true });
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
  }

  show(node) {
    this.box.textContent = TERMS[node.dataset.term];
    this.box.hidden = false;
    const [of, own] = [node.getBoundingClientRect(), this.box.getBoundingClientRect()];
    const below = of.bottom + 6 + own.height <= innerHeight;
    this.box.style.top = `${below ? of.bottom + 6 : Math.max(4, of.top - own.height - 6)}px`;
    this.box.style.left = `${Math.max(8, Math.min(of.left, innerWidth - own.width - 8))}px`;
  }

  hide() {
    this.box.hidden = true;
  }
}

new Tip();
