//! The readable text of a page: headings, paragraphs, lists, tables, code. What is there to move around a site, and what
//! runs, is left out. Only tags are looked at, no tree is built, so the time is linear and nothing nests too deeply.

mod embedded;
mod reversed;
mod struck;
mod writer;

use super::draft::Draft;
use super::error::Result;
use super::text::is_one_of;
use embedded::Embedded;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use std::cell::RefCell;
use steward_core::extracted::Block;
use struck::Struck;
use writer::Writer;

const CHUNK: usize = 4096;
/// A main part with fewer letters is not taken for all there is to read.
const MAIN_LETTERS: usize = 200;

/// Never shown as text.
const HIDDEN: &[&str] = &[
    "script", "style", "noscript", "template", "iframe", "object", "canvas", "button", "audio", "video", "dialog",
    "datalist",
];
/// For moving around, as elements, roles, and beginnings of classes and ids.
const NAVIGATION: &[&str] = &["nav", "footer"];
const NAVIGATION_ROLES: &[&str] = &["navigation", "banner", "contentinfo", "search", "menu", "menubar", "doc-toc"];
const NAVIGATION_NAMES: &[&str] =
    &["nav", "sidebar", "sphinxsidebar", "breadcrumb", "footer", "headerlink", "skip-link", "toc", "related", "menu"];
/// They have no end, so nothing is within them.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

/// Adds what `html` says to the last page. Like a browser, it takes anything.
pub(super) fn read(html: &str, draft: &mut Draft<'_>) -> Result<Option<String>> {
    let (mut title, mut blocks) = parse(html, true);
    if blocks.is_empty() {
        (title, blocks) = parse(html, false);
    }
    for block in &blocks {
        draft.block(block.kind, &block.text)?;
    }
    Ok(title)
}

/// The title and the text of a page.
fn parse(html: &str, without_navigation: bool) -> (Option<String>, Vec<Block>) {
    let reversed = reversed::count_items(html).into_iter();
    let reader = Reader(RefCell::new(State { reversed, without_navigation, ..State::default() }));
    let mut state = tokenize(html, reader).0.into_inner();
    state.end_embedded();
    let (blocks, is_main) = state.writer.finish();
    let letters = |main: bool| -> usize {
        blocks.iter().zip(&is_main).filter(|(_, is_main)| !main || **is_main).map(|(block, _)| block.text.len()).sum()
    };
    let only_main = without_navigation && letters(true) >= MAIN_LETTERS;
    let kept = blocks.into_iter().zip(is_main).filter(|(_, main)| *main || !only_main);
    (state.title, kept.map(|(block, _)| block).collect())
}

/// Hands the tags and texts of a page to a sink.
fn tokenize<S: TokenSink>(html: &str, sink: S) -> S {
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = html;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHUNK));
        rest = after;
        input.push_back(StrTendril::from(chunk));
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    tokenizer.sink
}

/// How the text within an element is to be taken.
fn content_of<H>(name: &str) -> TokenSinkResult<H> {
    match name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "iframe" | "noscript" | "xmp" | "noframes" | "noembed" => TokenSinkResult::RawData(RawKind::Rawtext),
        _ => TokenSinkResult::Continue,
    }
}

struct Reader(RefCell<State>);

/// An element that is open, and how often one of its name is open within it.
struct Span {
    name: String,
    depth: usize,
}

impl Span {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), depth: 1 }
    }

    /// Whether it is still open after a tag of this name.
    fn is_open_after(&mut self, name: &str, opens: bool) -> bool {
        if self.name == name {
            self.depth = if opens { self.depth + 1 } else { self.depth - 1 };
        }
        self.depth > 0
    }
}

#[derive(Default)]
struct State {
    writer: Writer,
    struck: Struck,
    /// How many items each list that counts down has.
    reversed: std::vec::IntoIter<u32>,
    title: Option<String>,
    in_title: bool,
    /// Within a link to a note.
    in_note_mark: bool,
    silent: Option<Span>,
    embedded: Option<Embedded>,
    main: Option<Span>,
    without_navigation: bool,
}

impl State {
    fn text(&mut self, text: &str) {
        if let Some(silent) = &self.silent {
            if silent.name == "style" {
                self.struck.add_style(text);
            }
            return;
        }
        if let Some(embedded) = &mut self.embedded {
            embedded.add(text);
            return;
        }
        match (&mut self.title, self.in_title) {
            (Some(title), true) => title.push_str(text),
            _ => self.writer.text(text),
        }
    }

