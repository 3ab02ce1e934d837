//! Describes the limits of a job besides its namespaces and files.

use std::fmt::Write as _;

use loopkeeper_text::clauses::join_with_and;
use loopkeeper_text::tr;

use super::control_groups::ControlGroups;
use super::network::NetworkAccess;
use super::resources::ResourceLimits;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobLimits {
    pub network: NetworkAccess,
    pub resources: ResourceLimits,
    pub(super) groups: ControlGroups,
}

impl JobLimits {
    /// The limits of single processes, which remain in addition to control groups: a program that gets no memory can
    /// report it, one that the kernel kills cannot.
    pub(super) fn process_limits(&self) -> ResourceLimits {
        let processes = self.resources.processes.filter(|_| !self.groups.limits_processes());
        ResourceLimits { processes, ..self.resources }
    }

    /// A sentence after that of the network, with a space before it; empty if nothing is limited. `are_counted`: whether
    /// the number of processes is limited without groups.
    pub(super) fn sentence(&self, are_counted: bool) -> String {
        let ResourceLimits { memory, processes } = self.resources;
        let (memory, processes) = (memory.is_some(), processes.is_some());
        let by_groups = [
            (memory && self.groups.limits_memory()).then_some(tr!("memory")),
            (processes && self.groups.limits_processes()).then_some(tr!("processes")),
        ];
        let rest = [
            (memory && !self.groups.limits_memory()).then_some(tr!("the memory of each process")),
            (processes && !self.groups.limits_processes() && are_counted)
                .then_some(tr!("the number of processes")),
        ];
        let joined = |words: [Option<&'static str>; 2]| join_with_and(words.into_iter().flatten());
        let (by_groups, rest) = (joined(by_groups), joined(rest));
        let uncounted = processes && !self.groups.limits_processes() && !are_counted;
        let mut text = String::new();
        if !by_groups.is_empty() {
            let _ = write!(text, "{}", tr!(" Control groups limit their {by_groups}.", by_groups));
        }
        if !rest.is_empty() {
            let _ = write!(text, "{}", tr!(" Without a control group, limits apply to {rest}.", rest));
        }
        if uncounted {
            text.push_str(tr!(
                " The number of root's processes is not limited: no control group can be made."
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::group_parents::{GroupParent, GroupVersion};
    use super::*;

    fn sentence(limits: (bool, bool), groups: &[(bool, bool)], are_counted: bool) -> String {
        let place = |(memory, processes): &(bool, bool)| GroupParent {
            version: GroupVersion::First,
            mount: "/c".into(),
            parent: "/c".into(),
            memory: *memory,
            processes: *processes,
        };
        let resources =
            ResourceLimits { memory: limits.0.then_some(1 << 30), processes: limits.1.then_some(100) };
        let groups = ControlGroups::of(groups.iter().map(place).collect());
        JobLimits { resources, groups, ..JobLimits::default() }.sentence(are_counted)
    }

    #[test]
    fn the_sentence_names_the_limits_in_effect() {
        let both = (true, true);
        assert_eq!(sentence((false, false), &[], true), "");
        assert_eq!(
            sentence(both, &[(true, false), (false, true)], false),
            " Control groups limit their memory and processes."
        );
        assert_eq!(sentence((false, true), &[(false, true)], true), " Control groups limit their processes.");
        assert_eq!(
            sentence(both, &[(false, true)], true),
            " Control groups limit their processes. Without a control group, limits apply to the memory of each process."
        );
        assert_eq!(
            sentence(both, &[], true),
            " Without a control group, limits apply to the memory of each process and the number of processes."
        );
        let root = " The number of root's processes is not limited: no control group can be made.";
        assert_eq!(sentence((false, true), &[], false), root);
    }
}
