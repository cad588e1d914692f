"""The style sheet of the space-time diagram."""

from __future__ import annotations

VARIABLES = {
    "paper": ("#ffffff", "#14171a"),
    "ink": ("#1a1d21", "#e6e8eb"),
    "faint": ("#5b6470", "#9aa4b0"),
    "told": ("#3a424c", "#c3cad3"),
    "rule": ("#dfe3e8", "#2a3037"),
    "part": ("#f4f6f9", "#1a1f25"),
    "bar": ("#dde2e9", "#2b333c"),
    "box": ("#ffffff", "#1f252c"),
    "step": ("#e9f0f8", "#1d2b3a"),
    "po": ("#5b6470", "#9aa4b0"),
    "cf": ("#8a5200", "#e0a458"),
    "id": ("#2b66a8", "#7fb2e8"),
    "accent": ("#b3261e", "#ff8a80"),
}
"""The colours by name, on a light background and on a dark one. A page sets `--pg-NAME` for a colour of its own."""
PRINTED = dict.fromkeys(VARIABLES, "#000") | {
    "paper": "#fff",
    "box": "#fff",
    "step": "#fff",
    "part": "#f2f2f2",
    "bar": "#ddd",
    "rule": "#ddd",
    "faint": "#333",
}
"""The colours on paper: black on white, for all that the lines mean is in their shapes."""

RULES = """
.pg-run text{font:13px ui-monospace,"DejaVu Sans Mono","Liberation Mono",Menlo,Consolas,monospace;white-space:pre;
fill:@ink}
.pg-run .paper{fill:@paper}
.pg-run .headline{font-weight:bold;font-size:15px}
.pg-run .headline,.pg-run .sentence,.pg-run .legend{font-family:system-ui,"DejaVu Sans","Liberation Sans",sans-serif}
.pg-run .strong{font-weight:bold}
.pg-run .rank{font-weight:bold;font-size:14px}
.pg-run .legend{font-size:12px;fill:@faint}
.pg-run .number{text-anchor:end;fill:@faint;font-size:12px}
.pg-run .part{fill:@paper}
.pg-run .part.odd{fill:@part}
.pg-run .bar{fill:@bar}
.pg-run .bracket{fill:none;stroke:@faint;stroke-width:1.2}
.pg-run .part-name{font:italic 14px Georgia,"DejaVu Serif","Liberation Serif",serif;fill:@faint}
.pg-run .guide{stroke:@rule;stroke-width:1}
.pg-run .lane path{stroke:@rule;stroke-width:2;fill:none}
.pg-run .event rect,.pg-run .standing rect{fill:@box;stroke:@faint;stroke-width:1}
.pg-run .event.step rect{fill:@step}
.pg-run .event.cycle rect{stroke:@accent;stroke-width:2.4}
.pg-run .standing rect{stroke-dasharray:5 3}
.pg-run .fault rect{stroke:@accent;stroke-width:2.4}
.pg-run .line,.pg-run .origin,.pg-run .mark{fill:@faint}
.pg-run .effect{fill:@told}
.pg-run .event.cycle .command,.pg-run .event.cycle .step,.pg-run .fault .command{font-weight:bold}
.pg-run .fails{font-weight:bold;fill:@accent}
.pg-run .reach{stroke:@ink;stroke-width:1.4;fill:none}
.pg-run .touch{fill:@paper;stroke:@ink;stroke-width:1.4}
.pg-run .halo{fill:none;stroke:@paper;stroke-width:7}
.pg-run .way{fill:none;stroke-width:1.3}
.pg-run .head{stroke-width:1.3;stroke-linejoin:round;stroke-linecap:round}
.pg-run .po .way{stroke:@po}
.pg-run .po .head{fill:@po;stroke:@po}
.pg-run .cf .way{stroke:@cf;stroke-dasharray:6 4}
.pg-run .cf .head{fill:none;stroke:@cf;stroke-width:1.6}
.pg-run .id .way{stroke:@id;stroke-width:2;stroke-dasharray:.1 4.4;stroke-linecap:round}
.pg-run .cycle .way{stroke:@accent;stroke-width:2.8}
.pg-run .cycle.cf .way{stroke-dasharray:9 5}
.pg-run .cycle.id .way{stroke-width:4;stroke-dasharray:.1 7}
.pg-run .cycle .head{stroke:@accent;stroke-width:2.4}
.pg-run .cycle.po .head{fill:@accent}
.pg-run .badge rect{fill:@paper;stroke:@accent;stroke-width:1.6}
.pg-run .badge text{font-size:11.5px;font-weight:bold;text-anchor:middle;fill:@accent}
"""


def _rules() -> str:
    """The rules with `@name` put in: as a plain value, and again as a variable for those who know variables."""
    lines = []
    for line in RULES.strip().splitlines():
        declarations = []
        for piece in line.replace("}", ";}").split(";"):
            name = next((name for name in VARIABLES if piece.endswith(f"@{name}")), None)
            if name is None:
                declarations.append(piece)
                continue
            before = piece.removesuffix(f"@{name}")
            property_ = before.rpartition("{")[2]
            declarations += [f"{before}{VARIABLES[name][0]}", f"{property_}var(--{name})"]
        lines.append(";".join(declarations).replace(";;", ";").replace(";}", "}"))
    return "\n".join(lines)


def _values(choice: int) -> str:
    return ";".join(f"--{name}:var(--pg-{name},{values[choice]})" for name, values in VARIABLES.items())


_PRINT = ";".join(f"--{name}:{value}" for name, value in PRINTED.items())
STYLE = (
    f"\n.pg-run{{color-scheme:light dark;{_values(0)}}}\n"
    f"@media (prefers-color-scheme:dark){{.pg-run{{{_values(1)}}}}}\n"
    f"@media print{{.pg-run{{max-width:100%;height:auto;{_PRINT}}}}}\n{_rules()}\n"
)
