use super::{ClaudeSettingsError, install_hooks, is_complete, is_empty, is_installed, remove_hooks};

const PROGRAM: &str = "/opt/it's here/loopkeeper";

fn installed(text: Option<&str>) -> String {
    install_hooks(text, PROGRAM).expect("it can be installed")
}

#[test]
fn a_new_file_is_written_as_claude_code_writes_its_own() {
    let text = installed(None);
    let expected = r#"{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "command": "'/opt/it'\\''s here/loopkeeper' hook session stop",
            "timeout": 86400,
            "type": "command"
          }
        ]
      }
    ],
    "UserPromptSubmit": ["#;
    assert!(text.starts_with(expected), "{text}");
    assert!(text.ends_with("    ]\n  }\n}\n"), "{text}");
    assert_eq!(installed(Some(" \n")), text);
}

/// The existing content is preserved byte for byte, and the new lines follow its style.
#[test]
fn everything_else_keeps_its_bytes() {
    let check = |text: &str, line: &str| {
        let with = installed(Some(text));
        assert!(is_installed(&with) && !is_installed(text), "{text}");
        assert!(with.contains(line), "no {line:?} in {with}");
        assert_eq!(remove_hooks(&with).as_deref(), Ok(text), "{with}");
        assert_eq!(installed(Some(&with)), with, "a second time");
        let moved = install_hooks(Some(&with), "/elsewhere/loopkeeper").expect("another program");
        assert!(!moved.contains("it'"), "{moved}");
        assert_eq!(remove_hooks(&moved).as_deref(), Ok(text));
    };
    check("{\n  \"model\": \"opus\"\n}\n", ",\n  \"hooks\": {\n    \"Stop\": [\n");
    check("{\n  \"model\": \"opus\"\n}", "\n  }\n}");
    check("{\n\t\"a\": [1,2],\n\t\"b\": {}\n}\n", ",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n");
    check("{\r\n    \"a\": \"é\"\r\n}\r\n", ",\r\n    \"hooks\": {\r\n        \"Stop\": [\r\n");
    check("{\"a\":1,\"b\":2}", "\"b\":2,\"hooks\":{\"Stop\":[{\"hooks\":[{");
    check("{ \"a\": 1, \"b\": 2 }", "2, \"hooks\": {\"Stop\":");
    check("\u{feff}{\n  \"a\": 1\n}\n", ",\n  \"hooks\": {");
    check("\n\n{\n\n  \"a\": 1\n\n}\n\n", "\"a\": 1,\n  \"hooks\"");
    check("{}", "{\"hooks\":{\"Stop\"");
    let of_another = "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [{\"type\": \"command\", \
                      \"command\": \"say done\"}]\n      }\n    ],\n    \"PostToolUse\": []\n  },\n  \"x\": 1\n}\n";
    check(of_another, "\"PostToolUse\": [],\n    \"UserPromptSubmit\": [\n      {\n        \"hooks\": [");
    check("{\n  \"hooks\": {\"Stop\": [{\"hooks\": []}]}\n}\n", "[{\"hooks\": []},{\"hooks\":[{");
    check(
        "{\n  \"hooks\": {\n    \"Stop\": [\n    {\"hooks\": []}\n    ]\n  }\n}\n",
        "]},\n    {\n      \"hooks\"",
    );
    let own_veto = "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]}}";
    check(own_veto, "\"hooks\": []}, {\"hooks\":[{");
}

#[test]
fn only_the_tools_that_start_subagents_are_asked_about() {
    let settings: serde_json::Value = serde_json::from_str(&installed(None)).expect("JSON");
    let groups = |event: &str| settings["hooks"][event].as_array().expect("a list").clone();
    assert_eq!(groups("PreToolUse").len(), 1);
    assert_eq!(groups("PreToolUse")[0]["matcher"], "Task|Agent");
    assert!(["Stop", "SubagentStart", "SubagentStop"].iter().all(|it| groups(it)[0]["matcher"].is_null()));
}

