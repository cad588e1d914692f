// The page: one current row of one current run, and everything that leads to another.

const result = JSON.parse(byId("result").textContent);
const about = JSON.parse(byId("about").textContent);
const TEXT_FIELDS = "input:not([type=range]):not([type=checkbox]), select, textarea";

const PRESSED = "button, input[type=checkbox], a, summary";

const wide = matchMedia("(min-width: 60rem) and (min-height: 34rem)");

const LEAST_OF_QUEUES = 72;
const ROOM_FOR_CHANGES = 100;

let chosen = 0;
let run = null;
let panels = {};
let hashTimer = null;

const fitting = new Fitting(byId("diagram-box"), () => {
  panels.drawing?.place();
  revealAll();
});

const halves = new Halves(byId("main"), byId("splitter"), () => arrange());

function link(step, number = chosen) {
  return number ? `#run=${number + 1}&step=${step}` : `#step=${step}`;
}

function choose(number) {
  chosen = number;
  const words = about[number];
  run = new Run(result[words.run], words);
  const { witness } = run;
  const cells = new Set(run.events.filter((event) => event.address).map((event) => event.address.name));
  // An await at which a rank stands reads a cell that no event of its own may have touched.
  for (const { ended, next } of witness.standing) {
    for (const { address } of ended ? [] : next) if (address) cells.add(address.name);
  }
  const hidden = new Set(witness.temporaries);
  const variables = witness.registers.filter((name) => !hidden.has(name));
  const changes = run.events.filter(({ register }) => register && !hidden.has(register.name));
  const registers = new Set(changes.map((event) => event.register.name));
  const names = [...new Set(witness.memory.map((cell) => cell.name))];
  panels = {
    memory: new Values(byId("memory"), "cell", run.memory, names, cells, witness.nodes),
    registers: new Values(byId("registers"), "register", run.registers, variables, registers, witness.nodes),
    queues: new Queues(byId("queues"), run),
    source: new Source(byId("source"), run),
    cycle: new Cycle(byId("cycle-panel"), byId("cycle"), run),
    order: new Order(byId("order"), byId("order-sentence"), run),
    drawing: new Drawing(byId("diagram-box"), run, number),
  };
  for (const [panel, all, used] of [["memory", names, cells], ["registers", variables, registers]]) {
    byId(`${panel}-switch`).hidden = used.size === all.length;
    byId(`${panel}-all`).checked = false;
  }
  byId("diagram-title").textContent = words.title;
  byId("initially").textContent = words.initially;
  byId("legend").textContent = legend();
  byId("slider").max = String(run.length);
  byId("of").textContent = ` of ${run.events.length}`;
  byId("run").value = String(number);
  ticks();
  fitting.show(panels.drawing.svg);
  arrange();
}

/** All that depends on the size of the window and on how it is split. */
function arrange() {
  halves.settle(fitting.natural);
  // The cycle is read below a diagram that stands beside the text or below the current step, else behind the source.
  const [place, before] = !wide.matches ? ["text", "order-panel"] : halves.above ? ["main", "splitter"] : ["left", null];
  byId(place).insertBefore(byId("cycle-panel"), before && byId(before));
  stack();
  fitting.fit();
  showCuts();
}

/** What the lines and boxes of the diagram are, as far as it has any. */
function legend() {
  const drawn = new Set(run.witness.happens_before.map((edge) => edge.relation));
  const lines = [["po", "solid: program order"], ["cf", "dashed: conflict"], ["id", "dotted: one command"]]
    .filter(([relation]) => drawn.has(relation)).map(([, verb]) => verb);
  if (run.cycle.size) lines.push("heavy and numbered: the cycle");
  const steps = run.operations.some((operation) => operation.steps.length);
  return [
    lines.length ? `${lines.join(", ")}.` : "",
    steps ? "rounded: a step, in the lane of the memory it acts on." : "",
    run.length ? "pale: still to come." : "",
  ].filter(Boolean).map((each) => each[0].toUpperCase() + each.slice(1)).join(" ");
}

