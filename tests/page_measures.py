"""Measures of a page in Chromium: what is cut, too small, too pale, or where the cycle of a drawing is."""

from __future__ import annotations

from typing import Any

SIZES = ((1280, 800), (1024, 768), (390, 844))
"""A projector, an old projector, a phone."""

FLAWS = """(least) => {
  const found = [];
  const tell = (what, node) => {
    const name = node.id || node.getAttribute("class") || node.localName;
    found.push(`${what}: ${name}: ${node.textContent.trim().replace(/\\s+/g, " ").slice(0, 50)}`);
  };
  const aside = ".unseen, svg, nav [aria-hidden], #lines";
  const shown = (node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest(aside);
  const clips = (value) => ["hidden", "clip"].includes(value);
  const rgb = (colour) => {
    const [r, g, b, a = 1] = colour.startsWith("color(")
      ? colour.match(/[\\d.]+/g).map((each, place) => (place < 3 ? 255 * each : Number(each)))
      : colour.match(/[\\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const light = ({ r, g, b }) => {
    const linear = (each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r, g, b].map((each) => linear(each / 255));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const colour = rgb(getComputedStyle(each).backgroundColor);
      if (colour.a > 0.99) return colour;
    }
    return { r: 255, g: 255, b: 255 };
  };
  const pale = (node) => {
    for (let each = node; each; each = each.parentElement) if (Number(getComputedStyle(each).opacity) < 1) return true;
    return false;
  };
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) found.push(`the page scrolls sideways: ${page.scrollWidth} > ${innerWidth}`);
  for (const node of document.querySelectorAll("body, body *")) {
    if (!shown(node) || ["textarea", "option", "script", "style"].includes(node.localName)) continue;
    const style = getComputedStyle(node);
    if (node.textContent.trim() && style.display !== "inline") {
      if (clips(style.overflowX) && node.scrollWidth > node.clientWidth + 1) tell("cut at the side", node);
      if (clips(style.overflowY) && node.scrollHeight > node.clientHeight + 1) tell("cut below", node);
    }
    if (style.textOverflow === "ellipsis" && node.scrollWidth > node.clientWidth) tell("shortened", node);
    const texts = [...node.childNodes].filter((child) => child.nodeType === 3 && child.data.trim());
    if (!texts.length) continue;
    if (parseFloat(style.fontSize) < least) tell(`letters of ${style.fontSize}`, node);
    if (!pale(node)) {
      const [one, other] = [light(rgb(style.color)), light(ground(node))].sort((a, b) => a - b);
      const ratio = (other + 0.05) / (one + 0.05);
      if (ratio < 4.5) tell(`contrast ${ratio.toFixed(1)}`, node);
    }
    const range = document.createRange();
    for (const text of texts) {
      range.selectNodeContents(text);
      for (const box of range.getClientRects()) {
        let scrolls = false;
        for (let outer = node; outer && !scrolls; outer = outer.parentElement) {
          const { overflowX } = getComputedStyle(outer);
          scrolls = ["auto", "scroll"].includes(overflowX) && outer !== document.body && outer !== page;
          if (!clips(overflowX) && !scrolls) continue;
          const { left, right } = outer.getBoundingClientRect();
          const out = box.left < left - 1 || box.right > right + 1;
          if (!scrolls && out) tell(`outside ${outer.id || outer.className}`, node);
        }
        if (!scrolls && box.width && (box.left < -1 || box.right > innerWidth + 1)) tell("outside the window", node);
      }
    }
  }
  return [...new Set(found)];
}"""

OUTSIDE = """(box) => {
  const outer = document.querySelector(box).getBoundingClientRect();
  const nodes = [...document.querySelectorAll(`${box} .cycle, ${box} .badge`)].filter((node) => node.checkVisibility());
  const [left, top, right, bottom] = [outer.left - 1, outer.top - 1, outer.right + 1, outer.bottom + 1];
  const inside = (node) => left <= node.left && node.right <= right && top <= node.top && node.bottom <= bottom;
  return { count: nodes.length, outside: nodes.filter((node) => !inside(node.getBoundingClientRect())).length };
}"""


def resize(page: Any, width: int, height: int) -> None:
    """Give ``page`` another size, and wait until it is laid out anew: on a busy machine it hears of it later."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(f"innerWidth === {width} && innerHeight === {height}")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def flaws(page: Any, least: float = 12) -> list[str]:
    """What is cut, hangs out, has letters of less than ``least`` pixels or little contrast in ``page`` as it is now."""
    found: list[str] = page.evaluate(FLAWS, least)
    return found


def cycle_outside(page: Any, box: str) -> tuple[int, int]:
    """How many events, edges and numbers of the cycle the drawing in ``box`` has, and how many are not in view."""
    found = page.evaluate(OUTSIDE, box)
    return found["count"], found["outside"]
