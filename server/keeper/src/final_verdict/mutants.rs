//! Runs the checks on mutants of the changed lines, each in a clean room of its own, until the time is over. The first
//! run is on the unchanged sources: where that fails, no failure on a mutant would mean anything. While the checks run on
//! one mutant, the room of the next is opened.

use std::time::Duration;

use loopkeeper_core::check::Status;
use loopkeeper_core::decide::Event;
use loopkeeper_core::decide::mutants::{
    MutantCounts, MutantPlan, MutantReply, is_noticed, mutant_timeout_ms,
};
use loopkeeper_core::journal::{HollowTest, Round, SurvivingMutant};
use loopkeeper_core::mutants::AddedTests;
use loopkeeper_source::mutants::{ChangedSource, Mutant, choose_mutants};
use loopkeeper_system::clean_room::{CleanRoom, HomeContent};
use loopkeeper_system::process::WardenPool;
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, tr, truncate};
use tokio::time::{Instant, timeout_at};

use super::inputs::{self, VerdictInputs};
use super::room::{self, PinnedEntry, RoomLayout};
use super::{NoVerdict, VerdictRequest, ensure_unchanged, run_in_opened, run_in_room, weakening_scan};
use crate::checks::RoundExtent;
use crate::loop_context::LoopContext;
use crate::run_context::{RunContext, SnapshotFailure};

/// Maximum length of a line in a record.
const LINE_BYTES: usize = 200;

/// Runs the mutants and reports them. On drop, running checks are killed and the room is removed.
pub(in super::super) async fn test_and_report(
    context: LoopContext,
    request: VerdictRequest,
    plan: MutantPlan,
) {
    let reply = match test_mutants(&context.runtime, &request, plan).await {
        Ok(reply) => reply,
        Err(NoVerdict::Disturbed) => MutantReply::Disturbed,
        Err(NoVerdict::Unavailable(why)) => {
            MutantReply::Skipped { why: context.runtime.redactor.redact(&why) }
        }
        Err(NoVerdict::Workspace(SnapshotFailure { reason, message, .. })) => {
            return context.send_event(Event::SnapshotFailed { reason, message });
        }
    };
    context.send_event(Event::MutantsTested(reply));
}

async fn test_mutants(
    runtime: &RunContext,
    request: &VerdictRequest,
    plan: MutantPlan,
) -> Result<MutantReply, NoVerdict> {
    let end = Instant::now() + Duration::from_millis(plan.budget_ms);
    if let Some(why) = runtime.agent_domain.no_clean_room() {
        return Err(NoVerdict::Unavailable(why.to_owned()));
    }
    ensure_unchanged(runtime, request).await?;
    let (sources, tests) = changed_sources(runtime, request).await?;
    let mutants = choose_mutants(&sources, plan.max);
    if mutants.is_empty() {
        return Ok(MutantReply::Tested(MutantCounts::default()));
    }
    let inputs = inputs::find_inputs(runtime, request).await?;
    let Some(run) = unchanged_run(runtime, request, (&plan.criteria, &inputs), end).await? else {
        let why = tr!("the checks do not pass again on the unchanged sources").to_owned();
        return Ok(MutantReply::Skipped { why });
    };
    let mut added = AddedTests::of_files(&tests);
    let faults: Vec<SourceFault<'_>> =
        mutants.iter().filter_map(|it| SourceFault::find(&sources, it)).collect();
    let mut counts = Box::pin(run.try_faults(&faults, &mut added, end)).await?;
    if counts.tried == 0 {
        return Ok(MutantReply::Skipped { why: tr!("the time ran out before the first").to_owned() });
    }
    counts.hollow = added.into_hollow().iter().map(|it| redact_hollow_test(&runtime.redactor, it)).collect();
    ensure_unchanged(runtime, request).await?;
    Ok(MutantReply::Tested(counts))
}

/// Sources of the work, and files of tests.
async fn changed_sources(
    runtime: &RunContext,
    request: &VerdictRequest,
) -> Result<(Vec<ChangedSource>, Vec<ChangedSource>), NoVerdict> {
    let Some(scan) = request.scan.clone() else { return Ok((Vec::new(), Vec::new())) };
    let tree = request.tree.clone();
    Ok(runtime.with_store(move |store| weakening_scan::find_changed_sources(&scan, store, &tree)).await?)
}

/// What every mutant is run with.
struct MutantRunner<'a> {
    runtime: &'a RunContext,
    request: &'a VerdictRequest,
    /// With their timeouts on a mutant, the fastest first.
    criteria: Vec<Criterion>,
    layout: RoomLayout,
    /// The round on the unchanged sources.
    sound: Round,
}

