// The page: one current row of one current run, and everything that leads to another.

const result = JSON.parse(byId("result").textContent);
const about = JSON.parse(byId("about").textContent);
const TEXT_FIELDS = "input:not([type=range]):not([type=checkbox]), select, textarea";

const PRESSED = "button, input[type=checkbox], a, summary";

const wide = matchMedia("(min-width: 60rem) and (min-height: 34rem)");

const LEAST_OF_QUEUES = 72;
const READABLE = 0.9; // the scale of a drawing below which the cycle alone is shown, if that makes it larger

let chosen = 0;
let run = null;
let panels = {};
let hashTimer = null;
let unfolded = null; // whether all events are drawn; null: if there is room for them

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
  unfolded = null;
  panels = {
    variables: new Variables(byId("variables"), run),
    queues: new Queues(byId("queues"), run),
    source: new Source(byId("source"), run),
    cycle: new Cycle(byId("cycle-panel"), byId("cycle"), run),
    order: new Order(byId("order"), byId("order-sentence"), run),
  };
  byId("variables-switch").hidden = !panels.variables.more;
  byId("variables-all").checked = false;
  byId("diagram-title").textContent = words.title;
  byId("initially").textContent = words.initially;
  byId("legend").replaceChildren(...legend());
  document.querySelector("#cycle-panel .terms").replaceChildren(...explained(["po", "cf", "id", "cycle"]));
  byId("slider").max = String(run.length);
  byId("of").textContent = ` of ${run.events.length}`;
  byId("run").value = String(number);
  ticks();
  tabs();
  arrange();
}

/** The drawing of the run to show: with all events, or with the cycle alone where that can be read and they cannot. */
function wanted() {
  const size = wide.matches ? "wide" : "narrow";
  const view = (name) => document.querySelector(`.drawing[data-run="${chosen}"][data-view="${name}"]`);
  const [full, folded] = ["full", "folded"].map((name) => view(`${name} ${size}`) ?? view(`${name} wide`));
  byId("unfold").hidden = !full || !folded;
  if (!full || !folded) return full ?? folded;
  const scale = (drawing) => {
    const { width, height } = drawing.querySelector("svg").viewBox.baseVal;
    return Math.max(...halves.scales({ width, height }));
  };
  const all = unfolded ?? (scale(full) >= READABLE || scale(full) >= scale(folded));
  byId("unfold").setAttribute("aria-pressed", String(all));
  return all ? full : folded;
}

/** Draw the run, where another drawing of it is wanted than there is. */
function draw() {
  const drawing = wanted();
  if (!panels.drawing || drawing?.querySelector("svg") !== panels.drawing.svg) {
    panels.drawing = new Drawing(byId("diagram-box"), run, drawing);
    panels.drawing.show(run.places(run.row), run.end(run.row));
    Object.assign(fitting, { svg: panels.drawing.svg, cycle: panels.drawing.cycle, zoom: null, whole: false });
  }
}

/** All that depends on the size of the window and on how it is split. */
function arrange() {
  draw();
  const { width, height } = fitting.natural;
  const cycle = fitting.cycle;
  halves.settle({ width, height: cycle ? Math.min(height, cycle.bottom - cycle.top + Drawing.HEAD) : Math.min(height, width) });
  fitting.fit();
}

/** On a wide window one of the panels of text is shown, and the others are behind their tabs. */
function tabs() {
  const panels = [...document.querySelectorAll("#text > section:not([hidden])")];
  const choose = (panel) => {
    for (const each of document.querySelectorAll("#text > section")) each.classList.toggle("chosen", each === panel);
    for (const tab of byId("tabs").children) tab.setAttribute("aria-selected", String(tab.dataset.panel === panel.dataset.tab));
    revealAll();
  };
  byId("tabs").replaceChildren(...panels.map((panel) => {
    const tab = make("button", { type: "button", role: "tab", "data-panel": panel.dataset.tab }, panel.dataset.tab);
    tab.addEventListener("click", () => choose(panel));
    return tab;
  }));
  choose(panels.find((panel) => panel.classList.contains("chosen")) ?? panels[0]);
}

/** Terms with a line each, and what comes after them. */
function explained(names, after = {}) {
  return names.flatMap((name) => [
    make("span", {}, term(name, NAMES[name] ?? name), ` ${after[name] ?? MEANT[name]}`), "  ",
  ]);
}

const NAMES = { cycle: "cycle", tau: "τ" };
const MEANT = { po: "program order", cf: "conflict", id: "one command", cycle: "heavy and numbered", tau: "parts", step: "rounded" };

