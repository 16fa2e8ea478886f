# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of jobs on several processes ask of recordings."""
import sqlite3
from pathlib import Path

SKIPPED = 77


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def first_prompts(source: Path, folder: Path, count: int, name="mixed"):
    """Leaves them in the folder's prompts.jsonl."""
    lines = (source / f"traces/prompts/{name}.jsonl").read_text().splitlines()[:count]
    (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "prompts.jsonl"


def options_of(strategies):
    return [part for strategy in strategies for part in ("--strategy", strategy)]


def told(trace: Path):
    """What does not depend on clocks: texts, rounds, draft tokens, by strategy and question."""
    connection = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
    rows = connection.execute("""
        SELECT ru.specification, p.question_id, q.repeat, q.text, r."index", r.drafted, r.accepted, r.emitted,
               (SELECT group_concat(token) FROM (SELECT token FROM draft_tokens WHERE round = r.id ORDER BY "index"))
        FROM rounds r JOIN requests q ON q.id = r.request JOIN runs ru ON ru.id = q.run JOIN prompts p ON p.id = q.prompt
        ORDER BY 1, 2, 3, 5""").fetchall()
    expect(rows, f"{trace} has no rounds")
    return rows


def expect_one_text(rows, of):
    """Of rows that were told: whatever the strategy, one text a question and repeat."""
    texts = {}
    for _, question, repeat, text, *_ in rows:
        texts.setdefault((question, repeat), set()).add(text)
    expect(all(len(found) == 1 for found in texts.values()), f"{of}: strategies decode different texts")
