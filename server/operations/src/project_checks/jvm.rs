//! Gradle and Maven: finds the tests, and the linters, formatters and coverage rules whose plugins a build applies. The
//! wrapper of the project comes before a program on `PATH`.

use super::package::PackageFolder;
use super::{COVERAGE, FORMAT, FoundCheck, LINT, ManifestError, MissingTool, ProposedChecks, TESTS};

/// Words of a build file, with the criterion and the task that decides it.
type BuildPlugins = [(&'static str, &'static str, &'static str)];

const GRADLE: [&str; 4] = ["build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"];
const GRADLE_PLUGINS: &BuildPlugins = &[
    ("ktlint", LINT, "ktlintCheck"),
    ("detekt", LINT, "detekt"),
    ("checkstyle", LINT, "checkstyleMain"),
    ("spotless", FORMAT, "spotlessCheck"),
    ("jacocoTestCoverageVerification", COVERAGE, "jacocoTestCoverageVerification"),
];
const MAVEN_PLUGINS: &BuildPlugins = &[
    ("maven-checkstyle-plugin", LINT, "checkstyle:check"),
    ("spotless-maven-plugin", FORMAT, "spotless:check"),
];

pub(super) fn checks(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    for file in GRADLE {
        if let Some(text) = package.text(file)? {
            add(package, checks, ("gradle", "gradlew"), (file, &text), GRADLE_PLUGINS);
            break;
        }
    }
    if let Some(text) = package.text("pom.xml")? {
        add(package, checks, ("mvn", "mvnw"), ("pom.xml", &text), MAVEN_PLUGINS);
    }
    Ok(())
}

fn add(
    package: &PackageFolder<'_>,
    checks: &mut ProposedChecks,
    (program, wrapper): (&str, &str),
    (file, text): (&str, &str),
    plugins: &BuildPlugins,
) {
    let above = package.find_above(wrapper).map(|it| package.relative(&it, wrapper));
    // A path without a slash would be looked up on `PATH`.
    let wrapper = above.map(|it| if it.contains('/') { it } else { format!("./{it}") });
    let needed = if wrapper.is_some() { "java" } else { program };
    let runner = wrapper.as_deref().unwrap_or(program);
    let runner = if program == "mvn" { format!("{runner} -B") } else { runner.to_owned() };
    let check = |name, task: &str| -> FoundCheck {
        let lack = (!package.has_program(needed)).then(|| MissingTool::program(needed));
        package.package_check((name, file), &format!("{runner} {task}"), lack)
    };
    checks.add(check(TESTS, "test"));
    let mut named = Vec::new();
    for (word, name, task) in plugins {
        if text.contains(word) && !named.contains(name) {
            checks.add(check(name, task));
            named.push(name);
        }
    }
}
