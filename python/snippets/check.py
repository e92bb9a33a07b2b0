"""Fails where a block of a document is tested by nothing, or differs from the file that it is from, and where
a sentence names a target of make, a file, a crate or a script that does not exist."""

import sys

from blocks import problems
from spans import spans, unknown

if __name__ == "__main__":
    found = problems()
    for span in spans():
        if what := unknown(span):
            found.append(f"{span.place}: `{span.text}`: {what}")
    for problem in found:
        print(problem, file=sys.stderr)
    sys.exit(1 if found else 0)
