# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file that names the release names the same one."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = {
    "CMakeLists.txt": r"project\(draftscope VERSION (\S+)",
    "python/pyproject.toml": r'^version = "(.*)"',
    "CITATION.cff": r"^version: (\S+)",
    "gui/packaging/org.draftscope.Draftscope.metainfo.xml": r'<release version="(.*?)"',
    "CHANGELOG.md": r"^## (\S+)",
}


class Version(unittest.TestCase):
    def test_is_the_same_everywhere(self):
        found = {place: re.search(pattern, (ROOT / place).read_text(), re.MULTILINE)[1] for place, pattern in PLACES.items()}
        self.assertEqual(len(set(found.values())), 1, found)
