//! Kinds of repositories in a clean room: each is judged as an overlay where namespaces work, and as a copy at another
//! path where there are none. Every check passes only when the work is done and the tree is as the user knows it.

use std::process::Command;

use serde_json::Value;

use crate::cli::{Ran, Terminal};
use crate::no_bubblewrap::NO_NAMESPACES;
use crate::support::port::Port;

/// A repository as data.
struct Kind {
    name: &'static str,
    /// Shell code of the user, run in the root's folder.
    made: &'static str,
    /// What must hold besides the work.
    check: &'static str,
    /// The root, below the folder in which `made` runs.
    root: &'static str,
    /// Settings besides the agent.
    settings: &'static str,
    /// A request that must succeed.
    request: &'static str,
    /// Why a copy cannot judge it; empty where it can.
    unable: &'static str,
}

const fn kind(name: &'static str, made: &'static str, check: &'static str) -> Kind {
    Kind { name, made, check, root: "", settings: "", request: "", unable: "" }
}

/// Commands of Git for `made`.
const GIT: &str = "git() { command git -c user.name=u -c user.email=u@u -c protocol.file.allow=always \"$@\"; }; start() { git init -q . && git add -A && git commit -qm start; };";

const FILES: [Kind; 15] = [
    kind("no repository", "echo a > a", "test ! -e .git && test -f a"),
    kind("links in the tree", "mkdir d; echo a > d/a; ln -s d/a link; ln -s d folder", "cmp link folder/a"),
    kind("an absolute link into the tree", "echo a > a; ln -s \"$PWD/a\" link", "test \"$(cat link)\" = a"),
    kind(
        "a link out of the tree",
        "mkdir ../beside; echo b > ../beside/b; ln -s ../beside/b link",
        "test \"$(cat link)\" = b",
    ),
    kind("a dangling link", "ln -s nowhere link", "test -L link && test ! -e link"),
    kind("links in a circle", "ln -s b a; ln -s a b", "test -L a && test -L b"),
    kind(
        "names that differ in case",
        "echo 1 > Read; echo 2 > READ; mkdir Sub sub; echo 3 > Sub/x; echo 4 > sub/x",
        "test \"$(cat Read READ Sub/x sub/x | tr -d '\\n')\" = 1234",
    ),
    kind(
        "odd names",
        "echo 1 > 'a b'; echo 2 > \"$(printf 'c\\nd')\"; echo 3 > \"$(printf 'x\\377')\"",
        "test \"$(cat 'a b' \"$(printf 'c\\nd')\" \"$(printf 'x\\377')\" | tr -d '\\n')\" = 123",
    ),
    kind(
        "modes",
        "mkdir -m 750 d; echo 'exit 0' > d/run; chmod 700 d/run; echo s > s; chmod 600 s",
        "./d/run; test \"$(stat -c %a d d/run s | tr '\\n' ' ')\" = '750 700 600 '",
    ),
    kind("an empty folder", "mkdir -p logs/today", "test -d logs/today"),
    kind("a pipe", "mkfifo pipe; echo a > a", "test -f a"),
    kind("hard links", "echo a > a; ln a b", "cmp a b"),
    kind("bytes of all kinds", "printf 'a\\r\\n\\000\\377' > bytes", "test \"$(wc -c < bytes)\" = 5"),
    kind(
        "deep folders",
        "d=$(printf 'd/%.0s' $(seq 40)); mkdir -p $d; echo a > ${d}a",
        "find d -name a | grep -q .",
    ),
    kind(
        "times of files",
        "echo a > old; touch -d 2001-02-03 old",
        "test \"$(date -u -r old +%F)\" = 2001-02-03",
    ),
];