#[test]
fn hooks_of_an_earlier_version_are_completed() {
    let mut settings: serde_json::Value = serde_json::from_str(&installed(None)).expect("JSON");
    assert!(is_complete(&settings.to_string()));
    for event in ["PreToolUse", "SubagentStart", "SubagentStop"] {
        settings["hooks"].as_object_mut().expect("an object").remove(event);
    }
    let earlier = settings.to_string();
    assert!(is_installed(&earlier) && !is_complete(&earlier));
    assert!(is_complete(&installed(Some(&earlier))));
    // A file with sorted entries gets no second copy of them.
    let sorted =
        serde_json::to_string(&serde_json::from_str::<serde_json::Value>(&installed(None)).expect("JSON"));
    let sorted = sorted.expect("text");
    assert_eq!(installed(Some(&sorted)), sorted);
}

/// Changed by the user, or by Claude Code, which rewrites the whole file.
#[test]
fn after_an_edit_only_ours_is_taken_out() {
    let with = installed(Some("{\n  \"a\": 1\n}\n"));
    let edited = with.replace("\"a\": 1,", "\"a\": 2,\n  \"b\": 3,").replace("\n}\n", ",\n  \"c\": 4\n}\n");
    assert_eq!(remove_hooks(&edited).as_deref(), Ok("{\n  \"a\": 2,\n  \"b\": 3,\n  \"c\": 4\n}\n"));
    let mut value: serde_json::Value = serde_json::from_str(&with).expect("JSON");
    value["permissions"] = serde_json::json!({"allow": ["Bash(ls)"]});
    let groups = value["hooks"]["Stop"][0]["hooks"].as_array_mut().expect("a list");
    groups.push(serde_json::json!({"type": "command", "command": "say done"}));
    let anew = remove_hooks(&value.to_string()).expect("removed");
    assert_eq!(
        anew,
        r#"{"a":1,"hooks":{"Stop":[{"hooks":[{"command":"say done","type":"command"}]}]},"permissions":{"allow":["Bash(ls)"]}}"#
    );
}

#[test]
fn a_file_with_only_our_hooks_is_removed() {
    let check = |text: &str, expect: &str| {
        assert_eq!(remove_hooks(&installed(Some(text))).as_deref(), Ok(expect), "{text}");
    };
    check("{\n}\n", "{}\n");
    check("{\"hooks\": {}}", "{}");
    check("{\"hooks\": {\"Stop\": []}, \"a\": 1}", "{\"a\": 1}");
    assert!(is_empty("{}\n") && !is_empty("{\"a\":1}") && !is_empty("["));
    assert_eq!(remove_hooks("{\"hooks\": {}}").as_deref(), Ok("{\"hooks\": {}}"), "none of ours");
}

#[test]
fn an_unreadable_file_is_not_changed() {
    let check = |text: &str, expect: &str| {
        for settings in [install_hooks(Some(text), PROGRAM), remove_hooks(text)] {
            let settings = settings.map_err(|it: ClaudeSettingsError| it.to_string());
            assert!(settings.as_ref().is_err_and(|it| it.contains(expect)), "{text}: {settings:?}");
        }
    };
    check("{\n  // mine\n  \"a\": 1\n}\n", "it is not JSON: key must be a string at line 2 column 3");
    check("{\"a\": 1,}", "it is not JSON: trailing comma at line 1");
    check("{\"a\": 1", "it is not JSON");
    check("[]", "`{ … }` is not what");
    let check = |text: &str, expect: &str| {
        let settings = install_hooks(Some(text), PROGRAM).map_err(|it| it.to_string());
        assert!(settings.as_ref().is_err_and(|it| it.contains(expect)), "{text}: {settings:?}");
    };
    check("{\"hooks\": []}", "`hooks` is not what");
    check("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop` is not what");
}
