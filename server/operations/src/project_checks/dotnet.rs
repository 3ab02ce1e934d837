//! .NET: finds the tests of a solution or a project, and the format that an `.editorconfig` sets.

use std::path::Path;

use super::package::PackageFolder;
use super::{FORMAT, ManifestError, ProposedChecks, TESTS};
use loopkeeper_system::config_text::read_text;

const SOLUTIONS: [&str; 2] = ["sln", "slnx"];
const PROJECTS: [&str; 3] = ["csproj", "fsproj", "vbproj"];
/// A project with tests refers to this package.
const TEST_SDK: &str = "Microsoft.NET.Test.Sdk";
/// Projects of a solution are at most this deep below it: `tests/App.Tests/App.Tests.csproj`.
const MAX_DEPTH: usize = 3;
/// The number of folders that are searched for projects.
const MAX_FOLDERS: usize = 200;

pub(super) fn checks(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    let folder = package.path("");
    let Some(file) = first_file(&folder, &SOLUTIONS).or_else(|| first_file(&folder, &PROJECTS)) else {
        return Ok(());
    };
    if has_tests(&folder)? {
        checks.add(package.check((TESTS, &file), "dotnet test", "dotnet"));
    }
    if package.has_above(".editorconfig") {
        checks.add(package.check((FORMAT, &file), "dotnet format --verify-no-changes", "dotnet"));
    }
    Ok(())
}

/// The first file of a folder, by name, with one of these extensions.
fn first_file(folder: &Path, extensions: &[&str]) -> Option<String> {
    let mut names: Vec<String> = super::package::names(folder);
    names.retain(|name| {
        let extension = Path::new(name).extension().and_then(|it| it.to_str());
        extension.is_some_and(|it| extensions.contains(&it))
    });
    names.into_iter().next()
}

fn has_tests(folder: &Path) -> Result<bool, ManifestError> {
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        seen += 1;
        if let Some(name) = first_file(&folder, &PROJECTS)
            && read_text(&folder.join(name))?.is_some_and(|it| it.contains(TEST_SDK))
        {
            return Ok(true);
        }
        if depth < MAX_DEPTH && seen < MAX_FOLDERS {
            folders.extend(super::package::subfolders(&folder).into_iter().map(|it| (it, depth + 1)));
        }
    }
    Ok(false)
}
