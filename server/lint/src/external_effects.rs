//! Finds checks with effects beyond the work tree: a check runs many times, and each time it would delete, publish or
//! deploy.

use std::sync::LazyLock;

use loopkeeper_task::criterion::Check;
use loopkeeper_text::language::{fill, translate};
use loopkeeper_text::{tr, tr_later};
use regex::Regex;

use crate::shell::{self, SimpleCommand};
use crate::{BetterLine, Lint, LintCode, LintContext};

/// A program with the words that make it harmful, in order.
struct EffectRule {
    program: &'static str,
    words: &'static [&'static str],
    /// A template with `{program}`, translated where it is shown.
    fact: &'static str,
    /// Appended to try the command without its effect.
    dry_run: &'static str,
}

const fn rule(
    program: &'static str,
    words: &'static [&'static str],
    fact: &'static str,
    dry_run: &'static str,
) -> EffectRule {
    EffectRule { program, words, fact, dry_run }
}

/// Arguments that make a program of a rule harmless.
const HARMLESS_ARGUMENTS: [&str; 6] =
    ["--dry-run", "--dry-run=client", "--dry-run=server", "-n", "--help", "--check"];

const RULES: &[EffectRule] = &[
    rule("git", &["push"], tr_later!("`{program}` pushes to a remote at every check"), "--dry-run"),
    rule("git", &["reset", "--hard"], tr_later!("`{program}` discards the agent's work"), ""),
    rule("git", &["clean"], tr_later!("`{program}` deletes untracked files"), ""),
    rule("git", &["checkout", "--"], tr_later!("`{program}` discards the agent's work"), ""),
    rule("git", &["checkout", "."], tr_later!("`{program}` discards the agent's work"), ""),
    rule("git", &["restore"], tr_later!("`{program}` discards the agent's work"), ""),
    rule("git", &["branch", "-D"], tr_later!("`{program}` deletes a branch"), ""),
    rule("git", &["branch", "-d"], tr_later!("`{program}` deletes a branch"), ""),
    rule("git", &["tag", "-d"], tr_later!("`{program}` deletes a tag"), ""),
    rule("git", &["commit"], tr_later!("`{program}` commits at every check"), "--dry-run"),
    rule("git", &["stash"], tr_later!("`{program}` takes changes out of the work tree"), ""),
    rule("npm", &["publish"], tr_later!("`{program}` publishes a package"), "--dry-run"),
    rule("pnpm", &["publish"], tr_later!("`{program}` publishes a package"), "--dry-run"),
    rule("yarn", &["publish"], tr_later!("`{program}` publishes a package"), ""),
    rule("yarn", &["npm", "publish"], tr_later!("`{program}` publishes a package"), ""),
    rule("bun", &["publish"], tr_later!("`{program}` publishes a package"), "--dry-run"),
    rule("cargo", &["publish"], tr_later!("`{program}` publishes a package"), "--dry-run"),
    rule("twine", &["upload"], tr_later!("`{program}` publishes a package"), ""),
    rule("poetry", &["publish"], tr_later!("`{program}` publishes a package"), "--dry-run"),
    rule("uv", &["publish"], tr_later!("`{program}` publishes a package"), "--dry-run"),
    rule("gem", &["push"], tr_later!("`{program}` publishes a package"), ""),
    rule("mvn", &["deploy"], tr_later!("`{program}` publishes a package"), ""),
    rule("dotnet", &["nuget", "push"], tr_later!("`{program}` publishes a package"), ""),
    rule("docker", &["push"], tr_later!("`{program}` pushes an image"), ""),
    rule("docker", &["--push"], tr_later!("`{program}` pushes an image"), ""),
    rule("docker", &["system", "prune"], tr_later!("`{program}` deletes images and volumes"), ""),
    rule("docker", &["down", "-v"], tr_later!("`{program}` deletes volumes"), ""),
    rule("podman", &["push"], tr_later!("`{program}` pushes an image"), ""),
    rule("kubectl", &["apply"], tr_later!("`{program}` changes a cluster"), "--dry-run=client"),
    rule("kubectl", &["delete"], tr_later!("`{program}` deletes from a cluster"), "--dry-run=client"),
    rule("kubectl", &["rollout"], tr_later!("`{program}` changes a cluster"), ""),
    rule("helm", &["install"], tr_later!("`{program}` deploys to a cluster"), "--dry-run"),
    rule("helm", &["upgrade"], tr_later!("`{program}` deploys to a cluster"), "--dry-run"),
    rule("terraform", &["apply"], tr_later!("`{program}` changes infrastructure"), ""),
    rule("terraform", &["destroy"], tr_later!("`{program}` deletes infrastructure"), ""),
    rule("tofu", &["apply"], tr_later!("`{program}` changes infrastructure"), ""),
    rule("pulumi", &["up"], tr_later!("`{program}` changes infrastructure"), ""),
    rule("cdk", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("sam", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("serverless", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("sls", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("vercel", &["--prod"], tr_later!("`{program}` deploys to production"), ""),
    rule("vercel", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("netlify", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("wrangler", &["deploy"], tr_later!("`{program}` deploys"), "--dry-run"),
    rule("wrangler", &["publish"], tr_later!("`{program}` deploys"), ""),
    rule("fly", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("flyctl", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("firebase", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("gcloud", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("eb", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("cap", &["deploy"], tr_later!("`{program}` deploys"), ""),
    rule("ansible-playbook", &[], tr_later!("`{program}` changes other machines"), "--check"),
    rule("aws", &["s3", "rm"], tr_later!("`{program}` deletes from a bucket"), ""),
    rule("aws", &["s3", "sync"], tr_later!("`{program}` writes to a bucket"), ""),
    rule("aws", &["s3", "cp"], tr_later!("`{program}` writes to a bucket"), ""),
    rule("gsutil", &["rm"], tr_later!("`{program}` deletes from a bucket"), ""),
    rule("gh", &["release", "create"], tr_later!("`{program}` publishes a release"), ""),
    rule("gh", &["pr", "create"], tr_later!("`{program}` opens a pull request at every check"), ""),
    rule("gh", &["pr", "merge"], tr_later!("`{program}` merges a pull request"), ""),
    rule("gh", &["repo", "delete"], tr_later!("`{program}` deletes a repository"), ""),
    rule("gh", &["workflow", "run"], tr_later!("`{program}` starts a workflow at every check"), ""),
    rule("dropdb", &[], tr_later!("`{program}` deletes a database"), ""),
    rule("prisma", &["migrate", "reset"], tr_later!("`{program}` deletes a database"), ""),
    rule("prisma", &["migrate", "deploy"], tr_later!("`{program}` changes a database"), ""),
    rule("rails", &["db:drop"], tr_later!("`{program}` deletes a database"), ""),
    rule("rails", &["db:reset"], tr_later!("`{program}` deletes a database"), ""),
    rule("rake", &["db:drop"], tr_later!("`{program}` deletes a database"), ""),
    rule("redis-cli", &["flushall"], tr_later!("`{program}` deletes a database"), ""),
    rule("redis-cli", &["FLUSHALL"], tr_later!("`{program}` deletes a database"), ""),
    rule("shutdown", &[], tr_later!("`{program}` shuts the machine down"), ""),
    rule("reboot", &[], tr_later!("`{program}` restarts the machine"), ""),
    rule("mkfs", &[], tr_later!("`{program}` formats a disk"), ""),
    rule("shred", &[], tr_later!("`{program}` deletes files"), ""),
    rule("sendmail", &[], tr_later!("`{program}` sends mail at every check"), ""),
    rule("mail", &[], tr_later!("`{program}` sends mail at every check"), ""),
    rule("scp", &[], tr_later!("`{program}` copies to another machine"), ""),
    rule("ssh", &[], tr_later!("`{program}` acts on another machine"), ""),
    rule("killall", &[], tr_later!("`{program}` ends processes that are not the check's"), ""),
    rule("pkill", &[], tr_later!("`{program}` ends processes that are not the check's"), ""),
    rule("apt-get", &["install"], tr_later!("`{program}` installs on the machine"), ""),
    rule("apt", &["install"], tr_later!("`{program}` installs on the machine"), ""),
    rule("brew", &["install"], tr_later!("`{program}` installs on the machine"), ""),
];

/// Folders that a build regenerates.
const GENERATED_FOLDERS: &[&str] = &[
    "build",
    "dist",
    "target",
    "out",
    "coverage",
    "tmp",
    "temp",
    ".cache",
    "node_modules",
    ".next",
    "__pycache__",
    ".pytest_cache",
    "bin",
    "obj",
    ".tox",
    "_build",
];

static PROSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r"
        \b(is|are|gets?|been|be)\s+deployed\b
        | \b(prs?|pull\s+requests?|branch|changes?|code|package|image|commits?|release|version|app|application|site|website|library|crate)\s+(is|are|was|were|has\s+been|have\s+been)\s+(published|pushed|merged|released|uploaded)\b
        | \b(deploy|publish|push|release|upload)(s|ed|es|d)?\s+(it\s+|them\s+|the\s+\S+\s+|changes\s+|image\s+|package\s+)?(to|on|onto)\s+(the\s+)?(prod|production|staging|npm|pypi|crates\.io|docker|main|master|origin|remote|vercel|netlify|aws|heroku|fly|the\s+app\s+store|app\s+store|github|s3|registry|cluster)\b
        | \bmerged?\s+(in)?to\s+(main|master|trunk|develop)\b
        | \blive\s+(in|on)\s+production\b
        | \b(pull\s+request|PR)\s+(is\s+)?(opened|created|merged)\b
        | 部署(到|至|上)?(生产|线上|服务器) | 发布(到|至) | 推送(到|至)|合并(到|至)主 | 上线";
    crate::pattern(pattern)
});

static NEGATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(not|never|no|without|don't|doesn't|cannot|nothing|must not|before)\b|不|未|无").ok()
});

static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\$\{?([A-Z0-9_]*(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS|PRIVATE_KEY))\b").ok()
});

pub(crate) fn lint(context: &LintContext<'_>, index: usize) -> Option<Lint> {
    let criterion = context.criterion(index)?;
    let (fact, words, better) = match &criterion.check {
        Some(Check::Command { command, .. }) => harm_of_command(command)?,
        Some(_) => return None,
        None => harm_of_prose(&criterion.name)?,
    };
    Some(Lint {
        code: LintCode::Unsafe,
        criterion: index,
        place: context.place_of(criterion, &words),
        fact,
        remedy: tr!("Use a check without side effects"),
        better,
    })
}

fn harm_of_prose(prose: &str) -> Option<(String, String, BetterLine)> {
    let found = PROSE.as_ref()?.find(prose)?;
    let before = prose.get(..found.start()).unwrap_or_default();
    if NEGATED.as_ref().is_some_and(|it| it.is_match(before)) {
        return None;
    }
    Some((
        tr!("asks an unattended agent to publish or deploy").to_owned(),
        found.as_str().to_owned(),
        BetterLine::Nothing,
    ))
}

fn harm_of_command(command: &str) -> Option<(String, String, BetterLine)> {
    let segments = shell::segments(command);
    for segment in &segments {
        if let Some((fact, dry_run)) = harm_of_segment(segment) {
            let better = if dry_run.is_empty() {
                BetterLine::Nothing
            } else {
                BetterLine::Command(with_argument(command, segment, dry_run))
            };
            let program = segment.program().unwrap_or_default();
            let fact = fill(translate(fact), &[("program", &program)]);
            return Some((fact, segment.text.to_owned(), better));
        }
    }
    let secret = SECRET.as_ref()?.captures(command)?;
    let name = secret.get(1)?.as_str();
    Some((tr!("needs the secret `{name}`", name), name.to_owned(), BetterLine::Unknown))
}

/// The whole command with one more argument at the end of a segment.
fn with_argument(command: &str, segment: &SimpleCommand<'_>, argument: &str) -> String {
    let end = command.get(..segment.range.end).unwrap_or(command).trim_end().len();
    let (before, after) = command.split_at(end);
    format!("{before} {argument}{after}")
}

fn harm_of_segment(segment: &SimpleCommand<'_>) -> Option<(&'static str, &'static str)> {
    let program = segment.program()?;
    let arguments: Vec<&str> = segment.arguments().iter().map(String::as_str).collect();
    match program {
        "rm" => {
            return deletes(&arguments)
                .then_some((tr_later!("`{program}` deletes files at every check"), ""));
        }
        "curl" | "wget" | "http" | "httpie" | "xh" => {
            return changes_remote(&arguments)
                .then_some((tr_later!("`{program}` changes data on another machine"), ""));
        }
        "psql" | "mysql" | "sqlite3" | "mongosh" => {
            return changes_database(segment.text)
                .then_some((tr_later!("`{program}` deletes from a database"), ""));
        }
        "dd" => {
            return arguments
                .iter()
                .any(|it| it.starts_with("of=/dev/"))
                .then_some((tr_later!("`{program}` overwrites a device"), ""));
        }
        _ => {}
    }
    if segment.words.first().is_some_and(|it| it == "sudo") {
        return Some((tr_later!("`{program}` needs the rights of root"), ""));
    }
    let Some(found) = RULES.iter().find(|it| it.program == program && in_order(it.words, &arguments)) else {
        return deploys(program, &arguments).then_some((tr_later!("`{program}` deploys or publishes"), ""));
    };
    let is_dry = arguments.iter().any(|it| HARMLESS_ARGUMENTS.contains(it));
    (!is_dry).then_some((found.fact, found.dry_run))
}

/// Whether the name of a script or a recipe says that it deploys: `./deploy.sh`, `make publish`.
fn deploys(program: &str, arguments: &[&str]) -> bool {
    const RUNNERS: [&str; 15] = [
        "bash", "bun", "deno", "just", "make", "node", "npm", "pnpm", "python", "python3", "ruby", "sh",
        "task", "yarn", "zsh",
    ];
    const HARMLESS_FLAGS: [&str; 5] = ["--dry-run", "--check", "--help", "-n", "--validate"];
    if arguments.iter().any(|it| HARMLESS_FLAGS.contains(it)) {
        return false;
    }
    let is_one = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or_default();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let (verb, place) = stem.split_once(['-', '_', ':']).unwrap_or((stem, "production"));
        ["deploy", "publish"].contains(&verb) && ["prod", "production", "staging", "live"].contains(&place)
    };
    let mut words = arguments.iter().filter(|it| !it.starts_with('-') && **it != "run");
    is_one(program) || RUNNERS.contains(&program) && words.next().is_some_and(|it| is_one(it))
}

/// Whether `words` occur in this order, perhaps with flags between them.
fn in_order(words: &[&str], arguments: &[&str]) -> bool {
    let mut arguments = arguments.iter();
    words.iter().all(|word| arguments.any(|it| it == word))
}

/// Whether `rm` removes more than what a build writes.
fn deletes(arguments: &[&str]) -> bool {
    let mut paths = arguments.iter().filter(|it| !it.starts_with('-'));
    paths.any(|path| {
        let path = path.trim_start_matches("./").trim_end_matches(['/', '*']).trim_end_matches('/');
        let is_scratch = path.starts_with("/tmp/")
            || path.starts_with("$TMP")
            || path.starts_with("${TMP")
            || path.starts_with("$tmp")
            || path.starts_with("$(mktemp");
        let first = path.split('/').next().unwrap_or_default();
        let last = path.rsplit('/').next().unwrap_or_default();
        let is_output = GENERATED_FOLDERS.contains(&first)
            || GENERATED_FOLDERS.contains(&last)
            || [".log", ".tmp", ".out", ".o", ".db-test"].iter().any(|it| path.ends_with(it));
        let leaves_folder = path.split('/').any(|it| it == "..") || path.starts_with(['/', '~']);
        !is_scratch && (!is_output || leaves_folder)
    })
}

fn changes_remote(arguments: &[&str]) -> bool {
    let is_local = |it: &&str| it.contains("localhost") || it.contains("127.0.0.1") || it.contains("[::1]");
    let is_url = |it: &&&str| it.contains("://") || it.starts_with("api.");
    let remote = arguments.iter().filter(is_url).any(|it| !is_local(it));
    let writes = ["POST", "PUT", "DELETE", "PATCH"];
    let method = arguments.iter().any(|it| {
        writes.contains(it)
            || writes.iter().any(|method| *it == format!("-X{method}") || it.ends_with(&format!("={method}")))
    });
    remote && method
}

fn changes_database(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["drop table", "drop database", "drop schema", "truncate ", "delete from", "dropdatabase"]
        .iter()
        .any(|it| text.contains(it))
}

#[cfg(test)]
mod tests {
    use super::{harm_of_command, harm_of_prose, harm_of_segment};
    use crate::{BetterLine, shell};

    fn is_unsafe(command: &str) -> bool {
        shell::segments(command).iter().any(|it| harm_of_segment(it).is_some())
    }

    #[test]
    fn a_build_that_pushes_its_image_is_unsafe() {
        assert!(is_unsafe("docker buildx build --push -t me/x ."));
        assert!(!is_unsafe("docker buildx build --load -t me/x ."));
    }

    #[test]
    fn a_dry_run_is_offered_for_the_harmful_command_itself() {
        let (_, words, better) = harm_of_command("echo git push; git push && true").unwrap();
        assert_eq!(words, "git push");
        assert_eq!(better, BetterLine::Command("echo git push; git push --dry-run && true".to_owned()));
    }

    #[test]
    fn effects_beyond_the_work_tree_are_unsafe() {
        for command in [
            "git push origin main",
            "npm test && git push",
            "git reset --hard HEAD",
            "git clean -fd",
            "npm publish",
            "cargo publish",
            "rm -rf src",
            "rm -rf ~",
            "rm -rf /",
            "rm -rf ../other",
            "rm -rf build/../src",
            "rm notes.md",
            "terraform apply -auto-approve",
            "kubectl delete pod x",
            "docker push me/x",
            "vercel --prod",
            "./deploy.sh production",
            "bash scripts/deploy-prod.sh",
            "npm run deploy",
            "make publish",
            "npx vercel deploy",
            "fly deploy",
            "sudo make install",
            "curl -X DELETE https://api.example.com/users/1",
            "psql -c 'DROP TABLE users'",
            "gh pr merge 3",
            "aws s3 rm s3://b/x",
            "git checkout -- .",
            "dropdb app",
            "ssh host uptime",
        ] {
            assert!(is_unsafe(command), "{command}");
        }
        for command in [
            "rm -rf build && make",
            "rm -f /tmp/x",
            "rm -rf dist/",
            "rm -rf target/tmp",
            "git push --dry-run",
            "npm publish --dry-run",
            "cargo publish --dry-run",
            "terraform plan",
            "terraform validate",
            "kubectl apply --dry-run=client -f x",
            "docker build .",
            "curl -fsS https://example.com",
            "curl -X POST http://localhost:3000/users",
            "psql -c 'select 1'",
            "git diff --exit-code",
            "./deploy.sh --dry-run",
            "make deploy-docs-check",
            "pytest tests/deploy.py",
            "node test/publish.test.js",
            "npm run deploy:check",
            "helm lint chart",
            "ansible-playbook --check site.yml",
        ] {
            assert!(!is_unsafe(command), "{command}");
        }
    }

    #[test]
    fn prose_that_asks_for_a_release_is_unsafe() {
        for prose in [
            "The app is deployed to production",
            "Publish to npm",
            "Changes are pushed to origin",
            "The PR is merged",
            "Pull request created",
            "Merged into main",
            "部署到生产环境",
            "发布到 npm",
        ] {
            assert!(harm_of_prose(prose).is_some(), "{prose}");
        }
        for prose in [
            "Nothing is pushed to main",
            "The deploy script validates its arguments",
            "Publish button is disabled for drafts",
            "Users can publish a post",
            "Released locks are free again",
            "不推送到远程",
        ] {
            assert!(harm_of_prose(prose).is_none(), "{prose}");
        }
    }
}
