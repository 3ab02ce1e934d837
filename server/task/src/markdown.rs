//! Converts a Markdown document to its outline: which blocks are criteria sections, and the content of their items.
//! Reads prompt documents and fix plans; in a plan, boxes are also plan items.

mod inline_list;
mod mentions;
#[cfg(test)]
mod tests;
mod unread;

use std::cell::OnceCell;

use loopkeeper_text::tr;

use super::blocks::{self, ListItem, MarkdownBlock};
use super::grammar::{self, ItemMode};
use super::item::InlineContent;
use super::may_change;
use super::outline::{CriterionOrigin, TaskOutline};
use super::phrases::{
    HeadingPhrase, ends_in_colon, exact_phrase, match_fallback, match_phrase, opens_usual_section,
};
use super::plan::{self, BoxState, OptionalHeadings};
use super::source::MarkdownSource;
use super::{ContextPath, DocumentKind, FindingCode, kind_of};
use super::{promise, promise_tag};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentRole {
    Prompt,
    Plan,
}

pub(super) fn parse_markdown(file: &str, text: &str, role: DocumentRole) -> TaskOutline {
    parse(file, text, (role, OptionalHeadings::default()))
}

/// `optional`: the titles of sections whose boxes do not keep a loop running, in the place of the usual ones.
pub(super) fn parse_plan(file: &str, text: &str, optional: Option<&[String]>) -> TaskOutline {
    parse(file, text, (DocumentRole::Plan, OptionalHeadings::titled(optional)))
}

fn parse<'a>(
    file: &str,
    text: &'a str,
    (role, headings): (DocumentRole, OptionalHeadings<'a>),
) -> TaskOutline {
    let source = MarkdownSource::new(text);
    let mut reader = MarkdownReader {
        source: &source,
        role,
        is_dash_begun: kind_of(file) == Some(DocumentKind::KiroTasks),
        out: TaskOutline::new(file),
        sections: Vec::new(),
        lists: Vec::new(),
        ended_list: None,
        lead: ListLead::None,
        headings,
        untitled: None,
        title: TitleState::default(),
        has_usual_phrase: OnceCell::new(),
        tables: Vec::new(),
    };
    promise::find_promise(&source, &mut reader.out);
    for block in blocks::parse_blocks(&source) {
        reader.handle_block(block);
    }
    reader.finish()
}

struct MarkdownReader<'a> {
    source: &'a MarkdownSource<'a>,
    role: DocumentRole,
    /// Whether `[-]` is an item that was begun, and not one that was given up.
    is_dash_begun: bool,
    out: TaskOutline,
    /// Criteria headings around the current position, outermost first.
    sections: Vec<CriteriaSection<'a>>,
    /// Lists around the current position, each with the kind of its items.
    lists: Vec<ListContext<'a>>,
    /// The content of the list that ended directly before: another marker begins another list in Markdown, and no
    /// author means that.
    ended_list: Option<ListContent>,
    /// What the previous block announced for a list directly after it.
    lead: ListLead<'a>,
    headings: OptionalHeadings<'a>,
    /// The previous block, if it is an item without a text of its own.
    untitled: Option<ListItem<'a>>,
    title: TitleState,
    /// Whether a section of the document has one of the usual headings. Determined at the first other one.
    has_usual_phrase: OnceCell<bool>,
    /// The tables of a plan, and whether they are under an optional heading.
    tables: Vec<(std::ops::Range<usize>, bool)>,
}

/// A heading that is a known phrase, up to the next one of its level.
struct CriteriaSection<'a> {
    level: u8,
    phrase: HeadingPhrase,
    heading: InlineContent<'a>,
    is_empty: bool,
    /// It says what to print when done: nothing more is expected of a section about stopping.
    has_promise: bool,
    /// Checks below it that are not in a list.
    unread: Vec<std::ops::Range<usize>>,
}

struct ListContext<'a> {
    content: ListContent,
    /// The paragraph that announced this very list.
    lead: Option<InlineContent<'a>>,
    is_empty: bool,
}

/// The meaning of the items of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListContent {
    Criteria(HeadingPhrase),
    /// Paths after `CONTEXT:`.
    Paths,
    /// Globs after `May change`.
    MayChange,
    Prose,
}

