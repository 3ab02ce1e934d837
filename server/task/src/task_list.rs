//! Reads task lists of other tools in YAML, lists and trees. Each task becomes a plan item with the range of its title.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use loopkeeper_text::fold::folded;
use loopkeeper_text::tr;
use loopkeeper_text::truncate::shortened;
use loopkeeper_text::yaml::{self, YamlScalar};

use super::item::{ByteOrigin as Bytes, InlineContent};
use super::outline::{CriterionOrigin, NAME_CHARS, TaskOutline};
use super::{FindingCode, PlanItem, ids, prd};

/// Fields without a counterpart here.
const IGNORED_FIELDS: [&str; 1] = ["model"];

/// `tasks` with `title` and `completed`, or with `name`, `status`, `deps` and `subtasks`.
pub(super) fn parse_yaml(file: &str, text: &str) -> TaskOutline {
    let mut out = TaskOutline::new(file);
    let document = yaml::parse(text);
    if let Some((fault, at)) = &document.fault {
        let end = text.get(*at..).and_then(|it| it.chars().next()).map_or(*at, |it| at + it.len_utf8());
        out.add_finding(FindingCode::Syntax, tr!("task list"), fault, *at..end);
    } else if document.scalars.iter().all(|it| !it.path.starts_with("tasks")) {
        let end = text.chars().next().map_or(0, char::len_utf8);
        out.add_finding(FindingCode::Syntax, tr!("task list"), tr!("no `tasks`"), 0..end);
    }
    let of_root = |key: &str| document.scalars.iter().find(|it| it.path == key);
    let title = of_root("project").or_else(|| of_root("name")).or_else(|| of_root("title"));
    out.title = title.map(|it| it.value.clone()).unwrap_or_default();
    let tasks = YamlTask::all(&document.scalars);
    let known: HashSet<&str> = tasks.iter().filter_map(|it| Some(it.of("id")?.value.as_str())).collect();
    let mut aside = Vec::new();
    for task in &tasks {
        task.add_to(&mut out, text, &known);
        let fields = task.fields.iter().filter(|it| IGNORED_FIELDS.contains(&it.0) && !it.1.value.is_empty());
        aside.extend(fields.map(|(name, it)| ((*name).to_owned(), it.range.clone())));
    }
    out.add_unsupported_keys(&aside);
    out
}

/// A task without tasks of its own.
struct YamlTask<'a> {
    /// Names below the task, `deps.0` among them.
    fields: Vec<(&'a str, &'a YamlScalar)>,
}

impl<'a> YamlTask<'a> {
    fn all(scalars: &'a [YamlScalar]) -> Vec<Self> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut parents: HashSet<&str> = HashSet::new();
        let mut all: Vec<(&str, Self)> = Vec::new();
        for scalar in scalars {
            let Some(ends) = task_ends(&scalar.path) else { continue };
            let Some((own, above)) = ends.split_last() else { continue };
            let (prefix, field) = scalar.path.split_at(*own);
            parents.extend(above.iter().filter_map(|end| scalar.path.get(..*end)));
            let at = *places.entry(prefix).or_insert(all.len());
            if at == all.len() {
                all.push((prefix, Self { fields: Vec::new() }));
            }
            if let Some((_, task)) = all.get_mut(at) {
                task.fields.push((field.trim_start_matches('.'), scalar));
            }
        }
        all.into_iter().filter(|(prefix, _)| !parents.contains(prefix)).map(|(_, task)| task).collect()
    }

    fn of(&self, name: &str) -> Option<&'a YamlScalar> {
        self.fields.iter().find(|it| it.0 == name && !it.1.value.trim().is_empty()).map(|it| it.1)
    }

    /// The values of a list.
    fn list(&self, name: &str) -> impl Iterator<Item = &'a YamlScalar> {
        let is_in = move |field: &str| {
            field
                .strip_prefix(name)
                .and_then(|it| it.strip_prefix('.'))
                .is_some_and(|it| it.parse::<usize>().is_ok())
        };
        self.fields.iter().filter(move |it| is_in(it.0)).map(|it| it.1)
    }

    fn add_to(&self, out: &mut TaskOutline, text: &str, known: &HashSet<&str>) {
        let Some(name) = ["title", "name", "id"].into_iter().find_map(|it| self.of(it)) else {
            let Some((_, first)) = self.fields.first() else { return };
            return out.add_finding(
                FindingCode::BadValue,
                tr!("task"),
                tr!("has no title"),
                first.range.clone(),
            );
        };
        let is_done = self.of("completed").is_some_and(|it| it.value == "true")
            || self.of("status").is_some_and(|it| prd::is_done_word(&it.value));
        let group = self.of("priority").or_else(|| self.of("parallel_group"));
        let mut depends_on = Vec::new();
        for needed in ["deps", "depends_on", "dependsOn"].into_iter().flat_map(|it| self.list(it)) {
            if known.contains(needed.value.as_str()) {
                depends_on.push(needed.value.clone());
            } else {
                out.add_finding(
                    FindingCode::BadValue,
                    &needed.value,
                    tr!("names no task"),
                    needed.range.clone(),
                );
            }
        }
        out.plan.push(PlanItem {
            id: self.of("id").map_or_else(|| ids::base_id(None, &[], &name.value), |it| it.value.clone()),
            title: shortened(&folded(&name.value), NAME_CHARS).into_owned(),
            done: is_done,
            blocking: self.of("skipped").is_none_or(|it| it.value != "true"),
            place: out.place(without_quotes(text, name.range.clone())),
            priority: group
                .and_then(|it| it.value.parse::<f64>().ok())
                .map(|it| (it * 1_000.0).round() as i64),
            depends_on,
            done_field: None,
            done_value: None,
        });
        let origin = CriterionOrigin { plan: Some(out.plan.len() - 1), ..CriterionOrigin::default() };
        for command in self.of("completionCriteria").into_iter().chain(self.list("completionCriteria")) {
            let inline = InlineContent::of_plain(&command.value, &Bytes::Whole(command.range.clone()));
            out.add_item(prd::command_item(&command.value, &inline), command.range.clone(), origin);
        }
    }
}

