#!/usr/bin/env python3
"""Tests of `proof.py`: an entry that cannot be played counts as wrong, and does not end the run.

usage: tests/bench/test_proof.py
"""
import io
import os
import unittest
from argparse import Namespace
from contextlib import redirect_stdout

import proof


class BrokenEntries(unittest.TestCase):
    def play(self, completes):
        options = Namespace(program=os.path.join(os.sep, "no", "such", "program"), only="", every=1, jobs=2, verbose=False)
        entries = [("unittest", "plain", ""), ("shell", "plain", "")]
        printed = io.StringIO()
        with redirect_stdout(printed):
            wrong, played = proof.play_all(options, entries, is_fixed=True, completes=completes)
        return len(wrong), played, printed.getvalue()

    def test_a_cheat_that_cannot_be_played_counts_as_wrong(self):
        wrong, played, printed = self.play(completes=False)
        self.assertEqual((wrong, played), (2, 2))
        self.assertIn("not played: FileNotFoundError", printed)

    def test_an_honest_change_that_cannot_be_played_counts_as_wrong(self):
        wrong, played, printed = self.play(completes=True)
        self.assertEqual((wrong, played), (2, 2))
        self.assertIn("not played: FileNotFoundError", printed)

    def test_the_projects_of_all_entries_exist(self):
        named = {it[0] for it in proof.ALL_CHEATS + proof.ALL_HONEST + proof.ALL_UNDETECTABLE}
        self.assertEqual(named - set(proof.ALL_PROJECTS), set())


if __name__ == "__main__":
    unittest.main()
