"""Executes every block of the documents that is marked to be executed, see blocks.py, and compares the
commands of our programs in sentences with what the programs take: see spans.py.

With names of documents, only theirs: python/snippets/run.py docs/http.md
"""

import sys

from blocks import ROOT, blocks, documents
from session import problems
from spans import is_ours, refused, spans

if __name__ == "__main__":
    found = []
    count = 0
    for path in documents():
        name = path.relative_to(ROOT).as_posix()
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        document = blocks(name, path.read_text())
        executed = [block for block in document if block.kind in ("run", "answers")]
        if executed:
            count += len(executed)
            found += problems(document)
    for span in spans():
        if is_ours(span) and (what := refused(span)):
            found.append(f"{span.place}: `{span.text}`: {what}")
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{count} blocks of documents executed, {len(found)} problems")
    sys.exit(1 if found or not count else 0)
