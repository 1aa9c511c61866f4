//! Reads a text once, and tries at each word and number what may begin there.

use std::ops::Range;
use std::sync::LazyLock;

use super::context::Context;
use super::dates;
use super::finding::{Confidence, DetectorError, Finding, PiiKind};
use super::identifiers::Identifiers;
use super::lexicon::{Lexicon, Meaning};
use super::names::{Names, Word};
use super::network;
use super::numbers::{Numbers, Read};
use super::payments::Payments;
use super::phones::Phones;
use super::scan::{CLASS, DIGIT, HIGH, OTHER, SIGN, UPPER, WORD, class, digit_at, width};
use super::secrets::Secrets;
use super::tables::Tables;

/// The rules and words, as they stand in `data/governance`.
#[derive(Debug)]
pub struct Detector {
    lexicon: Lexicon,
    numbers: Numbers,
    secrets: Secrets,
}

impl Detector {
    /// The one that comes with the program, read at its first use.
    pub fn shared() -> Result<&'static Self, DetectorError> {
        static SHARED: LazyLock<Result<Detector, DetectorError>> = LazyLock::new(Detector::shipped);
        SHARED.as_ref().map_err(Clone::clone)
    }

    fn shipped() -> Result<Self, DetectorError> {
        Ok(Self {
            lexicon: Lexicon::read(
                include_str!("../../data/governance/words.toml"),
                include_str!("../../data/governance/names.toml"),
                include_str!("../../data/governance/names_more.toml"),
            )?,
            numbers: Numbers {
                payments: Payments::read(include_str!("../../data/governance/payments.toml"))?,
                identifiers: Identifiers::read(include_str!("../../data/governance/identifiers.toml"))?,
                phones: Phones::read(include_str!("../../data/governance/phones.toml"))?,
            },
            secrets: Secrets::read(include_str!("../../data/governance/secrets.toml"))?,
        })
    }

    /// What was found, in the order of the text, without overlaps.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        let mut reading = Reading {
            detector: self,
            text,
            context: Context::default(),
            names: Names::new(text, &self.lexicon),
            findings: Vec::new(),
        };
        reading.read();
        let mut tables = Tables {
            text,
            lexicon: &self.lexicon,
            numbers: &self.numbers,
            secrets: &self.secrets,
            findings: Vec::new(),
            others: Vec::new(),
        };
        tables.read();
        let mut findings = reading.findings;
        findings.retain(|found| !(is_guess(found, text) && within(&tables.others, found)));
        findings.extend(tables.findings);
        apart(findings)
    }
}

struct Reading<'t> {
    detector: &'t Detector,
    text: &'t str,
    context: Context,
    names: Names<'t>,
    findings: Vec<Finding>,
}