    fn open(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        let is_void = VOID.contains(&name);
        let is_reversed = reversed::is_reversed(tag);
        let items = if is_reversed { self.reversed.next() } else { None };
        if self.embedded.as_mut().is_some_and(|embedded| !embedded.open(tag)) {
            self.end_embedded();
        }
        if self.embedded.is_some() {
        } else if let Some(silent) = &mut self.silent {
            if !is_void {
                silent.is_open_after(name, true);
            }
        } else if !is_void && !tag.self_closing && self.is_left_out(tag) {
            self.writer.flush();
            self.silent = Some(Span::new(name));
        } else if let Some(embedded) = Embedded::begin(tag).filter(|_| !tag.self_closing) {
            self.embedded = Some(embedded);
        } else if name == "title" && self.title.is_none() {
            (self.title, self.in_title) = (Some(String::new()), true);
        } else {
            self.begin_main(tag);
            (0..self.struck.open_tag(name)).for_each(|_| self.writer.strike(false));
            if !is_void && !tag.self_closing && self.struck.begin(tag) {
                self.writer.strike(true);
            }
            match name {
                "img" => {
                    let alt = attribute(tag, "alt").map(str::trim).filter(|alt| !alt.is_empty());
                    if let Some(alt) = alt {
                        self.writer.text(&format!(" {alt} "));
                    }
                }
                "input" => self.writer.text(&input_text(tag)),
                "a" if is_note_mark(tag) => {
                    self.in_note_mark = true;
                    self.writer.raise(true);
                }
                "td" | "th" => self.writer.open_cell(name, span(tag, "colspan"), span(tag, "rowspan")),
                "ol" => {
                    let start = attribute(tag, "start").and_then(|start| start.parse().ok()).or(items).unwrap_or(1);
                    self.writer.open_list(Some((attribute(tag, "type").unwrap_or("1"), start, is_reversed)));
                }
                "ul" => self.writer.open_list(None),
                "li" => self.writer.open_item(attribute(tag, "value").and_then(|value| value.parse().ok())),
                _ => self.writer.open(name),
            }
        }
        content_of(name)
    }

    fn end_embedded(&mut self) {
        if let Some(embedded) = self.embedded.take() {
            self.writer.text(&embedded.write());
        }
    }

    fn begin_main(&mut self, tag: &Tag) {
        if let Some(main) = &mut self.main {
            main.is_open_after(&tag.name, true);
        } else if &*tag.name == "main" || attribute(tag, "role") == Some("main") {
            self.writer.flush();
            self.main = Some(Span::new(&tag.name));
            self.writer.in_main = true;
        }
    }

    fn is_left_out(&self, tag: &Tag) -> bool {
        let name: &str = &tag.name;
        if HIDDEN.contains(&name) || attribute(tag, "hidden").is_some() || attribute(tag, "aria-hidden") == Some("true")
        {
            return true;
        }
        if !self.without_navigation || matches!(name, "html" | "body" | "main") {
            return false;
        }
        let named = |text: &str| {
            text.split_ascii_whitespace().any(|word| NAVIGATION_NAMES.iter().any(|known| is_of(word, known)))
        };
        NAVIGATION.contains(&name)
            || attribute(tag, "role").is_some_and(|role| NAVIGATION_ROLES.contains(&role))
            || ["class", "id"].iter().any(|which| attribute(tag, which).is_some_and(named))
    }

    fn close(&mut self, name: &str) {
        if let Some(embedded) = &mut self.embedded {
            if embedded.close(name) {
                self.end_embedded();
            }
            return;
        }
        if let Some(silent) = &mut self.silent {
            if !silent.is_open_after(name, false) {
                self.silent = None;
                self.struck.end_style();
            }
            return;
        }
        if name == "title" {
            self.in_title = false;
        } else if name == "a" && std::mem::take(&mut self.in_note_mark) {
            self.writer.raise(false);
        } else {
            self.writer.close(name);
        }
        (0..self.struck.close_tag(name)).for_each(|_| self.writer.strike(false));
        if let Some(main) = &mut self.main
            && !main.is_open_after(name, false)
        {
            self.writer.flush();
            self.main = None;
            self.writer.in_main = false;
        }
    }
}

/// What a field of a form shows.
fn input_text(tag: &Tag) -> String {
    let kind = attribute(tag, "type").unwrap_or("text").to_ascii_lowercase();
    match kind.as_str() {
        "checkbox" | "radio" if attribute(tag, "checked").is_some() => " ☒ ".to_owned(),
        "checkbox" | "radio" => " ☐ ".to_owned(),
        "hidden" | "password" | "file" | "image" | "submit" | "reset" | "button" => String::new(),
        _ => attribute(tag, "value").map(|value| format!(" {value} ")).unwrap_or_default(),
    }
}

/// How many columns or rows a cell covers; 0: all the rows that come.
fn span(tag: &Tag, name: &str) -> usize {
    let count = attribute(tag, name).and_then(|count| count.trim().parse().ok());
    match count {
        Some(0) if name == "rowspan" => usize::MAX,
        count => count.unwrap_or(1),
    }
}

/// `navheader` and `nav-top` are of `nav`; `navy` and `tocqueville` are not.
fn is_of(word: &str, known: &str) -> bool {
    let Some(rest) =
        word.get(..known.len()).filter(|head| head.eq_ignore_ascii_case(known)).map(|_| &word[known.len()..])
    else {
        return false;
    };
    let rest = rest.trim_start_matches(['-', '_']);
    rest.is_empty()
        || [
            "s", "bar", "header", "footer", "menu", "links", "list", "igation", "top", "bottom", "wrapper", "tree",
            "s-nav",
        ]
        .contains(&rest)
}

/// Whether a link leads to a note: its text is the note's mark.
fn is_note_mark(tag: &Tag) -> bool {
    let has = |name: &str, kind: &str| attribute(tag, name).is_some_and(|kinds| is_one_of(kind, kinds));
    has("epub:type", "noteref") || has("role", "doc-noteref")
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    let found = tag.attrs.iter().find(|one| &*one.name.local == name);
    found.map(|one| &*one.value)
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut state = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => state.text(&text),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return state.open(&tag),
            Token::TagToken(tag) => state.close(&tag.name),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}
