//! Records the usage limits that loops of this user reached: one list, `<state>/usage-limits`, one line for each agent
//! and account. Read before such an agent is started. The list is an optimisation, never a condition: malformed lines
//! are ignored, and if it cannot be used each loop reaches its limits itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use loopkeeper_core::journal::AgentPlan;
use loopkeeper_text::digest::sha256;
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};

use super::{calls, durable};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// At most this much of the list is read, whatever it contains.
const MAX_BYTES: u64 = 64 * 1024;

/// Why the list could not be used.
#[derive(Debug, thiserror::Error)]
#[error("{}", tr!("the list of usage limits {path} cannot be {action}: {source}", path = path.display(), action = translate(action), source))]
pub struct UsageLimitsError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// The change of an account's limit that an iteration observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitChange {
    /// The usage limit was reached, which lasts until `until` (milliseconds of wall time).
    Met { by: String, until: u64 },
    /// A start succeeded: any recorded limit is lifted.
    Lifted,
}

/// A limit that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveLimit {
    /// Milliseconds from now.
    pub lasts_ms: u64,
    /// The loop that reached it.
    pub met_by: String,
}

/// Identifies agent and account: equal for two loops that share both. It cannot be reversed.
pub fn account_key(plan: &AgentPlan, env: &[(OsString, OsString)]) -> String {
    const ACCOUNT_VARIABLES: [&str; 3] = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];
    const ACCOUNT_SUFFIXES: [&str; 5] = ["_API_KEY", "_TOKEN", "_BASE_URL", "_CONFIG_DIR", "_HOME"];
    let is_of_account = |name: &str| {
        ACCOUNT_VARIABLES.contains(&name) || ACCOUNT_SUFFIXES.iter().any(|it| name.ends_with(it))
    };
    // The last value of a variable counts.
    let account = env.iter().filter(|(name, _)| name.to_str().is_some_and(is_of_account));
    let account: BTreeMap<_, _> = account.map(|(name, value)| (name, value)).collect();
    let mut bytes = match plan.kind().known_agent() {
        Some(known) => known.name.as_bytes().to_vec(),
        None => [std::slice::from_ref(&plan.name), &plan.argv].concat().join("\0").into_bytes(),
    };
    for (name, value) in account {
        bytes.push(0);
        bytes.extend([name.as_bytes(), b"=", value.as_bytes()].concat());
    }
    sha256(&bytes).chars().take(16).collect()
}

/// The limit of this account that another loop reached. `now`: milliseconds of wall time.
pub fn find_active_limit(
    path: &Path,
    account: &str,
    own_loop: &str,
    now: u64,
) -> Result<Option<ActiveLimit>, UsageLimitsError> {
    let read = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.and_then(|mut file| UsageLimitList::read(&mut file)),
    };
    let list = read.map_err(list_error(path, tr_later!("read")))?;
    let found = list.lines.into_iter().filter(|it| it.account == account && it.met_by != own_loop);
    let longest = found.filter_map(|it| Some((it.remaining_ms(now)?, it.met_by))).max();
    Ok(longest.map(|(lasts_ms, met_by)| ActiveLimit { lasts_ms, met_by }))
}

/// Records a change. False: another process holds the list at this moment; try again.
pub fn enter(path: &Path, account: &str, change: &LimitChange, now: u64) -> Result<bool, UsageLimitsError> {
    match change {
        LimitChange::Met { by, until } => {
            let until = (*until).min(now.saturating_add(DAY_MS));
            let line = UsageLimitLine { until, met_at: now, account: account.to_owned(), met_by: by.clone() };
            replace(path, now, account, Some(line))
        }
        LimitChange::Lifted if path.try_exists().unwrap_or(false) => replace(path, now, account, None),
        LimitChange::Lifted => Ok(true),
    }
}

fn list_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> UsageLimitsError {
    let path = path.to_owned();
    move |source| UsageLimitsError { action, path, source }
}

