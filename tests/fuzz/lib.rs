//! Mutates kept inputs with a fixed seed and passes them to a target: it must not panic, must hold no more memory than
//! a bound, and must take time linear in the size of its input.
//!
//! Inputs are kept in `tests/fixtures/fuzz/<target>`; recordings of other fixtures join them. An input that made a
//! target fail is saved below `target/fuzz` and belongs into that folder together with the fix, so that it is run first
//! from then on. `LOOPKEEPER_RIGS=full` runs each target for ten minutes.

mod growth;
mod mutator;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use growth::{LinearTime, cpu_time, is_linear};
pub use mutator::Mutator;

/// Mutations of the short form.
const SHORT: usize = 400;
const FULL: Duration = Duration::from_secs(600);
/// Peak memory that a target may add, over all inputs.
const MOST_MEMORY_KIB: u64 = 192 * 1024;

/// One function, and the inputs that it begins with.
pub struct Fuzzer {
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    /// The inputs of the target itself, which come first in `corpus`.
    own: usize,
    /// Fragments that mean something to the target.
    words: Vec<Vec<u8>>,
}

impl Fuzzer {
    /// `recordings`: folders and files below `tests/fixtures` whose contents are inputs as well.
    ///
    /// # Panics
    /// If nothing is kept for this target, or a recording or input cannot be read.
    pub fn new(name: &'static str, words: &[&str], recordings: &[&str]) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
        let mut files = files_below(&fixtures.join("fuzz").join(name));
        let own = files.len();
        assert!(own > 0, "tests/fixtures/fuzz/{name} is empty");
        for place in recordings {
            let recorded = files_below(&fixtures.join(place));
            assert!(!recorded.is_empty(), "tests/fixtures/{place} does not exist");
            files.extend(recorded);
        }
        let corpus = files
            .iter()
            .map(|it| fs::read(it).unwrap_or_else(|error| panic!("{}: {error}", it.display())))
            .collect();
        Self { name, corpus, own, words: words.iter().map(|it| it.as_bytes().to_vec()).collect() }
    }

    /// Runs every kept input, and then mutations of them.
    ///
    /// # Panics
    /// If the target panics, with the path of the saved input, or if its memory grows beyond the bound.
    pub fn run(&self, target: impl Fn(&[u8])) {
        let before = peak_memory_kib();
        for input in &self.corpus {
            self.try_input(input, &target);
        }
        let mut mutator = Mutator::new(&self.corpus, &self.words);
        let (begun, is_full) = (Instant::now(), is_full());
        let mut count = 0;
        while if is_full { begun.elapsed() < FULL } else { count < SHORT } {
            self.try_input(&mutator.next_input(), &target);
            count += 1;
        }
        let grown = peak_memory_kib().saturating_sub(before);
        assert!(grown < MOST_MEMORY_KIB, "{}: {grown} KiB after {count} inputs", self.name);
    }

    /// Repeats every fragment and the first lines of the inputs (in the long form of recordings as well), and compares the time of larger and smaller inputs.
    ///
    /// # Panics
    /// If the time of some shape grows faster than its size.
    pub fn run_growing(&self, target: impl Fn(&[u8])) {
        let inputs = if is_full() { self.corpus.len() } else { self.own };
        let lines =
            self.corpus.iter().take(inputs).flat_map(|it| it.split_inclusive(|it| *it == b'\n').take(3));
        let mut shapes: Vec<&[u8]> = self.words.iter().map(Vec::as_slice).chain(lines).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let superlinear: Vec<String> = shapes
            .into_iter()
            .filter(|it| !it.is_empty() && it.len() <= 4_096)
            .filter_map(|shape| {
                let make = |size: usize| shape.iter().copied().cycle().take(size).collect::<Vec<u8>>();
                let time = is_linear(&make, &target);
                let text = String::from_utf8_lossy(shape).into_owned();
                (!time.holds()).then(|| format!("{text:?} repeated: {time:?}"))
            })
            .collect();
        assert!(superlinear.is_empty(), "{}: {superlinear:#?}", self.name);
    }

    fn try_input(&self, input: &[u8], target: &impl Fn(&[u8])) {
        if catch_unwind(AssertUnwindSafe(|| target(input))).is_err() {
            let path = self.save(input);
            panic!("{}: the input {} fails", self.name, path.display());
        }
    }

    fn save(&self, input: &[u8]) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz").join(self.name);
        let sum = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let path = folder.join(format!("{sum:016x}"));
        let _ = fs::create_dir_all(folder).and_then(|()| fs::write(&path, input));
        path
    }
}

/// Whether the long form was asked for.
pub fn is_full() -> bool {
    std::env::var("LOOPKEEPER_RIGS").is_ok_and(|it| it == "full")
}

fn files_below(place: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else {
        return if place.is_file() { vec![place.to_owned()] } else { Vec::new() };
    };
    // In the same order everywhere.
    let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    paths.sort();
    paths.iter().flat_map(|it| files_below(it)).collect()
}

/// The largest amount of memory that this process ever held.
pub fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}
