//! Tests that `PROTOCOL.md`, `protocol.ts`, `protocol.lua` and this crate's types agree on methods, commands, codes,
//! and every field of every message. A field that is added in one place only fails here.

mod samples;
mod shape;

use std::collections::BTreeSet;

use lsp_types::notification::Notification;
use regex::Regex;

use self::samples::{messages, words};
use self::shape::{Shapes, names};
use super::{
    Alert, COMMANDS, ITERATIONS, LOOPS, OutputPrinted, START_PREVIEW, SUBSCRIBE, StatusChanged, TRANSCRIPT,
    TRUST_PAGE,
};

const PAGE: &str = include_str!("../../../PROTOCOL.md");
const TYPESCRIPT: &str = concat!(
    include_str!("../../../../editors/vscode/src/protocol.ts"),
    include_str!("../../../../editors/vscode/src/protocol/loop.ts"),
);
const LUA: &str = include_str!("../../../../editors/nvim/lua/loopkeeper/protocol.lua");

const METHODS: [&str; 9] = [
    StatusChanged::METHOD,
    OutputPrinted::METHOD,
    Alert::METHOD,
    LOOPS,
    SUBSCRIBE,
    ITERATIONS,
    TRUST_PAGE,
    TRANSCRIPT,
    START_PREVIEW,
];

#[test]
fn methods_and_commands_have_the_same_names_everywhere() {
    for (name, text) in [("PROTOCOL.md", PAGE), ("protocol.ts", TYPESCRIPT), ("protocol.lua", LUA)] {
        assert_eq!(matches(r"loopkeeper\.server\.\w+", text), COMMANDS.into(), "commands of {name}");
        assert_eq!(matches(r"\bloopkeeper/[a-z]\w+", text), METHODS.into(), "methods of {name}");
    }
}

#[test]
fn messages_have_the_same_fields_everywhere() {
    let (page, typescript, lua) =
        (Shapes::of_page(PAGE), Shapes::of_typescript(TYPESCRIPT), Shapes::of_lua(LUA));
    assert_eq!(differences(&page, &typescript, &lua), [""; 0]);
}

/// Negative control: one additional field in each of the three places.
#[test]
fn a_field_in_one_place_alone_is_found() {
    let more = |text: &str, before: &str, field: &str| {
        assert!(text.contains(before), "{before:?}");
        text.replacen(before, &format!("{before}\n{field}"), 1)
    };
    let page = more(PAGE, "interface TaskEntry {", "  more: string;");
    let typescript = more(TYPESCRIPT, "export interface TaskEntry {", "  more: string;");
    let lua = more(LUA, "---@class loopkeeper.TaskEntry", "---@field more string");
    let optional = PAGE.replacen("loopId?: string;", "loopId: string;", 1);
    let word = TYPESCRIPT.replacen("| \"damaged\"", "| \"broken\"", 1);
    for (page, typescript, lua, what) in [
        (page.as_str(), TYPESCRIPT, LUA, "more"),
        (PAGE, typescript.as_str(), LUA, "more"),
        (PAGE, TYPESCRIPT, lua.as_str(), "more"),
        (optional.as_str(), TYPESCRIPT, LUA, "loopId"),
        (PAGE, word.as_str(), LUA, "broken"),
    ] {
        let found =
            differences(&Shapes::of_page(page), &Shapes::of_typescript(typescript), &Shapes::of_lua(lua));
        assert!(found.iter().any(|it| it.contains(what)), "{what}: {found:?}");
    }
}

#[test]
fn messages_have_the_documented_fields() {
    let all = [Shapes::of_page(PAGE), Shapes::of_lua(LUA), Shapes::of_typescript(TYPESCRIPT)];
    for (name, full, least) in messages() {
        // One declaration suffices; another test checks that they agree.
        let shapes = all.iter().find(|it| it.has(name));
        let documented = shapes.map(|it| it.fields(name)).unwrap_or_default();
        assert!(!documented.is_empty(), "{name} is documented nowhere");
        let every: BTreeSet<String> = documented.iter().map(|it| it.path.clone()).collect();
        let always: BTreeSet<String> =
            documented.iter().filter(|it| it.is_always).map(|it| it.path.clone()).collect();
        assert_eq!(names(&full), every, "{name}: all fields");
        if let Some(least) = least {
            assert_eq!(names(&least), always, "{name}: fields that are always there");
        }
    }
}

#[test]
fn enum_values_and_codes_are_documented() {
    let page = Shapes::of_page(PAGE);
    for (message, path, words) in words() {
        let documented = page.fields(message).into_iter().find(|it| it.path == path);
        assert_eq!(documented.expect(path).words, words, "{message}.{path}");
    }
    let codes: BTreeSet<String> = samples::codes();
    let table = PAGE.split("| `data.code` |").nth(1).expect("a table of codes");
    let rows = table.split("\n\n").next().unwrap_or_default().lines();
    let documented = rows.filter_map(|it| it.strip_prefix("| `")?.split('`').next().map(str::to_owned));
    assert_eq!(documented.collect::<BTreeSet<_>>(), codes, "PROTOCOL.md");
    for (shapes, name) in
        [(Shapes::of_typescript(TYPESCRIPT), "ErrorData"), (Shapes::of_lua(LUA), "RefusalData")]
    {
        let field = shapes.fields(name).into_iter().find(|it| it.path == "code");
        assert_eq!(field.expect("a code").words, codes, "{name}");
    }
    assert_eq!(matches(r"(?m)^  (\w+) = '(?:untrusted|unsaved|treeBusy|noTask|agentMissing|conflict|unsupported|badArgument)'", LUA).len(), codes.len());
}

fn matches<'a>(pattern: &str, text: &'a str) -> BTreeSet<&'a str> {
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern.find_iter(text).map(|it| it.as_str()).collect()
}

/// Differences between the declarations of the messages that they have in common.
fn differences(page: &Shapes, typescript: &Shapes, lua: &Shapes) -> Vec<String> {
    let mut found = Vec::new();
    let pairs = [
        ("PROTOCOL.md", page, "protocol.ts", typescript),
        ("PROTOCOL.md", page, "protocol.lua", lua),
        ("protocol.ts", typescript, "protocol.lua", lua),
    ];
    for (one, left, other, right) in pairs {
        let both = left.names().filter(|it| right.has(it));
        for name in both {
            let (left, right) = (left.fields(name), right.fields(name));
            for field in left.iter().filter(|it| !right.contains(it)) {
                found.push(format!("{name}: {other} lacks {field:?} of {one}"));
            }
            for field in right.iter().filter(|it| !left.contains(it)) {
                found.push(format!("{name}: {one} lacks {field:?} of {other}"));
            }
        }
    }
    for (name, shapes) in [("protocol.ts", typescript), ("protocol.lua", lua)] {
        let interfaces = page.interfaces().filter(|it| !shapes.has(it));
        found.extend(interfaces.map(|it| format!("{name} lacks {it}")));
    }
    found
}
