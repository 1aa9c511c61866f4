//! Texts of any encoding, and plain text in paragraphs.

use super::draft::Draft;
use super::error::Result;
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::collections::HashMap;
use steward_core::extracted::BlockKind;

const LOOKED_AT: usize = 64 << 10;
const DECLARED_WITHIN: usize = 2048;
/// Most letters of a heading that is underlined.
const HEADING_CHARS: usize = 200;

pub(super) struct Decoded {
    pub text: String,
    /// It was neither marked nor valid UTF-8, so what it is was guessed.
    pub guessed: bool,
}

/// `None` if it is no text.
pub(super) fn decode(bytes: Vec<u8>) -> Option<Decoded> {
    if let Some((encoding, mark)) = Encoding::for_bom(&bytes) {
        let text = match encoding.decode_without_bom_handling(&bytes[mark..]) {
            (_, true) if encoding == encoding_rs::UTF_8 => return guess(&bytes[mark..]),
            (text, _) => text.into_owned(),
        };
        return is_text(&text).then_some(Decoded { text, guessed: false });
    }
    match String::from_utf8(bytes) {
        Ok(text) if is_text(&text) => Some(Decoded { text, guessed: false }),
        Ok(text) => guess(text.as_bytes()),
        Err(error) => guess(error.as_bytes()),
    }
}

fn guess(bytes: &[u8]) -> Option<Decoded> {
    if let Some(encoding) = declared(bytes) {
        let text = encoding.decode_without_bom_handling(bytes).0.into_owned();
        return is_text(&text).then_some(Decoded { text, guessed: false });
    }
    let encoding = unmarked_utf_16(bytes).unwrap_or(WINDOWS_1252);
    let text = encoding.decode_without_bom_handling(bytes).0.into_owned();
    is_text(&text).then_some(Decoded { text, guessed: true })
}

/// The encoding that a page or XML says it has.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]).to_ascii_lowercase();
    let head = head.trim_start().strip_prefix('<')?;
    let (_, rest) = head.split_once("charset=").or_else(|| head.split_once("encoding="))?;
    let label = rest.trim_start_matches(['"', '\'', ' ']);
    let end =
        label.find(|letter: char| !letter.is_ascii_alphanumeric() && !"-_:.".contains(letter)).unwrap_or(label.len());
    Encoding::for_label(&label.as_bytes()[..end]).filter(|encoding| *encoding != encoding_rs::UTF_8)
}

/// Of Western texts nearly every second byte is zero.
fn unmarked_utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let some = &bytes[..bytes.len().min(LOOKED_AT) & !1];
    let zeros = |odd: usize| some.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), some.len() / 2);
    if pairs > 0 && odd * 10 > pairs * 7 && even * 20 < pairs {
        Some(UTF_16LE)
    } else if pairs > 0 && even * 10 > pairs * 7 && odd * 20 < pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Control characters are rare in texts; formatting of terminals is the exception.
fn is_text(text: &str) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for letter in text.chars().take(LOOKED_AT) {
        all += 1;
        let known = matches!(letter, '\t' | '\n' | '\r' | '\x0c' | '\x08' | '\x1b');
        odd += usize::from(letter.is_control() && !known || letter == '\u{fffd}');
        if letter == '\0' {
            odd += 20;
        }
    }
    odd * 50 <= all
}

/// Paragraphs, with the lines as they are; form feeds separate pages, and underlined lines are headings.
pub(super) fn plain(text: &str, draft: &mut Draft<'_>) -> Result<()> {
    let mut levels = HashMap::new();
    for page in text.split('\x0c') {
        if page.trim().is_empty() {
            continue;
        }
        draft.page(None)?;
        let mut lines: Vec<&str> = Vec::new();
        for line in page.lines() {
            let line = line.trim_end();
            if line.is_empty() {
                draft.paragraph(&lines.join("\n"))?;
                lines.clear();
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

/// A whole text as it is.
pub(super) fn code(text: &str, draft: &mut Draft<'_>) -> Result<()> {
    draft.page(None)?;
    draft.block(BlockKind::Code, text)
}
