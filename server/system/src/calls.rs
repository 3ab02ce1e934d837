//! The calls of the last hour: one list for all loops of this user, `<state>/calls`, one line for each start of an
//! agent. A writer holds the list's lock, so that no two loops take the last slot. Malformed lines are skipped; a list
//! that cannot be read at all is an error, never an empty list.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use loopkeeper_core::decide::CallSlot;
use loopkeeper_text::language::translate;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::{tr, tr_later};

use super::durable;

const HOUR_MS: u64 = 60 * 60 * 1000;
/// A longer list is rewritten with only the calls that count, once those are at most half of it.
const REWRITE_BYTES: u64 = 16 * 1024;
/// A line without the name of its loop, roughly.
const NUMBERS_BYTES: u64 = 20;
/// At most this much of the end of a list is read, whatever the list contains.
const MAX_READ_BYTES: u64 = 1024 * 1024;

/// Why a call could not be charged.
#[derive(Debug, thiserror::Error)]
#[error("{}", tr!("the list of calls {path} cannot be {action}: {source}", path = path.display(), action = translate(action), source))]
pub struct CallsError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// The loop that requests a slot, and the limit in its settings.
#[derive(Debug, Clone)]
pub struct CallRequest {
    pub loop_id: String,
    pub iteration: u32,
    pub limit: u32,
}

/// Number of calls in the last hour according to the list.
pub fn this_hour(path: &Path, now: u64) -> Result<u32, CallsError> {
    let read = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other.and_then(|mut file| CallLogBytes::read(&mut file)),
    };
    let written =
        read.map_err(|source| CallsError { action: tr_later!("read"), path: path.to_owned(), source })?;
    let list = CallLog::parse(&written);
    let counted = list.calls.iter().filter(|(_, at)| is_within_hour((*at).min(now), now)).count();
    Ok(u32::try_from(counted).unwrap_or(u32::MAX))
}

/// Takes a slot for one iteration, durably. `None`: another process holds the list's lock; ask again immediately. An
/// iteration that already has a slot takes no second one: its first call is moved to now.
pub fn take_slot(path: &Path, request: &CallRequest, now: Moment) -> Result<Option<CallSlot>, CallsError> {
    let failed = |action| {
        let path = path.to_owned();
        move |source| CallsError { action, path, source }
    };
    let Some(mut file) = lock_list(path).map_err(failed(tr_later!("locked")))? else { return Ok(None) };
    let written = CallLogBytes::read(&mut file).map_err(failed(tr_later!("read")))?;
    let list = CallLog::parse(&written);
    let others = list.calls_of_others(request, now.wall);
    // The call that must expire before there is room: later than the oldest where the limit was lowered.
    let expiring = others.len().checked_sub(request.limit as usize).and_then(|it| others.get(it));
    if let Some(expiring) = expiring {
        let ms = (expiring + HOUR_MS).saturating_sub(now.wall);
        if list.is_ahead(now.wall) {
            list.rewrite(path, now.wall, None).map_err(failed(tr_later!("written")))?;
        }
        return Ok(Some(CallSlot::Full { until: now.plus_ms(ms) }));
    }
    let call = (request.loop_id.as_str(), request.iteration);
    if list.is_ahead(now.wall) || list.is_worth_rewriting(now.wall) {
        list.rewrite(path, now.wall, Some(call)).map_err(failed(tr_later!("written")))?;
    } else {
        list.append(&mut file, now.wall, call).map_err(failed(tr_later!("written")))?;
    }
    Ok(Some(CallSlot::Taken { this_hour: u32::try_from(others.len()).unwrap_or(u32::MAX).saturating_add(1) }))
}

/// The list, locked until dropped. A file that was replaced in the meantime is no longer the list.
pub(super) fn lock_list(path: &Path) -> io::Result<Option<File>> {
    let options = |file: &mut OpenOptions| {
        file.read(true).append(true).mode(0o600);
        file.clone()
    };
    let file = match options(&mut OpenOptions::new()).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = options(&mut OpenOptions::new()).create(true).open(path)?;
            durable::sync_folder(path)?;
            file
        }
        other => other?,
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let (ours, found) = (file.metadata()?, std::fs::metadata(path)?);
    Ok(((ours.dev(), ours.ino()) == (found.dev(), found.ino())).then_some(file))
}

