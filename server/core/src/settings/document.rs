//! Generates the reference page and the JSON schema of the configuration from the table of keys.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::keys::KEYS;
use super::table::{Key, KeySupport, ValueKind};
use crate::exit_condition::words::CONDITIONS;
use loopkeeper_text::language::Language;

const INTRODUCTION: &str = "\
<!-- Generated from the table of keys by the test `configuration`; edit server/core/src/settings/keys.rs. -->
# Configuration

Loops are configured in `loopkeeper.toml` at the root of the work tree, and for all loops of a user in
`$XDG_CONFIG_HOME/loopkeeper/config.toml` (else `~/.config/loopkeeper/config.toml`).
In order of precedence: arguments, the task's front matter, the work tree's file, a `.ralphrc`, the configuration of another tool, the user's file, the defaults below.
`loopkeeper run --dry-run` prints every effective value and its source.

If a file has errors, the command ends with exit code 2 and reports all of them at once: unknown keys, invalid
values, and keys that this version does not support yet. No limit can be disabled, so `0` is refused.

Durations are written as `\"500ms\"`, `\"10s\"`, `\"30m\"`, `\"1h30m\"` or `\"2d\"`, sizes as `\"500MiB\"` or `\"5GiB\"`.
Editors with a TOML language server can complete and check the file with `server/loopkeeper.schema.json`.
";

const SERVE: &str = "\
A `GET` check needs a server, and all processes of the agent have ended when checks run. `[[serve]]` configures one:

```toml
[[serve]]
command = [\"npm\", \"start\"]             # started in the root without a shell, with the environment of checks
ready = \"http://localhost:8080/health\"   # requested until the status is below 400
timeout = \"60s\"                          # the default
```

All servers are started before each round of checks that contains a `GET`, each in its own kill domain, and ended
after it. They need your trust like checks, unless your own file configures them. If a server ends early or is not
ready in time, or another program answers at its `ready` before it is started, no `GET` of the round passes.
Requests to this machine and to private networks are allowed only if the check itself names a literal address or
`localhost`, or the host is that of a `ready`. The same applies to redirects, of which at most 5 are followed.

";

const SANDBOX: &str = "\
| entry of `network` | leaves open |
|---|---|
| `example.org` | this host on ports 80 and 443 |
| `*.example.org` | every name below it on these ports, not `example.org` itself |
| `example.org:8443`, `*.example.org:8443` | this port alone |
| `10.0.0.7:5432`, `[fd00::7]`, `localhost:5432` | an address, a port of this machine |

With a list, agents and the commands of checks have a network namespace with only a loopback interface. The way out is
an HTTP proxy (`CONNECT` and `http://`), to which `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` lead them in
place of a proxy of your own. Claude Code, Codex, OpenCode, Gemini CLI and Qwen Code use it; a program that uses no
proxy reaches nothing. Only names of the list are resolved, outside
of the sandbox. An address that is not public is reached only if an entry names the host itself, not by `*`; one of the
link or of cloud metadata only if an entry has the address. The proxy answers a denied host with status 403; `log` and
the next prompt name it. Where no network namespace can be made, `kind = \"auto\"` leaves the network open, which the
start, `log` and `doctor` report, and `\"required\"` refuses the start.

Unless `kind` is `\"off\"`, `TMPDIR`, `TMP` and `TEMP` lead agents and checks to folders of the loop: `agent` and `checks` in
`loopkeeper-LOOP`, which is made where temporary files are kept and removed after the loop, or if the
keeper was killed, by the next command or server that reads the loop. A value in `[env] set` wins.

";

const ON: &str = "\
Your own commands, started in the root without a shell, each in its own kill domain, with the environment of checks
and `LOOPKEEPER_EVENT`. Commands from a work tree's file need your trust like checks; those in your own file do not.
The command gets one JSON object on its standard input:

