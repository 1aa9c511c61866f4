//! Which telling words stood before a place.

use super::lexicon::Meaning;

/// How far before a number a word may stand that tells what it is, in bytes.
const REACH: usize = 48;

/// Where words were seen last. A place is the end of the word.
#[derive(Debug, Default)]
pub struct Context {
    last: [usize; 10],
    /// The beginning of the line.
    pub line: usize,
}

const ORDER_OF_BITS: [Meaning; 10] = [
    Meaning::PHONE,
    Meaning::BIRTH,
    Meaning::ID,
    Meaning::KEY,
    Meaning::PASSWORD,
    Meaning::ADDRESS,
    Meaning::ORDER,
    Meaning::VERSION,
    Meaning::CHECKSUM,
    Meaning::CARD,
];

impl Context {
    pub fn see(&mut self, meaning: Meaning, end: usize) {
        for (last, context) in self.last.iter_mut().zip(ORDER_OF_BITS) {
            if meaning.any(context) {
                *last = end;
            }
        }
    }

    /// A word that announces one value is done with it.
    pub fn forget(&mut self, meaning: Meaning) {
        for (last, context) in self.last.iter_mut().zip(ORDER_OF_BITS) {
            *last = if meaning.any(context) { 0 } else { *last };
        }
    }

    /// The end of the last word that means this, if it is near enough to `at`.
    fn last(&self, meaning: Meaning, at: usize) -> Option<usize> {
        let places = self.last.iter().zip(ORDER_OF_BITS).filter(|(_, context)| meaning.any(*context));
        places.map(|(last, _)| *last).max().filter(|last| *last > 0 && *last <= at && at - last <= REACH)
    }

    pub fn has(&self, meaning: Meaning, at: usize) -> bool {
        self.last(meaning, at).is_some()
    }

    /// Whether a word that means this is nearer than any of those that speak against it.
    pub fn says(&self, meaning: Meaning, against: Meaning, at: usize) -> bool {
        self.last(meaning, at).is_some_and(|last| self.last(against, at).is_none_or(|other| other < last))
    }

    /// Whether a word on this line speaks against it, and none for it is nearer.
    pub fn denies(&self, against: Meaning, meaning: Meaning, at: usize) -> bool {
        let against = self.last(against, at).filter(|last| *last > self.line);
        against.is_some_and(|last| self.last(meaning, at).is_none_or(|other| other <= last))
    }
}
