//! Inserts texts of other files into a prompt, as ralphify does: contexts and instructions. Each replaces its
//! placeholder, or is appended if the prompt has no placeholder of its kind.

use super::TaskDocument;
use super::gates::folders::{body, is_enabled, name_of};
use super::kind::{DocumentKind, kind_of};
use super::placeholders;

/// Kinds of parts, as placeholders name them.
const KINDS: [&str; 2] = ["contexts", "instructions"];
/// The name of the folder that contains the prompt.
const FOLDER: &str = "ralph.name";

pub(super) struct PromptPart {
    kind: &'static str,
    name: String,
    /// Ends in a placeholder for the output of its command, where it has one. Empty if the part is disabled.
    text: String,
}

impl PromptPart {
    /// The parts among the documents of a task.
    pub(super) fn all(documents: &[TaskDocument]) -> Vec<Self> {
        documents.iter().filter_map(Self::of).collect()
    }

    fn of(document: &TaskDocument) -> Option<Self> {
        let kind = match kind_of(&document.path)? {
            DocumentKind::ContextFolder => "contexts",
            DocumentKind::InstructionFolder => "instructions",
            _ => return None,
        };
        let name = name_of(&document.path).to_owned();
        let mut text = String::new();
        if is_enabled(&document.text) {
            text = body(&document.text);
            let output = format!("{{{{ {} }}}}", Self::placeholder(kind, &name));
            let commands =
                super::gates::parse_gates(DocumentKind::ContextFolder, &document.path, &document.text);
            if kind == "contexts" && !commands.criteria.is_empty() {
                let before = if text.is_empty() { "" } else { "\n\n" };
                text = format!("{text}{before}{output}");
            }
        }
        Some(Self { kind, name, text })
    }

    fn placeholder(kind: &str, name: &str) -> String {
        format!("{kind}.{name}")
    }

    pub(super) fn is_named(&self, placeholder: &str) -> bool {
        placeholder.split_once('.') == Some((self.kind, self.name.as_str()))
    }
}

/// The prompt of the document at `path` with its parts.
pub(super) fn expand(path: &str, prompt: &str, parts: &[PromptPart]) -> Option<String> {
    let of_folder = (kind_of(path) == Some(DocumentKind::Ralph)).then(|| name_of(path));
    if parts.is_empty() && (of_folder.is_none() || !prompt.contains(FOLDER)) {
        return None;
    }
    let found = placeholders::find_all(prompt);
    let is_used = |part: &PromptPart| found.iter().any(|it| part.is_named(it.name));
    let unused: Vec<&PromptPart> = parts.iter().filter(|it| !is_used(it)).collect();
    let mut out = String::new();
    let mut from = 0;
    for placeholder in &found {
        let text = match placeholder.name {
            FOLDER => of_folder.map(str::to_owned),
            name if KINDS.contains(&name) => {
                Some(join_parts(unused.iter().copied().filter(|it| it.kind == name)))
            }
            name => parts.iter().find(|it| it.is_named(name)).map(|it| it.text.clone()),
        };
        let Some(text) = text else { continue };
        out.push_str(prompt.get(from..placeholder.range.start).unwrap_or_default());
        out.push_str(&text);
        from = placeholder.range.end;
    }
    out.push_str(prompt.get(from..).unwrap_or_default());
    for kind in KINDS {
        let is_of_kind = |name: &str| name == kind || name.split_once('.').is_some_and(|it| it.0 == kind);
        let rest = join_parts(parts.iter().filter(|it| it.kind == kind));
        if !rest.is_empty() && !found.iter().any(|it| is_of_kind(it.name)) {
            out = format!("{}\n\n{rest}\n", out.trim_end());
        }
    }
    Some(out)
}

fn join_parts<'a>(parts: impl Iterator<Item = &'a PromptPart>) -> String {
    parts.map(|it| it.text.as_str()).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use crate::{TaskDocument, parse_task};

    const GIT_LOG: (&str, &str) = (
        ".ralphify/contexts/git-log/CONTEXT.md",
        "---\ncommand: git log -3\n---\n<!-- note -->\nRecent commits:\n",
    );
    const STYLE: (&str, &str) =
        (".ralphify/instructions/style/INSTRUCTION.md", "---\nenabled: true\n---\nSmall functions.\n");
    const NOTE: (&str, &str) = (".ralphify/contexts/note/CONTEXT.md", "Be brief.\n");
    const OFF: (&str, &str) =
        (".ralphify/instructions/off/INSTRUCTION.md", "---\nenabled: false\n---\nNo.\n");

    /// The prompt of a task, and its findings that keep it from starting.
    fn read(path: &str, prompt: &str, parts: &[(&str, &str)]) -> (String, Vec<String>) {
        let document =
            |(path, text): &(&str, &str)| TaskDocument { path: (*path).to_owned(), text: (*text).to_owned() };
        let documents: Vec<_> = std::iter::once(&(path, prompt)).chain(parts).map(document).collect();
        let task = parse_task(&documents);
        let blocking = task.findings.iter().filter(|it| it.code.blocks_start());
        (task.prompt.clone(), blocking.map(|it| it.message.clone()).collect())
    }

    #[track_caller]
    fn check(prompt: &str, expect: &str) {
        let (text, blocking) = read("RALPH.md", prompt, &[GIT_LOG, NOTE, STYLE, OFF]);
        assert_eq!((text.as_str(), blocking), (expect, Vec::new()), "{prompt}");
    }

    #[test]
    fn parts_are_where_their_placeholders_are() {
        check(
            "# A\n\n{{ contexts.git-log }}\n\nGo. {{ instructions.style }}{{instructions.off}}\n",
            "# A\n\nRecent commits:\n\n{{ contexts.git-log }}\n\nGo. Small functions.\n",
        );
        check(
            "# A\n\n{{ contexts.note }}\n\n{{ contexts }}\n\n{{ instructions }}\n",
            "# A\n\nBe brief.\n\nRecent commits:\n\n{{ contexts.git-log }}\n\nSmall functions.\n",
        );
        check("# A\n", "# A\n\nRecent commits:\n\n{{ contexts.git-log }}\n\nBe brief.\n\nSmall functions.\n");
    }

    #[test]
    fn an_unknown_part_keeps_the_task_from_starting() {
        let (_, blocking) = read("RALPH.md", "# A\n\n{{ contexts.typo }}\n", &[GIT_LOG]);
        assert_eq!(blocking, ["task: `{{contexts.typo}}` is never replaced. Write its value."]);
    }

    #[test]
    fn the_name_of_the_folder_and_arguments_are_filled_in() {
        let text = "---\nagent: claude -p\nargs: [focus]\ncommands:\n  - name: tests\n    run: ./run.sh\n---\n# X {{ ralph.name }}\n\n{{ ralph.iteration }} {{ args.focus }}\n{{ commands.tests }}\n";
        let (prompt, blocking) = read("ralphs/docs/RALPH.md", text, &[]);
        assert!(prompt.contains("# X docs\n"), "{prompt}");
        assert_eq!(blocking, [""; 0]);
        let task =
            parse_task(&[TaskDocument { path: "ralphs/docs/RALPH.md".to_owned(), text: text.to_owned() }]);
        let messages: Vec<_> = task.findings.iter().map(|it| it.message.as_str()).collect();
        assert!(messages.contains(&"not used by loopkeeper: args."), "{messages:?}");
        let check = task.criteria.first().and_then(|it| it.check.as_ref());
        assert!(format!("{check:?}").contains("cd ralphs/docs && ./run.sh"), "{check:?}");
    }
}
