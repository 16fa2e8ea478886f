# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of the recording that ships, held to what SQL and draftscope report say of it."""

import contextlib
import json
import os
import pathlib
import re
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


@contextlib.contextmanager
def changed(*statements):
    """The path of a copy of the sample that statements of SQL, each a text or (text, parameters...), have changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "changed.dstrace")
        shutil.copy(SAMPLE, path)
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            for statement in statements:
                text, *parameters = (statement,) if isinstance(statement, str) else statement
                database.execute(text, parameters)
        yield path


def assert_report_says(test, path):
    """Every figure of every run is what draftscope report says, or is missing where it has null."""
    import draftscope

    if not os.path.exists(COMMAND):
        test.skipTest(f"{COMMAND} is not built: figures are not compared with the report")
    said = subprocess.run([COMMAND, "report", path, "--json"], capture_output=True, text=True)
    test.assertEqual(said.returncode, 0, said.stderr)
    report = json.loads(said.stdout)["runs"]
    with draftscope.read(path) as recording:
        figures = recording.figures.to_dict("records")
    test.assertEqual([run["run_id"] for run in report], [row.pop("run") for row in figures])
    for run, row in zip(report, figures):
        for column, value in row.items():
            told = run[column]
            if told is None or not isinstance(value, (int, float)):
                test.assertEqual(None if value != value else value, told, f"{column} of {run['specification']}")
            else:
                test.assertAlmostEqual(value, told, delta=1e-9 * abs(told), msg=f"{column} of {run['specification']}")


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

        cuts = ["UPDATE rounds SET emitted = accepted / 2",
                "UPDATE requests SET stop = 5 * (id % 2)"]  # a stop string, or an end token (0)
        with changed(*cuts) as path, draftscope.read(path) as cut:
            rounds = cut.rounds.merge(cut.requests[["request", "stop"]], on="request")
            raw = cut.sql("SELECT id AS round, accepted AS uncut FROM rounds")
            rounds = rounds.merge(raw, on="round")
            kept = rounds["uncut"] // 2 + (rounds["stop"] == "eos")
            self.assertTrue((rounds["accepted"] == rounds["uncut"].clip(upper=kept)).all())
            self.assertEqual(cut.figures["accepted_tokens"].sum(), rounds["accepted"].sum())

    def test_requests_that_did_not_finish_count_nowhere(self):
        import draftscope

        for ending in ("stop = 3", "stop = 4", "end_ns = start_ns", "end_ns = 0"):
            with self.subTest(ending), changed(f"UPDATE requests SET {ending} WHERE id % 2") as path, draftscope.read(path) as cut:
                whole = cut.requests[cut.requests["request"] % 2 == 0]
                figures = cut.figures.set_index("run")
                self.assertEqual(figures["requests"].to_dict(), whole.groupby("run").size().to_dict())
                self.assertEqual(figures["output_tokens"].to_dict(), whole["tokens"].map(len).groupby(whole["run"]).sum().to_dict())
                rounds = cut.rounds[cut.rounds["request"] % 2 == 0].groupby("run")
                self.assertEqual(figures["drafted_tokens"].to_dict(), rounds["drafted"].sum().to_dict())
                assert_report_says(self, path)

    def test_texts_that_are_not_utf_8_are_read(self):
        import draftscope

        with changed("UPDATE requests SET text = CAST(x'61ff62e282' AS TEXT)") as path, draftscope.read(path) as odd:
            self.assertEqual(set(odd.requests["text"]), {"a\ufffdb\ufffd"})

    def test_lacks_that_is_no_list_of_names_is_passed_over_as_report_does(self):
        import draftscope

        for value in ("", "{", '{"wall times": 1}', "7", "NaN", "[" * 100, "[[], 1, null]"):
            with self.subTest(value[:20]), changed(("INSERT INTO meta VALUES ('lacks', ?)", value)) as path:
                with draftscope.read(path) as odd:
                    self.assertEqual(odd.lacks, [])
                    self.assertFalse(odd.figures["wall_ns"].isna().any())
                assert_report_says(self, path)

    def test_figures_are_the_reports(self):
        for sample in sorted((ROOT / "traces/samples").glob("*.dstrace")) + [ROOT / "tests/traces/version_4.dstrace"]:
            with self.subTest(sample.name):
                assert_report_says(self, sample)

    def test_figures_without_what_a_source_lacks_are_the_reports(self):
        header = (ROOT / "traces/foreign/missing_data.cpp").read_text().split("missing_data_names{", 1)[1].split("}", 1)[0]
        names = re.findall(r'"([a-z ]+)"', header)
        self.assertIn("plain steps", names)
        lists = [[name] for name in names] + [["prefill times", "first token times"], ["first token times", "prefill times"], names]
        stated = {"vanilla": {"requests": 3, "wall_ns": 2.5, "tokens_per_second": 4, "accepted": 2, "decode_tokens_per_second": 1.5},
                  "clasp:skip=4": {"output_tokens": True, "verify_steps": 7, "drafted": 9, "accepted": 2, "acceptance_rate": -1}}
        imported = [("INSERT INTO meta VALUES ('imported_from', 'a')",),
                    ("INSERT INTO meta VALUES ('stated_figures', ?)", json.dumps(stated))]
        sources = [[], imported, [*imported, ("DELETE FROM draft_tokens",), ("DELETE FROM rounds",)],
                   [*imported, ("UPDATE requests SET first_token_ns = 0",)]]
        for source in sources:
            for lacks in lists:
                told = ("INSERT INTO meta VALUES ('lacks', ?)", json.dumps(lacks))
                with self.subTest(lacks=lacks, source=source), changed(*source, told) as path:
                    assert_report_says(self, path)

    def test_figures_of_imports_are_the_reports(self):
        if not os.path.exists(COMMAND):
            self.skipTest(f"{COMMAND} is not built: figures of imports are not compared with the report")
        imported = 0
        with tempfile.TemporaryDirectory() as folder:
            for source in sorted((ROOT / "tests/fuzz/corpus/import").rglob("*.*")):
                path = os.path.join(folder, f"{imported}.dstrace")
                with self.subTest(str(source.relative_to(ROOT))):
                    done = subprocess.run([COMMAND, "import", source, "-o", path, "-q", "--partial"], capture_output=True, text=True)
                    if done.returncode == 0:
                        imported += 1
                        assert_report_says(self, path)
        self.assertGreater(imported, 30)

    def test_notebook_shows_the_sample_that_ships(self):
        cells = json.loads((ROOT / "docs/python.ipynb").read_text())["cells"]
        first = next(cell for cell in cells if cell["cell_type"] == "code")
        columns = ["specification", "output_tokens", "tokens_per_second", "acceptance_rate", "tokens_per_round"]
        self.assertIn(repr(columns), "".join(first["source"]))
        # The table's form is pandas' own and may change with its versions; its cells may not.
        shown = re.findall(r"<td>(.*?)</td>", "".join(first["outputs"][0]["data"]["text/html"]))
        given = re.findall(r"<td>(.*?)</td>", self.recording.figures[columns].round(3).to_html())
        self.assertEqual(shown, given)

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
