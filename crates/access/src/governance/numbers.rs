//! What a number is: the one that begins at a place is tried as each kind, the surest first.

use super::context::Context;
use super::dates;
use super::finding::{Confidence, Finding, PiiKind};
use super::identifiers::{Announced, Identifiers};
use super::lexicon::{Lexicon, Meaning};
use super::network;
use super::payments::Payments;
use super::phones::Phones;

/// Fewer digits are no number of a person.
const FEWEST_DIGITS: usize = 6;

#[derive(Debug)]
pub struct Numbers {
    pub payments: Payments,
    pub identifiers: Identifiers,
    pub phones: Phones,
}

const AGAINST: Meaning = Meaning::ORDER.or(Meaning::VERSION).or(Meaning::CHECKSUM);
const ABOUT_A_PERSON: Meaning = Meaning::PHONE.or(Meaning::ID);

/// A number that was read: what it is, or up to where it is none of ours.
pub enum Read {
    Found(Finding),
    Nothing(usize),
}

impl Numbers {
    /// Of the digit or bracket at `at`.
    pub fn read(&self, text: &str, at: usize, lexicon: &Lexicon, context: &Context) -> Option<Read> {
        if continues(text, at) {
            return None;
        }
        let bytes = text.as_bytes();
        let digit = bytes[at].is_ascii_digit();
        if digit {
            let version = context.denies(Meaning::VERSION, Meaning::ADDRESS, at) || text[..at].ends_with(['v', 'V']);
            if let Some(found) = network::ipv4(text, at, version, context.has(Meaning::ADDRESS, at)) {
                return Some(Read::Found(found));
            }
            if let Some(end) = network::dotted(text, at) {
                return Some(Read::Nothing(end));
            }
            let born = context.has(Meaning::BIRTH, at) || text[..at].trim_end_matches(' ').ends_with(['*', '∗']);
            if let Some(end) = dates::end(text, at, lexicon, born) {
                let found = Finding::new(PiiKind::DateOfBirth, at..end, Confidence::Likely);
                return Some(if born { Read::Found(found) } else { Read::Nothing(end) });
            }
        }
        let denied = context.denies(AGAINST, ABOUT_A_PERSON, at);
        let begins = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let with_letters = bytes.get(at + begins).is_some_and(u8::is_ascii_alphabetic);
        if digits_ahead(&bytes[at + usize::from(!digit)..]) < FEWEST_DIGITS && !(with_letters && digit) {
            return None;
        }
        let no_card = context.denies(AGAINST, ABOUT_A_PERSON.or(Meaning::CARD), at);
        let numbered = || self.card(text, at, no_card).or_else(|| self.identifier(text, at, denied, context));
        let found = if digit { numbered() } else { None };
        found.or_else(|| self.phone(text, at, denied, context)).map(Read::Found)
    }

    fn card(&self, text: &str, at: usize, denied: bool) -> Option<Finding> {
        if denied { None } else { self.payments.card(text, at) }
    }

    pub fn identifier(&self, text: &str, at: usize, denied: bool, context: &Context) -> Option<Finding> {
        let announced = if context.says(Meaning::ID, Meaning::PHONE.or(Meaning::ORDER), at) {
            Announced::AsThis
        } else if denied || context.says(Meaning::PHONE, Meaning::ID, at) {
            Announced::AsOther
        } else {
            Announced::Not
        };
        self.identifiers.at(text, at, announced)
    }

    fn phone(&self, text: &str, at: usize, denied: bool, context: &Context) -> Option<Finding> {
        if denied || is_book(text, at) {
            return None;
        }
        if let Some(found) = self.phones.international(text, at) {
            return Some(found);
        }
        if context.says(Meaning::PHONE, AGAINST.or(Meaning::ID), at) {
            return Phones::announced(text, at);
        }
        self.phones.national(text, at)
    }
}

/// Whether the number at `at` is the rest of something longer: of a word, a fraction, a path, a longer number.
fn continues(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    let starts_with_sign = matches!(text.as_bytes()[at], b'+' | b'(');
    match before.next() {
        Some(c) if c.is_alphanumeric() => true,
        Some(',') if starts_with_sign || is_next_cell(text, at) => false,
        Some(',' | '.') => before.next().is_some_and(|c| c.is_ascii_digit()),
        Some('-' | '/' | '_' | '+' | '\u{2011}') => before.next().is_some_and(|c| c.is_ascii_alphanumeric()),
        // The second group of a longer number that was none.
        Some(' ') => text.as_bytes()[at].is_ascii_digit() && before.take(3).filter(char::is_ascii_digit).count() == 3,
        Some('#' | '$' | '€' | '£' | '§' | '%') => true,
        None | Some(_) => false,
    }
}

/// Whether the comma before `at` divides two values, and not the digits of one.
fn is_next_cell(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let run = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| byte.is_ascii_digit()).count();
    let before = run(&mut bytes[..at - 1].iter().rev());
    let after = run(&mut bytes[at..].iter());
    let sign = (at - 1).checked_sub(before + 1).map(|at| bytes[at]);
    before > 3 || after > 3 || matches!(sign, Some(b'-' | b'/' | b':')) || network::dotted(text, at).is_some()
}

/// International numbers of books and articles of trade begin with 978 or 979.
fn is_book(text: &str, at: usize) -> bool {
    (text[at..].starts_with("978") || text[at..].starts_with("979")) && digits_ahead(&text.as_bytes()[at..]) == 13
}

/// Digits from here on, with single signs between them.
fn digits_ahead(bytes: &[u8]) -> usize {
    let (mut count, mut signs) = (0, 0);
    for byte in bytes.iter().take(24) {
        if byte.is_ascii_digit() {
            (count, signs) = (count + 1, 0);
        } else if matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | 0xC2 | 0xA0 | 0xE2 | 0x80 | 0xAF)
            && signs < 4
        {
            signs += 1;
        } else {
            break;
        }
    }
    count
}
