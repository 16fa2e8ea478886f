# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of the recording that ships, held to what SQL and draftscope report say of it."""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

try:
    import pandas
except ImportError:
    pandas = None

COMMAND = os.environ.get("DRAFTSCOPE_PROGRAM") or str(ROOT / "build/release/cli/draftscope")
SAMPLE = ROOT / "traces/samples/early-exit.dstrace"


@unittest.skipIf(pandas is None, "pandas is not installed: reading is not checked")
class Read(unittest.TestCase):
    def setUp(self):
        import draftscope

        self.recording = draftscope.read(SAMPLE)
        self.addCleanup(self.recording.close)

    def test_frames_agree_with_one_another(self):
        rounds, tokens, requests = self.recording.rounds, self.recording.draft_tokens, self.recording.requests
        self.assertEqual(rounds["drafted"].sum(), len(tokens))
        self.assertEqual(rounds["accepted"].sum(), tokens["accepted"].sum())
        self.assertTrue((rounds["end_ns"] >= rounds["start_ns"]).all())
        self.assertEqual(set(rounds["request"]), set(requests["request"]))
        self.assertGreater(len(self.recording.spans), 0)
        self.assertEqual(self.recording.lacks, [])
        for _, request in requests.iterrows():
            emitted = rounds[rounds["request"] == request["request"]]["emitted"].sum()
            self.assertEqual(len(request["tokens"]), emitted + 1)

    def test_what_comes_after_a_texts_end_is_not_accepted(self):
        import draftscope

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cut.dstrace")
            shutil.copy(SAMPLE, path)
            with contextlib.closing(sqlite3.connect(path)) as database, database:
                database.execute("UPDATE rounds SET emitted = accepted / 2")
                database.execute("UPDATE requests SET stop = 5 * (id % 2)")  # a stop string, or an end token (0)
            with draftscope.read(path) as cut:
                rounds = cut.rounds.merge(cut.requests[["request", "stop"]], on="request")
                raw = cut.sql("SELECT id AS round, accepted AS uncut FROM rounds")
                rounds = rounds.merge(raw, on="round")
                kept = rounds["uncut"] // 2 + (rounds["stop"] == "eos")
                self.assertTrue((rounds["accepted"] == rounds["uncut"].clip(upper=kept)).all())
                self.assertEqual(cut.figures["accepted_tokens"].sum(), rounds["accepted"].sum())

    def test_figures_are_the_reports(self):
        if not os.path.exists(COMMAND):
            self.skipTest(f"{COMMAND} is not built: figures are not compared with the report")
        said = subprocess.run([COMMAND, "report", str(SAMPLE), "--csv"], capture_output=True, text=True, check=True).stdout
        import io

        report = pandas.read_csv(io.StringIO(said))
        figures = self.recording.figures
        self.assertEqual(list(report["specification"]), list(figures["specification"]))
        for column in ("requests", "output_tokens", "wall_ns", "decode_ns", "tokens_per_second", "decode_tokens_per_second", "rounds",
                       "drafted_tokens", "accepted_tokens", "acceptance_rate", "tokens_per_round"):
            pandas.testing.assert_series_equal(report[column].astype(float), figures[column].astype(float), check_names=False,
                                               rtol=1e-9)

    def test_refuses_schema_versions_that_it_does_not_know(self):
        import draftscope

        with tempfile.TemporaryDirectory() as folder:
            for version in (3, 7):
                path = pathlib.Path(folder) / f"{version}.dstrace"
                path.write_bytes(SAMPLE.read_bytes())
                with contextlib.closing(sqlite3.connect(path)) as database:
                    database.execute(f"PRAGMA user_version = {version}")
                with self.assertRaisesRegex(ValueError, f"has schema version {version}, expected 4 to 6"):
                    draftscope.read(path)

    def test_refuses_what_is_no_trace(self):
        import draftscope

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.dstrace")
            with self.assertRaises(FileNotFoundError):
                draftscope.read(path)
            pathlib.Path(path).write_text("{}")
            with self.assertRaisesRegex(ValueError, "is no trace"):
                draftscope.read(path)
            import sqlite3

            os.remove(path)
            database = sqlite3.connect(path)
            database.execute("CREATE TABLE a (b)")
            database.commit()
            database.close()
            with self.assertRaisesRegex(ValueError, "another program's database"):
                draftscope.read(path)

    def test_draws(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed: pictures are not drawn")
        matplotlib.use("Agg")
        import draftscope.plot

        rounds = self.recording.rounds
        axes = draftscope.plot.round(self.recording, int(rounds[rounds["drafted"] > 2]["round"].iloc[0]))
        self.assertGreater(len(axes[0].patches), 2)
        self.assertGreater(len(draftscope.plot.why(self.recording).patches), 2)
        with self.assertRaisesRegex(ValueError, "has no round 10000000"):
            draftscope.plot.round(self.recording, 10000000)


if __name__ == "__main__":
    unittest.main()