/// Keeps the limits in force, and of this account only `line`.
fn replace(
    path: &Path,
    now: u64,
    account: &str,
    line: Option<UsageLimitLine>,
) -> Result<bool, UsageLimitsError> {
    let Some(mut held) = calls::lock_list(path).map_err(list_error(path, tr_later!("locked")))? else {
        return Ok(false);
    };
    let list = UsageLimitList::read(&mut held).map_err(list_error(path, tr_later!("read")))?;
    if line.is_none() && list.lines.iter().all(|it| it.account != account) {
        return Ok(true);
    }
    let kept = list.lines.into_iter().filter(|it| it.account != account && it.remaining_ms(now).is_some());
    let text: String = kept.chain(line).map(|it| it.text()).collect();
    durable::replace_file(path, text.as_bytes()).map_err(list_error(path, tr_later!("written")))?;
    Ok(true)
}

struct UsageLimitList {
    lines: Vec<UsageLimitLine>,
}

impl UsageLimitList {
    fn read(file: &mut File) -> io::Result<Self> {
        let mut bytes = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(Self { lines: bytes.split(|it| *it == b'\n').filter_map(UsageLimitLine::read).collect() })
    }
}

/// Milliseconds of wall time.
struct UsageLimitLine {
    until: u64,
    met_at: u64,
    account: String,
    met_by: String,
}

impl UsageLimitLine {
    fn read(line: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(line).ok()?.split(' ');
        let (until, met_at) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let (account, met_by) = (words.next()?.to_owned(), words.next()?.to_owned());
        let is_word =
            |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        let is_whole = words.next().is_none() && is_word(&account) && is_word(&met_by);
        is_whole.then_some(Self { until, met_at, account, met_by })
    }

    fn text(&self) -> String {
        format!("{} {} {} {}\n", self.until, self.met_at, self.account, self.met_by)
    }

    /// The remaining time. A limit that was recorded in the future was recorded before the clock was set back, so its
    /// end is unknown.
    fn remaining_ms(&self, now: u64) -> Option<u64> {
        let left = self.until.checked_sub(now).filter(|it| *it > 0)?;
        (self.met_at <= now).then_some(left.min(DAY_MS))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};

    use loopkeeper_agent::kind::Dialect;
    use loopkeeper_agent::{PermissionMode, PromptBy};
    use loopkeeper_core::journal::AgentPlan;

    use super::{
        ActiveLimit, DAY_MS, LimitChange, UsageLimitsError, account_key, calls, enter, find_active_limit,
    };

    const NOW: u64 = 1_795_176_000_000;
    const HOUR: u64 = 60 * 60 * 1000;

