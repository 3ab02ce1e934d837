//! Events of the full-screen view other than keys and signals.

pub(super) enum DashboardEvent {
    Recorded {
        id: String,
    },
    Activity {
        id: String,
        text: String,
    },
    OutputLine {
        id: String,
        text: String,
    },
    StreamEnded {
        id: String,
    },
    /// The stored output of the agent.
    Output {
        id: String,
        text: String,
    },
    Patch {
        id: String,
        text: String,
    },
    /// The output of a command.
    Note(String),
}
