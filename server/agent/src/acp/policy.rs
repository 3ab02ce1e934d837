//! Answers permission requests for tool calls: the configuration decides, or the request is passed to the user.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::AcpToolCall;
use crate::fields::text;
use crate::{PermissionMode, ToolKind, commits};
use loopkeeper_text::{sanitize, tr};

/// The calls that the loop's configuration and its task allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionPolicy {
    pub permissions: PermissionMode,
    /// The task's check commands and their parts, verbatim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The test runner, which may be called with further arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// `git add` and `git commit` are left to the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub commits: bool,
}

/// Maximum characters of a question to the user; a longer one would not be read completely.
const MAX_QUESTION_CHARS: usize = 2000;

/// The refused part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRefusal {
    /// The description, such as `run: git push`.
    pub what: String,
    pub why: &'static str,
}

/// Whether a path is inside the work tree after links are resolved.
pub type InsideTreeFn<'a> = dyn Fn(&str) -> bool + 'a;

impl PermissionPolicy {
    /// Why a call is refused; `None`: it is allowed.
    pub fn refusal_for(&self, call: &AcpToolCall, inside: &InsideTreeFn<'_>) -> Option<CallRefusal> {
        let why = match self.permissions {
            PermissionMode::All | PermissionMode::SandboxedAll => None,
            PermissionMode::Edits | PermissionMode::Ask => self.refusal_reason(call, inside),
            PermissionMode::ReadOnly => match call.tool_kind() {
                ToolKind::Read | ToolKind::Search => outside_tree_reason(call, inside),
                ToolKind::Edit | ToolKind::Run | ToolKind::Spawn | ToolKind::Other => {
                    Some(tr!("it may only read"))
                }
            },
        }?;
        let detail = call.detail();
        let what = if detail.is_empty() {
            call.tool_name().to_owned()
        } else {
            format!("{}: {detail}", tool_verb(call))
        };
        Some(CallRefusal { what, why })
    }

    /// The complete question to the user about a call that would otherwise be refused, with nothing hidden in it; or
    /// the reason why the user cannot be asked.
    pub fn permission_question(
        &self,
        call: &AcpToolCall,
        refusal: &CallRefusal,
    ) -> Result<String, &'static str> {
        if self.permissions != PermissionMode::Ask {
            return Err(refusal.why);
        }
        let (does, what) = call.describe_fully()?;
        let words = tr!("{does} ({why}): {what}", does, why = refusal.why, what);
        let words = sanitize::visible(&words);
        if words.chars().count() > MAX_QUESTION_CHARS {
            Err(tr!("it is too long to be asked about"))
        } else {
            Ok(words)
        }
    }

    fn refusal_reason(&self, call: &AcpToolCall, inside: &InsideTreeFn<'_>) -> Option<&'static str> {
        match (call.tool_kind(), call.kind.as_str()) {
            (ToolKind::Edit, _) if call.paths().is_empty() => Some(tr!("it does not say which file")),
            (ToolKind::Edit | ToolKind::Read | ToolKind::Search, _) => outside_tree_reason(call, inside),
            (ToolKind::Run, _) if self.allows_command(call.command()) => None,
            (ToolKind::Run, _) => Some(tr!("neither a check of the task nor its test runner")),
            (ToolKind::Spawn, _) | (ToolKind::Other, "think") => None,
            (ToolKind::Other, _) => Some(tr!("neither an edit nor a check of the task")),
        }
    }

    /// Whether it is exactly a command of the task, its test runner with plain arguments, or a commit if those are left
    /// to the agent.
    fn allows_command(&self, command: &str) -> bool {
        let is_plain =
            |it: &str| !it.contains(|c: char| c.is_control() || "|&;<>()$`\\\"'{}[]*?~#!".contains(c));
        let with_arguments = || {
            let runner = self.runner.as_deref()?;
            command.strip_prefix(runner)?.strip_prefix(' ').filter(|it| is_plain(it))
        };
        !command.is_empty()
            && (self.commands.iter().any(|it| it == command)
                || self.runner.as_deref() == Some(command)
                || with_arguments().is_some()
                || (self.commits && commits::is_plain(command)))
    }
}

