//! Spans become fragments, which have no wide gap, and fragments on one line become rows.

use super::super::rich_text::Script;
use super::direction::{in_reading_order, is_right_to_left};
use super::spans::{Span, Turn};

/// In sizes: a wider gap parts fragments, a narrower one than that below is none.
const WIDE: f32 = 1.0;
const SPACE: f32 = 0.15;
/// Of a letter's size, above and below the line that it stands on.
const ABOVE: f32 = 0.75;
const BELOW: f32 = 0.25;

/// In sizes of the text beside them: how small raised and lowered letters are, and how far they are off its line; those
/// that aren't small stand farther off.
const SMALLER: f32 = 0.85;
const MOVED_SMALL: f32 = 0.08;
const MOVED: f32 = 0.2;

/// Dots that lead to something.
const LEADERS: usize = 4;
pub(super) const LEADER: &str = " … ";

#[derive(Debug, Clone)]
pub(super) struct Fragment {
    pub text: String,
    pub x0: f32,
    pub x1: f32,
    /// The line that it stands on.
    pub y: f32,
    pub size: f32,
    pub turn: Turn,
    letters: usize,
    mono: usize,
    bold: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub cells: Vec<Fragment>,
    pub y: f32,
    pub size: f32,
}

impl Fragment {
    fn of(span: &Span) -> Self {
        let letters = span.text.chars().filter(|letter| !letter.is_whitespace()).count();
        Self {
            text: span.text.clone(),
            x0: span.x0,
            x1: span.x1,
            y: span.y,
            size: span.size,
            turn: span.turn,
            letters,
            mono: if span.is_mono { letters } else { 0 },
            bold: if span.is_bold { letters } else { 0 },
        }
    }

    /// Adds what stands to the right of it.
    fn join(&mut self, other: &Self) {
        let is_close = other.x0 - self.x1 <= SPACE * self.size.max(other.size);
        if let Some(shown) = other.script_beside(self).filter(|_| is_close && self.text.ends_with(is_base)) {
            self.text.push_str(&shown);
            self.x1 = self.x1.max(other.x1);
            self.letters += other.letters;
            self.mono += other.mono;
            self.bold += other.bold;
            return;
        }
        if let Some(shown) = self.script_beside(other).filter(|_| self.size < other.size) {
            self.text = shown;
        }
        // A letter set higher or lower, or in another font, is often part of the word.
        if other.x0 - self.x1 > SPACE * self.size.max(other.size) && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.text.push_str(&other.text);
        if other.letters >= self.letters {
            (self.y, self.size) = (other.y, other.size);
        }
        self.x1 = self.x1.max(other.x1);
        self.letters += other.letters;
        self.mono += other.mono;
        self.bold += other.bold;
    }

    /// Digits and signs that are raised or lowered beside a text, as Unicode has them.
    fn script_beside(&self, base: &Self) -> Option<String> {
        let raised_by = (base.y - self.y) / base.size;
        let least = if self.size <= SMALLER * base.size { MOVED_SMALL } else { MOVED };
        let is_mark = |letter: char| letter.is_ascii_digit() || "+-−–=()ni ".contains(letter);
        if self.size > 1.05 * base.size || raised_by.abs() < least || !self.text.chars().all(is_mark) {
            return None;
        }
        let script = if raised_by > 0.0 { Script::Raised } else { Script::Lowered };
        script.to_unicode(&self.text)
    }

    pub fn is_mono(&self) -> bool {
        self.mono * 10 >= self.letters * 9
    }

    pub fn is_bold(&self) -> bool {
        self.bold * 10 >= self.letters * 9
    }

    pub fn letters(&self) -> usize {
        self.letters
    }

    fn top(&self) -> f32 {
        self.y - ABOVE * self.size
    }

    fn bottom(&self) -> f32 {
        self.y + BELOW * self.size
    }

    fn is_beside(&self, other: &Self) -> bool {
        let shared = self.bottom().min(other.bottom()) - self.top().max(other.top());
        shared >= 0.5 * self.size.min(other.size)
    }
}

impl Row {
    pub fn x0(&self) -> f32 {
        self.cells.first().map_or(0.0, |cell| cell.x0)
    }

