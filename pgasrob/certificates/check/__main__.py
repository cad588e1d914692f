"""`python -m pgasrob.certificates.check PROGRAM.pgas CERTIFICATE`: the checker alone, for who reads what is run.

Exit code 0: the certificate proves that the program is robust; 1: it does not; 2: one of the two cannot be read.
"""

import sys
from pathlib import Path

from pgasrob.certificates.certificate_files import BadFile, stored
from pgasrob.certificates.check.accept import examine
from pgasrob.diagnostics import SourceError
from pgasrob.program.parser import parse_file


def main(program: str, certificate: str) -> int:
    """The exit code; the reason of a refusal is printed."""
    try:
        reason = examine(parse_file(Path(program)), stored(certificate)).reason
    except (BadFile, SourceError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print("robust" if reason is None else f"refused: {reason}")
    return int(reason is not None)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