const REPOSITORIES: [Kind; 14] = [
    kind("a repository", "echo a > a; start", "git log --format=%s | grep -qx start"),
    kind("a repository without commits", "git init -q .; echo a > a", "git ls-files --others | grep -qx a"),
    kind(
        "unchanged files as Git sees them",
        "echo a > a; mkdir d; echo b > d/b; start",
        "git diff-index --quiet HEAD -- a d",
    ),
    kind(
        "an index that is not HEAD's",
        "echo a > a; start; echo b > b; git add b",
        "git diff --cached --name-only | grep -qx b",
    ),
    kind(
        "a detached HEAD",
        "echo a > a; start; git checkout -q --detach",
        "! git symbolic-ref -q HEAD && git rev-parse HEAD",
    ),
    kind(
        "packed objects and references",
        "echo a > a; start; git tag one; git gc -q",
        "git show one:a | grep -qx a",
    ),
    kind("a check that writes objects", "echo a > a; start", "git add -A && git write-tree"),
    kind(
        "a submodule",
        "mkdir ../lib; (cd ../lib; echo l > l; start); echo a > a; start; git submodule -q add ../lib lib; git commit -qm lib",
        "test \"$(git -C lib log --format=%s)\" = start && git submodule status | grep -q lib && cat lib/l",
    ),
    kind(
        "a repository in the tree",
        "mkdir -p vendor/x; (cd vendor/x; echo x > x; start); git init -q .",
        "test \"$(git -C vendor/x log --format=%s)\" = start",
    ),
    Kind {
        root: "two",
        ..kind(
            "a linked work tree",
            "mkdir one; cd one; echo a > a; start; git worktree add -q ../two; cd ..",
            "test -f .git -o -d .git && git log --format=%s | grep -qx start && cat a",
        )
    },
    kind(
        "a shallow clone",
        "mkdir ../far; (cd ../far; echo a > a; start; git commit -qm more --allow-empty); git clone -q --depth 1 \"file://$PWD/../far\" .",
        "test \"$(git rev-list --count HEAD)\" = 1",
    ),
    kind(
        "a sparse checkout",
        "mkdir in out; echo 1 > in/f; echo 2 > out/f; start; git sparse-checkout set in",
        "test -f in/f && test ! -e out && test -z \"$(git status --porcelain --untracked-files=no)\"",
    ),
    Kind {
        root: "packages/app",
        ..kind(
            "a folder of a larger repository",
            "mkdir -p packages/app packages/lib; echo l > packages/lib/l; echo t > top; echo a > packages/app/a; start",
            "cat ../lib/l ../../top && test \"$(git rev-parse --show-prefix)\" = packages/app/ && git ls-files --error-unmatch a",
        )
    },
    kind(
        "attributes and filters",
        "echo '*.txt text eol=crlf' > .gitattributes; printf 'a\\r\\n' > a.txt; start",
        "git diff --quiet -- a.txt && grep -q \"$(printf 'a\\r')\" a.txt",
    ),
];

const IGNORED: [Kind; 11] = [
    kind(
        "node_modules",
        "echo node_modules > .gitignore; mkdir -p node_modules/left node_modules/.bin; echo 'echo left' > node_modules/left/run; chmod +x node_modules/left/run; ln -s ../left/run node_modules/.bin/left",
        "test \"$(node_modules/.bin/left)\" = left",
    ),
    kind(
        "packages of a workspace",
        "echo node_modules > .gitignore; mkdir -p packages/b node_modules/@mine; echo b > packages/b/b; ln -s ../../packages/b node_modules/@mine/b",
        "case $(readlink -f node_modules/@mine/b) in \"$(pwd -P)\"/packages/b) ;; *) exit 1;; esac",
    ),
    kind(
        "a virtual environment",
        "echo .venv > .gitignore; mkdir -p .venv/bin; echo home=/usr/bin > .venv/pyvenv.cfg; printf '#!/bin/sh\\necho tool' > .venv/bin/tool; chmod +x .venv/bin/tool",
        "test \"$(.venv/bin/tool)\" = tool",
    ),
    Kind {
        unable: "leads back to the work tree",
        ..kind(
            "a package that is imported from the tree",
            "echo .venv > .gitignore; d=.venv/lib/python3/site-packages; mkdir -p $d; touch .venv/pyvenv.cfg; echo \"$PWD/src\" > $d/mine.pth",
            "test -d .venv",
        )
    },
    kind(
        "a program in target",
        "echo target > .gitignore; mkdir -p target/debug; echo {} > target/.rustc_info.json; echo 'echo built' > target/debug/app; chmod +x target/debug/app",
        "test \"$(sh target/debug/app)\" = built",
    ),
    kind("an ignored setting", "echo .env > .gitignore; echo A=1 > .env", ". ./.env && test $A = 1"),
    kind(
        "a large ignored folder",
        "echo data > .gitignore; mkdir data; (cd data; seq 2100 | xargs touch)",
        "test \"$(ls data | wc -l)\" = 2100",
    ),
    kind(
        "products of the check",
        "echo dist > .gitignore; echo a > a",
        "mkdir -p dist && cp a dist/a && test -f dist/a",
    ),
    Kind {
        settings: "env.set = { DATA = \"@root@/data\" }",
        ..kind(
            "a variable with a path of the tree",
            "mkdir data; echo d > data/d",
            "test \"$DATA\" = \"$PWD/data\" && cat \"$DATA/d\"",
        )
    },
    kind(
        "packages that a check writes to",
        "echo node_modules > .gitignore; mkdir -p node_modules/left",
        "case $PWD in */room-*) ! touch node_modules/left/written 2>/dev/null;; esac",
    ),
    Kind {
        unable: "does not pass in a copy at another path",
        ..kind("a check that needs its path", "pwd -P > where", "test \"$(cat where)\" = \"$(pwd -P)\"")
    },
];

