//! Words for the `status` of a story or task, in the files of other tools.

use jsonc_parser::ast::{Object, Value};

/// A status that needs no work.
const DONE_STATUSES: [&str; 7] = ["done", "completed", "complete", "passing", "passed", "pass", "verified"];
/// An end without the work.
const ENDED_STATUSES: [&str; 3] = ["closed", "rejected", "failed"];
const POSTPONED_STATUSES: [&str; 8] =
    ["deferred", "postponed", "cancelled", "canceled", "skipped", "aborted", "wontfix", "superseded"];
/// A status of a file that has no other word for done, with that word.
const OPPOSITES: [(&str, &str); 2] = [("failing", "passing"), ("fail", "pass")];

pub(crate) fn is_done_word(status: &str) -> bool {
    DONE_STATUSES.iter().chain(&ENDED_STATUSES).any(|it| it.eq_ignore_ascii_case(status))
}

/// Work that does not have to be done now.
pub(crate) fn is_postponed_word(status: &str) -> bool {
    POSTPONED_STATUSES.iter().any(|it| it.eq_ignore_ascii_case(status))
}

/// A task that failed is not tried again by some tools; a feature that failed is still to be done.
pub(super) fn is_failure(status: &str) -> bool {
    status.eq_ignore_ascii_case("failed")
}

/// The value of `status` that means done in this file, if it is not `"done"`: as its stories write it, else as its list
/// `rules.valid_status` names it.
pub(super) fn own_done_word(stories: &[Value<'_>], root: Option<&Object<'_>>) -> Option<String> {
    let is_done = |it: &&str| DONE_STATUSES.iter().any(|word| word.eq_ignore_ascii_case(it));
    let written: Vec<&str> =
        stories.iter().filter_map(|it| it.as_object()?.get_string("status").map(|it| &*it.value)).collect();
    let valid = root.and_then(|it| it.get_object("rules")?.get_array("valid_status"));
    let valid =
        valid.into_iter().flat_map(|it| &it.elements).filter_map(|it| Some(&*it.as_string_lit()?.value));
    let own = written.iter().copied().find(is_done).or_else(|| valid.into_iter().find(is_done));
    let opposite = || {
        OPPOSITES
            .iter()
            .find(|(open, _)| written.iter().any(|it| it.eq_ignore_ascii_case(open)))
            .map(|it| it.1)
    };
    own.or_else(opposite).filter(|it| *it != "done").map(|it| format!("\"{it}\""))
}