| field | event | meaning |
|---|---|---|
| `event` | all | `iteration-start`, `iteration-end`, `needs-you`, `warning` or `ended`, also in `LOOPKEEPER_EVENT` |
| `loopId`, `task`, `root`, `iteration` | all | the loop, its task, the real path of its root, the last iteration that was started |
| `criteria` | all | `{passed, failed, unverified, total}`, as last judged |
| `spent` | all | by the whole loop, as `status --json` shows it: `{costMicros?, tokens?, calls}` |
| `duration` | `iteration-end`, `ended` | milliseconds: of the iteration with its checks, of the loop without pauses |
| `changed`, `sentence` | `iteration-end` | `{count, files, lines?}`, the first 20 files, `lines` as `{added, removed}`; what the iteration did |
| `reason`, `text` | `needs-you` | why the loop is paused, as a code and as a sentence |
| `warning`, `text` | `warning` | `limit-near`, `stall-ahead`, `budget-short`, `unusual-cost`, `unusual-time` or `logged-out`, and a sentence |
| `outcome` | `ended` | `{kind, verified, sentence}` |

The agent waits for `iteration_start`; the other commands run concurrently with the loop, one of each kind at a time,
and the keeper does not exit before they have ended. A command that fails or takes too long is logged to the loop's
`keeper.log`, with the last line of its errors, and has no other effect. Output is discarded. Each event is sent at
most once: an event that was lost in a crash is not sent again.

";

const WHEN: &str = "\
## `exit.when`

An expression combines conditions with `and`, `or`, `not` and parentheses, in this order of precedence: `not`, `and`,
`or`. Texts are quoted with `\"` or `'`, so that `when = 'criteria and text(\"done\")'` needs no escapes. Comparisons
are `>`, `>=`, `<`, `<=` and `==`. An expression that can never hold, or always holds, is refused.

An expression defines when a loop ends, never what is verified: the outcome is *completed, verified* only if every
required criterion has a check and passes then. It is *claimed* if the deciding conditions are the agent's word
(`promise`, `exit_signal`, `indicators`, `done_signals`, `text`, a ticked plan). If a required check fails, or only
time, cost or the number of iterations decide, the loop is *stopped*, not completed.
Before the first iteration, only an expression that cannot hold without `criteria` is evaluated.

| condition | holds when |
|---|---|
";

const RALPHRC: &str = "\
## `.ralphrc`

A `.ralphrc` at the root or in `.ralph/` is read as plain `KEY=value` lines and never run.

| there | here |
|---|---|
| `MAX_CALLS_PER_HOUR` | `limits.calls_per_hour` |
| `CLAUDE_TIMEOUT_MINUTES` | `limits.iteration_time` |
| `SESSION_CONTINUITY`, `SESSION_EXPIRY_HOURS` | `session.continue`, `session.expires` |
| `CB_NO_PROGRESS_THRESHOLD`, `CB_SAME_ERROR_THRESHOLD` | `breaker.no_progress`, `breaker.same_error` |
| `CB_OUTPUT_DECLINE_THRESHOLD`, `CB_PERMISSION_DENIAL_THRESHOLD` | `breaker.output_decline`, `breaker.permission_denials` |
| `CB_COOLDOWN_MINUTES` | `breaker.cooldown` |
| `ALLOWED_TOOLS` | `agents.claude.args`: `--allowedTools` with these rules, which need your trust as a part of the agent's command |
| `CLAUDE_CODE_CMD`, `CLAUDE_MODEL`, `CLAUDE_EFFORT` | `agents.claude.command`, `agents.claude.model`, `agents.claude.effort` |
| `PLATFORM_DRIVER` | `agent`, where loopkeeper knows an agent of that name |

