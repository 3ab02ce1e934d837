//! Finds a second configuration, lock file or test runner next to one that existed before or that the loop added as
//! well.

use std::collections::BTreeSet;

use crate::drift::names;
use crate::tamper::FileVersions;
use loopkeeper_text::clauses::join_with_and;
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later};

/// Files of which a tool reads only one, or that select different programs for the same purpose.
struct FileFamily {
    /// `two configurations of ESLint`
    what: &'static str,
    members: &'static [FamilyMember],
}

/// Names of files that count as one, with the text by which a shared file belongs to the family.
type FamilyMember = (&'static [&'static str], &'static str);

const FAMILIES: &[FileFamily] = &[
    FileFamily {
        what: tr_later!("two configurations of ESLint"),
        members: &[
            (&[".eslintrc"], ""),
            (&[".eslintrc.js"], ""),
            (&[".eslintrc.cjs"], ""),
            (&[".eslintrc.json"], ""),
            (&[".eslintrc.yml", ".eslintrc.yaml"], ""),
            (&["eslint.config.js"], ""),
            (&["eslint.config.mjs"], ""),
            (&["eslint.config.cjs"], ""),
            (&["eslint.config.ts", "eslint.config.mts"], ""),
        ],
    },
    FileFamily {
        what: tr_later!("two configurations of Prettier"),
        members: &[
            (&[".prettierrc"], ""),
            (&[".prettierrc.json"], ""),
            (&[".prettierrc.yml", ".prettierrc.yaml"], ""),
            (&[".prettierrc.js", ".prettierrc.cjs", ".prettierrc.mjs"], ""),
            (&[".prettierrc.toml"], ""),
            (&["prettier.config.js", "prettier.config.cjs", "prettier.config.mjs"], ""),
        ],
    },
    FileFamily {
        what: tr_later!("two configurations of pytest"),
        members: &[
            (&["pytest.ini", ".pytest.ini"], ""),
            (&["pyproject.toml"], "[tool.pytest"),
            (&["setup.cfg"], "[tool:pytest]"),
            (&["tox.ini"], "[pytest]"),
        ],
    },
    FileFamily {
        what: tr_later!("two test runners"),
        members: &[
            (
                &[
                    "jest.config.js",
                    "jest.config.ts",
                    "jest.config.mjs",
                    "jest.config.cjs",
                    "jest.config.json",
                ],
                "",
            ),
            (&["vitest.config.js", "vitest.config.ts", "vitest.config.mjs", "vitest.config.mts"], ""),
            (&[".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.yml", ".mocharc.yaml"], ""),
            (&["karma.conf.js", "karma.conf.ts"], ""),
        ],
    },
    FileFamily {
        what: tr_later!("lock files of two package managers"),
        members: &[
            (&["package-lock.json", "npm-shrinkwrap.json"], ""),
            (&["yarn.lock"], ""),
            (&["pnpm-lock.yaml"], ""),
            (&["bun.lock", "bun.lockb"], ""),
        ],
    },
    FileFamily {
        what: tr_later!("lock files of two package managers"),
        members: &[(&["poetry.lock"], ""), (&["uv.lock"], ""), (&["pdm.lock"], ""), (&["Pipfile.lock"], "")],
    },
];

/// Two files or sections of one family in one folder, of which the loop added at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateConfiguration {
    /// In English; [`Self::sentence`] translates it.
    pub what: &'static str,
    /// Paths that were there at the start.
    pub earlier: Vec<String>,
    /// Paths that the loop added, or to which it added the section.
    pub added: Vec<String>,
}

impl DuplicateConfiguration {
    /// `two test runners: jest.config.js and vitest.config.ts`
    pub fn names(&self) -> String {
        let paths: Vec<String> = self.earlier.iter().chain(&self.added).cloned().collect();
        tr!("{what}: {paths}", what = translate(self.what), paths = join_with_and(&paths))
    }

    /// `two test runners: the loop added vitest.config.ts next to jest.config.js`
    pub fn sentence(&self) -> String {
        let (what, added) = (translate(self.what), join_with_and(&self.added));
        if self.earlier.is_empty() {
            return tr!("{what}: the loop added {added}", what, added);
        }
        let earlier = join_with_and(&self.earlier);
        tr!("{what}: the loop added {added} next to {earlier}", what, added, earlier)
    }
}

/// The duplicate configurations of a folder, of any age. `files` have no earlier versions, so that all paths are in
/// `added`.
pub fn present_configurations(folder: &str, files: &dyn FileVersions) -> Vec<DuplicateConfiguration> {
    FAMILIES.iter().filter_map(|it| it.duplicate_in(folder, files)).collect()
}

/// Whether a file of this name belongs to a family.
pub fn is_configuration_name(name: &str) -> bool {
    FAMILIES.iter().flat_map(|it| it.members).any(|(names, _)| names.contains(&name))
}

/// The duplicate configurations in the folders of changed files.
pub fn duplicate_configurations(changed: &[String], files: &dyn FileVersions) -> Vec<DuplicateConfiguration> {
    let folders: BTreeSet<&str> = changed
        .iter()
        .filter(|it| is_configuration_name(names::file_name(it)))
        .map(|it| it.rsplit_once('/').map_or("", |(folder, _)| folder))
        .collect();
    let pairs = folders.iter().flat_map(|folder| FAMILIES.iter().map(move |family| (folder, family)));
    pairs.filter_map(|(folder, family)| family.duplicate_in(folder, files)).collect()
}

impl FileFamily {
    fn duplicate_in(&self, folder: &str, files: &dyn FileVersions) -> Option<DuplicateConfiguration> {
        let mut found = DuplicateConfiguration { what: self.what, earlier: Vec::new(), added: Vec::new() };
        for (names, section) in self.members {
            let mut paths = names.iter().map(|name| in_folder(folder, name));
            let Some(path) = paths.find(|it| is_there_after(it, section, files)) else {
                continue;
            };
            // Another name of the same member may have been renamed.
            let was_there =
                names.iter().any(|name| is_there_before(&in_folder(folder, name), section, files));
            if was_there { found.earlier.push(path) } else { found.added.push(path) }
        }
        let count = found.earlier.len() + found.added.len();
        (count >= 2 && !found.added.is_empty()).then_some(found)
    }
}

fn is_there_after(path: &str, section: &str, files: &dyn FileVersions) -> bool {
    files.exists(path)
        && (section.is_empty() || files.read_after(path).is_some_and(|it| has_section(&it, section)))
}

fn is_there_before(path: &str, section: &str, files: &dyn FileVersions) -> bool {
    files.existed_before(path)
        && (section.is_empty() || files.read_before(path).is_some_and(|it| has_section(&it, section)))
}

fn has_section(text: &str, section: &str) -> bool {
    text.lines().any(|it| it.trim_start().starts_with(section))
}

fn in_folder(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