/// The list's text, or as much of its end as is read.
struct CallLogBytes {
    bytes: Vec<u8>,
    /// Length of the whole list.
    length: u64,
}

impl CallLogBytes {
    fn read(file: &mut File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_READ_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
        Ok(Self { bytes, length })
    }
}

/// A loop, and its iteration.
type IterationRef<'a> = (&'a str, u32);

/// Contents of the list: for each iteration of a loop, when it was last charged.
struct CallLog<'a> {
    calls: Vec<(IterationRef<'a>, u64)>,
    length: u64,
    /// The last write was cut off.
    is_torn: bool,
}

impl<'a> CallLog<'a> {
    fn parse(CallLogBytes { bytes, length }: &'a CallLogBytes) -> Self {
        let is_torn = bytes.last().is_some_and(|it| *it != b'\n');
        let mut calls: Vec<_> = bytes.split(|it| *it == b'\n').filter_map(read_line).collect();
        // Fast, because most lists are already sorted. The last entry of each call is kept.
        calls.sort_unstable();
        calls.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = next.1;
            }
            same
        });
        Self { calls, length: *length, is_torn }
    }

    /// Times of the other loops' calls that count, oldest first. A time in the future was recorded before the clock was
    /// set back; it counts as now.
    fn calls_of_others(&self, request: &CallRequest, now: u64) -> Vec<u64> {
        let own = (request.loop_id.as_str(), request.iteration);
        let others = self.calls.iter().filter(|(call, _)| *call != own);
        let mut found: Vec<u64> =
            others.map(|(_, at)| (*at).min(now)).filter(|it| is_within_hour(*it, now)).collect();
        found.sort_unstable();
        found
    }

    /// Whether at least half of a long list no longer counts. A list of calls that count is only appended to: rewriting
    /// it for each call would take longer the longer it is.
    fn is_worth_rewriting(&self, now: u64) -> bool {
        let counted = self.calls.iter().filter(|(_, at)| is_within_hour(*at, now));
        let kept: u64 = counted.map(|((of, _), _)| of.len() as u64 + NUMBERS_BYTES).sum();
        self.length > REWRITE_BYTES && 2 * kept <= self.length
    }

    fn is_ahead(&self, now: u64) -> bool {
        self.calls.iter().any(|(_, at)| *at > now)
    }

    fn append(&self, file: &mut File, now: u64, (of, iteration): IterationRef<'_>) -> io::Result<()> {
        let begin = if self.is_torn { "\n" } else { "" };
        file.write_all(format!("{begin}{}", format_line(now, of, iteration)).as_bytes())?;
        file.sync_data()
    }

    /// Writes only the calls that count, plus `more`. A process that waits for the old list's lock then finds that file
    /// replaced.
    fn rewrite(&self, path: &Path, now: u64, more: Option<IterationRef<'_>>) -> io::Result<()> {
        let kept = self.calls.iter().map(|((of, iteration), at)| (*of, *iteration, (*at).min(now)));
        let kept =
            kept.filter(|(of, iteration, at)| is_within_hour(*at, now) && more != Some((of, *iteration)));
        let more = more.into_iter().map(|(of, iteration)| (of, iteration, now));
        let text: String =
            kept.chain(more).map(|(of, iteration, at)| format_line(at, of, iteration)).collect();
        durable::replace_file(path, text.as_bytes())
    }
}

fn is_within_hour(at: u64, now: u64) -> bool {
    now < at.saturating_add(HOUR_MS)
}

fn format_line(at: u64, loop_id: &str, iteration: u32) -> String {
    format!("{at} {loop_id} {iteration}\n")
}

fn read_line(line: &[u8]) -> Option<(IterationRef<'_>, u64)> {
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let (at, of, iteration) = (words.next()?, words.next()?, words.next()?);
    let whole = words.next().is_none() && !of.is_empty();
    Some(((of, iteration.parse().ok()?), at.parse().ok()?)).filter(|_| whole)
}

#[cfg(test)]
mod tests;
