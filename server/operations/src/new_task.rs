//! Proposes a task document for one sentence, with the checks of the project. It is returned before it is written, and
//! overwrites nothing.

use std::path::{Path, PathBuf};

use loopkeeper_lint::{Gate, has_unmeasured_goal};
use loopkeeper_task::new_task::{NewTask, new_task_criteria, new_task_document, new_task_stem, topic};
use loopkeeper_task::work_product::WorkProduct;
use loopkeeper_text::{sanitize, tr};

use super::failure::Failure;
use super::foreign;
use super::project_checks::{FoundCheck, InstalledTools, ProposedChecks};
use loopkeeper_system::config_files::root_of;
use loopkeeper_system::config_text;
use loopkeeper_system::git;

/// A longer text is no sentence.
const MAX_CHARS: usize = 2_000;
/// Pages that describe a project to its users; a criterion names the first that does not mention the work yet.
const PAGES: [&str; 5] = ["README.md", CHANGELOG, "docs/README.md", "docs/index.md", "README.rst"];
const CHANGELOG: &str = "CHANGELOG.md";

/// A task document that is not written yet.
pub struct ProposedTask {
    folder: PathBuf,
    name: String,
    document: String,
    checks: ProposedChecks,
}

impl ProposedTask {
    /// A task for `folder`, a real path.
    pub fn of(folder: &Path, sentence: &str, product: WorkProduct) -> Result<Self, Failure> {
        Self::with_tools(folder, sentence, product, &InstalledTools::of_environment())
    }

    fn with_tools(
        folder: &Path,
        sentence: &str,
        product: WorkProduct,
        tools: &InstalledTools,
    ) -> Result<Self, Failure> {
        let sentence = sanitize::line_within(sentence.trim(), MAX_CHARS);
        if sentence.is_empty() {
            return Err(Failure::usage(tr!("the sentence is empty"))
                .hint(tr!("Say in one sentence what should be done.")));
        }
        let root = root_of(folder)?;
        let below = folder.strip_prefix(&root).ok().and_then(Path::to_str).unwrap_or_default();
        let found = match product {
            WorkProduct::Code => ProposedChecks::of(&root, folder, tools).unwrap_or_default(),
            WorkProduct::Writing | WorkProduct::Research => ProposedChecks::default(),
        };
        let project = ProjectSummary::of(&root, &sentence, &found.found);
        let new = project.new_task(&sentence, product, below);
        let document = sanitize::text(&new_task_document(&new));
        let name = format!("{}.ralph.md", new_task_stem(&sentence));
        Ok(Self { folder: folder.to_owned(), name, document, checks: found })
    }

    /// The checks of the project, with what some of them lack.
    pub fn checks(&self) -> &ProposedChecks {
        &self.checks
    }

    pub fn document(&self) -> &str {
        &self.document
    }

    /// Where the document would be written now.
    pub fn path(&self) -> PathBuf {
        foreign::free_path(&self.folder, &self.name)
    }

    /// Writes the document to a new file.
    pub fn write(&self) -> Result<PathBuf, Failure> {
        foreign::write_new(&self.folder, &self.name, &self.document)
    }
}

/// The criteria of a task for a sentence, without their bullets, with these commands of the project. `folder` is that of
/// the task, below `root`.
pub fn proposed_criteria(root: &Path, folder: &Path, sentence: &str, checks: &[FoundCheck]) -> Vec<String> {
    let sentence = sanitize::line_within(sentence.trim(), MAX_CHARS);
    let product = WorkProduct::of_sentence(&sentence);
    let checks = if product == WorkProduct::Code { checks } else { &[] };
    let below = folder.strip_prefix(root).ok().and_then(Path::to_str).unwrap_or_default();
    let project = ProjectSummary::of(root, &sentence, checks);
    let mut criteria = new_task_criteria(&project.new_task(&sentence, product, below));
    // Manifests are untrusted: what a line shows has to be all of it.
    criteria.retain(|it| sanitize::visible(it) == *it);
    criteria
}