/** The strip above the slider: the parts of the normal form, and the steps of the cycle. */
function ticks() {
  const at = (row) => `${(100 * row) / Math.max(run.length, 1)}%`;
  const parts = run.parts();
  const strips = parts.map(([part, row], index) => {
    const until = index + 1 < parts.length ? parts[index + 1][1] - 1 : run.length;
    const strip = make("span", { class: `part part-${part}` }, `τ${"₀₁₂₃₄₅₆₇₈₉"[part] ?? part}`);
    strip.style.left = at(row - 1);
    strip.style.width = `calc(${at(until)} - ${at(row - 1)})`;
    return strip;
  });
  const rows = new Set([...run.cycle].map((place) => run.rowOf[place]));
  const marks = [...rows].map((row) => {
    const mark = make("i", {});
    mark.style.left = at(row);
    return mark;
  });
  byId("ticks").replaceChildren(...strips, ...marks);
}

function go(row, { note = "", hash = true } = {}) {
  row = Math.min(Math.max(row, 0), run.length);
  const touched = run.go(row);
  const places = run.places(row);
  const events = places.map((place) => run.events[place]);
  const writes = events.filter((event) => event.written).map((event) => ({ key: event.written.cell, ...event.written }));
  const reads = events.filter((event) => event.read !== null && !event.written && event.address).map((event) => nameOf(event.address));
  const changed = events.filter((event) => event.register).map((event) => ({ key: `${event.register.name}@${event.rank}`, ...event.register }));
  panels.memory.show(touched.cells, writes, reads, coming());
  panels.registers.show(touched.registers, changed, [], []);
  if (!changed.length && events.length === 1) panels.registers.turnTo(events[0].rank);
  panels.queues.show();
  byId("state").classList.toggle("pending", run.pending().length > 0);
  panels.source.show(places);
  panels.cycle.show(places);
  panels.order.show(places);
  panels.drawing.show(places, run.end(row));
  describe(places);
  byId("note").textContent = note;
  controls(row, places);
  revealAll();
  showQueues();
  if (hash) {
    // Not at every step of a held key: browsers refuse so many changes of the address.
    clearTimeout(hashTimer);
    hashTimer = setTimeout(() => history.replaceState(null, "", link(places.length ? places[0] + 1 : 0)), 150);
  }
}

/** Have the queues in view when they have changed, where the panels with the values have to be scrolled. */
function showQueues() {
  const column = byId("state");
  if (panels.queues.changed && getComputedStyle(column).overflowY === "auto") {
    const outer = column.getBoundingClientRect();
    const inner = byId("queues").parentNode.getBoundingClientRect();
    const wanted = Math.min(inner.height, LEAST_OF_QUEUES);
    if (inner.bottom < outer.top + wanted) column.scrollTop += inner.bottom - outer.top - wanted;
    else if (inner.top > outer.bottom - wanted) column.scrollTop += inner.top - outer.bottom + wanted;
  }
  showCuts();
}

/** Fade the lower edge of a column that goes on below it. */
function showCuts() {
  for (const column of document.querySelectorAll(".column")) {
    column.classList.toggle("cut", column.scrollHeight - column.clientHeight - column.scrollTop > 4);
  }
}

/** Whether memory and registers have room beside each other, also with a change and a value on its way in each. */
function stack() {
  const column = byId("state");
  column.classList.remove("stacked");
  const widths = ["memory", "registers"].map((id) => byId(id).querySelector("table")?.offsetWidth ?? 0);
  const frames = 2 * (byId("memory").parentNode.offsetWidth - byId("memory").clientWidth) + 10;
  const narrow = widths[0] + widths[1] + ROOM_FOR_CHANGES + frames > column.clientWidth;
  column.classList.toggle("stacked", narrow || !widths[1]); // memory has all of the width when no register is used
}

/** The cells to which something is on its way, with the value where it is known. */
function coming() {
  const now = run.end(run.row);
  const found = new Map();
  for (const operation of run.pending()) {
    const plain = ["read", "write", "put"].includes(run.events[operation.issue].event);
    for (const place of operation.steps) {
      const event = run.events[place];
      if (place > now && event.written && !found.has(event.written.cell)) {
        found.set(event.written.cell, plain ? run.carried(operation) : null);
      }
    }
  }
  return found;
}

