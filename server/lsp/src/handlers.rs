//! One file per request or notification of the protocol, each with one `handle`.

pub(super) mod code_action;
pub(super) mod code_lens;
pub(super) mod completion;
pub(super) mod did_change;
pub(super) mod did_change_watched_files;
pub(super) mod did_change_workspace_folders;
pub(super) mod did_close;
pub(super) mod did_open;
pub(super) mod did_save;
pub(super) mod document_link;
pub(super) mod document_symbol;
pub(super) mod execute_command;
pub(super) mod hover;
pub(super) mod initialize;
pub(super) mod initialized;
pub(super) mod iterations;
pub(super) mod loops;
pub(super) mod set_trace;
pub(super) mod subscribe;
pub(super) mod transcript;
