//! The calls themselves: each start of the agent in its folder, watched from outside until nothing of it is left.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_core::agent::argv::{self, Values};
use loopkeeper_core::agent::provider::Here;
use loopkeeper_core::agent::reader::{ProcessEnd, Reader};
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::probe::{Answer, Calls, Probe, Question, Scene, Seen, Words, judge, scene};
use loopkeeper_core::redact::Redactor;
use loopkeeper_core::settings::PromptBy;
use loopkeeper_core::view::words;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use uuid::Uuid;

use super::super::facts::Looked;
use crate::acp;
use crate::adapters::process::{self, How, Job, OutputEvent, Running, Stdin, Stream};
use crate::adapters::sandbox::Domain;
use crate::adapters::scratch::{self, Look, Scratch};
use crate::adapters::trust::permit::Approved;
use crate::cli::failure::{Failure, note};
use crate::keeper::agent::{RESUMED, SESSION};

/// No call takes longer; what does is ended.
pub(super) const LONGEST: Duration = Duration::from_secs(300);
/// Between TERM and KILL.
const GRACE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The command that is to be interrupted is really running by then.
const INTO_IT: Duration = Duration::from_millis(500);
/// Of each stream; the end is kept.
const MOST_BYTES: usize = 1 << 20;

/// An agent with all that its calls need.
pub(super) struct Caller<'a> {
    looked: &'a Looked,
    plan: AgentPlan,
    scratch: Scratch,
    words: Words,
    redactor: Redactor,
    /// Of the first call.
    session: String,
    starts: usize,
}

/// What all calls came to.
pub(super) struct Made {
    /// As the agent turned out to take its prompt.
    pub(super) plan: AgentPlan,
    pub(super) words: Words,
    pub(super) calls: Calls,
    /// How often it was started.
    pub(super) starts: usize,
}

impl<'a> Caller<'a> {
    pub(super) fn new(looked: &'a Looked, plan: AgentPlan) -> Result<Self, Failure> {
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let secrets = std::env::vars_os().chain(looked.agent_environment(&plan)).filter_map(text);
        Ok(Self {
            looked,
            plan,
            scratch: Scratch::new()?,
            words: Words::new(Uuid::new_v4().as_u64_pair().0),
            redactor: Redactor::from_env(secrets),
            session: Uuid::new_v4().to_string(),
            starts: 0,
        })
    }

    /// Every call in its order; an agent that does not even answer is not asked any further.
    pub(super) async fn all(mut self) -> Result<Made, Failure> {
        let mut calls = Calls::new();
        let mut folders = BTreeMap::new();
        for (at, probe) in Probe::ALL.into_iter().enumerate() {
            note(format_args!("{}/{} {}", at + 1, Probe::ALL.len(), probe.title()));
            let mut seen = self.call(probe, &mut folders).await?;
            if probe == Probe::Answer {
                seen = self.or_by_argument(seen, &mut folders).await?;
                self.session = session(&self.plan, &seen).unwrap_or(self.session);
            }
            calls.insert(probe, seen);
            if probe == Probe::Answer && !answers(&calls, &self.words) {
                note("It does not answer: the other calls are not made.");
                break;
            }
        }
        Ok(Made { plan: self.plan, words: self.words, calls, starts: self.starts })
    }

    /// A command that was not told how it takes its prompt may take it as its last argument.
    async fn or_by_argument(&mut self, seen: Seen, folders: &mut Folders) -> Result<Seen, Failure> {
        let first: Calls = [(Probe::Answer, seen.clone())].into();
        let is_open = self.plan.prompt == PromptBy::Stdin && self.looked.is_own(&self.plan.name);
        if answers(&first, &self.words) || !is_open || seen.not_started.is_some() {
            return Ok(seen);
        }
        note("It did not answer: once more, with the prompt as an argument.");
        let by_stdin = self.plan.clone();
        self.plan.prompt = PromptBy::Argument;
        self.plan.argv.push("{prompt}".to_owned());
        folders.clear();
        self.session = Uuid::new_v4().to_string();
        let again = self.call(Probe::Answer, folders).await?;
        if !answers(&[(Probe::Answer, again.clone())].into(), &self.words) {
            self.plan = by_stdin;
            return Ok(seen);
        }
        Ok(again)
    }

    async fn call(&mut self, probe: Probe, folders: &mut Folders) -> Result<Seen, Failure> {
        self.starts += 1;
        let folder = match probe.follows().and_then(|it| folders.get(&it)) {
            Some(folder) => folder.clone(),
            None => self.scratch.repository(&Uuid::new_v4().to_string())?,
        };
        let scene = scene(probe, &self.words, &folder.to_string_lossy());
        if probe.follows().is_none() {
            scratch::put(&folder, &scene.files)?;
        }
        let job = self.job(probe, &scene, &folder)?;
        let before = Look::at(&folder);
        let mut seen = watch(&job, &self.looked.domain, scene.stop_at.map(|it| folder.join(it))).await;
        let after = Look::at(&folder);
        seen.written = after.written_since(&before);
        seen.files = after.contents();
        seen.stdout = self.redactor.redact(&seen.stdout);
        seen.stderr = self.redactor.redact(&seen.stderr);
        folders.insert(probe, folder);
        Ok(seen)
    }