impl Kind {
    /// The repository with its task, and the root.
    fn terminal(&self) -> (Terminal, std::path::PathBuf) {
        let terminal = Terminal::new();
        let mut made = Command::new("sh");
        made.args(["-ec", &format!("{GIT}\n{}", self.made)]).current_dir(terminal.root()).env_clear();
        made.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", terminal.folder().join("home"));
        let output = made.output().unwrap();
        assert!(output.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        let root: std::path::PathBuf = terminal.root().join(self.root).components().collect();
        let settings = self.settings.replace("@root@", root.to_str().unwrap());
        let agent = "[agents.mine]\ncommand = [\"/bin/sh\", \"-c\", \"cat > /dev/null; echo ok > done\"]\n";
        let below = |name: &str| format!("{}/{name}", self.root);
        let file = |name: &str, text: &str| {
            terminal.file(below(name).trim_start_matches('/'), text);
        };
        file("loopkeeper.toml", &format!("agent = \"mine\"\n{settings}\n{agent}"));
        // A pipe in a command would hide the exit code of what is before it.
        file("check.sh", &format!("set -e\ntest -f done\n{}\n", self.check));
        let request =
            if self.request.is_empty() { "" } else { &format!("- It is served: `GET {}`\n", self.request) };
        file("PROMPT.md", &format!("# Work\n\n## Done when\n\n- It is done: `$ sh check.sh`\n{request}"));
        (terminal, root)
    }

    /// Runs the loop after `setup`, and returns its final verdict. `None`: not possible on this machine.
    fn verdict(&self, setup: Option<&str>) -> Option<Value> {
        let (terminal, root) = self.terminal();
        let args = ["run", "--json", "--trust", "--max-iterations", "1"];
        let mut command = match setup {
            Some(setup) => {
                let unshare = ["unshare", "--user", "--map-root-user", "sh", "-c", setup, "sh"];
                terminal.command_within(&unshare, &args)
            }
            None => terminal.command(&args),
        };
        let ran = Ran::of(&command.current_dir(&root).output().unwrap());
        if setup.is_some() && (ran.code == Some(99) || ran.stderr.starts_with("unshare: ")) {
            crate::not_run("repositories in a copy", &ran.stderr);
            return None;
        }
        let mut records = ran.stdout.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        let verdict = records.rfind(|it| it["type"] == "final-verdict");
        assert_eq!(ran.code, Some(0), "{}: {}\n{}", self.name, ran.stdout, ran.stderr);
        Some(verdict.unwrap_or_else(|| panic!("{}: no verdict", self.name)))
    }

    fn is_judged_in_an_overlay(&self) {
        let verdict = self.verdict(None).unwrap();
        assert_eq!(verdict["asLeft"]["results"][0]["status"], "pass", "{}: {verdict:#}", self.name);
        assert!(verdict["copied"].is_null(), "{}: {verdict:#}", self.name);
    }

    fn is_judged_in_a_copy(&self) {
        let Some(verdict) = self.verdict(Some(NO_NAMESPACES)) else { return };
        if self.unable.is_empty() {
            assert_eq!(verdict["asLeft"]["results"][0]["status"], "pass", "{}: {verdict:#}", self.name);
            assert!(verdict["copied"]["why"].is_string(), "{}: {verdict:#}", self.name);
        } else {
            let why = verdict["unavailable"].as_str().unwrap_or_default();
            assert!(why.contains(self.unable), "{}: {verdict:#}", self.name);
        }
    }
}

#[test]
fn trees_of_many_kinds_are_judged_in_an_overlay() {
    FILES.iter().for_each(Kind::is_judged_in_an_overlay);
}

#[test]
fn trees_of_many_kinds_are_judged_in_a_copy() {
    FILES.iter().for_each(Kind::is_judged_in_a_copy);
}

#[test]
fn repositories_of_many_kinds_are_judged_in_an_overlay() {
    REPOSITORIES.iter().for_each(Kind::is_judged_in_an_overlay);
}

#[test]
fn repositories_of_many_kinds_are_judged_in_a_copy() {
    REPOSITORIES.iter().for_each(Kind::is_judged_in_a_copy);
}

#[test]
fn ignored_files_of_many_kinds_are_judged_in_an_overlay() {
    IGNORED.iter().for_each(Kind::is_judged_in_an_overlay);
}

#[test]
fn ignored_files_of_many_kinds_are_judged_in_a_copy() {
    IGNORED.iter().for_each(Kind::is_judged_in_a_copy);
}

/// A server of `[[serve]]` runs in the room, and its requests see the final tree.
#[test]
fn a_server_runs_in_an_overlay_and_in_a_copy() {
    for setup in [None, Some(NO_NAMESPACES)] {
        let port = Port::keep();
        let at = format!("http://127.0.0.1:{}", port.number);
        let settings = format!(
            "[[serve]]\ncommand = [\"python3\", \"-m\", \"http.server\", \"--bind\", \"127.0.0.1\", \"{}\"]\nready = \"{at}/\"\n",
            port.number
        );
        let request = format!("{at}/done").leak();
        let kind = Kind { settings: settings.leak(), request, ..kind("a server", "", "true") };
        let Some(verdict) = kind.verdict(setup) else { return };
        assert_eq!(verdict["asLeft"]["results"][1]["status"], "pass", "{verdict:#}");
        assert_eq!(verdict["copied"].is_null(), setup.is_none(), "{verdict:#}");
    }
}
