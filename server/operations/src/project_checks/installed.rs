//! Detects what is installed on this machine, without executing anything.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_system::agents;
use loopkeeper_system::regular_file;
use loopkeeper_text::shell_word::quoted;

/// A longer configuration is none of `venv`.
const MAX_CONFIGURATION_BYTES: u64 = 64 * 1024;

/// The places where programs and modules of this user are found.
#[derive(Debug)]
pub struct InstalledTools {
    path: OsString,
    home: Option<PathBuf>,
    /// `$NVM_DIR`.
    nvm: Option<PathBuf>,
    /// Prefix of the system's own Python modules.
    system: PathBuf,
}

impl InstalledTools {
    pub fn of_environment() -> Self {
        let folder = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        Self {
            path: std::env::var_os("PATH").unwrap_or_default(),
            home: folder("HOME"),
            nvm: folder("NVM_DIR"),
            system: "/".into(),
        }
    }

    /// For tests: one folder for everything, with programs in `bin` and the user's home in `home`.
    pub fn in_folder(folder: &Path) -> Self {
        let (path, home) = (folder.join("bin").into_os_string(), Some(folder.join("home")));
        Self { path, home, nvm: None, system: folder.to_owned() }
    }

    /// Whether a folder is the user's home or contains it.
    pub fn is_home(&self, folder: &Path) -> bool {
        self.home.as_ref().and_then(|it| it.canonicalize().ok()).is_some_and(|it| it.starts_with(folder))
    }

    /// The program of this name, outside of `root`.
    pub(super) fn program(&self, name: &str, root: &Path) -> Option<PathBuf> {
        agents::find_program(name, &self.path, root)
    }

    /// The shell argument that loads nvm, if it is installed.
    pub(super) fn nvm(&self) -> Option<String> {
        let own = self.home.as_ref().map(|it| it.join(".nvm"));
        let folder = self.nvm.clone().or_else(|| own.clone())?;
        let script = folder.join("nvm.sh");
        let words = if Some(folder) == own { "~/.nvm/nvm.sh".to_owned() } else { quoted(script.to_str()?) };
        script.is_file().then_some(words)
    }

    /// Whether a program is in nvm's folder, where only a shell that loaded nvm finds it.
    pub(super) fn is_of_nvm(&self, program: &Path) -> bool {
        let own = self.home.as_ref().map(|it| it.join(".nvm"));
        self.nvm.iter().chain(&own).any(|it| program.starts_with(it))
    }

    /// Whether the Python at `python` can import `module`.
    pub(super) fn has_module(&self, python: &Path, module: &str) -> bool {
        let environment = python.parent().and_then(Path::parent);
        let configuration = environment
            .and_then(|it| regular_file::read_text(&it.join("pyvenv.cfg"), MAX_CONFIGURATION_BYTES));
        if let Some(environment) = environment
            && holds_module(&environment.join("lib"), module)
        {
            return true;
        }
        let is_isolated = configuration.is_some_and(|it| {
            !it.to_lowercase().replace(' ', "").contains("include-system-site-packages=true")
        });
        let real = python.canonicalize().ok();
        let prefix = real.as_deref().and_then(Path::parent).and_then(Path::parent);
        let shared = prefix.map(|it| it.join("lib")).into_iter();
        let shared = shared.chain(["usr/lib", "usr/local/lib"].map(|it| self.system.join(it)));
        let shared = shared.chain(self.home.as_ref().map(|it| it.join(".local/lib")));
        !is_isolated && shared.into_iter().any(|it| holds_module(&it, module))
    }
}

/// Whether `lib/python3*/site-packages` or `dist-packages` contains a module.
fn holds_module(lib: &Path, module: &str) -> bool {
    let pythons = fs::read_dir(lib).into_iter().flatten().flatten();
    let pythons = pythons.filter(|it| it.file_name().to_string_lossy().starts_with("python3"));
    pythons.map(|it| it.path()).any(|python| {
        ["site-packages", "dist-packages"].into_iter().any(|packages| {
            let module = python.join(packages).join(module);
            module.is_dir() || module.with_extension("py").is_file()
        })
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::InstalledTools;

    #[test]
    fn a_pipe_as_configuration_of_an_environment_is_no_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let installed = InstalledTools::in_folder(folder.path());
        fs::create_dir_all(folder.path().join("usr/lib/python3.12/dist-packages/pytest")).unwrap();
        let environment = folder.path().join("project/.venv");
        fs::create_dir_all(environment.join("bin")).unwrap();
        let python = environment.join("bin/python3");
        let configuration = environment.join("pyvenv.cfg");
        fs::write(&configuration, "include-system-site-packages = false\n").unwrap();
        assert!(!installed.has_module(&python, "pytest"));
        fs::remove_file(&configuration).unwrap();
        mkfifoat(CWD, &configuration, Mode::RUSR | Mode::WUSR).unwrap();
        assert!(installed.has_module(&python, "pytest"));
    }
}
