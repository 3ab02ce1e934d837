//! Detects tests that shadow an import: a name that the pinned file imported from the work is now bound in the file
//! itself. Names from elsewhere, wrappers of the work's own functions, and mocks within new tests do not count.

use super::FileVersions;
use super::check_files::join_path;
use loopkeeper_source::test_inventory::bindings::{
    Definition, DefinitionKind, FileBindings, ImportBinding, bindings, calls, mentions, uses,
};
use loopkeeper_source::test_inventory::{TestInventory, TestLanguage, is_test_path, language};
use loopkeeper_text::tr;

/// A file of tests at its pin and now.
pub(super) struct TestFileVersions<'a> {
    pub(super) path: &'a str,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    /// The inventory of its tests before.
    pub(super) old: &'a TestInventory,
}

impl TestFileVersions<'_> {
    /// The first shadowed name, and the number of others. `changed`: other changed files.
    pub(super) fn describe_shadowing(&self, files: &dyn FileVersions, changed: &[&str]) -> Option<String> {
        let new = bindings(self.path, self.after);
        if new.defined.is_empty() {
            return None;
        }
        let was = bindings(self.path, self.before);
        let comparison =
            ImportComparison { tests: self, work: ChangeScope { path: self.path, files, changed }, was, new };
        let mut found =
            comparison.new.defined.iter().filter_map(|it| Some((it, comparison.shadowed_module(it)?)));
        let (first, module) = found.next()?;
        let module = if module.is_empty() { tr!("the package").to_owned() } else { format!("`{module}`") };
        let (name, line) = (&first.name, first.line);
        let what = if first.kind == DefinitionKind::Replaced {
            tr!("replaces {module} (line {line})", module, line)
        } else {
            tr!("tests its own `{name}` (line {line}), not that of {module}", name, line, module)
        };
        Some(match found.count() {
            0 => what,
            more => tr!("{first}, and {count} more", first = what, count = more),
        })
    }
}

struct ImportComparison<'a> {
    tests: &'a TestFileVersions<'a>,
    work: ChangeScope<'a>,
    was: FileBindings,
    new: FileBindings,
}

impl ImportComparison<'_> {
    /// The module of the work that it replaces.
    fn shadowed_module(&self, own: &Definition) -> Option<String> {
        let known = |it: &Definition| {
            (&it.name, it.kind, &it.test) == (&own.name, own.kind, &own.test) && !is_dynamic_import(&it.value)
        };
        let in_new_test = own.test.as_ref().is_some_and(|test| {
            !own.is_function()
                || own.kind == DefinitionKind::Set
                || !self.tests.old.tests.iter().any(|it| it.name == *test)
        });
        if in_new_test || is_nothing(&own.value) {
            return None;
        }
        let module = match own.kind {
            DefinitionKind::Replaced => self.replaced(own)?,
            DefinitionKind::Set => self.assigned_member_of(own)?,
            DefinitionKind::Declared | DefinitionKind::Assigned => self.imported_from(own)?,
        };
        // Last, since a file can define thousands of names, and few of them reach this check.
        (!self.leads_to_work(own) && !self.was.defined.iter().any(known)).then_some(module)
    }

    fn imported_from(&self, own: &Definition) -> Option<String> {
        let named = self.was.imports.iter().find(|it| it.name == own.name && self.work.is_own(it));
        if let Some(named) = named {
            let matters = own.is_function() || self.is_tested(&own.name);
            return matters.then(|| named.module.clone());
        }
        let is_new =
            || !self.was.defined.iter().any(|it| it.name == own.name) && uses(&self.was.code, &own.name);
        let whole = self.was.imports.iter().filter(|it| it.name.is_empty() && is_new());
        let mut whole = whole.filter(|it| self.work.provides(it, own));
        whole.next().map(|it| it.module.clone())
    }

    /// The module of the work from which the pinned tests imported the member.
    fn assigned_member_of(&self, own: &Definition) -> Option<String> {
        let (root, member) = own.name.split_once('.')?;
        let member = member.rsplit('.').next().unwrap_or(member);
        let from = |all: &[ImportBinding]| {
            all.iter().find(|it| it.name == root && self.work.is_own(it)).map(|it| it.module.clone())
        };
        let asked = self.was.imports.iter().any(|it| it.of.as_deref() == Some(member))
            || mentions(&self.was.code, member) && self.was.code.contains(&format!(".{member}"));
        from(&self.was.imports).or_else(|| from(&self.new.imports)).filter(|_| asked)
    }

    fn replaced(&self, own: &Definition) -> Option<String> {
        let mut of = self.was.imports.iter().filter(|it| it.module == own.name && self.work.is_own(it));
        of.find(|it| self.is_tested(&it.name)).map(|it| it.module.clone())
    }

    /// Whether the pinned tests assert on the name or call it.
    fn is_tested(&self, name: &str) -> bool {
        let old = self.tests.old;
        let mut asserted = old.tests.iter().flat_map(|it| &it.assertions).chain(&old.loose);
        asserted.any(|it| mentions(it, name)) || calls(&self.was.code, name)
    }

    /// Whether the definition is still built from the work's own code.
    fn leads_to_work(&self, own: &Definition) -> bool {
        if is_dynamic_import(&own.value) || own.value.contains("testing.T") {
            return true;
        }
        let is_rust = language(self.tests.path) == Some(TestLanguage::Rust);
        let own_imports = self.new.imports.iter().filter(|it| self.work.is_own(it));
        // A recursive function wraps nothing, and a module is not built from its parts.
        let called = own.name.rsplit('.').next();
        let names = own_imports.map(|it| it.name.as_str()).filter(|_| own.kind != DefinitionKind::Replaced);
        let mut names = names.filter(|it| Some(*it) != called || !own.is_function());
        names.any(|it| mentions(&own.value, it))
            || is_rust && self.was.imports.iter().any(|it| is_path_to(&own.value, &it.module))
    }
}

