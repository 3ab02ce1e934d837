//! What counts as a plain commit.

use super::is_plain;

#[test]
fn plain_commits_are_allowed() {
    for command in [
        "git add .",
        "git add -A -- src 'a b.rs'",
        "git commit -m one",
        "git commit -am \"two && three; (four)\"",
        "git commit -qam x",
        "git commit -mshort",
        "git commit --message='no -n and --no-verify' --signoff",
        "git commit -m -n",
        "git commit -m x -- -n",
        "git add f1 && git commit -m \"a \\\"quoted\\\" word\"",
        "git add f1; git commit -F msg.txt",
        "git add a\ngit commit -m b",
        "git commit -m \"$(cat <<'EOF'\nfeat: two\n\nwith (brackets), $x and `x`\nEOF\n)\"",
        "git add . && git commit -m \"$(cat <<'EOF'\none line\nEOF\n)\" --quiet",
    ] {
        assert!(is_plain(command), "{command}");
    }
}

#[test]
fn other_commands_are_not_plain_commits() {
    for command in [
        "",
        "git",
        "git push",
        "git status",
        "git commit -n -m x",
        "git commit -anm x",
        "git commit -m x --no-verify",
        "git commit -m x --no-veri",
        "git commit -m x '--no-verify'",
        "git commit -m x --no-\"\"verify",
        "git commit -m x \"\\\n-n\"",
        "git commit -m x \"\\--\" -n",
        "git commit \"\\-m\" --no-verify -m x",
        "git commit -m x \"$(cat <<'EOF'\n--no-verify\n\nEOF\n)\"",
        "git commit --amend -m x",
        "git commit --am",
        "git -c core.hooksPath=/dev/null commit -m x",
        "git -C /elsewhere commit -m x",
        "HUSKY=0 git commit -m x",
        "git commit -m x && git push",
        "git commit -m x & git push",
        "git commit -m x | sh",
        "git commit -m x; rm -rf .",
        "git commit -m x\nrm -rf .",
        "git commit -m x > /etc/x",
        "git commit -m $(git push)",
        "git commit -m \"$(git push)\"",
        "git commit -m \"`git push`\"",
        "git commit -m \"$HOME\"",
        "git commit *",
        "git add <(git push)",
        "git commit -m",
        "git commit -m 'open",
        "git commit -m \"$(cat <<EOF\n$(git push)\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\nEOF\ngit push\n)\"",
        "git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\" && git push",
        "git commit -m '\"$(cat <<'EOF'\n' $(git push)\nEOF\n)\"",
        "git commit-graph write",
        "git commit -c HEAD",
        "&& git commit -m x",
        "git add . ;; git commit -m x",
    ] {
        assert!(!is_plain(command), "{command}");
    }
}
