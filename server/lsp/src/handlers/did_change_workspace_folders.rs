//! `workspace/didChangeWorkspaceFolders`.

use std::path::PathBuf;

use lsp_types::{DidChangeWorkspaceFoldersParams, WorkspaceFolder};

use crate::session::ServerState;

pub(crate) fn handle(shared: &ServerState, params: &DidChangeWorkspaceFoldersParams) {
    let paths = |folders: &[WorkspaceFolder]| -> Vec<PathBuf> {
        folders.iter().filter_map(|it| it.uri.to_file_path().ok()).collect()
    };
    shared.change_folders(paths(&params.event.added), &paths(&params.event.removed));
}