/// `calc::plus(…)`, imported or not.
fn is_path_to(value: &str, module: &str) -> bool {
    let head = module.split("::").next().unwrap_or_default();
    !head.is_empty() && value.contains(&format!("{head}::"))
}

/// Whether a module is loaded by its path.
fn is_dynamic_import(value: &str) -> bool {
    const WORDS: [&str; 6] =
        ["require(", "import(", "import_module", "__import__", "requireActual", "importActual"];
    WORDS.iter().any(|it| value.contains(it))
}

fn is_nothing(value: &str) -> bool {
    let value = value.trim().trim_end_matches(';');
    matches!(value, "" | "None" | "null" | "undefined" | "nil")
}

/// The files of the work, seen from a file of tests.
struct ChangeScope<'a> {
    path: &'a str,
    files: &'a dyn FileVersions,
    changed: &'a [&'a str],
}

impl ChangeScope<'_> {
    /// Whether the import is from the work: neither from a library nor from helpers of the tests.
    fn is_own(&self, import: &ImportBinding) -> bool {
        let module = import.module.as_str();
        let folder = parent(self.path);
        match language(self.path) {
            Some(TestLanguage::Python) => self.is_of_python(module),
            Some(TestLanguage::Script) => {
                let is_near = module.starts_with('.') && !is_test_path(&join_path(folder, module));
                is_near || ["/", "@/", "~/", "#", "src/"].iter().any(|it| module.starts_with(it))
            }
            Some(TestLanguage::Rust) => {
                let head = module.split("::").next().unwrap_or_default();
                let named = format!("name = \"{}\"", head.replace('_', "-"));
                let is_package = |text: &str| text.replace('_', "-").contains(&named);
                let mut cargo = ancestors(folder).map(|it| join_path(it, "Cargo.toml"));
                matches!(head, "crate" | "super")
                    || cargo.any(|it| self.files.read_before(&it).is_some_and(|it| is_package(&it)))
            }
            Some(TestLanguage::Ruby | TestLanguage::Php) => !is_test_path(&join_path(folder, module)),
            Some(TestLanguage::Go) => module.is_empty(),
            _ => false,
        }
    }

    fn is_of_python(&self, module: &str) -> bool {
        let found = self.python_file(module);
        if let Some(found) = found {
            return !is_test_path(&found);
        }
        let dots = module.len() - module.trim_start_matches('.').len();
        let last = module.rsplit('.').next().unwrap_or_default();
        if dots > 0 {
            return dots > 1 || !is_test_path(self.path);
        }
        // The module does not exist yet: the name of a test file identifies it.
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let stem = name.strip_suffix(".py").unwrap_or(name);
        stem.strip_prefix("test_").or_else(|| stem.strip_suffix("_test")) == Some(last)
    }

    fn python_file(&self, module: &str) -> Option<String> {
        let dots = module.len() - module.trim_start_matches('.').len();
        let below = module.trim_start_matches('.').replace('.', "/");
        let folder = parent(self.path);
        let bases: Vec<String> = if dots > 0 {
            vec![join_path(folder, &"../".repeat(dots - 1))]
        } else {
            let near = ancestors(folder);
            near.flat_map(|it| ["", "src", "lib"].map(|of| join_path(it, of))).collect()
        };
        let ends = [".py", "/__init__.py"];
        let files = bases.iter().flat_map(|it| ends.map(|end| join_path(it, &format!("{below}{end}"))));
        files.into_iter().find(|it| self.is_known(it))
    }

    fn is_known(&self, path: &str) -> bool {
        self.files.read_before(path).is_some() || self.files.exists(path)
    }

    /// Whether the imported module defines this name, or has no known file to search.
    fn provides(&self, import: &ImportBinding, own: &Definition) -> bool {
        if !self.is_own(import) {
            return false;
        }
        let folder = parent(self.path);
        let file = match language(self.path) {
            Some(TestLanguage::Python) => self.python_file(&import.module),
            Some(TestLanguage::Rust) => Some(self.path.to_owned()),
            Some(TestLanguage::Go) => {
                return own.kind == DefinitionKind::Declared && !self.was_in_tests(&own.name);
            }
            _ => {
                let path = join_path(folder, &import.module);
                [path.clone(), format!("{path}.rb")].into_iter().find(|it| self.is_known(it))
            }
        };
        let Some(file) = file else { return true };
        let texts = [self.files.read_before(&file), self.files.read_after(&file)];
        texts.into_iter().flatten().any(|it| defines(&file, &it, &own.name))
    }

    /// Whether another changed file of tests defined the name before.
    fn was_in_tests(&self, name: &str) -> bool {
        let tests = self.changed.iter().filter(|it| is_test_path(it) && **it != self.path);
        let mut tests = tests.filter_map(|it| Some((it, self.files.read_before(it)?)));
        tests.any(|(path, text)| defines(path, &text, name))
    }
}

fn defines(path: &str, text: &str, name: &str) -> bool {
    let all = bindings(path, text);
    if language(path) == Some(TestLanguage::Rust) {
        return mentions(&all.code, &format!("fn {name}"));
    }
    all.defined.iter().any(|it| it.name == name && it.test.is_none())
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}

/// The folder and those above it, up to the root.
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |it| (!it.is_empty()).then(|| parent(it)))
}
