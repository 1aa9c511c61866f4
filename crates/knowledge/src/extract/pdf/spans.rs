//! Glyphs in the order of drawing become spans: letters that stand beside each other on a line.

use super::direction::{in_visual_order, is_of_right_to_left};
use crate::matrix::Matrix;
use unicode_normalization::char::compose;

/// Most that is remembered of a page.
const RULES: usize = 5000;
/// In sizes of the font: from here on a gap is a space, from there on another span.
const SPACE: f32 = 0.15;
const APART: f32 = 1.0;
/// How far letters of a span may be off its line, in sizes.
const OFF_LINE: f32 = 0.2;
/// Marks for letters that the font doesn't name.
const UNKNOWN: &str = "\u{fffd}";

pub(super) struct Glyph {
    /// `None` if the font doesn't say what it shows.
    pub text: Option<String>,
    /// On the line that it stands on.
    pub from: (f32, f32),
    pub to: (f32, f32),
    pub direction: (f32, f32),
    pub size: f32,
    pub spread: f32,
    pub is_mono: bool,
    pub is_bold: bool,
}

/// Letters beside each other. `x0`, `x1` and `y` (of the line it stands on) are as if the page were turned so that the
/// text is upright.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub text: String,
    pub x0: f32,
    pub x1: f32,
    pub y: f32,
    pub size: f32,
    pub is_mono: bool,
    pub is_bold: bool,
    pub turn: Turn,
}

/// How far the text is turned clockwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Turn {
    None,
    Quarter,
    Half,
    ThreeQuarters,
}

/// A horizontal line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub x0: f32,
    pub x1: f32,
    pub y: f32,
}

#[derive(Debug)]
pub(super) struct Spans {
    pub width: f32,
    pub height: f32,
    pub all: Vec<Span>,
    pub rules: Vec<Rule>,
    /// Share of the page that pictures cover, counted each.
    pub pictures: f32,
    pub letters: usize,
    pub unknown: usize,
}

impl Turn {
    fn of((x, y): (f32, f32)) -> Self {
        match (x.abs() >= y.abs(), x >= 0.0, y >= 0.0) {
            (true, true, _) => Self::None,
            (true, false, _) => Self::Half,
            (false, _, true) => Self::Quarter,
            (false, _, false) => Self::ThreeQuarters,
        }
    }

    /// Where a point of the page is once the text is upright.
    pub fn upright(self, (x, y): (f32, f32), width: f32, height: f32) -> (f32, f32) {
        match self {
            Self::None => (x, y),
            Self::Quarter => (y, width - x),
            Self::Half => (width - x, height - y),
            Self::ThreeQuarters => (height - y, x),
        }
    }

    pub fn back(self, (x, y): (f32, f32), width: f32, height: f32) -> (f32, f32) {
        match self {
            Self::None => (x, y),
            Self::Quarter => (width - y, x),
            Self::Half => (width - x, height - y),
            Self::ThreeQuarters => (y, height - x),
        }
    }
}

impl Spans {
    pub fn new(width: f32, height: f32) -> Self {
        Self { width, height, all: Vec::new(), rules: Vec::new(), pictures: 0.0, letters: 0, unknown: 0 }
    }

    pub fn glyph(&mut self, glyph: &Glyph) {
        let turn = Turn::of(glyph.direction);
        let (from, to) =
            (turn.upright(glyph.from, self.width, self.height), turn.upright(glyph.to, self.width, self.height));
        let (x0, x1) = (from.0.min(to.0), from.0.max(to.0));
        let sound = [x0, x1, from.1, glyph.size].iter().all(|number| number.is_finite() && number.abs() < 1e6);
        if !sound || glyph.size < 0.1 {
            return;
        }
        // What stands for several letters is in the order in which it is read.
        let text = in_visual_order(glyph.text.as_deref().unwrap_or(UNKNOWN));
        let text = text.as_ref();
        self.letters += text.chars().filter(|letter| letter.is_alphanumeric()).count();
        self.unknown += usize::from(glyph.text.is_none());
        let is_space = !text.is_empty() && text.chars().all(char::is_whitespace);
        if let Some(last) = self.all.last_mut()
            && last.goes_on_at(x0, from.1, glyph, turn)
        {
            if is_space || x0 - last.x1 > SPACE * glyph.size + glyph.spread {
                last.space();
            }
            if !is_space {
                last.push(text, x0 < last.x1 - 0.05 * glyph.size, from.1);
            }
            last.x1 = last.x1.max(x1);
            return;
        }
        if is_space || text.is_empty() {
            return;
        }
        let Glyph { size, is_mono, is_bold, .. } = *glyph;
        self.all.push(Span { text: text.to_owned(), x0, x1, y: from.1, size, is_mono, is_bold, turn });
    }

    pub fn rule(&mut self, rule: Rule) {
        if self.rules.len() < RULES && rule.x1 - rule.x0 > 8.0 {
            self.rules.push(rule);
        }
    }

    /// A picture fills the unit square.
    pub fn image(&mut self, matrix: Matrix) {
        let [a, b, c, d, ..] = matrix.0;
        let share = (a * d - b * c).abs() / (self.width * self.height).max(1.0);
        if share.is_finite() {
            self.pictures += share.min(1.0);
        }
    }
}

impl Span {
    fn goes_on_at(&self, x0: f32, y: f32, glyph: &Glyph, turn: Turn) -> bool {
        let size = glyph.size;
        // After an accent the pen goes back to where the letter begins.
        let has_accent = self.text.chars().last().and_then(combining).is_some();
        // Over capitals it is raised.
        let (back, off_line) = if has_accent { (1.0, 0.45) } else { (0.5, OFF_LINE) };
        // Letters that are drawn from right to left are put into order by where they stand.
        let goes_left = x0 < self.x0 && glyph.text.as_deref().is_some_and(|text| text.contains(is_of_right_to_left));
        !goes_left
            && self.turn == turn
            && self.is_mono == glyph.is_mono
            && self.is_bold == glyph.is_bold
            && (self.size - size).abs() <= 0.05 * size
            && (self.y - y).abs() <= off_line * size
            && (-back * size..APART * size + glyph.spread).contains(&(x0 - self.x1))
    }

    /// An accent that the letter after it is drawn over belongs to that letter.
    fn push(&mut self, text: &str, is_over: bool, y: f32) {
        let accent = self.text.chars().last().filter(|_| is_over).and_then(combining);
        let mut letters = text.chars();
        if let (Some(accent), Some(letter)) = (accent, letters.next())
            && let Some(letter) = compose(if letter == 'ı' { 'i' } else { letter }, accent)
        {
            self.y = y;
            self.text.pop();
            self.text.push(letter);
            self.text.push_str(letters.as_str());
        } else {
            self.text.push_str(text);
        }
    }

    pub fn space(&mut self) {
        if !self.text.ends_with(' ') && !self.text.is_empty() {
            self.text.push(' ');
        }
    }
}

/// The accent that a letter of its own stands for.
fn combining(letter: char) -> Option<char> {
    Some(match letter {
        '`' => '\u{300}',
        '´' => '\u{301}',
        'ˆ' | '^' => '\u{302}',
        '˜' | '~' => '\u{303}',
        '¯' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        _ => return None,
    })
}