/// The ends of those parts of a path that name tasks: `tasks.0` and `tasks.0.subtasks.1` of `tasks.0.subtasks.1.name`.
fn task_ends(path: &str) -> Option<Vec<usize>> {
    let mut rest = path.strip_prefix("tasks.")?;
    let mut ends = Vec::new();
    loop {
        let index = rest.split('.').next()?;
        index.parse::<usize>().ok()?;
        ends.push(path.len() - rest.len() + index.len());
        let Some(below) = rest.get(index.len()..).and_then(|it| it.strip_prefix(".subtasks.")) else {
            return Some(ends);
        };
        rest = below;
    }
}

fn without_quotes(text: &str, range: Range<usize>) -> Range<usize> {
    let written = text.get(range.clone()).unwrap_or_default();
    let is_quoted = |quote: char| written.len() > 2 && written.starts_with(quote) && written.ends_with(quote);
    if is_quoted('"') || is_quoted('\'') { range.start + 1..range.end - 1 } else { range }
}

#[cfg(test)]
mod tests {
    use crate::{TaskDocument, parse_task};

    /// Items, criteria and findings of a document, each with the text at its place.
    fn shown(path: &str, text: &str) -> Vec<String> {
        let task = parse_task(&[TaskDocument { path: path.to_owned(), text: text.to_owned() }]);
        let at = |range: &std::ops::Range<usize>| text[range.clone()].to_owned();
        let mut all: Vec<String> = Vec::new();
        for it in &task.plan {
            let mark = if it.done { 'x' } else { ' ' };
            let order = it.priority.map_or(String::new(), |it| format!(" {it}"));
            let needs = it.depends_on.join(",");
            all.push(format!("[{mark}]{order} {needs}<{}>", at(&it.place.range)));
        }
        all.extend(task.criteria.iter().map(|it| format!("{} <{}>", it.name, at(&it.place.range))));
        let findings = task.findings.iter().map(|it| format!("! {} <{}>", it.message, at(&it.place.range)));
        all.extend(findings);
        all
    }

    #[test]
    fn a_yaml_list_of_tasks_is_a_plan() {
        let text = "tasks:\n  - title: \"Créate it\"\n    completed: false\n    parallel_group: 2\n    completionCriteria: [npm test]\n  - title: Open\n    completed: true\n";
        assert_eq!(shown("tasks.yaml", text), ["[ ] 2000 <Créate it>", "[x] <Open>", "npm test <npm test>"]);
        let one = "tasks:\n  - title: Open\n    completionCriteria: npm test\n";
        assert_eq!(shown("tasks.yaml", one), ["[ ] <Open>", "npm test <npm test>"]);
        assert_eq!(
            shown("tasks.yaml", "tasks:\n  - title: a\n  - completed: [\n"),
            ["[ ] <a>", "! task list: while parsing a node, did not find expected node content. <>"]
        );
        assert_eq!(shown("tasks.yaml", "task:\n  - title: a\n"), ["! task list: no `tasks`. <t>"]);
        let empty = shown("tasks.yaml", "tasks: []\n");
        assert!(empty.iter().all(|it| it.starts_with("! task list: ")) && empty.len() == 1, "{empty:?}");
    }

    #[test]
    fn a_yaml_tree_of_tasks_is_its_leaves() {
        let text = "tasks:\n  - id: '1'\n    name: Shop\n    subtasks:\n      - id: '1.1'\n        name: Sell\n        status: todo\n        deps: ['1.2', '9']\n        model: opus\n      - {id: '1.2', name: Open, status: done}\n    description: last\n";
        assert_eq!(
            shown(".ralph/tasks.yml", text),
            [
                "[ ] 1.2<Sell>",
                "[x] <Open>",
                "! 9: names no task. <'9'>",
                "! not used by loopkeeper: model. <opus>"
            ]
        );
    }

    #[test]
    fn a_json_list_of_tasks_is_a_plan() {
        let text = "{\"tasks\": [{\"title\": \"Sell\", \"parallel_group\": 1}, {\"title\": \"Open\", \"completed\": true}]}";
        assert_eq!(shown("tasks.json", text), ["[ ] 1000 <Sell>", "[x] <Open>"]);
        assert_eq!(shown("shop/PRD.json", "{\"tasks\": [{\"title\": \"Sell\"}]}"), ["[ ] <Sell>"]);
    }
}
