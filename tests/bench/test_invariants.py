#!/usr/bin/env python3
"""Tests of the table of `invariants.py`, without a build: each change still fits the sources, and no invariant is without
one.

usage: tests/bench/test_invariants.py
"""
import pathlib
import re
import unittest

from invariants import BREAKS, ROOT


class Table(unittest.TestCase):
    def test_each_changed_text_is_in_its_file_once(self):
        for it in BREAKS:
            self.assertEqual(pathlib.Path(ROOT, it.path).read_text().count(it.old), 1, f"{it.path}: {it.old!r}")

    def test_each_invariant_has_a_change(self):
        page = pathlib.Path(ROOT, "server/ARCHITECTURE.md").read_text()
        numbers = {int(it) for it in re.findall(r"^(\d+)\. ", page, re.M)}
        self.assertEqual({it.invariant for it in BREAKS}, numbers)


if __name__ == "__main__":
    unittest.main()