    pub fn x1(&self) -> f32 {
        self.cells.iter().map(|cell| cell.x1).fold(0.0, f32::max)
    }

    pub fn top(&self) -> f32 {
        self.cells.iter().map(Fragment::top).fold(f32::MAX, f32::min)
    }

    pub fn bottom(&self) -> f32 {
        self.cells.iter().map(Fragment::bottom).fold(f32::MIN, f32::max)
    }

    pub fn text(&self) -> String {
        let mut cells: Vec<&str> = self.cells.iter().map(|cell| cell.text.trim()).collect();
        if is_right_to_left(&cells.concat()) {
            cells.reverse();
        }
        cells.join(" ")
    }

    pub fn letters(&self) -> usize {
        self.cells.iter().map(Fragment::letters).sum()
    }

    pub fn is_bold(&self) -> bool {
        self.cells.iter().all(Fragment::is_bold)
    }

    pub fn is_mono(&self) -> bool {
        self.cells.iter().all(Fragment::is_mono)
    }
}

/// From top to bottom, each from left to right.
pub(super) fn rows(mut fragments: Vec<Fragment>) -> Vec<Row> {
    fragments.sort_by(|one, other| one.y.total_cmp(&other.y));
    let mut rows: Vec<(Fragment, Vec<Fragment>)> = Vec::new();
    for fragment in fragments {
        // The largest of a row says where it is, so that marks above and below it don't.
        match rows.last_mut().filter(|(largest, _)| largest.is_beside(&fragment)) {
            Some((largest, cells)) => {
                if fragment.size > largest.size {
                    largest.clone_from(&fragment);
                }
                cells.push(fragment);
            }
            None => rows.push((fragment.clone(), vec![fragment])),
        }
    }
    rows.into_iter()
        .map(|(largest, mut cells)| {
            cells.sort_by(|one, other| one.x0.total_cmp(&other.x0));
            let most = cells.iter().max_by_key(|cell| cell.letters).unwrap_or(&largest);
            Row { y: most.y, size: most.size, cells }
        })
        .collect()
}

/// Joins spans that stand beside each other.
pub(super) fn fragments(spans: &[&Span]) -> Vec<Fragment> {
    let mut joined = Vec::new();
    for row in rows(spans.iter().map(|span| Fragment::of(span)).collect()) {
        let mut open: Option<Fragment> = None;
        for cell in row.cells {
            match &mut open {
                // Bold letters may be the same letters twice.
                Some(last) if is_double(last, &cell) => {}
                Some(last) if cell.x0 - last.x1 <= WIDE * last.size.max(cell.size) && last.is_beside(&cell) => {
                    last.join(&cell);
                }
                _ => joined.extend(open.replace(cell)),
            }
        }
        joined.extend(open);
    }
    for fragment in &mut joined {
        fragment.text = in_reading_order(cleaned(&fragment.text));
    }
    joined.retain(|fragment| !fragment.text.is_empty());
    joined
}

/// What raised and lowered letters may stand behind.
fn is_base(letter: char) -> bool {
    letter.is_alphanumeric() || ")]}⁾%°µ".contains(letter) || Script::is_shown(letter)
}

fn is_double(one: &Fragment, other: &Fragment) -> bool {
    one.text == other.text && (one.x0 - other.x0).abs() < 0.2 * one.size && (one.y - other.y).abs() < 0.2 * one.size
}

/// Without letters that nobody knows, and with one sign for the dots that lead to a page number.
fn cleaned(text: &str) -> String {
    let text = text.replace(char::REPLACEMENT_CHARACTER, "");
    let (mut clean, mut dots, mut from) = (String::with_capacity(text.len()), 0, 0);
    for (at, letter) in text.char_indices().chain([(text.len(), '\n')]) {
        if letter == '.' || letter == ' ' && dots > 0 {
            dots += usize::from(letter == '.');
            continue;
        }
        clean.push_str(if dots >= LEADERS { LEADER } else { &text[from..at] });
        if at < text.len() {
            clean.push(letter);
        }
        (dots, from) = (0, at + letter.len_utf8());
    }
    clean.trim().to_owned()
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
