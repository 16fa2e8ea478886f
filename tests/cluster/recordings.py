# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of jobs on several processes ask of recordings."""
import sqlite3
from pathlib import Path

SKIPPED = 77


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


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
