"""How the space-time diagram looks as SVG: its style sheet, and the shapes of boxes and lines."""

from __future__ import annotations

from pgasrob.drawing.labels import BADGE, HEAD
from pgasrob.drawing.palette import COLOURS, coloured, variables
from pgasrob.drawing.svg_pen import Stroke

CORNER = 7.0
RADII = {"bar": 3, "fold": 3, "event": 3, "standing": 3, "event step": 9, "badge": BADGE / 2}
STROKES = {
    "halo": Stroke(CORNER),
    "way": Stroke(CORNER),
    "po way": Stroke(CORNER, 6, filled=True),
    "cf way": Stroke(CORNER, 6),
    "cycle po way": Stroke(CORNER, HEAD, filled=True),
    "cycle cf way": Stroke(CORNER, HEAD),
}
PRINTED = dict.fromkeys(COLOURS, "#000") | {
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
.pg-run{color-scheme:light dark}
.pg-run text{font:13px ui-monospace,"DejaVu Sans Mono","Liberation Mono",Menlo,Consolas,monospace;white-space:pre;
fill:@ink}
.pg-run .paper{fill:@paper}
.pg-run .headline{font-weight:bold;font-size:15px}
.pg-run .headline,.pg-run .sentence,.pg-run .legend{font-family:system-ui,"DejaVu Sans","Liberation Sans",sans-serif}
.pg-run .strong{font-weight:bold}
.pg-run .rank{font-weight:bold;font-size:14px}
.pg-run .legend{font-size:12px;fill:@faint}
.pg-run .number{text-anchor:end;fill:@faint;font-size:11px}
.pg-run .part{fill:@paper}
.pg-run .part.odd{fill:@part}
.pg-run .bar{fill:@bar}
.pg-run .fold rect{fill:@part;stroke:@faint;stroke-width:1;stroke-dasharray:1.5 3}
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
.pg-run .race .way{stroke:@accent;stroke-width:2.8;stroke-dasharray:9 4 2 4}
.pg-run .cycle .way{stroke:@accent;stroke-width:2.8}
.pg-run .cycle.cf .way{stroke-dasharray:9 5}
.pg-run .cycle.id .way{stroke-width:4;stroke-dasharray:.1 7}
.pg-run .cycle .head{stroke:@accent;stroke-width:2.4}
.pg-run .cycle.po .head{fill:@accent}
.pg-run .badge rect{fill:@paper;stroke:@accent;stroke-width:1.6}
.pg-run .badge text{font-size:11.5px;font-weight:bold;text-anchor:middle;fill:@accent}
"""

_PRINT = ";".join(f"--{name}:{value}" for name, value in PRINTED.items())
STYLE = f"{variables('pg-run')}@media print{{.pg-run{{max-width:100%;height:auto;{_PRINT}}}}}\n{coloured(RULES)}\n"
