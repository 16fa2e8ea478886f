# SPDX-License-Identifier: GPL-3.0-or-later
"""The neutral format: its schema, its examples, and the writer, held together by a library."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

try:
    import jsonschema
except ImportError:
    jsonschema = None

COMMAND = os.environ.get("DRAFTSCOPE_PROGRAM") or str(ROOT / "build/release/cli/draftscope")


def examples():
    """Lines of the page's examples, and of the fixtures."""
    page = (ROOT / "docs/rounds-format.md").read_text()
    block = page.split("```json\n", 1)[1].split("```", 1)[0]
    yield from block.splitlines()
    for fixture in sorted((ROOT / "tests/fuzz/corpus/import/rounds").glob("*.jsonl")):
        yield from fixture.read_text().splitlines()


@unittest.skipIf(jsonschema is None, "jsonschema is not installed: the schema is not checked")
class Schema(unittest.TestCase):
    def setUp(self):
        schema = json.loads((ROOT / "docs/rounds.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)

    def test_takes_every_example(self):
        lines = list(examples())
        self.assertGreater(len(lines), 15)
        for line in lines:
            self.validator.validate(json.loads(line))

    def test_refuses_what_import_refuses(self):
        good = {"record": "round", "request": "a", "accepted": 1}
        self.validator.validate(good)
        for wrong in ({"accepted": -1}, {"accepted": 513}, {"drafted": 1.5}, {"acepted": 1}, {"tokens": ["a"]},
                      {"confidences": [1.5]}, {"record": "ruond"}, {"draft_stop": "tired"}, {"start_ns": -1}):
            with self.assertRaises(jsonschema.ValidationError, msg=wrong):
                self.validator.validate({**good, **wrong})

    def test_takes_what_the_writer_writes(self):
        import draftscope

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.jsonl")
            with draftscope.Writer(path, "test", model="m", settings={"threads": 2, "t": float("inf")}) as writer:
                writer.run("x:gamma=2", parameters={"gamma": 2})
                request = writer.request("x:gamma=2", start_ns=1, prompt="\ud800 surrogate", prompt_tokens=[1, 2])
                request.round(1, drafted=2, tokens=[3, 4], confidences=[0.5, float("nan")], start_ns=2, end_ns=3)
                request.end(end_ns=4, tokens=[3, 5])
                again = [writer.request("x:gamma=2", name=name).name for name in ("a", "a", "a#2", "a")]
                self.assertEqual(again, ["a", "a#2", "a#2#2", "a#3"])
            for line in pathlib.Path(path).read_text().splitlines():
                self.validator.validate(json.loads(line))
            with self.assertRaises(FileExistsError):
                draftscope.Writer(path, "test")


class Written(unittest.TestCase):
    def test_import_takes_what_has_no_utf_8(self):
        from draftscope.writer import Writer

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.jsonl")
            with Writer(path, "te\udfffst", settings={"a\ud800": "\udc00"}) as writer:
                request = writer.request("x", start_ns=1, prompt="a\ud800b")
                request.round(1, drafted=2, start_ns=2, end_ns=3)
                request.end(end_ns=4, n_tokens=2, text="\ud83d")
            lines = [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
            self.assertEqual([lines[0]["engine"], lines[1]["prompt"], lines[-1]["text"]], ["te?st", "a?b", "?"])
            if not os.path.exists(COMMAND):
                self.skipTest(f"{COMMAND} is not built: the import of such texts is not checked")
            target = os.path.join(folder, "a.dstrace")
            done = subprocess.run([COMMAND, "import", path, "-o", target, "-q"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)


class Killed(unittest.TestCase):
    def test_writer_leaves_whole_lines(self):
        script = textwrap.dedent("""
            import sys
            sys.path.insert(0, sys.argv[2])
            from draftscope.writer import Writer
            writer = Writer(sys.argv[1], "test")
            request = writer.request("x", start_ns=1)
            n = 0
            while True:
                request.round(1, drafted=2, start_ns=n + 2, end_ns=n + 3)
                n += 1
                if n == 200: print("ready", flush=True)
        """)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.jsonl")
            child = subprocess.Popen([sys.executable, "-c", script, path, str(ROOT / "python")], stdout=subprocess.PIPE)
            child.stdout.readline()
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stdout.close()
            lines = pathlib.Path(path).read_text().split("\n")
            self.assertGreater(len(lines), 200)
            for line in lines[:-1]:
                json.loads(line)
            if not os.path.exists(COMMAND):
                self.skipTest(f"{COMMAND} is not built: the import of a cut file is not checked")
            target = os.path.join(folder, "a.dstrace")
            whole = subprocess.run([COMMAND, "import", path, "-o", target, "-q"], capture_output=True, text=True)
            self.assertNotEqual(whole.returncode, 0)
            self.assertEqual(len(whole.stderr.strip().splitlines()), 1)
            self.assertFalse(os.path.exists(target))
            part = subprocess.run([COMMAND, "import", path, "-o", target, "-q", "--partial"], capture_output=True, text=True)
            self.assertEqual(part.returncode, 0, part.stderr)


if __name__ == "__main__":
    unittest.main()
