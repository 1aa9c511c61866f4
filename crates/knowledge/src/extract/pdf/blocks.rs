//! Rows become headings, paragraphs, items of lists, code and tables.

use super::super::table::markdown;
use super::lines::{LEADER, Row};
use super::spans::{Rule, Turn};
use super::tables;
use std::collections::HashMap;

/// A heading is so much larger than the text, or bold.
const LARGER: f32 = 1.12;
const HEADING_ROWS: usize = 3;
const HEADING_CHARS: usize = 200;
const BOLD_CHARS: usize = 120;

pub(super) enum Kind {
    Heading { size: f32, bold: bool },
    Paragraph,
    ListItem,
    Table,
    Code,
}

/// A block, and where it stands on a page that is turned so that its text is upright.
pub(super) struct Piece {
    pub kind: Kind,
    pub text: String,
    pub x0: f32,
    pub y0: f32,
    pub x1: f32,
    pub y1: f32,
    pub turn: Turn,
}

/// What most text of a document looks like.
pub(super) struct Body {
    size: f32,
    is_mono: bool,
}

impl Body {
    pub fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Self {
        let (mut sizes, mut mono, mut all): (HashMap<i32, usize>, usize, usize) = Default::default();
        for row in rows {
            let letters = row.letters();
            all += letters;
            if row.is_mono() {
                mono += letters;
            } else {
                *sizes.entry(halves(row.size)).or_default() += letters;
            }
        }
        let size = sizes.into_iter().max_by_key(|(size, letters)| (*letters, *size)).map_or(20, |(size, _)| size);
        Self { size: f32::from(i16::try_from(size).unwrap_or(20)) / 2.0, is_mono: mono * 10 > all * 8 }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "points on a page")]
fn halves(size: f32) -> i32 {
    (size * 2.0).round() as i32
}

/// The levels of headings by how they look.
pub(super) struct Levels(Vec<(i32, bool)>);

pub(super) fn levels<'p>(pieces: impl Iterator<Item = &'p Piece>) -> Levels {
    let mut looks: Vec<(i32, bool)> = pieces
        .filter_map(|piece| match piece.kind {
            Kind::Heading { size, bold } => Some((halves(size), bold)),
            _ => None,
        })
        .collect();
    looks.sort_unstable();
    looks.dedup();
    looks.reverse();
    Levels(looks)
}

impl Levels {
    pub fn of(&self, size: f32, bold: bool) -> u8 {
        let place = self.0.iter().position(|look| *look == (halves(size), bold)).unwrap_or(0);
        u8::try_from(place + 1).unwrap_or(6).min(6)
    }
}

/// The blocks of a column.
pub(super) fn of(rows: &[Row], rules: &[Rule], body: &Body) -> Vec<Piece> {
    let leading = leading(rows);
    let (left, right) = edges(rows);
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        if let Some(table) = tables::at(&rows[at..], rules) {
            let taken = &rows[at..at + table.rows];
            pieces.extend(piece(taken, Kind::Table, markdown(&table.cells)));
            at += table.rows;
            continue;
        }
        let mut end = at + 1;
        while end < rows.len()
            && !begins(&rows[at..end], &rows[end], leading, (left, right), body)
            && tables::at(&rows[end..], rules).is_none()
        {
            end += 1;
        }
        let taken = &rows[at..end];
        let (kind, text) = read(taken, body);
        pieces.extend(piece(taken, kind, text));
        at = end;
    }
    pieces
}

fn piece(rows: &[Row], kind: Kind, text: String) -> Option<Piece> {
    let turn = rows.first()?.cells.first()?.turn;
    let least = |of: &dyn Fn(&Row) -> f32| rows.iter().map(of).fold(f32::MAX, f32::min);
    let most = |of: &dyn Fn(&Row) -> f32| rows.iter().map(of).fold(f32::MIN, f32::max);
    Some(Piece {
        kind,
        text,
        x0: least(&Row::x0),
        y0: least(&Row::top),
        x1: most(&Row::x1),
        y1: most(&Row::bottom),
        turn,
    })
}

/// The usual distance of lines, in sizes.
fn leading(rows: &[Row]) -> f32 {
    let mut distances: Vec<f32> = rows
        .windows(2)
        .filter(|two| (two[0].size - two[1].size).abs() < 0.5 && two[1].size > 0.0)
        .map(|two| (two[1].y - two[0].y) / two[1].size)
        .filter(|distance| (0.8..2.5).contains(distance))
        .collect();
    distances.sort_by(f32::total_cmp);
    // Spaces between paragraphs are as many as lines where there are only short ones.
    distances.get(distances.len() / 3).copied().unwrap_or(1.2)
}

/// Where lines of the column begin and end.
fn edges(rows: &[Row]) -> (f32, f32) {
    let mut lefts: Vec<f32> = rows.iter().map(Row::x0).collect();
    let mut rights: Vec<f32> = rows.iter().map(Row::x1).collect();
    lefts.sort_by(f32::total_cmp);
    rights.sort_by(f32::total_cmp);
    let left = lefts.get(lefts.len() / 20).copied().unwrap_or(0.0);
    (left, rights.get(rights.len() * 19 / 20).copied().unwrap_or(left))
}