Variables of these names that begin with `CB_` win over the file, where there is one. `OPTIONAL_SECTIONS`, `TEST_COMMAND` and `QUALITY_GATES` belong to the task ([TASKS.md](TASKS.md#workspaces-of-other-tools)).
`${NAME:-value}` is read as `value`. Other keys are ignored, and `run`, `check`, `doctor` and the editors list them; other shell code in the value of one of these stops the command.

## `ralph.yml`, `.ralph-tui/config.toml`, `bmalph/config.json`, `ralph.toml`, `.ralphex/config`

| there | here |
|---|---|
| `event_loop.max_iterations`, `max_iterations`, `max-iterations`, `maxIterations`, `build.max_iterations` | `limits.iterations` |
| `event_loop.max_runtime_seconds`, `max_runtime` | `limits.duration` |
| `event_loop.max_cost_usd`, `max_cost` | `limits.cost_usd` |
| `event_loop.cooldown_delay_seconds` | `limits.between` |
| `session_timeout`, `idle_timeout` | `limits.iteration_time`, `limits.idle_time` |
| `event_loop.completion_promise`, `completion_promise` | `exit.promise` |
| `event_loop.prompt_file`, `prompt_file`, `agent.ralph`, `agent.prompt`, `build.prompt_file`, `trackerOptions.path` | `tasks.files`: `run` without a name takes this task |
| `cli.backend`, `agent`, `agent.command`, `defaultAgent`, `platform` | `agent`, where loopkeeper knows an agent of that name |

Other keys are ignored, and so is a limit of 0, which means none there; `run`, `check`, `doctor` and the editors list them. A prompt in `event_loop.prompt` is a task, and `backpressure.gates` are checks ([TASKS.md](TASKS.md#workspaces-of-other-tools)).
";

const ENVIRONMENT: &str = "
## Environment variables

| variable | |
|---|---|
| `LOOPKEEPER_LOG` | the log level of server and keepers: `off`, `error`, `warn`, `info`, `debug` or `trace`, or a list by module such as `info,loopkeeper_keeper=trace`. A keeper logs warnings if it is not set, a server nothing. |
| `LOOPKEEPER_LANGUAGE` | the language of texts for people, as a locale such as `en` or `zh-CN`; wins over the setting `language`, and is passed to keepers |
| `LOOPKEEPER_STATE_DIR` | the state folder; else `$XDG_STATE_HOME/loopkeeper`, else `~/.local/state/loopkeeper` |

A keeper logs to `keeper.log` in the loop's folder, `workspaces/*/loops/LOOP/` in the state folder (readable only by
its user; at most 1 MiB, older lines in `keeper.log.1`); `loopkeeper export LOOP` packs both. The keeper of a loop
without a terminal inherits the variable from the program that starts it. `info` logs changes of the loop's state,
`debug` adds each check, snapshot and request with its duration.

The language server logs to standard error, which editors keep: Visual Studio Code in the output *Ralph Server*,
Neovim in the file `vim.lsp.get_log_path()`. It also sends its log to the client if the client's trace setting is on
(`loopkeeper.trace.server` in Visual Studio Code, `:help loopkeeper-trace` in Neovim): requests and commands with
their durations for `messages`, everything for `verbose`.

Prompts, output of agents and values of variables are not logged; recognised secrets are redacted.
";

/// `CONFIGURATION.md`, in English.
pub fn reference_page() -> String {
    Language::English.during(write_page)
}

fn write_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut section = None;
    for key in KEYS {
        if section != Some(key.section()) {
            section = Some(key.section());
            page.push_str(&heading(key.section()));
        }
        page.push_str(&row(key));
    }
    page.push('\n');
    page.push_str(&conditions_section());
    page.push_str(RALPHRC);
    page.push_str(ENVIRONMENT);
    page
}

fn conditions_section() -> String {
    let mut text = WHEN.to_owned();
    for it in CONDITIONS {
        let _ = writeln!(text, "| `{}` | {} |", it.form, it.doc);
    }
    text.push('\n');
    text
}

fn heading(section: &str) -> String {
    let title = match section {
        "" => "At the top".to_owned(),
        "agents.*" => "`[agents.NAME]`".to_owned(),
        other => format!("`[{other}]`"),
    };
    let mut text = format!("\n## {title}\n\n");
    if section == "agents.*" {
        text.push_str(
            "The agents that loopkeeper knows, and `demo`, are built in. Any other name is an agent of your own, with a\n\
             `command`; `prompt` and `output` are for your own, `permissions`, `model` and `effort` for those built in and\n\
             for your own with `output = \"acp\"`.\n\n",
        );
    }
    if section.is_empty() {
        text.push_str(SERVE);
    }
    if section == "sandbox" {
        text.push_str(SANDBOX);
    }
    if section == "on" {
        text.push_str(ON);
    }
    text.push_str("| key | takes | default | meaning |\n|---|---|---|---|\n");
    text
}

fn row(key: &Key) -> String {
    let default = if key.default.is_empty() { String::new() } else { format!("`{}`", key.default) };
    let takes = key.takes.to_string();
    let later = match (key.since, key.takes) {
        (KeySupport::NotYet, _) => " **Not yet supported.**".to_owned(),
        (KeySupport::Built, ValueKind::Word { later, .. }) if !later.is_empty() => {
            let words: Vec<String> = later.iter().map(|it| format!("`\"{it}\"`")).collect();
            format!(" **Not yet supported: {}.**", words.join(", "))
        }
        (KeySupport::Built, _) => String::new(),
    };
    let mut text = String::new();
    let _ = writeln!(text, "| `{}` | {takes} | {default} | {}{later} |", key.name(), key.doc);
    text
}

/// A JSON schema (draft 7) of `loopkeeper.toml`.
pub fn json_schema() -> String {
    let mut root = object();
    for key in KEYS {
        insert_property(&mut root, key.path, property(key));
    }
    if let Some(map) = root.as_object_mut() {
        map.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
        map.insert("title".to_owned(), json!("loopkeeper.toml"));
    }
    format!("{root:#}\n")
}

fn object() -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": {} })
}

fn insert_property(table: &mut Value, path: &str, property: Value) {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let Some(table) = table.as_object_mut() else { return };
    let slot = if name == "*" {
        let own = table.get("additionalProperties").is_some_and(Value::is_object);
        if !own {
            table.insert("additionalProperties".to_owned(), object());
        }
        table.get_mut("additionalProperties")
    } else {
        let properties = table.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        properties.as_object_mut().map(|it| it.entry(name.to_owned()).or_insert_with(object))
    };
    match (slot, rest) {
        (Some(slot), Some(rest)) => insert_property(slot, rest, property),
        (Some(slot), None) => *slot = property,
        (None, _) => {}
    }
}

fn property(key: &Key) -> Value {
    let mut schema = match key.since {
        // No value is valid: an editor marks the line, as the command refuses it.
        KeySupport::NotYet => json!({ "not": {} }),
        KeySupport::Built => value_schema(key.takes),
    };
    let note = match key.since {
        KeySupport::NotYet => "Not yet supported. ",
        KeySupport::Built => "",
    };
    if let Some(map) = schema.as_object_mut() {
        let default =
            if key.default.is_empty() { String::new() } else { format!(" Default: {}", key.default) };
        map.insert("description".to_owned(), json!(format!("{note}{}{default}", key.doc)));
    }
    schema
}

fn value_schema(takes: ValueKind) -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    match takes {
        ValueKind::Word { now, .. } => json!({ "enum": now }),
        ValueKind::Agents => json!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" }, "minItems": 1, "uniqueItems": true },
        ] }),
        ValueKind::Agent | ValueKind::Text | ValueKind::Path | ValueKind::Branch => {
            json!({ "type": "string" })
        }
        ValueKind::When => json!({ "type": "string", "minLength": 1, "maxLength": 1000 }),
        ValueKind::Promise => {
            json!({ "type": "string", "pattern": "^[^<>\\s]([^<>]*[^<>\\s])?$", "maxLength": 200 })
        }
        ValueKind::Count => json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }),
        ValueKind::Percent => json!({ "type": "integer", "minimum": 1, "maximum": 100 }),
        ValueKind::Duration | ValueKind::Pause => {
            json!({ "type": "string", "pattern": "^ *([0-9]+ *d *)?([0-9]+ *h *)?([0-9]+ *m *)?([0-9]+ *s *)?([0-9]+ *ms *)?$", "minLength": 2 })
        }
        ValueKind::Cost => json!({ "type": "number", "exclusiveMinimum": 0 }),
        ValueKind::Size => json!({ "type": "string", "pattern": "^[0-9]+ *([KMGT]iB|[kMGT]B|B)$" }),
        ValueKind::Flag => json!({ "type": "boolean" }),
        ValueKind::Network => json!({ "anyOf": [{ "type": "boolean" }, texts] }),
        ValueKind::Paths
        | ValueKind::Globs
        | ValueKind::CommandOrNone
        | ValueKind::Texts
        | ValueKind::Names => texts,
        ValueKind::Command => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        ValueKind::Variables => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        ValueKind::Weights => {
            json!({ "type": "object", "additionalProperties": { "type": "number", "exclusiveMinimum": 0, "maximum": 1 } })
        }
        ValueKind::Services => json!({ "type": "array", "items": {
            "type": "object", "additionalProperties": false, "required": ["command", "ready"],
            "properties": {
                "command": value_schema(ValueKind::Command),
                "ready": { "type": "string", "pattern": "^https?://[^/@\\\\ ]" },
                "timeout": value_schema(ValueKind::Duration),
            },
        } }),
    }
}
