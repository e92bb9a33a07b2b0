"""Fails where a block of a document is tested by nothing, or differs from the file that it is from."""

import sys

from blocks import problems

if __name__ == "__main__":
    found = problems()
    for problem in found:
        print(problem, file=sys.stderr)
    sys.exit(1 if found else 0)