/** What the lines and boxes of the diagram are, as far as it has any. */
function legend() {
  const drawn = new Set(run.witness.happens_before.map((edge) => edge.relation));
  const names = ["po", "cf", "id"].filter((relation) => drawn.has(relation));
  if (run.cycle.size) names.push("cycle");
  if (run.operations.some((operation) => operation.steps.length)) names.push("step");
  if (run.parts().length > 1) names.push("tau");
  return explained(names, { po: "solid", cf: "dashed", id: "dotted" });
}

/** The strip above the slider: the parts of the normal form, and the steps of the cycle. */
function ticks() {
  const at = (row) => `${(100 * row) / Math.max(run.length, 1)}%`;
  const parts = run.parts();
  const strips = parts.map(([part, row, until]) => {
    const strip = make("span", { class: `part part-${part}`, "data-term": "tau" }, `τ${"₀₁₂₃₄₅₆₇₈₉"[part] ?? part}`);
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
  const own = ({ register, rank }) => `register:${register.name}@${rank}`;
  const writes = [
    ...events.filter((event) => event.written).map((event) => ({ key: `memory:${event.written.cell}`, ...event.written })),
    ...events.filter((event) => event.register).map((event) => ({ key: own(event), ...event.register })),
  ];
  const reads = events.filter((event) => event.read !== null && !event.written && event.address);
  panels.variables.show(touched, writes, reads.map((event) => `memory:${nameOf(event.address)}`), coming());
  if (!writes.length && !reads.length && events.length === 1) panels.variables.turnTo(events[0].rank);
  panels.queues.show();
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
    const inner = byId("queues").getBoundingClientRect();
    const wanted = Math.min(inner.height, LEAST_OF_QUEUES);
    if (inner.bottom < outer.top + wanted) column.scrollTop += inner.bottom - outer.top - wanted;
    else if (inner.top > outer.bottom - wanted) column.scrollTop += inner.top - outer.bottom + wanted;
  }
}

/** The cells to which something is on its way, with the value where it is known. */
function coming() {
  const now = run.end(run.row);
  const found = new Map();
  for (const operation of run.pending()) {
    const plain = ["read", "write", "put"].includes(run.events[operation.issue].event);
    for (const place of operation.steps) {
      const event = run.events[place];
      const key = `memory:${event.written?.cell}`;
      if (place > now && event.written && !found.has(key)) {
        found.set(key, plain ? run.carried(operation) : null);
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
  const closing = words.closing.filter(([, , from]) => run.end(run.row) >= from);
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
    first.part === null ? "" : term("tau", `part τ${"₀₁₂₃₄₅₆₇₈₉"[first.part] ?? first.part}`, `pill part-${first.part}`),
    onCycle ? term("cycle", "on the cycle", "pill on-cycle") : "",
    ...marks.map((mark) => term("enter", mark === "enter" ? "the cycle enters the rank" : "the cycle leaves the rank", "pill")),
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

/** The row to begin with: where the cycle is closed, or the end of a run without one. */
function opening() {
  const { closes } = run.about;
  return closes < 0 ? 0 : run.rowOf[closes];
}

/** Follow the end of the address: #step=7, or #run=2&step=7. */
function follow() {
  clearTimeout(hashTimer);
  const wanted = new URLSearchParams(location.hash.slice(1));
  const number = Number(wanted.get("run") || "1") - 1;
  const known = Number.isInteger(number) && number >= 0 && number < about.length;
  if (known && number !== chosen) choose(number);
  if (!known) return go(run.row, { hash: false, note: `There is no run “${wanted.get("run")}”.` });
  if (!wanted.has("step")) return go(opening(), { hash: false });
  return goToStep(wanted.get("step"), { hash: false });
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
  a: () => byId("unfold").click(), b: () => byId("above").click(),
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
byId("variables-all").addEventListener("change", (event) => {
  panels.variables.build(event.target.checked);
  go(run.row);
});
byId("unfold").addEventListener("click", () => {
  unfolded = byId("unfold").getAttribute("aria-pressed") !== "true";
  arrange();
});
byId("diagram-box").addEventListener("click", (event) => {
  const node = event.target.closest("[data-step]");
  if (node) go(run.rowOf[Number(node.dataset.step)]);
});
byId("run").addEventListener("change", (event) => {
  choose(Number(event.target.value));
  go(opening());
});
window.addEventListener("hashchange", follow);

byId("run").replaceChildren(...about.map((words, number) => make("option", { value: number }, words.title)));
byId("run-choice").hidden = about.length < 2;
wide.addEventListener("change", () => go(run.row, { hash: false }));
window.addEventListener("resize", arrange);
theme(matchMedia("(prefers-color-scheme: dark)").matches);
choose(0);
follow();
