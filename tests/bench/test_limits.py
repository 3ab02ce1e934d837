#!/usr/bin/env python3
"""Tests of `limits.py`: a figure above its limit fails the benchmark after all were printed.

usage: tests/bench/test_limits.py
"""
import unittest

import limits


class Limits(unittest.TestCase):
    def setUp(self):
        limits.failures.clear()

    def test_a_value_up_to_the_limit_passes(self):
        self.assertEqual(limits.share("keeper", 6, 12, "MB"), "0.50 of the limit of 12 MB")
        self.assertEqual(limits.share("growth", 1.1, 1.1), "1.00 of the limit of 1.1")
        limits.exit_with_result()

    def test_every_value_above_its_limit_is_named_at_the_end(self):
        limits.share("keeper", 12.5, 12, "MB")
        limits.share("history", 90, 100, "ms")
        limits.share("growth", 1.2, 1.1)
        with self.assertRaises(SystemExit) as ended:
            limits.exit_with_result()
        self.assertEqual(ended.exception.code, "failed:\n  keeper: 12.5 MB, limit 12 MB\n  growth: 1.2, limit 1.1")


if __name__ == "__main__":
    unittest.main()
