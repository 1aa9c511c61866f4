//! Text that is raised, lowered (superscripts and subscripts) or struck out, told apart from the text beside it.

use std::borrow::Cow;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Script {
    #[default]
    Normal,
    Raised,
    Lowered,
}

/// How a part of a text is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TextStyle {
    pub script: Script,
    pub is_struck: bool,
}

/// A text whose parts are shown in their styles: `10` and a raised `3` as `10³`, a part that is struck out as `~~100~~`.
#[derive(Debug, Default)]
pub(super) struct RichText {
    written: String,
    /// What comes last, in one style that isn't the usual one.
    pending: String,
    style: TextStyle,
    ends_struck: bool,
}

impl RichText {
    pub fn add(&mut self, text: &str, style: TextStyle) {
        if text.is_empty() {
            return;
        }
        if style != self.style {
            self.end_part();
            self.style = style;
        }
        if style == TextStyle::default() {
            self.written.push_str(text);
            self.ends_struck = false;
        } else {
            self.pending.push_str(text);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.pending.is_empty()
    }

    pub fn ends_with(&self, letter: char) -> bool {
        if self.pending.is_empty() { self.written.ends_with(letter) } else { self.pending.ends_with(letter) }
    }

    /// All of it; what is left is empty.
    pub fn take(&mut self) -> String {
        self.end_part();
        self.ends_struck = false;
        std::mem::take(&mut self.written)
    }

    fn end_part(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let inner = pending.trim();
        if inner.is_empty() {
            self.written.push_str(&pending);
            return;
        }
        let start = pending.len() - pending.trim_start().len();
        let (before, after) = (&pending[..start], &pending[start + inner.len()..]);
        let shown = self.style.script.show(inner);
        if self.style.is_struck {
            // What was struck out before it goes on.
            let goes_on = self.ends_struck && self.written.ends_with(STRUCK);
            if goes_on {
                self.written.truncate(self.written.len() - STRUCK.len());
            }
            let begin = if goes_on { "" } else { STRUCK };
            self.written.extend([before, begin, &shown, STRUCK, after]);
        } else {
            self.written.extend([before, &shown, after]);
        }
        self.ends_struck = self.style.is_struck && after.is_empty();
    }
}

/// Stands around what is struck out.
const STRUCK: &str = "~~";
/// Longer texts are raised for their looks, and stay as they are.
const MAX_CHARS: usize = 12;
const PLAIN: &str = "0123456789+-=()";
const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾";
const LOWERED: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎";

impl Script {
    /// The text as it is shown in this place: digits and signs as Unicode has them (`10` and a raised `3`: `10³`), mixtures
    /// behind `^` (`2^(x+1)`). Words stay as they are, as in `1st`.
    pub fn show(self, text: &str) -> Cow<'_, str> {
        let as_it_is = || Cow::Borrowed(text);
        if self == Self::Normal {
            return as_it_is();
        }
        if let Some(shown) = self.to_unicode(text) {
            return Cow::Owned(shown);
        }
        let inner = text.trim();
        let has = |is_one: fn(char) -> bool| inner.chars().any(is_one);
        let is_long = inner.chars().count() > MAX_CHARS || has(char::is_whitespace);
        let is_single = inner.chars().count() == 1 && has(char::is_alphabetic);
        let is_mixture = has(char::is_alphabetic) && has(|one| one.is_ascii_digit() || "+-−=/".contains(one))
            || has(|one| one.is_ascii_digit()) && has(|one| "/·".contains(one));
        match self {
            Self::Raised if is_single => Cow::Owned(format!("^{text}")),
            Self::Raised if is_mixture && !is_long => Cow::Owned(format!("^({inner})")),
            _ => as_it_is(),
        }
    }

    /// Whether a character is one that Unicode has for such a place.
    pub fn is_shown(letter: char) -> bool {
        RAISED.contains(letter) || LOWERED.contains(letter)
    }

    /// In characters that Unicode has for this place; `None` where it lacks one. Commas and spaces between numbers stay.
    pub fn to_unicode(self, text: &str) -> Option<String> {
        let signs = if self == Self::Raised { RAISED } else { LOWERED };
        let mut found = false;
        let shown: Option<String> = text
            .chars()
            .map(|letter| {
                let plain = if letter == '−' || letter == '–' { '-' } else { letter };
                let sign = PLAIN.find(plain).and_then(|at| signs.chars().nth(at));
                let sign = sign.or(match (letter, self) {
                    ('n', Self::Raised) => Some('ⁿ'),
                    ('i', Self::Raised) => Some('ⁱ'),
                    ('o', Self::Raised) if text.trim() == "o" => Some('º'),
                    ('a', Self::Raised) if text.trim() == "a" => Some('ª'),
                    _ => None,
                });
                found |= sign.is_some();
                sign.or_else(|| (letter == ',' || letter.is_whitespace()).then_some(letter))
            })
            .collect();
        // `in` is a word.
        let is_word = text.trim().chars().count() > 1 && text.trim().chars().all(char::is_alphabetic);
        shown.filter(|_| found && !is_word)
    }
}

#[cfg(test)]
mod tests {
    use super::{RichText, Script, TextStyle};

    #[track_caller]
    fn check(parts: &[(&str, TextStyle)], expected: &str) {
        let mut text = RichText::default();
        for (part, style) in parts {
            text.add(part, *style);
        }
        assert_eq!(text.take(), expected);
    }

    #[test]
    fn parts_are_shown_in_their_styles() {
        let plain = TextStyle::default();
        let raised = TextStyle { script: Script::Raised, ..plain };
        let struck = TextStyle { is_struck: true, ..plain };
        let both = TextStyle { script: Script::Raised, is_struck: true };
        check(&[("10", plain), ("1", raised), ("0", raised), (" cells", plain)], "10¹⁰ cells");
        check(&[("Fee ", plain), ("1", struck), ("00 ", struck), ("80", plain)], "Fee ~~100~~ 80");
        check(&[("10", struck), ("3", both), (" m", struck)], "~~10³ m~~");
        check(&[(" ", struck), ("a", plain)], " a");
        check(&[("", struck)], "");
    }

    #[test]
    fn raised_digits_stay_apart_and_words_stay_words() {
        for (text, raised, lowered) in [
            ("3", "³", "₃"),
            ("-6", "⁻⁶", "₋₆"),
            ("−6", "⁻⁶", "₋₆"),
            ("1, 2", "¹, ²", "₁, ₂"),
            ("2n", "²ⁿ", "2n"),
            ("n", "ⁿ", "n"),
            ("st", "st", "st"),
            ("in", "in", "in"),
            ("TM", "TM", "TM"),
            ("o", "º", "o"),
            ("x", "^x", "x"),
            ("x+1", "^(x+1)", "x+1"),
            ("3/2", "^(3/2)", "3/2"),
            ("[7]", "[7]", "[7]"),
            ("*", "*", "*"),
            ("", "", ""),
            ("see note 3 below", "see note 3 below", "see note 3 below"),
        ] {
            assert_eq!(Script::Raised.show(text), raised);
            assert_eq!(Script::Lowered.show(text), lowered);
            assert_eq!(Script::Normal.show(text), text);
        }
    }
}