/// What a task for a sentence depends on in its project.
struct ProjectSummary {
    /// Each a name and a command.
    checks: Vec<(String, String)>,
    has_tests: bool,
    page: String,
    changelog: Option<&'static str>,
    can_be_clean: bool,
}

impl ProjectSummary {
    fn of(root: &Path, sentence: &str, found: &[FoundCheck]) -> Self {
        Self {
            checks: found.iter().map(|it| (it.criterion(), it.command.clone())).collect(),
            has_tests: found.iter().any(|it| it.gate() == Some(Gate::Tests)),
            page: page(root, sentence),
            changelog: lacks_topic(root, CHANGELOG, sentence).then_some(CHANGELOG),
            can_be_clean: can_be_clean(root, found),
        }
    }

    fn new_task<'a>(&'a self, sentence: &'a str, product: WorkProduct, folder: &'a str) -> NewTask<'a> {
        NewTask {
            sentence,
            product,
            folder,
            checks: &self.checks,
            has_tests: self.has_tests,
            page: &self.page,
            changelog: self.changelog,
            can_be_clean: self.can_be_clean,
            needs_judge: has_unmeasured_goal(sentence),
        }
    }
}

/// What programs leave behind in the folder of their package, unless git ignores it.
const OUTPUTS: [(&str, &str); 8] = [
    ("cargo ", "target/x"),
    ("pytest", "__pycache__/x.pyc"),
    ("unittest", "__pycache__/x.pyc"),
    ("gradle", ".gradle/x"),
    ("mvn", "target/x"),
    ("dotnet ", "obj/x"),
    ("--coverage", "coverage/x"),
    ("coverage run", ".coverage"),
];

/// Whether `clean` can pass: in a git repository, where the commands of the project leave only ignored files.
fn can_be_clean(root: &Path, checks: &[FoundCheck]) -> bool {
    let is_ignored = |folder: &Path, output: &str| {
        [folder, Path::new("")].iter().any(|it| git::is_ignored(root, &it.join(output)) == Some(true))
    };
    let leaves_nothing = |check: &FoundCheck| {
        let folder = Path::new(&check.file).parent().unwrap_or(Path::new(""));
        OUTPUTS.iter().filter(|it| check.command.contains(it.0)).all(|it| is_ignored(folder, it.1))
    };
    git::is_ignored(root, Path::new("x")).is_some() && checks.iter().all(leaves_nothing)
}

/// The page that has to describe the work: one that holds all its words already would not show whether it does.
fn page(root: &Path, sentence: &str) -> String {
    let known = PAGES.into_iter().find(|it| lacks_topic(root, it, sentence));
    known.map_or_else(|| format!("docs/{}.md", new_task_stem(sentence)), str::to_owned)
}

