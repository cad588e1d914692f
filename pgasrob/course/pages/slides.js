"use strict";
const slides = [...document.querySelectorAll(".slide")];
let at = 0;
let run = null;

/** The run on a slide: what has not happened yet is faded, and the line that happens is marked in the program. */
class Run {
  constructor(slide) {
    const drawing = slide.querySelector(".drawing[data-lines]");
    this.lines = JSON.parse(drawing.dataset.lines);
    this.program = slide.querySelectorAll("pre [data-line]");
    this.nodes = [];
    for (const node of drawing.querySelectorAll("[data-step]")) {
      const steps = node.dataset.steps ? JSON.parse(node.dataset.steps) : [Number(node.dataset.step)];
      this.nodes.push({ node, from: Math.max(...steps), steps });
    }
    this.times = [...new Set(this.nodes.map((each) => each.from))].sort((a, b) => a - b);
    for (const node of drawing.querySelectorAll("[data-from]")) {
      this.nodes.push({ node, from: Math.max(Number(node.dataset.from), Number(node.dataset.to)), steps: [] });
    }
    for (const node of slide.querySelectorAll("[data-number], .standing")) {
      this.nodes.push({ node, from: this.times.at(-1), steps: [] });
    }
    this.done = 0;
  }

  /** Shows the first `done` of the steps that are drawn. */
  show(done) {
    this.done = done;
    const now = done ? this.times[done - 1] : -1;
    for (const { node, from, steps } of this.nodes) {
      node.classList.toggle("future", from > now);
      node.classList.toggle("happening", steps.includes(now) && done < this.times.length);
    }
    const line = done && done < this.times.length ? this.lines[now] : null;
    for (const each of this.program) each.classList.toggle("now", Number(each.dataset.line) === line);
  }

  go(by) {
    const done = this.done + by;
    if (done < 0 || done > this.times.length) return false;
    this.show(done);
    return true;
  }
}

function show(number, atItsEnd = false) {
  slides[at].classList.remove("now");
  at = Math.min(Math.max(number, 0), slides.length - 1);
  slides[at].classList.add("now");
  run = slides[at].querySelector(".drawing[data-lines]") ? new Run(slides[at]) : null;
  if (run) run.show(atItsEnd ? run.times.length : 0);
  document.getElementById("place").textContent = `${at + 1} of ${slides.length}`;
  history.replaceState(null, "", `#${at + 1}`);
}

function on() {
  if (!(run && run.go(1)) && at < slides.length - 1) show(at + 1);
}

function back() {
  if (!(run && run.go(-1)) && at > 0) show(at - 1, true);
}

function speak() {
  const speaking = document.body.classList.toggle("speaking");
  document.getElementById("speak").setAttribute("aria-pressed", String(speaking));
}

function fit() {
  document.body.style.setProperty("--scale", Math.min(innerWidth / 1280, innerHeight / 800));
}

const KEYS = {
  ArrowRight: on, " ": on, Enter: on, ArrowLeft: back, Backspace: back,
  PageDown: () => show(at + 1), ArrowDown: () => show(at + 1), PageUp: () => show(at - 1), ArrowUp: () => show(at - 1),
  Home: () => show(0), End: () => show(slides.length - 1), n: speak,
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest("button") && (event.key === " " || event.key === "Enter")) return; // which presses it
  if (!KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
addEventListener("resize", fit);
addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1 || 0));
document.getElementById("on").addEventListener("click", on);
document.getElementById("back").addEventListener("click", back);
document.getElementById("speak").addEventListener("click", speak);
fit();
show(Number(location.hash.slice(1)) - 1 || 0);
