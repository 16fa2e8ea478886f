# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects the training text: code and prose that Debian ships, one JSON object a document.

Code is the Python standard library and its test suite; prose is the Python documentation (its
reStructuredText sources) and manual pages rendered to plain text. Everything comes from the
packages named below, so that anyone can rebuild the same corpus without a download by hand.

    apt-get install libpython3.11-stdlib libpython3.11-testsuite python3.11-doc \
                    manpages manpages-dev git-man man-db
    python corpus.py --out corpus
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CODE_ROOT = Path("/usr/lib/python3.11")
DOCS_ROOT = Path("/usr/share/doc/python3.11/html/_sources")
MANUAL_PACKAGES = ["manpages", "manpages-dev", "git-man"]

# Tables, generated lists and copies of the documentation: text that teaches nothing but itself.
SKIPPED = re.compile(r"/(site-packages|dist-packages|encodings|pydoc_data|lib2to3/tests/data|cjkencodings"
                     r"|ensurepip|config-3|test/test_email/data)/|_sysconfigdata")
MAX_DOCUMENT_BYTES = 400_000
MIN_DOCUMENT_BYTES = 200
HELD_OUT_PERCENT = 3


def is_held_out(name: str) -> bool:
    """A fixed split: depends on the document's name alone, so it is the same on every machine."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 100 < HELD_OUT_PERCENT


def normalised(text: str) -> str:
    lines = [line.rstrip() for line in text.expandtabs(8).splitlines()]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip() + "\n"


def is_text(text: str) -> bool:
    """Rejects data in disguise: mostly digits, or mostly not ASCII."""
    digits = sum(c.isdigit() for c in text)
    foreign = sum(ord(c) > 127 for c in text)
    return digits < 0.2 * len(text) and foreign < 0.1 * len(text)


def read_files(root: Path, pattern: str, prefix: str):
    for path in sorted(root.rglob(pattern)):
        if SKIPPED.search(str(path)) or not path.is_file():
            continue
        try:
            yield f"{prefix}/{path.relative_to(root)}", path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def manual_paths():
    listing = subprocess.run(["dpkg", "-L", *MANUAL_PACKAGES], check=True, capture_output=True, text=True).stdout
    paths = {line for line in listing.splitlines() if re.match(r"/usr/share/man/man\d/", line)}
    return sorted(p for p in paths if os.path.isfile(p) and not os.path.islink(p))


def render_manual(path: str):
    """One page as a reader sees it, without the running head and foot, and ragged right."""
    command = ["man", "--no-hyphenation", "--no-justification", "--encoding=UTF-8", "--local-file", path]
    environment = {**os.environ, "MANWIDTH": "90", "MANPAGER": "cat", "LC_ALL": "C.UTF-8"}
    page = subprocess.run(command, capture_output=True, text=True, env=environment).stdout
    lines = re.sub(r".\x08", "", page).strip("\n").splitlines()
    body = [re.sub(r"(?<=\S) {2,}", "  ", line) for line in lines[1:-1]]
    return f"man/{Path(path).name.removesuffix('.gz')}", "\n".join(body)


def documents():
    for name, text in read_files(CODE_ROOT, "*.py", "python"):
        yield "code", name, text
    for name, text in read_files(DOCS_ROOT, "*.rst.txt", "python-doc"):
        yield "prose", name, text
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, text in pool.map(render_manual, manual_paths()):
            yield "prose", name, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for train.jsonl and heldout.jsonl")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    seen, totals = set(), {}
    with open(out / "train.jsonl", "w") as train, open(out / "heldout.jsonl", "w") as heldout:
        for kind, name, text in documents():
            text = normalised(text)
            digest = hashlib.sha256(text.encode()).digest()
            size = len(text.encode())
            if digest in seen or not MIN_DOCUMENT_BYTES <= size <= MAX_DOCUMENT_BYTES or not is_text(text):
                continue
            seen.add(digest)
            split = "heldout" if is_held_out(name) else "train"
            count, total = totals.get((split, kind), (0, 0))
            totals[split, kind] = count + 1, total + size
            record = json.dumps({"kind": kind, "name": name, "text": text}, ensure_ascii=False)
            (heldout if split == "heldout" else train).write(record + "\n")
    for (split, kind), (count, total) in sorted(totals.items()):
        print(f"{split:8} {kind:6} {count:6} documents {total / 1e6:8.2f} MB")


if __name__ == "__main__":
    main()