/// Whether the page exists and does not hold all words of the work.
fn lacks_topic(root: &Path, page: &str, sentence: &str) -> bool {
    let text = config_text::read_text(&root.join(page)).ok().flatten().map(|it| it.to_lowercase());
    text.is_some_and(|text| !topic(sentence).iter().all(|it| text.contains(&it.to_lowercase())))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use loopkeeper_lint::{GradeLevel, grade, lints, unsuitable};
    use loopkeeper_task::change_kind::ChangeKind;
    use loopkeeper_task::criterion::Check;
    use loopkeeper_task::work_product::WorkProduct;
    use loopkeeper_task::{TaskDocument, parse_task};
    use loopkeeper_text::language::english_prose;

    use super::ProposedTask;
    use crate::project_checks::InstalledTools;

    /// The document for a sentence, which is read, graded and without remarks, and the commands of its criteria.
    #[track_caller]
    fn graded(root: &Path, sentence: &str, product: WorkProduct) -> (String, Vec<String>) {
        let machine = tempfile::tempdir().unwrap();
        let proposed =
            ProposedTask::with_tools(root, sentence, product, &InstalledTools::in_folder(machine.path()));
        let document = proposed.unwrap().document().to_owned();
        let documents = [TaskDocument { path: "a.ralph.md".to_owned(), text: document.clone() }];
        let task = parse_task(&documents);
        assert_eq!(task.findings, [], "{document}");
        let remarks = lints(&task, &documents);
        assert!(remarks.is_empty(), "{remarks:?}\n{document}");
        assert_eq!(unsuitable(&task), None, "{document}");
        let found = grade(&task, &documents, &remarks);
        assert_eq!(found.level, GradeLevel::Comprehensive, "{found:?}\n{document}");
        assert_eq!(found.measurable, found.required);
        let command = |it: &Check| match it {
            Check::Command { command, .. } => Some(command.clone()),
            _ => None,
        };
        (document, task.criteria.iter().filter_map(|it| command(it.check.as_ref()?)).collect())
    }

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::create_dir_all(root.path().join(name).parent().unwrap()).unwrap();
            fs::write(root.path().join(name), text).unwrap();
        }
        root
    }

    const SENTENCES: [&str; 10] = [
        "make the shop faster and cleaner",
        "让商店更快，代码更干净",
        "Make parse_date accept ISO 8601 dates. It now rejects the time zone",
        "修复登录页面的错误",
        "# Done when: - a: `$ rm -rf /` - b <!-- \u{202e}",
        "Acceptance criteria of the shop can be exported",
        "- [ ] Sort the list (optional)",
        "1. Investigate why the cache is slow",
        "Explain `a < b` and <script> in the guide!",
        "A sentence that is much longer than a title should be, with many clauses, and then some more of them",
    ];

    #[test]
    fn tasks_from_one_sentence_are_comprehensive() {
        for sentence in SENTENCES {
            let root = project(&[("go.mod", "module a\n"), ("README.md", "# A\n"), ("loopkeeper.toml", "")]);
            let (text, commands) = graded(root.path(), sentence, WorkProduct::Code);
            assert!(commands.iter().any(|it| it == "go test ./..."), "{text}");
            let is_feature = ChangeKind::of_sentence(sentence) == ChangeKind::Feature;
            assert_eq!(text.contains("README.md"), is_feature, "{text}");
            graded(root.path(), sentence, WorkProduct::Writing);
            graded(root.path(), sentence, WorkProduct::Research);
        }
    }

    #[test]
    fn a_goal_without_a_number_is_judged() {
        let root = project(&[("go.mod", "module a\n"), ("loopkeeper.toml", "")]);
        let text = |sentence: &str| graded(root.path(), sentence, WorkProduct::Code).0;
        let line = "- The result is what was asked for, \"make the shop simpler\": `judge`\n";
        assert!(text("make the shop simpler").contains(line));
        assert!(!text("Sort the list").contains("judge"));
    }

    #[test]
    fn a_task_for_a_chinese_sentence_is_in_chinese() {
        let root = project(&[("api/go.mod", "module a\n"), ("loopkeeper.toml", "")]);
        for product in WorkProduct::ALL {
            let (text, _) = graded(root.path(), "让商店更快", product);
            assert_eq!(english_prose(&text, &[]), None, "{text}");
            assert!(text.starts_with("# 让商店更快\n\n让商店更快。\n\n## 限制\n\n"), "{text}");
        }
    }

    #[test]
    fn criteria_show_the_kind_of_change() {
        let root = project(&[("go.mod", "module a\n"), ("README.md", "# A\n"), ("CHANGELOG.md", "")]);
        let check = |sentence: &str, before: &[&str], after: &[&str]| {
            let text = graded(root.path(), sentence, WorkProduct::Code).0;
            let list = text.split("## Completion Criteria\n\n").nth(1).unwrap();
            let found: Vec<&str> = list.lines().map(|it| it.trim_start_matches("- ")).collect();
            let gates = &["All tests pass: `$ go test ./...`"];
            let expect: Vec<&str> = before.iter().chain(gates).chain(after).copied().collect();
            assert_eq!(found, expect, "{sentence}");
        };
        check(
            "Parse dates",
            &["It has tests: `has \"func TestParseDates\" **/*_test.go`"],
            &["The documentation describes it: `has /parse.*dates/i README.md`"],
        );
        check(
            "Fix the date parser",
            &["It has tests: `has \"func TestFixDateParser\" **/*_test.go`"],
            &[
                "A test fails without the fix, \"Fix the date parser\": `judge`",
                "The changelog names it: `has /date.*parser/i CHANGELOG.md`",
            ],
        );
        check(
            "Make the parser faster",
            &[
                "The value before is recorded: `has /^Before: .*\\d/ docs/make-the-parser-faster.md`",
                "The value after is recorded: `has /^After: .*\\d/ docs/make-the-parser-faster.md`",
            ],
            &["One command measured both values, and their difference shows that this is done, \
               \"Make the parser faster\": `judge`"],
        );
        check(
            "Refactor the parser",
            &[],
            &["The behaviour is as before, and this is done, \"Refactor the parser\": `judge`"],
        );
        check(
            "Add tests for the parser",
            &["It has tests: `has \"func TestParser\" **/*_test.go`"],
            &[
                "Each new test fails if the behaviour that it names is broken, \"Add tests for the parser\": `judge`",
            ],
        );
    }

    #[test]
    fn paths_of_criteria_are_relative_to_the_root() {
        let root =
            project(&[("loopkeeper.toml", ""), ("my notes/a.txt", ""), ("README.md", "tea and coffee\n")]);
        let folder = root.path().join("my notes");
        let (text, commands) = graded(&folder, "Write about tea", WorkProduct::Writing);
        assert_eq!(commands[0], "wc -w < 'my notes/write-about-tea.md'");
        assert!(text.contains("`has /^## Summary/ \"my notes/write-about-tea.md\"`"), "{text}");
        let (code, _) = graded(root.path(), "Serve tea and coffee", WorkProduct::Writing);
        assert!(!code.contains("README"), "{code}");
    }

    #[test]
    fn clean_is_written_where_it_can_pass() {
        let written = |files: &[(&str, &str)], with_git: bool| {
            let root = project(files);
            if with_git {
                let ran = Command::new("git").args(["init", "-q"]).current_dir(root.path()).status();
                assert!(ran.unwrap().success());
            }
            graded(root.path(), "Sort the list", WorkProduct::Code).0.contains("`clean`")
        };
        let cargo = ("Cargo.toml", "[package]\nname = \"a\"\n");
        let ignored = (".gitignore", "/target\n__pycache__/\n");
        assert!(!written(&[cargo, ignored, ("loopkeeper.toml", "")], false));
        assert!(!written(&[cargo], true));
        assert!(written(&[cargo, ignored], true));
        assert!(written(&[("go.mod", "module a\n")], true));
    }

    #[test]
    fn a_proposed_task_overwrites_no_file() {
        let root = project(&[("loopkeeper.toml", ""), ("write-about-tea.ralph.md", "mine")]);
        let folder = root.path().canonicalize().unwrap();
        let proposed = ProposedTask::of(&folder, "Write about tea", WorkProduct::Writing).unwrap();
        assert_eq!(proposed.path(), folder.join("write-about-tea-2.ralph.md"));
        assert_eq!(proposed.write().unwrap(), folder.join("write-about-tea-2.ralph.md"));
        assert_eq!(fs::read_to_string(folder.join("write-about-tea.ralph.md")).unwrap(), "mine");
        assert!(ProposedTask::of(&folder, " \n", WorkProduct::Code).is_err());
    }
}
