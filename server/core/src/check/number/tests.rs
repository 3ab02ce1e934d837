//! The last number of a text.

use proptest::prelude::*;

use super::last_number;

#[test]
fn the_last_number() {
    let check = |text: &str, expect: Option<f64>| assert_eq!(last_number(text), expect, "{text:?}");
    check("", None);
    check("no digits here", None);
    check("5", Some(5.0));
    check("5 of 7\n", Some(7.0));
    check("5/7", Some(7.0));
    check("coverage: 76.4%\n", Some(76.4));
    check("Total: 1,000", Some(1000.0));
    check("1,234,567.5 bytes", Some(1_234_567.5));
    check("12_000", Some(12000.0));
    check("1,2", Some(2.0));
    check("1,0000", Some(0.0));
    check("-5", Some(-5.0));
    check("delta=-0.5", Some(-0.5));
    check("−7", Some(-7.0));
    check("10-5", Some(5.0));
    check("--5", Some(5.0));
    check("a-5", Some(5.0));
    check("+3", Some(3.0));
    check("1e-3", Some(0.001));
    check("2.5E+2 ok", Some(250.0));
    check("3e", Some(3.0));
    check("3em", Some(3.0));
    check("1e999", None);
    check("7 then 1e999", Some(7.0));
    check("done. 5.", Some(5.0));
    check("12ms", Some(12.0));
    check("5 (v1.2.3)", Some(5.0));
    check("5 from 127.0.0.1", Some(5.0));
    check("3 utf8 x86_64 a1b2", Some(3.0));
    check("first 1\nsecond 2\n\n", Some(2.0));
    check("３ full width", None);
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,40}|[0-9,._eE+ -]{0,40}") {
        prop_assert!(last_number(&text).is_none_or(f64::is_finite));
    }

    #[test]
    fn printed_numbers_are_read(value in -1.0e15f64..1.0e15) {
        prop_assert_eq!(last_number(&format!("total: {value}\n")), Some(value));
    }
}