    fn list() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage-limits");
        (folder, path)
    }

    fn met(path: &Path, account: &str, by: &str, until: u64) -> Result<(), UsageLimitsError> {
        let is_entered = enter(path, account, &LimitChange::Met { by: by.to_owned(), until }, NOW)?;
        assert!(is_entered);
        Ok(())
    }

    fn limit(lasts_ms: u64, met_by: &str) -> ActiveLimit {
        ActiveLimit { lasts_ms, met_by: met_by.to_owned() }
    }

    #[test]
    fn a_limit_holds_for_other_loops_of_the_account_until_its_reset() {
        let (_folder, path) = list();
        let found = |account: &str, own_loop: &str, now: u64| {
            find_active_limit(&path, account, own_loop, now).unwrap()
        };
        assert_eq!(found("a", "l-2", NOW), None);
        met(&path, "a", "l-1", NOW + HOUR).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(found("a", "l-2", NOW + 1), Some(limit(HOUR - 1, "l-1")));
        assert_eq!(found("a", "l-1", NOW + 1), None, "a loop records its own limit elsewhere");
        assert_eq!(found("b", "l-2", NOW + 1), None);
        assert_eq!(found("a", "l-2", NOW + HOUR), None);
        // After the clock was set back, the end of the limit is unknown.
        assert_eq!(found("a", "l-2", NOW - HOUR), None);
        met(&path, "b", "l-3", NOW + 100 * DAY_MS).unwrap();
        assert_eq!(found("b", "l-2", NOW), Some(limit(DAY_MS, "l-3")));
        assert_eq!(found("a", "l-2", NOW), Some(limit(HOUR, "l-1")), "limits of other accounts stay");
        assert!(enter(&path, "a", &LimitChange::Lifted, NOW).unwrap());
        assert_eq!((found("a", "l-2", NOW), found("b", "l-2", NOW)), (None, Some(limit(DAY_MS, "l-3"))));
    }

    #[test]
    fn malformed_lines_delay_no_loop() {
        let (_folder, path) = list();
        let valid_line = format!("{} {NOW} a l-1", NOW + HOUR);
        for (text, expect) in [
            ("", None),
            ("\u{0}\u{1}\nx y z\n", None),
            ("1 2 a l-1\n", None),
            (&format!("{valid_line} more\n"), None),
            (&format!("garbage\n{valid_line}"), Some(limit(HOUR, "l-1"))),
            (&format!("{} {NOW} a ../../x\n", NOW + HOUR), None),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(find_active_limit(&path, "a", "l-2", NOW).unwrap(), expect, "{text:?}");
        }
        fs::write(&path, [b'\xff'; 4096]).unwrap();
        met(&path, "a", "l-1", NOW + HOUR).unwrap();
        assert_eq!(find_active_limit(&path, "a", "l-2", NOW).unwrap(), Some(limit(HOUR, "l-1")));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(find_active_limit(&path, "a", "l-2", NOW).is_err());
        assert!(met(&path, "a", "l-1", NOW + HOUR).is_err());
    }

    #[test]
    fn a_list_that_another_process_holds_is_left_alone() {
        let (_folder, path) = list();
        let change = LimitChange::Met { by: "l-1".to_owned(), until: NOW + HOUR };
        let held = calls::lock_list(&path).unwrap().unwrap();
        assert!(!enter(&path, "a", &change, NOW).unwrap());
        assert!(!enter(&path, "a", &LimitChange::Lifted, NOW).unwrap());
        drop(held);
        assert!(enter(&path, "a", &change, NOW).unwrap());
        assert_eq!(find_active_limit(&path, "a", "l-2", NOW).unwrap(), Some(limit(HOUR, "l-1")));
    }

    #[test]
    fn agent_and_account_distinguish_loops() {
        let plan = |name: &str, argv: &[&str]| AgentPlan {
            name: name.into(),
            argv: argv.iter().map(ToString::to_string).collect(),
            prompt: PromptBy::Stdin,
            dialect: if name == "claude" { Dialect::Claude } else { Dialect::Text },
            permissions: PermissionMode::Edits,
            env: Vec::new(),
        };
        let env = |pairs: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
            pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        };
        let me = env(&[("HOME", "/me"), ("ANTHROPIC_API_KEY", "k"), ("TERM", "x")]);
        let claude = account_key(&plan("claude", &["/bin/claude", "-p"]), &me);
        assert_eq!(claude.len(), 16);
        let elsewhere = env(&[("TERM", "y"), ("ANTHROPIC_API_KEY", "k"), ("HOME", "/me")]);
        assert_eq!(account_key(&plan("claude", &["/other/claude", "--model", "x"]), &elsewhere), claude);
        for other in [
            account_key(
                &plan("claude", &["/bin/claude"]),
                &env(&[("HOME", "/me"), ("ANTHROPIC_API_KEY", "l")]),
            ),
            account_key(
                &plan("claude", &["/bin/claude"]),
                &env(&[("HOME", "/you"), ("ANTHROPIC_API_KEY", "k")]),
            ),
            account_key(&plan("mine", &["/me/a.sh"]), &me),
            account_key(&plan("mine", &["/me/b.sh"]), &me),
        ] {
            assert_ne!(other, claude);
        }
        assert_ne!(
            account_key(&plan("mine", &["/me/a.sh"]), &me),
            account_key(&plan("mine", &["/me/b.sh"]), &me)
        );
    }
}