/** What happens now, in words. */
function describe(places) {
  const { events, about: words } = run;
  const title = byId("now-title");
  const body = byId("now-body");
  const closing = run.end(run.row) >= words.closes ? words.closing : [];
  const closed = closing.map(([line, style]) => make("p", { class: `closing ${style}` }, ...linked(line, events.length)));
  if (!places.length) {
    title.replaceChildren(make("span", {}, "Start"));
    const none = events.length ? "Nothing has happened yet. Step forward with → or the buttons." : "The run has no event.";
    body.replaceChildren(make("p", { class: "what" }, none), make("p", {}, words.initially), ...closed);
    byId("spoken").textContent = `Start. ${none}`;
    return;
  }
  const first = events[places[0]];
  const several = places.length > 1;
  const numbers = several ? `Steps ${places[0] + 1}–${places[places.length - 1] + 1}` : `Step ${places[0] + 1}`;
  const marks = [...new Set(places.flatMap((place) => events[place].marks || []))];
  const onCycle = places.some((place) => run.cycle.has(place));
  const pills = [
    first.part === null ? "" : make("span", { class: `pill part-${first.part}` }, `part τ${"₀₁₂₃₄₅₆₇₈₉"[first.part] ?? first.part}`),
    onCycle ? make("span", { class: "pill on-cycle" }, "on the cycle") : "",
    ...marks.map((mark) => make("span", { class: "pill" }, mark === "enter" ? "the cycle enters the rank" : "the cycle leaves the rank")),
  ];
  title.replaceChildren(make("span", {}, numbers), ...pills.filter(Boolean));
  const step = words.steps[places[0]];
  const what = several ? "All ranks pass the barrier" : step.what;
  const effects = several ? [] : step.effects;
  const issue = run.issue[places[0]];
  const where = first.line ? ` in line ${first.file_name ? `${first.file_name}:` : ""}${first.line}` : "";
  body.replaceChildren(
    make("p", { class: "what" }, what, effects.length ? ": " : ".", ...effects.flatMap((effect, index) => [index ? "; " : "", make("b", { class: effect === "FAILS" ? "bad" : "effect" }, effect)])),
    make("p", {}, make("code", {}, first.command), where, ...(issue === places[0] ? [] : [", issued in ", toStep(issue)]), "."),
    make("p", { class: "why" }, ...linked(step.why, events.length)),
    ...closed);
  byId("spoken").textContent = [`${numbers} of ${events.length}.`, `${what}.`, ...effects.map((effect) => `${effect}.`),
    onCycle ? "On the cycle." : "", ...closing.map(([line]) => line)].join(" ");
}

/** The number of the current step, of a barrier the numbers, as the field has it. */
function shownNumber() {
  const places = run.places(run.row);
  return places.length > 1 ? `${places[0] + 1}–${places[places.length - 1] + 1}` : String(run.end(run.row) + 1);
}

function controls(row, places) {
  const slider = byId("slider");
  slider.value = String(row);
  slider.setAttribute("aria-valuetext", places.length ? `step ${places[0] + 1} of ${run.events.length}` : "start");
  byId("number").value = shownNumber();
  for (const [id, off] of [["first", row === 0], ["back", row === 0], ["forward", row === run.length], ["last", row === run.length]]) {
    byId(id).setAttribute("aria-disabled", String(off)); // not disabled: the focus would be lost at either end
  }
}

function goToStep(text, options = {}) {
  const step = Number(/^\s*(\d+)(–\d+)?\s*$/.exec(text)?.[1] ?? NaN); // of a barrier's "6–7" the first
  if (Number.isNaN(step)) return go(run.row, { ...options, note: `There is no step “${text}”.` });
  if (step > run.events.length) return go(run.length, { ...options, note: `There is no step ${step}: the run ends with step ${run.events.length}.` });
  return go(step === 0 ? 0 : run.rowOf[step - 1], options);
}

/** Follow the end of the address: #step=7, or #run=2&step=7. */
function follow() {
  clearTimeout(hashTimer);
  const wanted = new URLSearchParams(location.hash.slice(1));
  const number = Number(wanted.get("run") || "1") - 1;
  const known = Number.isInteger(number) && number >= 0 && number < about.length;
  if (known && number !== chosen) choose(number);
  if (!known) return go(run.row, { hash: false, note: `There is no run “${wanted.get("run")}”.` });
  return goToStep(wanted.get("step") ?? "0", { hash: false });
}

