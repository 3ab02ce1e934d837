//! Recognises sources that delete files, start programs or use the network. A fault in such a source could do harm
//! outside the clean room, whose overlay covers the work tree alone.

/// Parts of calls and statements, compared without case. Too many cost a few mutants, too few could cost data.
const MARKS: &[&str] = &[
    // Files.
    "rmtree",
    "unlink",
    "rmdir",
    "rmsync",
    "fs.rm",
    "os.remove",
    "remove_file",
    "remove_dir",
    "removeall",
    "rimraf",
    "deletefile",
    "delete_file",
    "file.delete",
    "files.delete",
    "truncate(",
    "shutil.move",
    "os.rename",
    "os.replace",
    "chmod",
    "chown",
    // Programs.
    "subprocess",
    "os.system",
    "popen",
    "child_process",
    "exec(",
    "execsync",
    "execfile",
    "spawn",
    "command::new",
    "exec.command",
    "processbuilder",
    "kill(",
    // Networks and databases.
    "requests.",
    "urllib",
    "httpx",
    "http.client",
    "fetch(",
    "axios",
    "reqwest",
    "net/http",
    "socket",
    "smtplib",
    "boto3",
    "paramiko",
    "drop table",
    "delete from",
    "insert into",
];

/// Whether code in `text` may affect more than the work tree.
pub(super) fn has_side_effects(text: &str) -> bool {
    let text = text.to_lowercase();
    MARKS.iter().any(|it| text.contains(it))
}
