//! Attributes in parentheses, and what nearly is one.

use super::{ItemMode, check};

#[test]
fn valid_attributes_are_parsed() {
    check(
        ItemMode::Criterion,
        &[
            ("A (optional)", "A | optional"),
            ("A. (optional)", "A | optional"),
            ("A (optional).", "A | optional"),
            ("A （可选）", "A | optional"),
            ("A（可选）。", "A | optional"),
            ("A (可选)", "A | optional"),
            ("A （optional）", "A | optional"),
            ("A (Optional)", "A | optional"),
            ("Tests pass: `$ cargo test` (optional)", "Tests pass | $ cargo test | optional"),
            ("Tests pass: `$ cargo test` (timeout 10m).", "Tests pass | $ cargo test | timeout 600000"),
            ("Tests pass: `$ cargo test`. (timeout 1h 30m)", "Tests pass | $ cargo test | timeout 5400000"),
            ("Tests pass (optional): `$ cargo test`", "Tests pass | $ cargo test | optional"),
            (
                "Tests pass (timeout 90s) `$ cargo test` (group fast)",
                "Tests pass | $ cargo test | timeout 90000 group fast",
            ),
            ("A (optional) (timeout 10m) (group x) (stage 2)", "A | optional timeout 600000 group x stage 2"),
            ("A (group x), (stage 2); (optional)!", "A | optional group x stage 2"),
            ("A (optional, timeout 500ms)", "A | optional timeout 500"),
            (
                "Coverage: `$ cov` (timeout 2m) `>= 80` (optional)",
                "Coverage | $ cov [>= 80] | optional timeout 120000",
            ),
            ("`exists x` (optional)", "exists x | exists [\"x\"] | optional"),
            ("`exists x` (timeout 1s) (group fast).", "exists x | exists [\"x\"] | timeout 1000 group fast"),
            ("*A* **(optional)**", "A | optional"),
            ("A (optional) and more", "A (optional) and more"),
            ("(optional) A", "(optional) A"),
            ("A (see docs)", "A (see docs)"),
            ("A (optional) (see docs)", "A (optional) (see docs)"),
            ("A (see docs) (optional)", "A (see docs) | optional"),
            ("A (group of people)", "A (group of people)"),
            ("A (stage fright)", "A | ! bad-value [A (stage fright)]"),
            ("A (stage play now)", "A (stage play now)"),
            ("A (timeout handling)", "A (timeout handling)"),
            ("A (timeout 10)", "A | ! bad-value [A (timeout 10)]"),
            ("A (timeout 0s)", "A | ! bad-value [A (timeout 0s)]"),
            ("A (timeout -5m)", "A | ! bad-value [A (timeout -5m)]"),
            ("A (timeout)", "A (timeout)"),
            ("A (group)", "A (group)"),
            ("A ()", "A ()"),
            ("A with `f (optional)`", "A with f (optional)"),
        ],
    );
}

#[test]
fn misspelt_attributes_are_faults() {
    check(
        ItemMode::Criterion,
        &[
            ("A (timeout soon)", "A | ! bad-value [A (timeout soon)]"),
            ("A (timeout: 10m)", "A | ! bad-value [A (timeout: 10m)]"),
            ("A (timout 10m)", "A | ! bad-value [A (timout 10m)]"),
            ("A (rising)", "A | ! bad-value [A (rising)]"),
            ("A: `exists x` (not falling)", "A | exists [\"x\"] | ! bad-value [A: `exists x` (not falling)]"),
            ("A (not-falling)", "A | ! bad-value [A (not-falling)]"),
            ("A (not empty)", "A (not empty)"),
            ("A (stage 0)", "A | ! bad-value [A (stage 0)]"),
            ("A (stage=2)", "A | ! bad-value [A (stage=2)]"),
            ("A (stages of life)", "A (stages of life)"),
            ("A (optionel)", "A | ! bad-value [A (optionel)]"),
            ("A (optionally)", "A (optionally)"),
            ("A (option)", "A (option)"),
            ("A (group: x)", "A | ! bad-value [A (group: x)]"),
            ("A (groups: x, y)", "A (groups: x, y)"),
        ],
    );
}

#[test]
fn number_rules_need_a_command() {
    check(
        ItemMode::Criterion,
        &[
            ("A: `$ cov` (rising)", "A | $ cov | (rising)"),
            ("A: `$ cov` `>= 80` (not falling)", "A | $ cov [>= 80] | (not falling)"),
            ("A: `$ cov` (Not Falling, optional).", "A | $ cov | optional (not falling)"),
            ("A: `$ cov` (rising) (rising)", "A | $ cov | (rising)"),
            ("A: `$ cov` `>= baseline`", "A | $ cov | >= baseline"),
            ("A: `$ cov` `<=baseline` `!= baseline`", "A | $ cov | <= baseline != baseline"),
            ("A: `$ cov` `== Baseline` (rising)", "A | $ cov | == baseline (rising)"),
            ("A: `>= baseline` `$ cov`", "A: >= baseline | $ cov | ! bad-value [`>= baseline`]"),
            ("A: `GET http://localhost/` `>= baseline`", "A | ! bad-check [`>= baseline`]"),
            ("A: `$ cov` `>= base`", "A | ! bad-check [`>= base`]"),
            ("A (rising tide)", "A (rising tide)"),
            ("A (not falling down)", "A (not falling down)"),
        ],
    );
}