function nextPart(direction) {
  const starts = run.parts().map(([, row]) => row);
  const target = direction > 0 ? starts.find((row) => row > run.row) : starts.filter((row) => row < run.row).pop();
  go(target ?? (direction > 0 ? run.length : 0));
}

function nextOfCycle(direction) {
  const rows = [...new Set([...run.cycle].map((place) => run.rowOf[place]))].sort((a, b) => a - b);
  const target = direction > 0 ? rows.find((row) => row > run.row) : rows.filter((row) => row < run.row).pop();
  if (target !== undefined) go(target);
}

function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").setAttribute("aria-pressed", String(dark));
}

const isDark = () => byId("theme").getAttribute("aria-pressed") === "true";

const KEYS = {
  ArrowRight: () => go(run.row + 1), j: () => go(run.row + 1), n: () => go(run.row + 1),
  ArrowLeft: () => go(run.row - 1), k: () => go(run.row - 1), p: () => go(run.row - 1),
  Home: () => go(0), End: () => go(run.length),
  // What presenters' remote controls send, and the space bar, step as in slides.
  PageDown: () => go(run.row + 1), " ": () => go(run.row + 1), PageUp: () => go(run.row - 1),
  "]": () => nextPart(1), "[": () => nextPart(-1),
  c: () => nextOfCycle(1), C: () => nextOfCycle(-1),
  "+": () => byId("zoom-in").click(), "=": () => byId("zoom-in").click(), "-": () => byId("zoom-out").click(),
  f: () => byId("zoom-fit").click(),
  t: () => theme(!isDark()),
  "?": () => byId("help").showModal(),
};

/** Whether a panel that has the focus scrolls by a key. */
function scrolls(target, key) {
  if (!target.classList?.contains("scroll")) return false;
  if (key.startsWith("Arrow")) return target.scrollWidth > target.clientWidth;
  return ["Home", "End"].includes(key) && target.scrollHeight > target.clientHeight;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || byId("help").open) return;
  if (event.target.matches?.(TEXT_FIELDS) || scrolls(event.target, event.key)) return;
  if (event.key === " " && event.target.matches?.(PRESSED)) return; // it presses the button
  if (/^\d$/.test(event.key)) {
    byId("number").focus();
    byId("number").select();
    return; // the digit goes into the field
  }
  const action = KEYS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
});

byId("first").addEventListener("click", KEYS.Home);
byId("back").addEventListener("click", KEYS.ArrowLeft);
byId("forward").addEventListener("click", KEYS.ArrowRight);
byId("last").addEventListener("click", KEYS.End);
byId("theme").addEventListener("click", KEYS.t);
byId("help-open").addEventListener("click", KEYS["?"]);
byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
byId("number").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    goToStep(event.target.value);
    event.target.blur();
  } else if (event.key === "Escape") {
    go(run.row);
    event.target.blur();
  }
});
byId("number").addEventListener("blur", (event) => {
  if (event.target.value !== shownNumber()) {
    if (/\d/.test(event.target.value)) goToStep(event.target.value);
    else go(run.row);
  }
});
byId("number").addEventListener("focus", (event) => event.target.select());
for (const panel of ["memory", "registers"]) {
  byId(`${panel}-all`).addEventListener("change", (event) => {
    panels[panel].build(event.target.checked);
    stack();
    go(run.row);
  });
}
byId("diagram-box").addEventListener("click", (event) => {
  const node = event.target.closest("[data-step]");
  if (node) go(run.rowOf[Number(node.dataset.step)]);
});
byId("run").addEventListener("change", (event) => {
  choose(Number(event.target.value));
  go(0);
});
window.addEventListener("hashchange", follow);

byId("run").replaceChildren(...about.map((words, number) => make("option", { value: number }, words.title)));
byId("run-choice").hidden = about.length < 2;
wide.addEventListener("change", () => go(run.row, { hash: false }));
window.addEventListener("resize", arrange);
for (const column of document.querySelectorAll(".column")) column.addEventListener("scroll", showCuts, { passive: true });
theme(matchMedia("(prefers-color-scheme: dark)").matches);
choose(0);
follow();