enum ListLead<'a> {
    None,
    Criteria(HeadingPhrase, InlineContent<'a>),
    Context,
    MayChange,
    /// A phrase without its colon: not a section, but nearly.
    NoColon(InlineContent<'a>),
}

#[derive(Default)]
enum TitleState {
    #[default]
    None,
    Heading(String),
    /// `OBJECTIVE:` with its text in the next paragraph.
    Awaited,
    Objective(String),
}

impl<'a> MarkdownReader<'a> {
    fn handle_block(&mut self, block: MarkdownBlock<'a>) {
        match block {
            MarkdownBlock::ListOpen => return self.open_list(),
            MarkdownBlock::ListClose | MarkdownBlock::Html(_) => {}
            MarkdownBlock::Item(_) => self.ended_list = None,
            MarkdownBlock::Fence(_) | MarkdownBlock::Indented(_) => self.drop_lead(),
            MarkdownBlock::Heading { .. }
            | MarkdownBlock::Paragraph(_)
            | MarkdownBlock::Table(_)
            | MarkdownBlock::Rule => {
                self.ended_list = None;
                self.drop_lead();
            }
        }
        let untitled = self.untitled.take();
        match block {
            MarkdownBlock::Heading { level, text } if self.lists.is_empty() => {
                self.handle_heading(level, text);
            }
            MarkdownBlock::Heading { text, .. } if untitled.is_some() && self.phrase().is_some() => {
                self.handle_item(ListItem { text: Some(text), ..untitled.unwrap_or_default() });
            }
            MarkdownBlock::Heading { text, .. } | MarkdownBlock::Paragraph(text) => {
                self.handle_paragraph(text);
            }
            MarkdownBlock::ListOpen => {}
            MarkdownBlock::ListClose => self.close_list(),
            MarkdownBlock::Item(item) => self.handle_item(item),
            MarkdownBlock::Html(range) => self.report_unclosed_html(range),
            MarkdownBlock::Fence(range) => {
                self.report_unclosed_fence(&range);
                if self.content() == ListContent::Criteria(HeadingPhrase::Validation) {
                    let fact = tr!("commands in a fenced block are never run. Write them as a list");
                    self.out.add_finding(FindingCode::NotACheck, tr!("Validation commands"), fact, range);
                }
            }
            MarkdownBlock::Indented(range) => self.handle_indented(range),
            MarkdownBlock::Table(range) => {
                self.note_unread(&range);
                if self.role == DocumentRole::Plan {
                    self.tables.push((range, self.headings.is_optional()));
                }
            }
            MarkdownBlock::Rule => {}
        }
    }

    fn handle_heading(&mut self, level: u8, text: InlineContent<'a>) {
        let plain = text.plain_text();
        // `### Task 2` of a plan is no part of `## Validation Commands` before it.
        let is_task = self.role == DocumentRole::Plan && is_task_heading(&plain);
        self.close_sections(if is_task { 1 } else { level });
        self.headings.enter(level, &plain);
        if !self.take_title(&text) && matches!(self.title, TitleState::None) {
            self.title = TitleState::Heading(plain.trim().to_owned());
        }
        if mentions::is_context(&plain) && ends_in_colon(&plain) {
            self.lead = ListLead::Context;
        } else if may_change::after_label(&plain) == Some("") {
            self.lead = ListLead::MayChange;
        } else if let Some(phrase) = self.phrase_of(&plain) {
            self.sections.push(CriteriaSection {
                level,
                phrase,
                heading: text,
                is_empty: true,
                has_promise: false,
                unread: Vec::new(),
            });
        }
    }

    /// Closes the sections that a heading of this level ends.
    fn close_sections(&mut self, level: u8) {
        while let Some(section) = self.sections.pop_if(|section| section.level >= level) {
            if section.is_empty && !(section.has_promise && is_about_stopping(&section.heading)) {
                let name = section.heading.plain_text();
                self.report_no_criteria(&name, section.heading.range.clone());
                continue;
            }
            for range in section.unread {
                self.report_unread(range);
            }
            if let Some(outer) = self.sections.last_mut() {
                outer.is_empty = false;
            }
        }
    }

    fn handle_paragraph(&mut self, text: InlineContent<'a>) {
        let plain = text.plain_text();
        if self.take_title(&text) {
            return;
        }
        if let Some(section) = self.sections.last_mut() {
            section.has_promise |= promise_tag::contains_promise(self.source.slice(&text.range));
        }
        if mentions::is_context(&plain) {
            self.add_context(mentions::after_colon(&text));
            self.lead = ListLead::Context;
        } else if may_change::after_label(&plain).is_some() {
            self.allow_changes(&text, ':');
            self.lead = ListLead::MayChange;
        } else if let Some(phrase) = self.phrase_of(&plain) {
            self.handle_lead_in(phrase, text, &plain);
        } else {
            self.note_unread(&text.range);
        }
    }

    fn phrase_of(&self, text: &str) -> Option<HeadingPhrase> {
        match_phrase(text).or_else(|| {
            match_fallback(text)
                .filter(|_| !*self.has_usual_phrase.get_or_init(|| has_usual_phrase(self.source)))
        })
    }

    /// A paragraph that begins with a phrase: announces a list, or contains one on its own line.
    fn handle_lead_in(&mut self, phrase: HeadingPhrase, text: InlineContent<'a>, plain: &str) {
        if ends_in_colon(plain) {
            self.lead = ListLead::Criteria(phrase, text);
        } else if let Some(list) = inline_list::parse_inline_list(self.source, &text) {
            let mode = mode_of(phrase);
            for item in &list.items {
                self.add_criterion(item, mode, CriterionOrigin::default());
            }
            let fix = self.lists.is_empty().then_some(list.fix);
            let fault =
                grammar::ItemFault::new(FindingCode::InlineList, tr!("criteria in one line"), &text.range)
                    .with_hint(tr!("Write them as a list"))
                    .with_fix(fix);
            self.out.add_fault(&list.name, fault);
            self.lead = ListLead::Criteria(phrase, text);
        } else if exact_phrase(plain).is_some() {
            self.lead = ListLead::NoColon(text);
        } else if self.phrase().is_some() {
            self.note_unread(&text.range);
        } else if self.contains_check(&text.range) {
            self.report_unread(text.range);
        }
    }

    /// Takes the title from a paragraph or heading that contains it.
    fn take_title(&mut self, text: &InlineContent<'_>) -> bool {
        let first_line = text.first_line();
        if matches!(self.title, TitleState::Awaited) {
            self.title = TitleState::Objective(first_line.trim().to_owned());
            return false;
        }
        let Some(objective) = strip_label(&first_line, "objective") else { return false };
        if !matches!(self.title, TitleState::Objective(_)) {
            let objective = objective.trim();
            let objective = if objective.is_empty() { text.second_line() } else { objective.to_owned() };
            let objective = objective.trim().to_owned();
            self.title =
                if objective.is_empty() { TitleState::Awaited } else { TitleState::Objective(objective) };
        }
        true
    }

    fn add_context(&mut self, paths: Vec<(String, std::ops::Range<usize>)>) {
        for (text, range) in paths {
            let place = self.out.place(range);
            self.out.context.push(ContextPath { text, place });
        }
    }

    /// Reads globs from the source, where `**` is no emphasis; those after `label`, if the text contains it.
    fn allow_changes(&mut self, text: &InlineContent<'_>, label: char) {
        let line = self.source.slice(&text.range);
        let line = line.split_once([label, '：']).map_or(line.as_ref(), |(_, rest)| rest);
        self.out.allow_changes(&may_change::globs(line), text.range.clone());
    }

    fn open_list(&mut self) {
        let inherited = self.ended_list.take().unwrap_or_else(|| self.content());
        let (content, lead) = match std::mem::replace(&mut self.lead, ListLead::None) {
            ListLead::Criteria(phrase, text) => (ListContent::Criteria(phrase), Some(text)),
            ListLead::Context => (ListContent::Paths, None),
            ListLead::MayChange => (ListContent::MayChange, None),
            ListLead::NoColon(text) if inherited == ListContent::Prose => {
                self.report_missing_colon(&text);
                (inherited, None)
            }
            ListLead::NoColon(_) | ListLead::None => (inherited, None),
        };
        self.lists.push(ListContext { content, lead, is_empty: true });
    }

    fn close_list(&mut self) {
        self.drop_lead();
        let Some(list) = self.lists.pop() else { return };
        self.ended_list = Some(list.content);
        if !list.is_empty {
            if let Some(outer) = self.lists.last_mut() {
                outer.is_empty = false;
            }
        } else if let Some(lead) = list.lead {
            self.report_no_criteria(&lead.plain_text(), lead.range);
        }
    }

    /// Drops a phrase with a colon and no list after it.
    fn drop_lead(&mut self) {
        if let ListLead::Criteria(_, text) = std::mem::replace(&mut self.lead, ListLead::None) {
            let plain = text.plain_text();
            if exact_phrase(&plain).is_some() && self.content() == ListContent::Prose {
                self.report_no_criteria(&plain, text.range);
            }
        }
    }

    /// The content of list items at the current position.
    fn content(&self) -> ListContent {
        match (self.lists.last(), self.sections.last()) {
            (Some(list), _) => list.content,
            (None, Some(section)) => ListContent::Criteria(section.phrase),
            (None, None) => ListContent::Prose,
        }
    }

    fn handle_item(&mut self, item: ListItem<'a>) {
        self.drop_lead();
        let Some(text) = item.text else {
            self.untitled = Some(item);
            return;
        };
        let plain = text.plain_text();
        if item.has_list && ends_in_colon(&plain) {
            self.lead = match self.phrase_of(&plain) {
                Some(phrase) => ListLead::Criteria(phrase, text.clone()),
                None if mentions::is_context(&plain) => ListLead::Context,
                None => ListLead::None,
            };
        }
        if is_blank_box(&plain) {
            return;
        }
        let marked = plan::marked_box(self.source, &text, self.is_dash_begun);
        let plain_box = BoxState { ticked: item.ticked, is_dropped: false };
        let (text, state) = marked.filter(|_| item.ticked.is_none()).unwrap_or((text, plain_box));
        match self.content() {
            ListContent::Criteria(phrase) => self.add_criterion_item(&text, phrase, state, item.has_list),
            ListContent::Paths => self.add_context(mentions::parse_list_item(&text)),
            ListContent::MayChange => self.allow_changes(&text, '\0'),
            ListContent::Prose => match (self.role, state.ticked) {
                (DocumentRole::Plan, Some(ticked)) => {
                    let optional = state.is_dropped || self.headings.is_optional();
                    plan::take_box(&mut self.out, &text, ticked, optional);
                }
                (DocumentRole::Plan, None) => plan::report_near_box(&mut self.out, self.source, &text),
                (DocumentRole::Prompt, _) => {}
            },
        }
    }

    fn add_criterion_item(
        &mut self,
        text: &InlineContent<'_>,
        phrase: HeadingPhrase,
        state: BoxState,
        has_list: bool,
    ) {
        let read = grammar::parse_item(text, mode_of(phrase));
        if has_list && !read.means_check() {
            return;
        }
        if read.check.is_none() && promise_tag::contains_promise(self.source.slice(&text.range)) {
            return;
        }
        let is_below_optional = self.role == DocumentRole::Plan && self.headings.is_optional();
        let (ticked, optional) = (state.ticked, state.is_dropped || is_below_optional);
        let plan = match (self.role, ticked) {
            (DocumentRole::Plan, Some(done)) => {
                Some(plan::push_item(&mut self.out, &read, text, done, optional))
            }
            _ => None,
        };
        self.mark_not_empty();
        self.out.add_item(read, text.range.clone(), CriterionOrigin { ticked, plan, optional });
    }

    fn add_criterion(&mut self, text: &InlineContent<'_>, mode: ItemMode, origin: CriterionOrigin) {
        if promise_tag::contains_promise(self.source.slice(&text.range)) || is_blank_box(&text.plain_text()) {
            return;
        }
        self.mark_not_empty();
        self.out.add_criterion(text, mode, origin);
    }

    fn mark_not_empty(&mut self) {
        if let Some(list) = self.lists.last_mut() {
            list.is_empty = false;
        }
        if let Some(section) = self.sections.last_mut() {
            section.is_empty = false;
        }
    }

    fn finish(mut self) -> TaskOutline {
        self.drop_lead();
        self.close_sections(0);
        // Beside boxes, a table is a summary of them.
        if self.out.plan.is_empty() {
            for (range, optional) in std::mem::take(&mut self.tables) {
                plan::take_table(&mut self.out, self.source, range, optional);
            }
        }
        self.out.title = match self.title {
            TitleState::Heading(title) | TitleState::Objective(title) => title,
            TitleState::None | TitleState::Awaited => String::new(),
        };
        self.out
    }
}

/// Whether a line of the document opens a section with one of the usual phrases.
fn has_usual_phrase(source: &MarkdownSource<'_>) -> bool {
    source.lines().any(|(_, line)| opens_usual_section(line))
}

fn mode_of(phrase: HeadingPhrase) -> ItemMode {
    match phrase {
        HeadingPhrase::Criteria => ItemMode::Criterion,
        HeadingPhrase::Validation => ItemMode::Validation,
    }
}

fn is_about_stopping(heading: &InlineContent<'_>) -> bool {
    heading.plain_text().to_lowercase().contains("stop condition")
}

/// The text after `label:`, in any case.
fn strip_label<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let line = line.trim_start();
    let (head, rest) = line.split_at_checked(label.len())?;
    if !head.eq_ignore_ascii_case(label) {
        return None;
    }
    rest.trim_start().strip_prefix([':', '：'])
}

/// "- [ ]" with nothing after it is not a box in Markdown.
fn is_blank_box(plain: &str) -> bool {
    matches!(plain.trim(), "" | "[ ]" | "[]" | "[x]" | "[X]")
}

/// `Task 1: …`, `Iteration 2a: …`
pub(super) fn is_task_heading(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let named =
        words.next().is_some_and(|it| ["task", "iteration"].contains(&it.to_ascii_lowercase().as_str()));
    named && words.next().is_some_and(|it| it.starts_with(|first: char| first.is_ascii_digit()))
}
