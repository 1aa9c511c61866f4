use crate::text::{is_one_of, one_line};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use std::cell::RefCell;
use std::time::{Duration, Instant};
use url::Url;

const LINKS: usize = 100;
const CHUNK: usize = 4096;
/// Pages can be built so that parsing takes quadratic time: by attributes of one tag, or by the depth of the tree.
const TIME_LIMIT: Duration = Duration::from_secs(3);

const HIDDEN_ELEMENTS: &[&str] =
    &["script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "select"];

const BLOCKS: &str = "address article aside blockquote body br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 \
    header hr li main nav ol p pre section table tr ul";

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PageText {
    pub title: Option<String>,
    pub text: String,
    pub links: Vec<(String, String)>,
    /// Whether parsing was stopped before the end.
    pub cut: bool,
}

/// Reads `html`; like a browser it never fails.
pub(crate) fn page_text(html: &str, base: &Url) -> PageText {
    let reader = Reader(RefCell::new(State::new(base)));
    let tokenizer = Tokenizer::new(reader, TokenizerOpts::default());
    let input = BufferQueue::default();
    let cut = feed(html, |chunk| {
        input.push_back(chunk);
        let _ = tokenizer.feed(&input);
    });
    tokenizer.end();
    let mut state = tokenizer.sink.0.into_inner();
    PageText {
        title: state.title.map(|title| one_line(&title)).filter(|title| !title.is_empty()),
        text: state.out.finish(),
        links: state.out.links,
        cut,
    }
}

/// Hands `html` over in pieces until the time is up; returns whether something is left.
pub(super) fn feed(html: &str, mut take: impl FnMut(StrTendril)) -> bool {
    let began = Instant::now();
    let mut rest = html;
    while !rest.is_empty() && began.elapsed() < TIME_LIMIT {
        let (chunk, after) = rest.split_at(rest.floor_char_boundary(CHUNK));
        rest = after;
        take(StrTendril::from(chunk));
    }
    !rest.is_empty()
}

struct Reader(RefCell<State>);

struct State {
    out: Writer,
    base: Url,
    title: Option<String>,
    in_title: bool,
    /// The hidden element that is open, and how deeply it is nested in itself.
    silent: Option<(String, usize)>,
}

impl State {
    fn new(base: &Url) -> Self {
        Self { out: Writer::default(), base: base.clone(), title: None, in_title: false, silent: None }
    }

    fn text(&mut self, text: &str) {
        if self.silent.is_some() {
            return;
        }
        match (&mut self.title, self.in_title) {
            (Some(title), true) => title.push_str(text),
            _ => self.out.text(text),
        }
    }

    fn open(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        if let Some((silent, depth)) = &mut self.silent {
            *depth += usize::from(silent == name);
        } else if HIDDEN_ELEMENTS.contains(&name) && !tag.self_closing {
            self.silent = Some((name.to_owned(), 1));
        } else if name == "title" && self.title.is_none() {
            (self.title, self.in_title) = (Some(String::new()), true);
        } else {
            let target = attribute(tag, "href").and_then(|href| self.base.join(href).ok());
            match (name, target) {
                ("base", Some(target)) => self.base = target,
                ("img", _) => self.out.text(attribute(tag, "alt").unwrap_or("")),
                (_, target) => self.out.open(name, target),
            }
        }
        match name {
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "iframe" | "noscript" | "xmp" | "noframes" | "noembed" => {
                TokenSinkResult::RawData(RawKind::Rawtext)
            }
            _ => TokenSinkResult::Continue,
        }
    }

    fn close(&mut self, name: &str) {
        if let Some((silent, depth)) = &mut self.silent {
            *depth -= usize::from(silent == name);
            if *depth == 0 {
                self.silent = None;
            }
        } else if name == "title" {
            self.in_title = false;
        } else {
            self.out.close(name);
        }
    }
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

#[derive(Default)]
struct Writer {
    lines: Vec<String>,
    line: String,
    space: bool,
    pre: usize,
    cells: usize,
    anchor: Option<(Option<Url>, String)>,
    links: Vec<(String, String)>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        if let Some((_, inner)) = &mut self.anchor {
            inner.push_str(text);
        }
        if self.pre > 0 {
            for (at, part) in text.split('\n').enumerate() {
                if at > 0 {
                    self.end_line();
                }
                self.line.push_str(part);
            }
            return;
        }
        for letter in text.chars() {
            if letter.is_whitespace() {
                self.space = true;
            } else {
                if self.space && !self.line.is_empty() {
                    self.line.push(' ');
                }
                self.space = false;
                self.line.push(letter);
            }
        }
    }

    fn open(&mut self, name: &str, target: Option<Url>) {
        if is_one_of(name, BLOCKS) {
            self.end_line();
        }
        match name {
            "pre" => self.pre += 1,
            "li" => self.line.push_str("- "),
            "tr" => self.cells = 0,
            "td" | "th" => {
                if self.cells > 0 {
                    self.line.push_str(" | ");
                }
                self.cells += 1;
                self.space = false;
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                self.lines.push(String::new());
                self.line.push_str(&"#".repeat(level));
                self.line.push(' ');
            }
            "a" => {
                // Links don't nest; a new one ends the one before.
                self.close("a");
                self.anchor = Some((target, String::new()));
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if is_one_of(name, BLOCKS) {
            self.end_line();
        }
        match name {
            "pre" => self.pre = self.pre.saturating_sub(1),
            "p" | "table" | "ul" | "ol" | "section" | "article" => self.lines.push(String::new()),
            "a" => {
                let Some((Some(url), text)) = self.anchor.take() else {
                    return;
                };
                let text = one_line(&text);
                let new = !self.links.iter().any(|(_, known)| *known == url.as_str());
                if matches!(url.scheme(), "http" | "https") && new && self.links.len() < LINKS {
                    self.links.push((text, url.into()));
                }
            }
            _ => {}
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_end();
        if !matches!(line, "" | "-") || self.pre > 0 {
            self.lines.push(line.to_owned());
        }
        self.space = false;
    }

    fn finish(&mut self) -> String {
        self.end_line();
        let mut text = String::new();
        for line in &self.lines {
            if line.is_empty() && (text.is_empty() || text.ends_with("\n\n")) {
                continue;
            }
            text.push_str(line);
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{TIME_LIMIT, page_text};
    use std::fmt::Write as _;
    use std::time::Instant;
    use url::Url;

    fn base() -> Url {
        Url::parse("https://example.org/a/b.html").unwrap()
    }

    #[test]
    fn title_text_and_links() {
        let page = page_text(
            "<html><head><title> A\n page </title><style>p{}</style></head><body>\
             <h1>Head</h1><script>no()</script><p>One <b>two</b>\n three.</p>\
             <ul><li>x</li><li><a href='../c?d=1'>the  c</a></li></ul>\
             <table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>\
             <pre>a\n  b</pre><a href='javascript:x()'>j</a></body>",
            &base(),
        );
        assert_eq!(page.title.as_deref(), Some("A page"));
        assert_eq!(page.text, "# Head\nOne two three.\n\n- x\n- the c\n\nk | v\n1 | 2\n\na\n  b\nj");
        assert_eq!(page.links, [("the c".to_owned(), "https://example.org/c?d=1".to_owned())]);
    }

    #[test]
    fn hostile_pages_do_no_harm() {
        let began = Instant::now();
        let deep = "<div>".repeat(400_000) + "x";
        let page = page_text(&deep, &base());
        assert!(page.cut || page.text == "x");
        let mut tag = String::from("<a ");
        for n in 0..300_000 {
            let _ = write!(tag, "a{n} ");
        }
        page_text(&tag, &base());
        page_text(&"<a href=x>y".repeat(150_000), &base());
        assert!(began.elapsed() < 4 * TIME_LIMIT, "{:?}", began.elapsed());
        assert_eq!(page_text("<script>a</b><svg><svg></svg>", &base()).text, "");
        assert_eq!(page_text("<title>a &amp; <b></title>&eacute;", &base()).title.as_deref(), Some("a & <b>"));
        assert_eq!(page_text("", &base()), super::PageText::default());
        assert_eq!(page_text("<<<>&&#0;</p><title>", &base()).title, None);
        assert_eq!(
            page_text("<base href='https://o.example/'><a href=q>w</a>", &base()).links[0].1,
            "https://o.example/q"
        );
    }
}
