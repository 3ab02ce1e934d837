//! `workspace/didChangeWorkspaceFolders`: the folders that are open, as far as they are on this machine.

use std::path::PathBuf;

use lsp_types::{DidChangeWorkspaceFoldersParams, WorkspaceFolder};

use crate::documents::file_path;
use crate::session::ServerState;

pub(crate) fn handle(shared: &ServerState, params: &DidChangeWorkspaceFoldersParams) {
    let paths = |folders: &[WorkspaceFolder]| -> Vec<PathBuf> {
        folders.iter().filter_map(|it| file_path(&it.uri)).collect()
    };
    shared.change_folders(paths(&params.event.added), &paths(&params.event.removed));
}