fn outside_tree_reason(call: &AcpToolCall, inside: &InsideTreeFn<'_>) -> Option<&'static str> {
    if call.names_too_many {
        return Some(tr!("it names more files than loopkeeper checks"));
    }
    call.paths().into_iter().any(|it| !inside(it)).then_some(tr!("outside the work tree, or git's own"))
}

fn tool_verb(call: &AcpToolCall) -> &str {
    match call.tool_kind() {
        ToolKind::Edit => "edit",
        ToolKind::Run => "run",
        ToolKind::Read => "read",
        ToolKind::Search => "search",
        ToolKind::Spawn | ToolKind::Other => call.tool_name(),
    }
}

/// The option of the request that allows the call. One that is remembered is selected only if everything is allowed,
/// because later calls must be asked about again.
pub fn allowing_outcome(options: &[Value], permissions: PermissionMode) -> Option<Value> {
    let all = matches!(permissions, PermissionMode::All | PermissionMode::SandboxedAll);
    select_outcome(options, if all { &["allow_once", "allow_always"] } else { &["allow_once"] })
}

/// The option of the request that rejects the call.
pub fn rejecting_outcome(options: &[Value]) -> Option<Value> {
    select_outcome(options, &["reject_once", "reject_always"])
}

/// Selects the first of the wanted kinds that is offered.
fn select_outcome(options: &[Value], wanted: &[&str]) -> Option<Value> {
    let option = wanted.iter().find_map(|kind| options.iter().find(|it| text(it, "kind") == *kind))?;
    Some(json!({"outcome": {"outcome": "selected", "optionId": text(option, "optionId")}}))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{PermissionPolicy, allowing_outcome, rejecting_outcome};
    use crate::PermissionMode;
    use crate::acp::call::AcpToolCall;

    fn policy(permissions: PermissionMode) -> PermissionPolicy {
        PermissionPolicy {
            permissions,
            commands: vec!["sh test.sh".to_owned(), "cargo test".to_owned()],
            runner: Some("cargo test".to_owned()),
            commits: false,
        }
    }

    fn refused(permissions: PermissionMode, tool_call: &Value) -> Option<String> {
        let mut call = AcpToolCall::default();
        call.merge_update(tool_call);
        let inside = |path: &str| path.starts_with("/tree/") || path == "/tree";
        policy(permissions).refusal_for(&call, &inside).map(|it| format!("{} ({})", it.what, it.why))
    }

    fn check(tool_call: &Value, expect: Option<&str>) {
        let found = refused(PermissionMode::Edits, tool_call);
        assert_eq!(
            found.as_deref().map(|it| it.split(" (").next().unwrap_or_default()),
            expect,
            "{tool_call}"
        );
    }

    #[test]
    fn edits_stay_in_the_work_tree() {
        check(&json!({"kind": "edit", "locations": [{"path": "/tree/a.txt"}]}), None);
        check(&json!({"kind": "edit", "locations": [{"path": "/etc/a"}]}), Some("edit: /etc/a"));
        let both = json!([{"type": "diff", "path": "/tree/a"}, {"type": "diff", "path": "/b"}]);
        check(&json!({"kind": "edit", "content": both}), Some("edit: /tree/a"));
        // A reported location does not cover the other paths of the call.
        check(
            &json!({"kind": "edit", "locations": [{"path": "/tree/a"}], "rawInput": {"filePath": "/b"}}),
            Some("edit: /b"),
        );
        check(&json!({"kind": "delete", "rawInput": {"file_path": "/tree/a"}}), None);
        check(&json!({"kind": "edit", "title": "a.txt"}), Some("edit: a.txt"));
        // Every path in a list counts.
        let edits = |path: &str| json!({"edits": [{"file_path": "/tree/a"}, {"file_path": path}]});
        check(&json!({"kind": "edit", "rawInput": edits("/tree/b")}), None);
        check(&json!({"kind": "edit", "rawInput": edits("/b")}), Some("edit: /tree/a"));
        for field in ["paths", "files", "file_paths"] {
            let read = |path: &str| json!({"kind": "read", "rawInput": {field: ["/tree/a", path]}});
            check(&read("/tree/b"), None);
            check(&read("/b"), Some("read: /tree/a"));
        }
        let many: Vec<String> = (0..300).map(|it| format!("/tree/{it}")).collect();
        check(&json!({"kind": "read", "rawInput": {"paths": many}}), Some("read: /tree/0"));
        check(
            &json!({"kind": "move", "locations": [{"path": "/tree/a"}, {"path": "/b"}]}),
            Some("edit: /tree/a"),
        );
    }

    #[test]
    fn commands_are_exactly_those_of_the_task() {
        let by_input =
            |command: &str| json!({"kind": "execute", "title": "x", "rawInput": {"command": command}});
        let by_title = |command: &str| json!({"kind": "execute", "title": command});
        for tool_call in [by_input, by_title] {
            check(&tool_call("sh test.sh"), None);
            check(&tool_call(" cargo test --all "), None);
            check(&tool_call("cargo test; rm -rf /"), Some("run: cargo test; rm -rf /"));
            check(&tool_call("cargo test\nrm x"), Some("run: cargo test rm x"));
            check(&tool_call("cargo test `rm x`"), Some("run: cargo test `rm x`"));
            check(&tool_call("cargo test $HOME"), Some("run: cargo test $HOME"));
            check(&tool_call("cargo testing"), Some("run: cargo testing"));
            check(&tool_call("sh test.sh -x"), Some("run: sh test.sh -x"));
            check(&tool_call("sh"), Some("run: sh"));
        }
        // The requested action counts, not its title.
        check(
            &json!({"kind": "execute", "title": "sh test.sh", "rawInput": {"command": "rm x"}}),
            Some("run: rm x"),
        );
        check(
            &json!({"kind": "execute", "title": "sh test.sh", "rawInput": {"argv": ["rm"]}}),
            Some("run: sh test.sh"),
        );
        check(&json!({"name": "Bash", "rawInput": {"command": "rm x"}}), Some("run: rm x"));
    }

    #[test]
    fn commits_are_allowed_where_they_are_left_to_the_agent() {
        let inside = |_: &str| true;
        let refused = |commits: bool, command: &str| {
            let mut call = AcpToolCall::default();
            call.merge_update(&json!({"kind": "execute", "rawInput": {"command": command}}));
            PermissionPolicy { commits, ..policy(PermissionMode::Edits) }
                .refusal_for(&call, &inside)
                .is_some()
        };
        assert!(!refused(true, "git add . && git commit -m 'one'"));
        assert!(refused(false, "git add . && git commit -m 'one'"));
        for command in ["git push", "git commit -n -m x", "git commit -m x && git push"] {
            assert!(refused(true, command), "{command}");
        }
    }

    #[test]
    fn other_requests_are_refused_unless_they_only_read() {
        check(&json!({"kind": "read", "locations": [{"path": "/tree/a"}]}), None);
        check(
            &json!({"kind": "read", "locations": [{"path": "/home/me/.ssh/id"}]}),
            Some("read: /home/me/.ssh/id"),
        );
        check(&json!({"kind": "search", "title": "x"}), None);
        check(&json!({"kind": "think"}), None);
        check(&json!({"kind": "fetch", "title": "http://x"}), Some("fetch: http://x"));
        check(&json!({"kind": "switch_mode", "title": "yolo"}), Some("switch_mode: yolo"));
        check(&json!({"title": "mcp__x"}), Some("tool: mcp__x"));
        check(&json!({}), Some("tool"));
    }

    #[test]
    fn other_permissions_allow_all_or_nothing_but_reading() {
        let run = json!({"kind": "execute", "title": "rm x"});
        for permissions in [PermissionMode::All, PermissionMode::SandboxedAll] {
            assert_eq!(refused(permissions, &run), None);
        }
        let test = json!({"kind": "execute", "title": "sh test.sh"});
        let edit = json!({"kind": "edit", "locations": [{"path": "/tree/a"}]});
        for tool_call in [test, edit, json!({"kind": "think"})] {
            assert!(
                refused(PermissionMode::ReadOnly, &tool_call).is_some_and(|it| it.ends_with("only read)")),
                "{tool_call}"
            );
        }
        let read = |path: &str| json!({"kind": "read", "locations": [{"path": path}]});
        assert_eq!(refused(PermissionMode::ReadOnly, &read("/tree/a")), None);
        assert!(refused(PermissionMode::ReadOnly, &read("/etc/a")).is_some());
    }

    #[test]
    fn a_single_permission_is_not_stored() {
        let options = |kinds: &[&str]| -> Vec<Value> {
            kinds.iter().map(|it| json!({"kind": it, "optionId": format!("id of {it}")})).collect()
        };
        let check = |kinds: &[&str], answer: Option<Value>, expect: Option<&str>| {
            let chosen = answer.as_ref().map(|it| it["outcome"]["optionId"].as_str().unwrap());
            assert_eq!(chosen, expect.map(|it| format!("id of {it}")).as_deref(), "{kinds:?}");
        };
        let all = ["allow_always", "allow_once", "reject_always", "reject_once"];
        let allows = |kinds: &[&str], permissions: PermissionMode, expect: Option<&str>| {
            check(kinds, allowing_outcome(&options(kinds), permissions), expect);
        };
        let rejects = |kinds: &[&str], expect: Option<&str>| {
            check(kinds, rejecting_outcome(&options(kinds)), expect);
        };
        allows(&all, PermissionMode::Edits, Some("allow_once"));
        allows(&all, PermissionMode::All, Some("allow_once"));
        allows(&["allow_always"], PermissionMode::Edits, None);
        allows(&["allow_always"], PermissionMode::All, Some("allow_always"));
        rejects(&all, Some("reject_once"));
        rejects(&["allow_once", "reject_always"], Some("reject_always"));
        rejects(&["allow_once"], None);
    }
}
