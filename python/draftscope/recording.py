# SPDX-License-Identifier: GPL-3.0-or-later
"""A trace file (.dstrace) as pandas frames. Columns are those of traces/SCHEMA.md; figures have the names of the catalogue
(cli/OUTPUT.md). Times are nanoseconds, lengths tokens. Reading never changes the file."""

import os
import sqlite3
import struct
import urllib.parse

from .figures import ACCEPTED, COLUMNS, SUMS, figures_of, json_or

APPLICATION_ID = 0x44537472
OLDEST_SCHEMA = 4
NEWEST_SCHEMA = 6


def tokens_of(blob):
    """Token ids of a blob: little-endian int32."""
    return list(struct.unpack(f"<{len(blob) // 4}i", blob)) if blob else []


class Recording:
    """One trace, open for reading. Frames are read when they are asked for."""

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"{self.path}: is no file, expected a trace")
        with open(self.path, "rb") as file:
            head = file.read(72)
        if not head.startswith(b"SQLite format 3\0"):
            raise ValueError(f"{self.path}: is no trace; draftscope import makes one of others' recordings")
        if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
            raise ValueError(f"{self.path}: is another program's database, expected a trace")
        # A closed file needs no lock; one with a log is read through it.
        log = os.path.exists(self.path + "-wal")
        where = urllib.parse.quote(os.path.abspath(self.path))
        self._database = sqlite3.connect(f"file:{where}?mode=ro" + ("" if log else "&immutable=1"), uri=True)
        self._database.text_factory = lambda text: text.decode("utf-8", "replace")  # A text may be cut amid a character.
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if not OLDEST_SCHEMA <= version <= NEWEST_SCHEMA:
            raise ValueError(f"{self.path}: has schema version {version}, expected {OLDEST_SCHEMA} to {NEWEST_SCHEMA}")

    def close(self):
        self._database.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def sql(self, query, parameters=()):
        """Rows of a query as a frame."""
        import pandas

        cursor = self._database.execute(query, parameters)
        return pandas.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])

    @property
    def meta(self):
        """The recording's identity, a dict of texts."""
        return dict(self._database.execute("SELECT key, value FROM meta"))

    @property
    def lacks(self):
        """Names of what the source did not hold; [] for an own recording, and where the file has no such list."""
        return [name for name in json_or(list, self.meta.get("lacks")) if isinstance(name, str)]

    @property
    def runs(self):
        return self.sql("SELECT id AS run, strategy, specification, parameters, is_baseline FROM runs ORDER BY id")

    @property
    def requests(self):
        """A row a request with its prompt; `tokens` and `prompt_tokens` are lists."""
        frame = self.sql(
            "SELECT requests.id AS request, run, specification, question_id, category, turn, repeat, start_ns, first_token_ns,"
            " end_ns, request_stops.name AS stop, prompts.text AS prompt, prompts.tokens AS prompt_tokens, requests.text,"
            " requests.tokens FROM requests JOIN runs ON runs.id = run JOIN prompts ON prompts.id = prompt"
            " LEFT JOIN request_stops ON request_stops.id = stop ORDER BY start_ns, requests.id")
        for column in ("tokens", "prompt_tokens"):
            frame[column] = frame[column].map(tokens_of)
        return frame

    @property
    def rounds(self):
        """A row a round, with its times; `round_index` counts from 0 in its request."""
        frame = self.sql(f"SELECT round_figures.*, rounds.start_ns, rounds.end_ns, root_position, bonus_token, {ACCEPTED} AS kept"
                         " FROM round_figures JOIN rounds ON rounds.id = round"
                         " JOIN requests ON requests.id = rounds.request ORDER BY round_figures.request, round_index")
        frame["accepted"] = frame.pop("kept")  # views of older files count beyond the text's end
        frame["acceptance_rate"] = frame["accepted"] / frame["drafted"].where(frame["drafted"] > 0)
        return frame

    @property
    def draft_tokens(self):
        return self.sql('SELECT round, request, draft_tokens."index" AS position, parent, token, confidence, probability,'
                        " draft_tokens.accepted, tested FROM draft_tokens JOIN rounds ON rounds.id = round"
                        ' ORDER BY round, draft_tokens."index"')

    @property
    def spans(self):
        return self.sql("SELECT spans.id AS span, spans.parent, track, request, round, start_ns, end_ns, strings.text AS name,"
                        " layer, depth, phases.name AS phase FROM spans LEFT JOIN strings ON strings.id = spans.name"
                        " LEFT JOIN phases ON phases.id = phase ORDER BY track, start_ns, spans.id")

    @property
    def figures(self):
        """A row a run, with the catalogue's names. A figure that rests on what the source lacks is missing (NaN), unless the source
        states it of the run."""
        import pandas

        cursor = self._database.execute(SUMS)
        names = [column[0] for column in cursor.description]
        meta, lacks = self.meta, self.lacks
        rows = [figures_of(dict(zip(names, row)), meta, lacks) for row in cursor]
        return pandas.DataFrame(rows, columns=COLUMNS)


def read(path):
    """Opens a trace."""
    return Recording(path)
