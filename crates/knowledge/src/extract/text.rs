//! Plain text in paragraphs.

use super::draft::Draft;
use super::error::Result;
use super::unmarked_heading::unmarked_heading;
use std::collections::{BTreeSet, HashMap};
use steward_core::extracted::BlockKind;

/// Most letters of a heading that is underlined.
const HEADING_CHARS: usize = 200;

/// The text with line feeds between its lines, also where it has carriage returns alone.
pub(super) fn with_line_feeds(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

/// With line feeds in place of what else parts lines in Unicode.
fn with_plain_lines(text: &str) -> String {
    with_line_feeds(text.replace(['\u{85}', '\u{b}', '\u{2028}'], "\n").replace('\u{2029}', "\n\n"))
}

/// Paragraphs, with the lines as they are; form feeds separate pages, and underlined lines are headings.
pub(super) fn plain(text: &str, draft: &mut Draft<'_>) -> Result<()> {
    let text = with_plain_lines(text);
    let (mut levels, mut unmarked) = (HashMap::new(), BTreeSet::new());
    for page in text.split('\x0c') {
        if page.trim().is_empty() {
            continue;
        }
        draft.page(None)?;
        let mut lines: Vec<&str> = Vec::new();
        let mut rest = page.lines().peekable();
        while let Some(line) = rest.next() {
            let line = line.trim_end();
            if line.is_empty() {
                draft.paragraph(&lines.join("\n"))?;
                lines.clear();
                continue;
            }
            let next = rest.peek().copied();
            if lines.is_empty()
                && next.is_none_or(|next| underline(next.trim_end()).is_none())
                && let Some(kind) = unmarked_heading(line, next)
            {
                unmarked.insert(kind);
                // Below headings with a mark, and below the kinds that stand above it.
                let above = unmarked.iter().take_while(|one| **one < kind).count();
                draft.heading(levels.len() + above + 1, line.trim())?;
                continue;
            }
            match (lines.as_slice(), underline(line)) {
                ([heading], Some(mark)) if is_underlined(heading, line) => {
                    let next = levels.len() + 1;
                    let level = *levels.entry(mark).or_insert(next);
                    let heading = (*heading).to_owned();
                    lines.clear();
                    draft.heading(level, &heading)?;
                }
                // A heading may have a line above it too.
                ([], Some(_)) => {}
                _ => lines.push(line),
            }
        }
        draft.paragraph(&lines.join("\n"))?;
    }
    Ok(())
}

/// Paragraphs of lines that stay as they are.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    let text = with_plain_lines(text);
    let mut all = vec![Vec::new()];
    for line in text.lines().map(str::trim_end) {
        match all.last_mut() {
            Some(last) if !line.is_empty() => last.push(line),
            _ => all.push(Vec::new()),
        }
    }
    all.iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect()
}

fn underline(line: &str) -> Option<char> {
    let mut letters = line.chars();
    let first = letters.next().filter(|letter| "=-~^#*+\"'`".contains(*letter))?;
    (letters.all(|letter| letter == first) && line.len() >= 3).then_some(first)
}

fn is_underlined(heading: &str, line: &str) -> bool {
    let (above, below) = (heading.chars().count(), line.chars().count());
    above <= HEADING_CHARS && !heading.starts_with(char::is_whitespace) && below + 1 >= above && below <= above + 6
}

/// Whether `word` is one of the words of `list`, which has blanks between them.
pub(super) fn is_one_of(word: &str, list: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// What the name of a file ends with after the last point, in lower case.
pub(super) fn extension(name: &str) -> Option<String> {
    let file = name.rsplit(['/', '\\']).next()?;
    let (stem, extension) = file.rsplit_once('.')?;
    (!stem.is_empty()).then(|| extension.to_ascii_lowercase())
}

/// A whole text as it is.
pub(super) fn code(text: &str, draft: &mut Draft<'_>) -> Result<()> {
    draft.page(None)?;
    draft.block(BlockKind::Code, text)
}
