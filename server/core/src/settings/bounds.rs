//! Limits the values in files of the work tree, which another author may have committed: `[max]` in the user's own file
//! bounds them, and values above the user's own limits need the user's trust.

use std::collections::BTreeMap;

use super::accept::parse_value;
use super::assignment::Assignment;
use super::finding::{SettingCode, SettingFinding};
use super::keys::KEYS;
use super::layer::LayerKind;
use super::table::Key;
use super::value::SettingValue;
use crate::network::host_list::HostList;
use loopkeeper_text::tr;

/// Between a raised value and the usual one, in [`super::ResolvedSettings::raised_limits`].
pub(crate) const RAISED_ABOVE: &str = ", else ";
/// Prefix of a line with a glob that is no longer protected, in [`super::ResolvedSettings::raised_limits`].
pub(crate) const NOT_PROTECTED: &str = "not protected: ";

/// The keys of `[max]` and what each bounds.
const BOUNDED: &[(&str, &str)] = &[
    ("max.iterations", "limits.iterations"),
    ("max.duration", "limits.duration"),
    ("max.cost_usd", "limits.cost_usd"),
    ("max.tokens", "limits.tokens"),
    ("max.calls_per_hour", "limits.calls_per_hour"),
    ("max.iteration_time", "limits.iteration_time"),
    ("max.idle_time", "limits.idle_time"),
    ("max.steps", "limits.steps"),
    ("max.subagents", "spawns.budget"),
];
/// Numbers that extend a loop or raise its cost.
const RAISABLE: &[&str] = &[
    "limits.iterations",
    "limits.duration",
    "limits.cost_usd",
    "limits.tokens",
    "limits.calls_per_hour",
    "limits.iteration_time",
    "limits.idle_time",
    "limits.steps",
    "spawns.budget",
    "spawns.per_agent",
    "spawns.depth",
    "spawns.children",
    "breaker.no_progress",
    "breaker.same_error",
    "breaker.permission_denials",
    "breaker.fast_failures",
    "breaker.max_trips",
    "sandbox.memory",
    "sandbox.processes",
];

/// The limits in the user's own file.
pub(super) struct UserLimits {
    own: BTreeMap<String, Assignment>,
}

impl UserLimits {
    pub(super) fn of(assignments: &[Assignment]) -> Self {
        let own = assignments.iter().filter(|it| it.layer == Some(LayerKind::User));
        Self { own: own.map(|it| (it.path(), it.clone())).collect() }
    }

    /// Lowers values of files of the work tree to their bounds, and reports it.
    pub(super) fn bound(&self, assignment: &mut Assignment) -> Option<SettingFinding> {
        if !is_of_tree(assignment) {
            return None;
        }
        let (name, max) = self.max_of(assignment.key.path)?;
        if number(&assignment.value)? <= number(&max.value)? {
            return None;
        }
        let path = assignment.key.path;
        let message = tr!(
            "`{path} = {value}` is above your `{name} = {max}`",
            path,
            value = assignment.written(),
            name,
            max = max.written()
        );
        assignment.value = max.value.clone();
        assignment.raw.clone_from(&max.raw);
        Some(SettingFinding {
            code: SettingCode::Bounded,
            origin: assignment.origin.clone(),
            message,
            hint: tr!("{max} applies; raise it in {place}", max = max.written(), place = max.origin),
            fix: None,
        })
    }

    /// Replaces missing limits, and defaults above a bound, by the bound.
    pub(super) fn defaults(&self, winners: &BTreeMap<String, Assignment>) -> Vec<Assignment> {
        let unset = BOUNDED.iter().filter(|(_, limit)| !winners.contains_key(*limit));
        let of = |(_, limit): &(&str, &str)| {
            let (key, (_, max)) = (key_of(limit)?, self.max_of(limit)?);
            let is_lower = default_number(key).is_none_or(|it| number(&max.value) < Some(it));
            is_lower.then(|| Assignment { key, ..max.clone() })
        };
        unset.filter_map(of).collect()
    }

    /// The limits that files of the work tree raise or loosen, one line each; in English, because they are hashed.
    pub(super) fn raised_limits(&self, winners: &BTreeMap<String, Assignment>) -> Vec<String> {
        let of_tree = |path: &str| winners.get(path).filter(|it| is_of_tree(it));
        let mut lines = Vec::new();
        for path in RAISABLE {
            let Some(set) = of_tree(path).filter(|_| self.max_of(path).is_none()) else { continue };
            let own = self.own.get(*path);
            let usual = own.map_or_else(|| default_number(set.key), |it| number(&it.value));
            if usual.is_some_and(|usual| number(&set.value) > Some(usual)) {
                let usual = own.map_or_else(|| set.key.default.to_owned(), Assignment::written);
                lines.push(format!("{path} = {}{RAISED_ABOVE}{usual}", set.written()));
            }
        }
        if let Some(set) = of_tree("criteria.protected") {
            lines.extend(self.unprotected_globs(set).into_iter().map(|it| format!("{NOT_PROTECTED}{it}")));
        }
        let network = of_tree("sandbox.network").zip(self.own.get("sandbox.network"));
        if let Some((set, own)) = network.filter(|(set, own)| is_wider(&set.value, &own.value)) {
            lines.push(format!("sandbox.network = {}{RAISED_ABOVE}{}", set.written(), own.written()));
        }
        for path in ["exit.when", "exit.groups"] {
            let loosened = of_tree(path).filter(|it| it.written() != it.key.default);
            lines.extend(loosened.map(|it| format!("{path} = {}", it.written())));
        }
        lines
    }