impl Reading<'_> {
    fn read(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let class = CLASS[usize::from(*byte)];
            at = if class & WORD != 0 {
                self.word(at)
            } else if class & SIGN != 0 {
                self.sign(at).unwrap_or(at + 1)
            } else if class & OTHER != 0 {
                at + width(*byte)
            } else {
                if *byte == b'\n' {
                    self.context.line = at;
                }
                at + 1
            };
        }
    }

    /// Reads the word at `at`; returns where to go on.
    fn word(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let (mut end, mut seen) = (at, 0);
        while let Some(byte) = bytes.get(end) {
            let class = CLASS[usize::from(*byte)];
            if class & WORD == 0 {
                break;
            }
            seen |= class;
            end += 1;
        }
        if let Some(next) = self.secret(at, end, seen) {
            return next;
        }
        if seen & DIGIT != 0 { self.with_digits(at, end) } else { self.letters(at, end) }
    }

    fn secret(&mut self, at: usize, end: usize, seen: u8) -> Option<usize> {
        let bare = || {
            at == 0 || !matches!(self.text.as_bytes()[at - 1], b'_' | b'-' | b'.') || self.text[..at].ends_with("---")
        };
        let found = if bare() { self.detector.secrets.known(self.text, at) } else { None };
        let odd = || {
            let signed =
                matches!(self.text.as_bytes().get(end), Some(b'!' | b'#' | b'$' | b'%' | b'&' | b'*' | b'^' | b'~'));
            let announced = signed && self.context.has(Meaning::PASSWORD, at);
            if announced { self.detector.secrets.odd_word(self.text, at) } else { None }
        };
        let found = found.or_else(odd);
        let random = seen & DIGIT != 0 && end - at >= 8 || end - at >= 16;
        let found = found.or_else(|| {
            let announced = random && self.context.says(Meaning::KEY, Meaning::CHECKSUM, at);
            if announced { self.detector.secrets.token(self.text, at) } else { None }
        })?;
        Some(self.push(found))
    }

    fn push(&mut self, found: Finding) -> usize {
        let end = found.range.end;
        if found.kind == PiiKind::DateOfBirth {
            self.context.forget(Meaning::BIRTH);
        }
        self.findings.append(&mut self.names.more);
        self.findings.push(found);
        end
    }

    fn with_digits(&mut self, at: usize, end: usize) -> usize {
        let (detector, text) = (self.detector, self.text);
        let bytes = text.as_bytes();
        if class(bytes[at]) & DIGIT == 0 {
            let found = detector.numbers.payments.iban(text, at);
            let found = found.or_else(|| self.identifier(at));
            if let Some(found) = found {
                return self.push(found);
            }
            let meaning = detector.lexicon.meaning(text, at, end);
            self.context.see(meaning, end);
            return end;
        }
        match detector.numbers.read(text, at, &detector.lexicon, &self.context) {
            Some(Read::Found(found)) => self.push(found),
            Some(Read::Nothing(next)) => next,
            None => end,
        }
    }

    fn identifier(&self, at: usize) -> Option<Finding> {
        let before = at.checked_sub(1).map(|before| self.text.as_bytes()[before]);
        if before.is_some_and(|byte| matches!(byte, b'-' | b'_' | b'/' | b'.' | b'#')) {
            return None;
        }
        let against = Meaning::ORDER.or(Meaning::VERSION).or(Meaning::CHECKSUM);
        let denied = self.context.denies(against, Meaning::ID, at);
        self.detector.numbers.identifier(self.text, at, denied, &self.context)
    }

    fn letters(&mut self, at: usize, end: usize) -> usize {
        let (detector, text) = (self.detector, self.text);
        let lead = text.as_bytes()[at];
        let capital = class(lead) & UPPER != 0 || class(lead) & HIGH != 0 && text[at..].starts_with(char::is_uppercase);
        if !capital && !detector.lexicon.may_tell(text, at, end) {
            self.names.pass(at, end);
            return end;
        }
        let meaning = detector.lexicon.meaning(text, at, end);
        let announces = Meaning::CONTEXTS.or(Meaning::MONTH);
        if meaning.any(announces)
            && let Some(next) = self.telling(at, end, meaning)
        {
            return next;
        }
        // "GB82 WEST …" begins with digits in its first word; "AB 12 34 56 C" does not.
        if capital
            && end - at == 2
            && digit_at(text, end + 1)
            && let Some(found) = self.identifier(at)
        {
            return self.push(found);
        }
        if capital
            && end - at == 16
            && let Some(found) = self.identifier(at)
        {
            return self.push(found);
        }
        if capital || !meaning.is_none() {
            if let Some(found) = self.names.read(Word { start: at, end, meaning, capital }) {
                let within = found.range.end <= at;
                let next = self.push(found);
                return if within { end } else { next };
            }
        } else {
            self.names.pass(at, end);
        }
        end
    }

    /// A word that tells what follows it.
    fn telling(&mut self, at: usize, end: usize, meaning: Meaning) -> Option<usize> {
        let (detector, text) = (self.detector, self.text);
        if meaning.any(Meaning::MONTH)
            && self.context.has(Meaning::BIRTH, at)
            && let Some(stop) = dates::end_after_month(text, at)
        {
            return Some(self.push(Finding::new(PiiKind::DateOfBirth, at..stop, Confidence::Likely)));
        }
        if meaning.any(Meaning::PASSWORD.or(Meaning::KEY))
            && let Some(found) = detector.secrets.assigned(text, end, meaning)
        {
            self.context.see(meaning, end);
            return Some(self.push(found));
        }
        self.context.see(meaning, end);
        None
    }

    fn sign(&mut self, at: usize) -> Option<usize> {
        let (detector, text) = (self.detector, self.text);
        let bytes = text.as_bytes();
        let next = bytes.get(at + 1).copied()?;
        match bytes[at] {
            b'@' if class(next) & WORD != 0 => {
                let found = network::email(text, at)?;
                let name = self.names.before_address(found.range.start);
                if let Some(name) = name.or_else(|| self.names.beside_address(found.range.start, at)) {
                    self.push(name);
                }
                Some(self.push(found))
            }
            b':' if next == b'/' && bytes.get(at + 2) == Some(&b'/') => {
                let found = detector.secrets.address(text, at)?;
                Some(self.push(found))
            }
            b':' if next == b':' || next.is_ascii_alphanumeric() => {
                let found = network::ipv6(text, at).or_else(|| detector.secrets.login(text, at))?;
                Some(self.push(found))
            }
            b'+' | b'(' if next.is_ascii_digit() || matches!(next, b'+' | b'(') => {
                match detector.numbers.read(text, at, &detector.lexicon, &self.context)? {
                    Read::Found(found) => Some(self.push(found)),
                    Read::Nothing(next) => Some(next),
                }
            }
            _ => None,
        }
    }
}

/// A given name alone.
fn is_guess(found: &Finding, text: &str) -> bool {
    let possible = found.kind == PiiKind::PersonName && found.confidence == Confidence::Possible;
    possible && !text[found.range.clone()].contains(' ')
}

/// Whether one of the ranges, which are in order, has the beginning of what was found.
fn within(ranges: &[Range<usize>], found: &Finding) -> bool {
    let next = ranges.partition_point(|range| range.start <= found.range.start);
    next > 0 && ranges[next - 1].end > found.range.start
}

/// Of findings that overlap the more confident stays, then the kind that gives more away, then the longer.
fn apart(mut findings: Vec<Finding>) -> Vec<Finding> {
    let weight = |finding: &Finding| {
        let gives_away = match finding.kind {
            PiiKind::Secret => 3,
            PiiKind::PersonName => 0,
            PiiKind::Email | PiiKind::Iban | PiiKind::PaymentCard | PiiKind::NationalId => 2,
            PiiKind::Phone | PiiKind::IpAddress | PiiKind::DateOfBirth => 1,
        };
        (gives_away == 3, finding.confidence, gives_away, finding.range.len())
    };
    findings.sort_by_key(|finding| finding.range.start);
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        match kept.last_mut() {
            Some(last) if last.range.end > finding.range.start => {
                if weight(&finding) > weight(last) {
                    *last = finding;
                    while kept.len() > 1 && kept[kept.len() - 2].range.end > kept[kept.len() - 1].range.start {
                        kept.remove(kept.len() - 2);
                    }
                }
            }
            _ => kept.push(finding),
        }
    }
    kept
}