/// The checks on the unchanged sources, in a room without ignored files that the agent built, or else with them. `None`:
/// they fail, or the time is over.
async fn unchanged_run<'a>(
    runtime: &'a RunContext,
    request: &'a VerdictRequest,
    (criteria, inputs): (&[Criterion], &VerdictInputs),
    end: Instant,
) -> Result<Option<MutantRunner<'a>>, NoVerdict> {
    let products = &inputs.changes.products;
    let with_home = RoomLayout { home: HomeContent::Everything, ..inputs.layout(products) };
    for (number, layout) in [inputs.layout(&[]), inputs.layout(products), with_home].into_iter().enumerate() {
        if number == 1 && products.is_empty() {
            continue;
        }
        let Ok(ran) = timeout_at(end, run_in_room(runtime, request, criteria, &layout)).await else {
            return Ok(None);
        };
        let (round, state) = ran?;
        if round.results.iter().all(|it| it.status == Status::Pass) {
            let criteria = with_timeouts(runtime, criteria, &round);
            return Ok(Some(MutantRunner { runtime, request, criteria, layout, sound: round }));
        }
        if number == 0 && products.is_empty() && !state.lacks_home_files {
            break;
        }
    }
    Ok(None)
}

fn with_timeouts(runtime: &RunContext, criteria: &[Criterion], round: &Round) -> Vec<Criterion> {
    let took = |it: &Criterion| round.result(&it.id).map_or(0, |it| it.duration_ms);
    let mut criteria = criteria.to_vec();
    criteria.sort_by_key(took);
    for criterion in &mut criteria {
        shorten_timeout(runtime, criterion, took(criterion));
    }
    criteria
}

/// Sets the timeout of a check that took this long without a fault.
pub(super) fn shorten_timeout(runtime: &RunContext, criterion: &mut Criterion, took_ms: u64) {
    let timeout = criterion.timeout_ms.unwrap_or(runtime.spec.settings.check_timeout_ms);
    criterion.timeout_ms = Some(mutant_timeout_ms(took_ms, timeout));
}

/// One mutant with its file.
#[derive(Clone, Copy)]
struct SourceFault<'a> {
    source: &'a ChangedSource,
    mutant: &'a Mutant,
}

impl<'a> SourceFault<'a> {
    fn find(sources: &'a [ChangedSource], mutant: &'a Mutant) -> Option<Self> {
        let source = sources.iter().find(|it| it.path == mutant.path)?;
        Some(Self { source, mutant })
    }
}

/// A room with a fault in it.
struct MutantRoom {
    opened: (CleanRoom, WardenPool),
    layout: RoomLayout,
}

impl MutantRunner<'_> {
    /// Runs the checks on mutants until the time is over.
    async fn try_faults(
        &self,
        faults: &[SourceFault<'_>],
        added: &mut AddedTests,
        end: Instant,
    ) -> Result<MutantCounts, NoVerdict> {
        let mut counts = MutantCounts::default();
        let mut rest = faults.iter();
        let mut fault = rest.next();
        let mut opened = match timeout_at(end, self.open(fault)).await {
            Ok(opened) => opened?,
            Err(_) => None,
        };
        while let (Some(current), Some(room)) = (fault, opened.take()) {
            fault = rest.next();
            // Which tests fail is of interest only while some of them failed on none.
            let extent = if added.is_settled() { RoundExtent::FirstFailure } else { RoundExtent::All };
            let both = async { tokio::join!(self.round_in(room, extent), self.open(fault)) };
            let Ok((round, next)) = timeout_at(end, both).await else { break };
            let round = round?;
            counts.tried += 1;
            added.observe(&self.sound, &round);
            if round.results.iter().any(|it| is_noticed(it.status)) {
                counts.noticed += 1;
            } else {
                counts.survivors.push(survivor(&self.runtime.redactor, current));
            }
            opened = next?;
        }
        Ok(counts)
    }

    async fn open(&self, fault: Option<&SourceFault<'_>>) -> Result<Option<MutantRoom>, NoVerdict> {
        let Some(SourceFault { source, mutant }) = fault else { return Ok(None) };
        let entry = PinnedEntry::edited(self.runtime, &source.path, mutant.apply(&source.after));
        let layout = self.layout.with_entries(vec![entry]);
        let opened = room::open_room(self.runtime, self.request, &layout).await?;
        Ok(Some(MutantRoom { opened, layout }))
    }

    async fn round_in(&self, room: MutantRoom, extent: RoundExtent) -> Result<Round, NoVerdict> {
        let request = (self.runtime, self.request);
        let (round, _) = run_in_opened(request, room.opened, &room.layout, (&self.criteria, extent)).await?;
        Ok(round)
    }
}

fn survivor(redactor: &Redactor, SourceFault { source, mutant }: &SourceFault<'_>) -> SurvivingMutant {
    SurvivingMutant {
        path: clean(redactor, &source.path),
        line: mutant.line,
        before: clean(redactor, &mutant.line_before(&source.after)),
        after: clean(redactor, &mutant.line_after(&source.after)),
    }
}

fn redact_hollow_test(redactor: &Redactor, test: &HollowTest) -> HollowTest {
    HollowTest { path: clean(redactor, &test.path), line: test.line, name: clean(redactor, &test.name) }
}

/// Fit to be stored.
fn clean(redactor: &Redactor, text: &str) -> String {
    truncate::first_bytes(&redactor.redact(&sanitize::line(text)), LINE_BYTES).to_owned()
}
