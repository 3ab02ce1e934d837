//! Flattens Markdown to a list of the relevant blocks, with every byte range in the original text. The list is flat
//! because the author chooses the nesting, and recursion would let a document overflow the stack.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, OffsetIter, Options, Parser, Tag, TagEnd};

use super::item::{InlineContent, InlinePiece, PieceKind};
use super::source::MarkdownSource;

/// The extensions of `CommonMark` that task documents use.
pub(super) const MARKDOWN_OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_TASKLISTS).union(Options::ENABLE_STRIKETHROUGH);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum MarkdownBlock<'a> {
    Heading {
        level: u8,
        text: InlineContent<'a>,
    },
    Paragraph(InlineContent<'a>),
    ListOpen,
    ListClose,
    Item(ListItem<'a>),
    Fence(Range<usize>),
    /// An indented code block.
    Indented(Range<usize>),
    Table(Range<usize>),
    Html(Range<usize>),
    /// A thematic break: separates a list from the paragraph that introduces it.
    Rule,
}

/// A list item with its own first paragraph; nested content follows as separate blocks.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ListItem<'a> {
    pub(super) ticked: Option<bool>,
    pub(super) text: Option<InlineContent<'a>>,
    pub(super) has_list: bool,
}

pub(super) fn parse_blocks<'a>(source: &'a MarkdownSource<'a>) -> Vec<MarkdownBlock<'a>> {
    let mut builder =
        BlockBuilder { source, blocks: Vec::new(), open: Vec::new(), inline: None, skipping: 0 };
    let events: OffsetIter<'_> = Parser::new_ext(source.spread(), MARKDOWN_OPTIONS).into_offset_iter();
    for (event, range) in events {
        builder.handle_event(event, source.original(range));
    }
    builder.blocks
}

struct BlockBuilder<'a> {
    source: &'a MarkdownSource<'a>,
    blocks: Vec<MarkdownBlock<'a>>,
    /// Lists and items around the current position; an item by its index in `blocks`.
    open: Vec<OpenContainer>,
    inline: Option<InlineContent<'a>>,
    /// Depth inside a block whose text is ignored.
    skipping: usize,
}

#[derive(Debug, Clone, Copy)]
enum OpenContainer {
    List,
    Item(usize),
}

impl<'a> BlockBuilder<'a> {
    fn handle_event(&mut self, event: Event<'a>, range: Range<usize>) {
        if self.skipping > 0 {
            match event {
                Event::Start(_) => self.skipping += 1,
                Event::End(_) => self.skipping -= 1,
                _ => {}
            }
            return;
        }
        match event {
            Event::Start(tag) => self.start(&tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(text, range),
            Event::Code(code) => self.code(code, range),
            Event::SoftBreak | Event::HardBreak => self.piece(PieceKind::Break, " ".into(), range),
            Event::InlineHtml(_) => self.extend_range(&range),
            Event::TaskListMarker(ticked) => self.tick(ticked),
            Event::Rule => self.block(MarkdownBlock::Rule),
            Event::Html(_) | Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::Heading { .. } => {
                self.flush();
                self.inline = Some(InlineContent::default());
            }
            Tag::List(_) => {
                self.flush();
                if let Some(item) = self.open_item() {
                    item.has_list = true;
                }
                self.blocks.push(MarkdownBlock::ListOpen);
                self.open.push(OpenContainer::List);
            }
            Tag::Item => {
                self.flush();
                self.open.push(OpenContainer::Item(self.blocks.len()));
                self.blocks.push(MarkdownBlock::Item(ListItem::default()));
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => self.skip(Some(MarkdownBlock::Fence(range))),
            Tag::CodeBlock(CodeBlockKind::Indented) => self.skip(Some(MarkdownBlock::Indented(range))),
            Tag::Table(_) => self.skip(Some(MarkdownBlock::Table(range))),
            Tag::HtmlBlock => self.skip(Some(MarkdownBlock::Html(range))),
            Tag::MetadataBlock(_) => self.skip(None),
            Tag::BlockQuote(_) => self.flush(),
            Tag::Link { dest_url, .. } => {
                self.extend_range(&range);
                let dest = dest_url.to_string();
                self.inline().link.get_or_insert(dest);
            }
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Image { .. } => self.extend_range(&range),
            // Not enabled.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Superscript
            | Tag::Subscript => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let text = self.inline.take().unwrap_or_default();
                self.blocks.push(MarkdownBlock::Heading { level: level as u8, text });
            }
            TagEnd::Paragraph => self.flush(),
            TagEnd::Item => {
                self.flush();
                self.open.pop();
            }
            TagEnd::List(_) => {
                self.flush();
                self.open.pop();
                self.blocks.push(MarkdownBlock::ListClose);
            }
            _ => {}
        }
    }

    fn text(&mut self, text: CowStr<'a>, range: Range<usize>) {
        let slice = self.source.slice(&range);
        let escaped = slice.starts_with('`') && self.source.is_escaped(range.start);
        let literal = if escaped { slice.get(1..).unwrap_or_default() } else { slice };
        if let Some(at) = literal.find('`') {
            let at = range.start + at + usize::from(escaped);
            self.inline().stray.get_or_insert(at..at + 1);
        }
        self.piece(PieceKind::Text, text, range);
    }

    fn code(&mut self, code: CowStr<'a>, range: Range<usize>) {
        let is_torn = self.source.slice(&range).contains(['\n', '\r']);
        self.piece(if is_torn { PieceKind::TornCode } else { PieceKind::Code }, code, range);
    }

    fn piece(&mut self, kind: PieceKind, text: CowStr<'a>, range: Range<usize>) {
        self.extend_range(&range);
        let text = match text {
            CowStr::Borrowed(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.into_string()),
        };
        self.inline().pieces.push(InlinePiece { kind, text, range });
    }

    /// Markup belongs to the paragraph's range although it is not one of its pieces.
    fn extend_range(&mut self, range: &Range<usize>) {
        let inline = self.inline();
        if inline.range.is_empty() {
            inline.range = range.clone();
        } else {
            inline.range.start = inline.range.start.min(range.start);
            inline.range.end = inline.range.end.max(range.end);
        }
    }

    /// The paragraph being read. The text of a tight item has no paragraph around it.
    fn inline(&mut self) -> &mut InlineContent<'a> {
        self.inline.get_or_insert_default()
    }

    fn tick(&mut self, ticked: bool) {
        if let Some(item) = self.open_item() {
            item.ticked = Some(ticked);
        }
    }

    fn open_item(&mut self) -> Option<&mut ListItem<'a>> {
        let Some(OpenContainer::Item(index)) = self.open.last() else { return None };
        match self.blocks.get_mut(*index) {
            Some(MarkdownBlock::Item(item)) => Some(item),
            _ => None,
        }
    }

    fn flush(&mut self) {
        let Some(inline) = self.inline.take().filter(|inline| !inline.pieces.is_empty()) else { return };
        match self.open_item() {
            Some(item) if item.text.is_none() && !item.has_list => item.text = Some(inline),
            _ => self.blocks.push(MarkdownBlock::Paragraph(inline)),
        }
    }

    fn skip(&mut self, block: Option<MarkdownBlock<'a>>) {
        self.flush();
        self.blocks.extend(block);
        self.skipping = 1;
    }

    fn block(&mut self, block: MarkdownBlock<'a>) {
        self.flush();
        self.blocks.push(block);
    }
}
