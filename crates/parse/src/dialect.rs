//! How open models write calls as text. A [`Rule`] says how a block opens, ends and is read, for `grammar::dialects`.

mod call;
pub(crate) mod harmony;
mod json_blocks;
mod markers;
mod python;
mod xml_blocks;

pub(crate) use call::{Cx, json_calls, looks_like_call, name_within};
pub(crate) use markers::Scan as MarkerScan;
pub(crate) use python::{is_python_list, python_calls};

/// All rules, in no particular order: the longest opening that fits wins.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    [harmony::RULES, &harmony::NOISE_RULES, markers::RULES, json_blocks::RULES, xml_blocks::RULES, python::RULES]
        .into_iter()
        .flatten()
}

/// What a rule is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Reasoning in the content, and left-over tokens that mean nothing to a reader.
    Wrapper,
    /// `[TOOL:name|key=value]`.
    Marker,
    /// A family's own form of calls.
    Own,
    /// The same of Command R, which has a word for answering without a tool.
    CommandR,
}

/// Whether a text goes on as its opening promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    Yes,
    No,
    More,
}

pub(crate) enum Body {
    /// Reasoning up to one of these.
    Thought(&'static [&'static str]),
    Drop,
    /// Something that only a server writes: the model makes up a result. Nothing after it counts.
    Stop,
    /// The header of a harmony message.
    Harmony,
    /// The model says that it has finished.
    Done,
    Calls(Calls),
    Marker(Calls),
}

pub(crate) struct Calls {
    /// What closes the block; empty: the end of its last JSON value.
    pub close: &'static [&'static str],
    /// Whether JSON in it is scanned, so that a closing inside a string does not count.
    pub json: bool,
    /// Whether a header may stand in front of the JSON.
    pub head: bool,
    /// Whether the text after the opening is what that promises. More text does not change the answer.
    pub begins: fn(&str, &Cx<'_>, bool) -> Begin,
    /// Whether `body` may end where a closing was found.
    pub ends: fn(&str) -> bool,
    /// Reads the text between opening and closing.
    pub read: fn(&str, &mut Cx<'_>),
    /// Whether that text includes the opening.
    pub keep_open: bool,
}

pub(crate) struct Rule {
    pub dialect: Dialect,
    pub open: &'static str,
    pub body: Body,
}

pub(crate) fn any(_: &str, _: &Cx<'_>, _: bool) -> Begin {
    Begin::Yes
}

/// Whether the first character after blanks is one that `fits`.
pub(crate) fn first(text: &str, end: bool, fits: impl Fn(char) -> bool) -> Begin {
    match text.trim_start().chars().next() {
        Some(c) if fits(c) => Begin::Yes,
        None if !end => Begin::More,
        _ => Begin::No,
    }
}

pub(crate) fn json(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    first(text, end, |c| matches!(c, '{' | '[' | '`'))
}

fn tag(text: &str, _: &Cx<'_>, end: bool) -> Begin {
    first(text, end, |c| c == '<')
}

pub(crate) fn always(_: &str) -> bool {
    true
}

impl Calls {
    const fn new(
        close: &'static [&'static str],
        begins: fn(&str, &Cx<'_>, bool) -> Begin,
        read: fn(&str, &mut Cx<'_>),
    ) -> Self {
        Self { close, json: false, head: false, begins, ends: always, read, keep_open: false }
    }
}

const fn rule(open: &'static str, calls: Calls) -> Rule {
    Rule { dialect: Dialect::Own, open, body: Body::Calls(calls) }
}

const fn json_rule(open: &'static str, close: &'static [&'static str]) -> Rule {
    rule(open, Calls { json: true, ..Calls::new(close, json, call::read_json) })
}

/// A block whose text includes the opening.
const fn whole_rule(
    open: &'static str,
    close: &'static [&'static str],
    begins: fn(&str, &Cx<'_>, bool) -> Begin,
    read: fn(&str, &mut Cx<'_>),
) -> Rule {
    rule(open, Calls { keep_open: true, ..Calls::new(close, begins, read) })
}

const fn text_rule(
    open: &'static str,
    close: &'static [&'static str],
    begins: fn(&str, &Cx<'_>, bool) -> Begin,
    read: fn(&str, &mut Cx<'_>),
) -> Rule {
    rule(open, Calls::new(close, begins, read))
}

/// Longest name that is waited for.
const LONGEST: usize = 96;

/// Whether JSON, a tag, a fence, or the name of a known tool follows.
fn json_or_name(text: &str, cx: &Cx<'_>, end: bool) -> Begin {
    let text = text.trim_start();
    match text.chars().next() {
        None => return if end { Begin::No } else { Begin::More },
        Some('{' | '[' | '<' | '`') => return Begin::Yes,
        Some(c) if c.is_alphabetic() || c == '_' => {}
        Some(_) => return Begin::No,
    }
    let inside = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let Some(len) = text.find(|c| !inside(c)) else {
        return match (end, text.len() > LONGEST) {
            (true, false) if cx.tools.resolve_call(text, None).is_some() => Begin::Yes,
            (false, false) => Begin::More,
            _ => Begin::No,
        };
    };
    // A name that is too long to wait for is too long when it comes at once, too.
    let known = len <= LONGEST && (&text[..len] == "call" || cx.tools.resolve_call(&text[..len], None).is_some());
    let goes_on = text[len..].starts_with(['\n', '\r', '<', '(', '{', ':', ' ']);
    if known && goes_on { Begin::Yes } else { Begin::No }
}