    /// The globs that apply without the work tree's list and are missing in it.
    fn unprotected_globs(&self, set: &Assignment) -> Vec<String> {
        let usual = match self.own.get("criteria.protected").map(|it| &it.value) {
            Some(SettingValue::Texts(globs)) => globs.clone(),
            _ => super::Settings::default().protected,
        };
        let SettingValue::Texts(globs) = &set.value else { return Vec::new() };
        usual.into_iter().filter(|it| !globs.contains(it)).collect()
    }

    fn max_of(&self, limit: &str) -> Option<(&'static str, &Assignment)> {
        let (name, _) = BOUNDED.iter().find(|(_, it)| *it == limit)?;
        Some((name, self.own.get(*name)?))
    }
}

/// The finding for a key in another file than the user's own, where alone it is valid.
pub(super) fn misplaced_key(assignment: &Assignment) -> Option<SettingFinding> {
    let is_own = assignment.layer == Some(LayerKind::User);
    let hint = if assignment.key.section() == "max" {
        tr!("move it to `~/.config/loopkeeper/config.toml`, or set the limit itself below `[limits]`")
    } else {
        tr!("move it to `~/.config/loopkeeper/config.toml`")
    };
    (assignment.key.is_users_own() && !is_own).then(|| SettingFinding {
        code: SettingCode::BadValue,
        origin: assignment.origin.clone(),
        message: tr!("`{path}` counts only in your own configuration", path = assignment.key.path),
        hint: hint.to_owned(),
        fix: None,
    })
}

/// Whether a value of `sandbox.network` lets anything through that `own` does not.
fn is_wider(value: &SettingValue, own: &SettingValue) -> bool {
    let hosts = match own {
        SettingValue::Flag(true) => return false,
        SettingValue::Texts(hosts) => HostList::parse(hosts),
        _ => HostList::default(),
    };
    match value {
        SettingValue::Flag(is_open) => *is_open,
        SettingValue::Texts(entries) => entries.iter().any(|it| !hosts.covers(it)),
        _ => true,
    }
}

fn is_of_tree(assignment: &Assignment) -> bool {
    assignment.layer.is_some_and(|it| it != LayerKind::User)
}

fn key_of(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|it| it.path == path)
}

fn default_number(key: &Key) -> Option<u64> {
    let text = key.default.trim_matches('"');
    number(&parse_value(key.takes, &key.takes.raw_from_text(text)).ok()?)
}