/// Whether a row begins a new block after these.
fn begins(block: &[Row], row: &Row, leading: f32, (left, right): (f32, f32), body: &Body) -> bool {
    let (Some(first), Some(last)) = (block.first(), block.last()) else { return true };
    let size = last.size.max(row.size);
    let distance = row.y - last.y;
    let is_code = |row: &Row| row.is_mono() && !body.is_mono;
    if is_code(last) != is_code(row) || distance <= 0.0 {
        return true;
    }
    if is_code(row) {
        return distance > 2.6 * leading.max(1.0) * size;
    }
    let text = row.text();
    if distance > 1.3 * leading * size || (last.size - row.size).abs() > 0.1 * size || last.is_bold() != row.is_bold() {
        return true;
    }
    if mark(&text).is_some() || last.text().contains(LEADER) {
        return true;
    }
    let is_item = mark(&first.text()).is_some();
    let indent = row.x0() - last.x0();
    // A first line is indented, or those after it are.
    if is_item {
        return indent < -0.8 * size && block.len() > 1 || row.x0() < first.x0() - 0.5 * size;
    }
    let ended = last.text().ends_with(['.', '?', '!', ':', '”', '"']);
    let is_short = last.x1() < right - 0.12 * (right - left) - 2.0 * size;
    (indent > 0.8 * size && (last.x0() - left).abs() < 0.8 * size && ended) || (ended && is_short)
}

/// The bullet or number that begins an item.
pub(super) fn mark(text: &str) -> Option<&str> {
    let (word, rest) = text.trim_start().split_once(' ')?;
    let first = word.chars().next()?;
    let is_bullet = word.chars().count() == 1 && "•◦▪▫●○■□‣⁃–—*·∙✓➢➤►".contains(first) && !rest.is_empty();
    let number = word.trim_start_matches('(').trim_end_matches([')', '.']);
    let has_end = word.ends_with([')', '.']);
    let digits = number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    let letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_bullet || has_end && !number.is_empty() && (digits || letter)).then_some(word)
}

fn read(rows: &[Row], body: &Body) -> (Kind, String) {
    let is_code = !body.is_mono && rows.iter().all(Row::is_mono);
    if is_code && rows.iter().map(Row::letters).sum::<usize>() > 1 {
        return (Kind::Code, code(rows));
    }
    let text = joined(rows);
    if let Some(heading) = heading(rows, &text, body) {
        return (heading, text);
    }
    match mark(&text) {
        Some(mark) if mark.chars().all(|letter| !letter.is_alphanumeric()) => {
            let item = text[text.find(mark).unwrap_or(0) + mark.len()..].trim_start().to_owned();
            (Kind::ListItem, item)
        }
        Some(_) => (Kind::ListItem, text),
        None if text.contains(LEADER) => (Kind::ListItem, text),
        None => (Kind::Paragraph, text),
    }
}

fn heading(rows: &[Row], text: &str, body: &Body) -> Option<Kind> {
    let chars = text.chars().count();
    let has_words = text.chars().filter(|letter| letter.is_alphabetic()).count() >= 2;
    if rows.len() > HEADING_ROWS || chars > HEADING_CHARS || !has_words {
        return None;
    }
    if text.contains(LEADER) {
        return None;
    }
    let size = rows.iter().map(|row| row.size).fold(0.0, f32::max);
    let bold = rows.iter().all(Row::is_bold);
    let is_large = size >= LARGER * body.size;
    let is_bold = bold && size >= 0.97 * body.size && chars <= BOLD_CHARS && !text.ends_with(['.', ',', ';', ':']);
    (is_large || is_bold && rows.len() <= 2).then_some(Kind::Heading { size, bold })
}

/// One text of lines; words that are parted at their ends become whole.
fn joined(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let line = row.text();
        let line = line.trim();
        let goes_on = line.chars().next().is_some_and(char::is_lowercase);
        let parted = text.strip_suffix(['-', '\u{2010}']).is_some_and(|head| head.ends_with(char::is_alphabetic));
        if parted && goes_on {
            text.pop();
        } else if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
    }
    text
}

/// Lines with their indents and empty lines.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few letters")]
fn code(rows: &[Row]) -> String {
    let left = rows.iter().map(Row::x0).fold(f32::MAX, f32::min);
    let (mut text, mut below) = (String::new(), None);
    for row in rows {
        // All letters are as wide as the first cell's on average.
        let letters = row.cells.first().map_or(1, |cell| cell.text.chars().count().max(1));
        let width =
            row.cells.first().map_or(0.0, |cell| (cell.x1 - cell.x0) / f32::from(u16::try_from(letters).unwrap_or(1)));
        let spaces = |gap: f32| if width > 0.5 { ((gap / width).round().clamp(0.0, 80.0)) as usize } else { 1 };
        if let Some(below) = below {
            text.push('\n');
            if row.y - below > 1.8 * row.size {
                text.push('\n');
            }
        }
        let mut at = left;
        for cell in &row.cells {
            text.push_str(&" ".repeat(spaces(cell.x0 - at)));
            text.push_str(&cell.text);
            at = cell.x1;
        }
        below = Some(row.y);
    }
    text
}