    fn job(&self, probe: Probe, scene: &Scene, folder: &Path) -> Result<Job, Failure> {
        let resumed = probe == Probe::Recall;
        let session = match probe {
            Probe::Answer | Probe::Recall => self.session.clone(),
            _ => Uuid::new_v4().to_string(),
        };
        let prompt_file = self.scratch.path().join(format!("{}.md", Uuid::new_v4()));
        std::fs::write(&prompt_file, &scene.prompt)?;
        let argv = if resumed { self.plan.kind().resuming(&self.plan.argv) } else { self.plan.argv.clone() };
        let file = prompt_file.to_string_lossy();
        let argv = argv::fill(&argv, Values { session: &session, prompt: &scene.prompt, prompt_file: &file });
        let mut env =
            if probe == Probe::Bare { self.bare()? } else { self.looked.agent_environment(&self.plan) };
        env.push((SESSION.into(), session.into()));
        if resumed {
            env.push((RESUMED.into(), "1".into()));
        }
        let stdin = if self.plan.prompt == PromptBy::Stdin { Stdin::File(prompt_file) } else { Stdin::Null };
        Ok(Job {
            argv: Approved::typed(acp::between(
                self.looked.domain.warden(),
                self.plan.dialect,
                argv.into_iter().map(OsString::from).collect(),
            )),
            cwd: folder.to_owned(),
            env,
            stdin,
            grace: GRACE,
            output: None,
        })
    }

    /// Neither keys nor a home in which a login could be; our bridge needs its own all the same.
    fn bare(&self) -> Result<Vec<(OsString, OsString)>, Failure> {
        let home = self.scratch.folder(&Uuid::new_v4().to_string())?;
        let ours = self.plan.env.iter().filter(|(name, _)| name == acp::VARIABLE);
        let ours = ours.map(|(name, value)| (name.into(), value.into()));
        let none = [("PATH".into(), self.looked.path.clone()), ("HOME".into(), home.into())];
        Ok(none.into_iter().chain(ours).collect())
    }
}

/// Where each call worked.
type Folders = BTreeMap<Probe, PathBuf>;

fn answers(calls: &Calls, words: &Words) -> bool {
    judge(calls, words).iter().any(|it| it.question == Question::Prompt && it.answer == Answer::Yes)
}

/// The session that the agent itself told of.
fn session(plan: &AgentPlan, seen: &Seen) -> Option<String> {
    let mut reader = Reader::new(plan.dialect);
    for line in seen.stdout.lines() {
        reader.line(line);
    }
    reader.finish(ProcessEnd::exited(seen.exit), &Here::utc(0)).session
}

/// One start, to its end. `stop_at`: the file by which one sees that it is time to tell it to end.
async fn watch(job: &Job, domain: &Domain, stop_at: Option<PathBuf>) -> Seen {
    let mut running = match process::start(job, domain) {
        Ok(running) => running,
        Err(error) => return Seen { not_started: Some(error.to_string()), ..Seen::default() },
    };
    let mut seen = Seen::default();
    let deadline = Instant::now() + LONGEST;
    let mut told: Option<Instant> = None;
    let mut begun: Option<Instant> = None;
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            event = running.next() => match event {
                Some(event) => keep(&mut seen, event),
                None => break,
            },
            _ = look.tick(), if stop_at.is_some() && told.is_none() => {
                begun = begun.or_else(|| stop_at.as_ref().filter(|it| it.exists()).map(|_| Instant::now()));
                if begun.is_some_and(|it| it.elapsed() >= INTO_IT) {
                    told = Some(end(&mut running));
                }
            }
            () = sleep_until(deadline), if !seen.timed_out => {
                seen.timed_out = told.is_none();
                told = told.or_else(|| Some(end(&mut running)));
            }
        }
    }
    seen.ended_after_ms = told.map(|it| it.elapsed().as_millis() as u64);
    let ended = running.end().await;
    Seen {
        exit: ended.exit,
        signal: ended.signal,
        not_started: ended.not_started,
        survivors: [ended.survivors, ended.left].concat(),
        ..seen
    }
}

fn end(running: &mut Running) -> Instant {
    running.terminate(How::Grace);
    Instant::now()
}

fn keep(seen: &mut Seen, event: OutputEvent) {
    let (stream, line) = match event {
        OutputEvent::Line { stream, bytes } => (stream, String::from_utf8_lossy(&bytes).into_owned()),
        OutputEvent::Oversize { stream, bytes } => {
            (stream, format!("[a line of {}]", words::bytes(bytes as u64)))
        }
    };
    let kept = match stream {
        Stream::Stdout => &mut seen.stdout,
        Stream::Stderr => &mut seen.stderr,
    };
    kept.push_str(&line);
    kept.push('\n');
    if kept.len() > 2 * MOST_BYTES {
        let cut = kept.len() - MOST_BYTES;
        let cut = kept.get(cut..).map_or(cut, |rest| cut + rest.find('\n').map_or(0, |it| it + 1));
        *kept = kept.get(cut..).unwrap_or_default().to_owned();
    }
}
