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
    "rm_rf",
    "fileutils.",
    "file.rm",
    "removeitem",
    "deleterecursively",
    "std::filesystem",
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
    "system(",
    "system.cmd",
    "sys.process",
    "open3",
    "process()",
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
    "net::http",
    "httpclient",
    "java.net",
    "urlsession",
    "mysqli",
    "httpoison",
    "drop table",
    "delete from",
    "insert into",
];

/// Programs that a script may run, and commands of its shell. They are found anywhere, also in strings, because a script
/// passes programs to others.
const PROGRAMS: &[&str] = &[
    "rm",
    "rmdir",
    "mv",
    "cp",
    "ln",
    "dd",
    "tee",
    "shred",
    "truncate",
    "install",
    "unlink",
    "rsync",
    "tar",
    "unzip",
    "patch",
    "chmod",
    "chown",
    "chgrp",
    "mkfs",
    "mount",
    "umount",
    "kill",
    "killall",
    "pkill",
    "sudo",
    "doas",
    "su",
    "ssh",
    "scp",
    "sftp",
    "curl",
    "wget",
    "nc",
    "git",
    "hg",
    "svn",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "terraform",
    "systemctl",
    "service",
    "crontab",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "pacman",
    "brew",
    "npm",
    "pnpm",
    "yarn",
    "pip",
    "pip3",
    "cargo",
    "gem",
    "aws",
    "gcloud",
    "gh",
    "psql",
    "mysql",
    "sqlite3",
    "redis-cli",
    "mail",
    "sendmail",
    "eval",
    "xargs",
    "parallel",
    "nohup",
    "reboot",
    "shutdown",
    "-delete",
    "-exec",
    "-execdir",
    "--in-place",
];

/// Whether code in `text` may affect more than the work tree.
pub(super) fn has_side_effects(text: &str, is_shell: bool) -> bool {
    let lower = text.to_lowercase();
    MARKS.iter().any(|it| lower.contains(it)) || removes_file(&lower) || is_shell && runs_program(text)
}

/// `remove(path)` of C, which is a method of lists in other languages.
fn removes_file(text: &str) -> bool {
    let is_c = text.contains("#include");
    is_c && text.match_indices("remove(").any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        before.is_none_or(|it| it.is_whitespace() || matches!(it, '(' | ';' | '{' | '!' | ':'))
    })
}

fn runs_program(text: &str) -> bool {
    let code = text.lines().filter(|it| !it.trim_start().starts_with('#'));
    code.into_iter().any(|line| {
        let mut words = line.split(|it: char| !it.is_alphanumeric() && it != '-' && it != '_');
        words.any(|it| PROGRAMS.contains(&it)) || edits_in_place(line)
    })
}

/// `sed -i`, also `sed -Ei.bak`
fn edits_in_place(line: &str) -> bool {
    let is_option = |it: &str| it.starts_with('-') && !it.starts_with("--") && it.contains('i');
    line.split_once("sed ").is_some_and(|(_, it)| it.split_whitespace().any(is_option))
}