fn number(value: &SettingValue) -> Option<u64> {
    match value {
        SettingValue::Count(count) => Some(u64::from(*count)),
        SettingValue::Amount(amount) => Some(*amount),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layer, LayerKind, OverrideSource, ResolvedSettings, SettingOverride, resolve};
    use super::{BOUNDED, RAISABLE, key_of};

    fn layer(kind: LayerKind, text: &str) -> Layer {
        Layer { kind, file: format!("{kind:?}.toml"), text: text.to_owned() }
    }

    fn of(user: &str, workspace: &str) -> ResolvedSettings {
        resolve(&[layer(LayerKind::User, user), layer(LayerKind::Workspace, workspace)], &[])
    }

    fn by(source: OverrideSource, value: &str) -> SettingOverride {
        let key = "limits.iterations".to_owned();
        SettingOverride { option: "PROMPT.md:2".to_owned(), key, value: value.to_owned(), source }
    }

    #[test]
    fn every_key_here_is_in_the_table() {
        let all = BOUNDED.iter().flat_map(|(max, limit)| [max, limit]).chain(RAISABLE);
        for path in all {
            assert!(key_of(path).is_some(), "{path}");
        }
    }

    #[test]
    fn a_limit_that_the_work_tree_raises_needs_trust() {
        let check = |user: &str, workspace: &str, expect: &[&str]| {
            assert_eq!(of(user, workspace).raised_limits(), expect, "{user} / {workspace}");
        };
        check("", "limits.cost_usd = 100000", &["limits.cost_usd = 100000, else 25.0"]);
        check("", "limits.cost_usd = 25\nlimits.iterations = 3", &[]);
        check("limits.iterations = 100", "limits.iterations = 60", &[]);
        check("limits.iterations = 100", "limits.iterations = 101", &["limits.iterations = 101, else 100"]);
        check("limits.iterations = 10", "limits.iterations = 20", &["limits.iterations = 20, else 10"]);
        check("", "limits.duration = \"3d\"", &["limits.duration = \"3d\", else \"8h\""]);
        // There is no default limit of tokens that could be raised.
        check("", "limits.tokens = 1000000000", &[]);
        check("limits.tokens = 1000", "limits.tokens = 2000", &["limits.tokens = 2000, else 1000"]);
        check(
            "",
            "breaker.max_trips = 99\nspawns.depth = 9",
            &["spawns.depth = 9, else 2", "breaker.max_trips = 99, else 3"],
        );
        check("", "criteria.protected = []", &["not protected: tests/**"]);
        check("", "criteria.protected = [\"tests/**\", \"spec/**\"]", &[]);
        check("", "exit.when = \"promise\"", &["exit.when = \"promise\""]);
        check("", "exit.groups = \"majority\"", &["exit.groups = \"majority\""]);
        check("", "exit.groups = \"all\"", &[]);
        let more = "sandbox.processes = 9000, else 4096";
        check("", "sandbox.processes = 9000\nsandbox.memory = \"9GiB\"", &[more]);
        let more = "sandbox.memory = \"9GiB\", else \"1GiB\"";
        check("sandbox.memory = \"1GiB\"", "sandbox.memory = \"9GiB\"", &[more]);
        check("", "sandbox.network = true", &[]);
        check("sandbox.network = true", "sandbox.network = false", &[]);
        let opened = "sandbox.network = true, else false";
        check("sandbox.network = false", "sandbox.network = true", &[opened]);
        let hosts = "sandbox.network = [\"a.org\", \"*.b.org\"]";
        check("", hosts, &[]);
        check("sandbox.network = true", hosts, &[]);
        check(hosts, "sandbox.network = false", &[]);
        check(hosts, "sandbox.network = [\"*.c.b.org\", \"a.org:443\"]", &[]);
        check(hosts, "sandbox.network = true", &[&format!("sandbox.network = true, else {}", &hosts[18..])]);
        check("sandbox.network = false", hosts, &[&format!("{hosts}, else false")]);
        let other = "sandbox.network = [\"a.org:22\"]";
        check(hosts, other, &[&format!("{other}, else {}", &hosts[18..])]);
        check("limits.iterations = 999\ncriteria.protected = []", "", &[]);
        check("max.iterations = 50", "limits.iterations = 40", &[]);
    }

    #[test]
    fn a_task_raises_limits_like_a_file_and_an_argument_does_not() {
        let raised = |source| resolve(&[], &[by(source, "100")]).raised_limits().to_vec();
        assert_eq!(raised(OverrideSource::Task), ["limits.iterations = 100, else 25"]);
        assert_eq!(raised(OverrideSource::Argument), [""; 0]);
    }

    #[test]
    fn the_users_maximum_bounds_every_file_of_the_work_tree() {
        let check = |user: &str, workspace: &str, expect: u32, problems: usize| {
            let resolved = of(user, workspace);
            let settings = resolved.settings().unwrap();
            assert_eq!(settings.limits.iterations, expect, "{user} / {workspace}");
            assert_eq!(resolved.findings().len(), problems, "{:?}", resolved.findings());
        };
        check("max.iterations = 50", "limits.iterations = 100", 50, 1);
        check("max.iterations = 50", "limits.iterations = 50", 50, 0);
        check("max.iterations = 50", "", 25, 0);
        // A default does not permit higher values.
        check("max.iterations = 10", "", 10, 0);
        // A limit in the user's own file needs no consent.
        check("max.iterations = 10\nlimits.iterations = 30", "", 30, 0);
        let bounded =
            resolve(&[layer(LayerKind::User, "max.iterations = 5")], &[by(OverrideSource::Task, "9")]);
        assert_eq!(bounded.settings().unwrap().limits.iterations, 5);
        let typed =
            resolve(&[layer(LayerKind::User, "max.iterations = 5")], &[by(OverrideSource::Argument, "9")]);
        assert_eq!(typed.settings().unwrap().limits.iterations, 9);
        let tokens = of("max.tokens = 1000", "");
        assert_eq!(tokens.settings().unwrap().limits.tokens, Some(1000));
        let problems = of("max.cost_usd = 50", "limits.cost_usd = 100000").findings()[0].to_string();
        assert_eq!(
            problems,
            "Workspace.toml:1: `limits.cost_usd = 100000` is above your `max.cost_usd = 50`. Hint: 50 applies; raise it in User.toml:1."
        );
    }

    #[test]
    fn the_work_tree_sets_no_maximum() {
        let resolved = of("", "max.iterations = 1000");
        let problems: Vec<String> =
            resolved.settings().unwrap_err().iter().map(ToString::to_string).collect();
        assert!(
            problems[0].contains("`max.iterations` counts only in your own configuration"),
            "{problems:?}"
        );
    }
}
