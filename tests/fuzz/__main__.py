"""`python -m tests.fuzz [KIND...]`: run commands on damaged inputs, and print what breaks."""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

from tests.fuzz.kinds import KINDS
from tests.fuzz.watched import Tally, fuzz


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("kinds", metavar="KIND", nargs="*", choices=[[], *KINDS], help=", ".join(KINDS))
    parser.add_argument("--count", type=int, default=200, help="inputs of each kind")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the inputs that break something")
    options = parser.parse_args()
    broken = 0
    for kind in options.kinds or KINDS:
        tally = Tally()
        with tempfile.TemporaryDirectory() as folder:
            for found in fuzz(
                kind,
                range(options.first, options.first + options.count),
                options.seed,
                Path(folder),
                options.keep,
                tally,
            ):
                print(json.dumps(found._asdict(), ensure_ascii=False), flush=True)
                broken += 1
        print(f"{kind}: {tally}", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
