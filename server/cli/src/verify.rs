//! `verify`: compares a receipt with a checkout and runs its checks again.

use std::path::PathBuf;

use clap::ValueHint;
use loopkeeper_text::words::counted;

use super::check;
use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use super::trust::TrustConsent;
use loopkeeper_operations::receipt::{compare_files, compare_results, notes};
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_text::{sanitize, tr};
use loopkeeper_view::receipt::{Receipt, parse};

/// Larger than any receipt.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The receipt: what `loopkeeper receipt` printed, as Markdown or JSON
    #[arg(value_name = "RECEIPT", value_hint = ValueHint::FilePath)]
    pub(crate) receipt: PathBuf,
    /// Trust every command that `trust` would show
    #[arg(long)]
    pub(crate) trust: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let receipt = read(args)?;
    if receipt.task.starts_with("prompt:") {
        return Err(Failure::usage(tr!(
            "the task of this receipt was typed, so that no checkout has its criteria"
        ))
        .hint(tr!("Write the task into a file, and run the loop on that.")));
    }
    let work = ResolvedTask::find(Some(&receipt.task), &[])?;
    work.refuse_broken()?;
    work.refuse_empty()?;
    let files = compare_files(&receipt, &work)?;
    let consent = if args.trust { TrustConsent::Given } else { TrustConsent::Asked };
    let results = check::run_checks(&work, consent)?;
    let mut differences = files.differences;
    differences.extend(compare_results(&receipt, &results));
    for it in &differences {
        out.line(format_args!("- {}", sanitize::line(it)));
    }
    for it in notes(&receipt) {
        out.line(tr!("Note: {note}.", note = sanitize::line(&it)));
    }
    let (judges, checks) =
        (counted(receipt.judges.len() as u64, "judge"), counted(results.len() as u64, "check"));
    if !differences.is_empty() {
        let count = counted(differences.len() as u64, "difference");
        out.line(tr!("Not the same as loop {loop_id}: {count}.", loop_id = receipt.loop_id, count));
        return Ok(Exit::Ended);
    }
    let loop_id = &receipt.loop_id;
    out.line(if files.is_same_tree {
        tr!("Same as loop {loop_id}: the same tree, {judges} and {checks} compared.", loop_id, judges, checks)
    } else {
        tr!(
            "Same as loop {loop_id}: another tree, with the same changed files, {judges} and {checks} compared.",
            loop_id,
            judges,
            checks
        )
    });
    if !receipt.outcome.verified {
        out.line(tr!(
            "The loop itself was not verified: {sentence}.",
            sentence = sanitize::line(&receipt.outcome.sentence)
        ));
    }
    Ok(Exit::Done)
}

fn read(args: &Args) -> Result<Receipt, Failure> {
    let name = args.receipt.display();
    let hint = tr!("`loopkeeper receipt LOOP > receipt.md` writes one.");
    let unreadable =
        |error: std::io::Error| Failure::usage(tr!("cannot read {name}: {error}", name, error)).hint(hint);
    let metadata = std::fs::metadata(&args.receipt).map_err(unreadable)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(Failure::usage(tr!("{name} is not a receipt", name)).hint(hint));
    }
    let text = std::fs::read_to_string(&args.receipt).map_err(unreadable)?;
    parse(&text).map_err(|what| Failure::usage(format_args!("{name} {what}")).hint(hint))
}
