//! The words that a name consists of.

use std::ops::Range;

use super::lexicon::{Lexicon, Meaning};
use super::scan::{DIGIT, LETTER, class, skip_spaces, width, word_end};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Word,
    /// All in capital letters.
    Capitals,
    /// `J.`
    Initial,
    /// `von`, `de la`
    Particle,
    /// `De Luca`, `Van Dyke`
    Prefix,
}

#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub start: usize,
    pub end: usize,
    pub meaning: Meaning,
    pub shape: Shape,
}

pub const MAX_PARTS: usize = 6;
/// Bytes of one word of a name; what is longer is none.
const LONGEST_PART: usize = 96;
pub const GIVEN: Meaning = Meaning::GIVEN.or(Meaning::GIVEN_OR_WORD);
pub const SURNAME: Meaning = Meaning::SURNAME.or(Meaning::SURNAME_OR_WORD);
pub const NAME: Meaning = GIVEN.or(SURNAME);
pub const TITLE: Meaning = Meaning::HONORIFIC.or(Meaning::ROLE);

/// Reads names where they stand.
#[derive(Debug, Clone, Copy)]
pub struct PartsReader<'t> {
    pub text: &'t str,
    pub lexicon: &'t Lexicon,
}

impl PartsReader<'_> {
    /// The end of a word such as "von" at `at`.
    pub fn particle(&self, at: usize) -> Option<usize> {
        self.part(at).filter(|part| part.shape == Shape::Particle).map(|part| part.end)
    }

    /// The words of a name from `at` on.
    pub fn parts(&self, at: usize) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let (mut at, mut kept) = (at, 0);
        while parts.len() < MAX_PARTS
            && let Some(part) = self.part(at)
        {
            let follows = parts.last().copied();
            if !self.joins(follows, part) {
                break;
            }
            parts.push(part);
            if !matches!(part.shape, Shape::Particle | Shape::Prefix) {
                kept = parts.len();
            }
            at = match self.text[part.end..].chars().next() {
                Some(' ') => part.end + 1,
                Some('\u{a0}') => part.end + 2,
                _ if part.shape == Shape::Initial => part.end,
                _ => break,
            };
        }
        parts.truncate(kept);
        parts
    }

    /// Whether the part goes on with the name that ends with `before`.
    fn joins(&self, before: Option<Part>, part: Part) -> bool {
        let word = &self.text[part.start..part.end];
        let speaks_against =
            Meaning::COMMON.or(TITLE).or(Meaning::MONTH).or(Meaning::PLACE_BEFORE).or(Meaning::GREETING);
        match before {
            None => {
                part.shape != Shape::Particle
                    && (part.shape == Shape::Prefix && !part.meaning.any(Meaning::ARTICLE)
                        || part.meaning.any(NAME)
                        || !part.meaning.any(speaks_against.or(Meaning::ARTICLE).or(Meaning::CLOSING))
                            && !is_noun(word))
            }
            Some(_) if part.shape == Shape::Prefix => true,
            // "Ana Ruiz y Juan Gil" are two.
            Some(_) if part.shape == Shape::Particle => {
                let next = skip_spaces(self.text, part.end);
                word.len() > 1 || !self.lexicon.meaning(self.text, next, word_end(self.text, next)).any(GIVEN)
            }
            Some(before) => {
                let noble = matches!(before.shape, Shape::Particle | Shape::Prefix);
                let strong = noble
                    && !part.meaning.any(TITLE)
                    && (before.shape == Shape::Prefix || !part.meaning.any(Meaning::COMMON))
                    || part.meaning.any(Meaning::GIVEN.or(Meaning::SURNAME))
                        && (!part.meaning.any(Meaning::COMMON)
                            || before.meaning.any(Meaning::GIVEN) && part.meaning.any(Meaning::SURNAME));
                let against = part.meaning.any(
                    speaks_against
                        .or(Meaning::CLOSING)
                        .or(Meaning::CONTEXTS)
                        .or(Meaning::MAYBE_NAME_FIELD)
                        .or(Meaning::PLACE_AFTER),
                );
                let may = (part.meaning.any(NAME) || !part.meaning.any(Meaning::ARTICLE)) && !against && !is_noun(word);
                let caps = part.shape == Shape::Capitals && before.shape != Shape::Capitals && word.chars().count() < 4;
                let length = part.shape == Shape::Initial || word.chars().count() > 1;
                (strong || may && !caps) && length
            }
        }
    }

    fn part(&self, at: usize) -> Option<Part> {
        let bytes = self.text.as_bytes();
        let first = self.text.get(at..)?.chars().next().filter(|c| c.is_alphabetic())?;
        let (mut end, mut pieces, mut piece) = (at, Pieces::default(), at);
        loop {
            while bytes.get(end).is_some_and(|byte| class(*byte) & LETTER != 0) && end - at <= LONGEST_PART {
                end += width(bytes[end]).max(1);
            }
            if end - at > LONGEST_PART || bytes.get(end).is_some_and(|byte| class(*byte) & DIGIT != 0) {
                return None;
            }
            pieces.add(piece..end);
            let sign = match bytes.get(end) {
                Some(b'-' | b'\'') => 1,
                Some(0xE2) if bytes.get(end + 1..end + 3) == Some(&[0x80, 0x99]) => 3,
                _ => break,
            };
            let next = self.text[end + sign..].chars().next();
            let joined = next.is_some_and(|next| {
                if bytes[end] == b'-' { next.is_alphabetic() } else { next.is_uppercase() && end - piece < 4 }
            });
            if !joined {
                break;
            }
            end += sign;
            piece = end;
        }
        if !first.is_uppercase() {
            let meaning = self.lexicon.meaning(self.text, at, end);
            let particle = meaning.any(Meaning::PARTICLE) && pieces.count == 1;
            let elided = self.text[at..].starts_with("d'") || self.text[at..].starts_with("d’");
            if elided {
                let rest = if bytes[at + 1] == b'\'' { at + 2 } else { at + 4 };
                // "d'Arc": of small letters it could begin with "d'" again, without end.
                let capital = self.text[rest..].starts_with(char::is_uppercase);
                let part =
                    if capital { self.part(rest).filter(|part| part.shape == Shape::Word)? } else { return None };
                return Some(Part { start: at, ..part });
            }
            return particle.then_some(Part { start: at, end, meaning, shape: Shape::Particle });
        }
        let letters = &self.text[at..end];
        let meaning = match self.meaning_of(&pieces) {
            meaning if meaning.is_none() && self.lexicon.ends_as_surname(letters) => Meaning::SURNAME,
            meaning => meaning,
        };
        if letters.chars().count() == 1 {
            let dotted = bytes.get(end) == Some(&b'.');
            return dotted.then_some(Part { start: at, end: end + 1, meaning: Meaning::NONE, shape: Shape::Initial });
        }
        // "iPhone", "PowerPoint": capitals inside of a word occur in names only after Mc, Mac, De and the like.
        let inside = letters.char_indices().skip(1).filter(|(_, c)| c.is_uppercase()).count();
        let capitals = letters.chars().all(|c| !c.is_lowercase());
        let prefixed = ["Mc", "Mac", "De", "Di", "Le", "La", "Van", "Fitz", "O’", "O'", "D'", "D’"]
            .iter()
            .any(|prefix| letters.starts_with(prefix));
        if inside >= pieces.count && !capitals && !prefixed && !meaning.any(NAME) {
            return None;
        }
        let prefix = meaning.any(Meaning::PARTICLE)
            && bytes.get(end) == Some(&b' ')
            && self.text[end + 1..].starts_with(char::is_uppercase);
        let shape = if prefix {
            Shape::Prefix
        } else if capitals {
            Shape::Capitals
        } else {
            Shape::Word
        };
        Some(Part { start: at, end, meaning, shape })
    }

    /// Of a word in one piece, or of one such as "Jean-Pierre", "Müller-Lang", "Schiller-Straße".
    fn meaning_of(&self, pieces: &Pieces) -> Meaning {
        let meaning = |piece: &Range<usize>| self.lexicon.meaning(self.text, piece.start, piece.end);
        let first = meaning(&pieces.first);
        if pieces.count == 1 {
            return first;
        }
        let last = meaning(&pieces.last);
        let mut whole = Meaning::NONE;
        for (of, part) in [
            (first, Meaning::GIVEN),
            (first, Meaning::GIVEN_OR_WORD),
            (first, Meaning::SURNAME),
            (last, Meaning::SURNAME),
        ] {
            whole = if of.any(part) { whole.or(part) } else { whole };
        }
        if last.any(Meaning::PLACE_AFTER) {
            return Meaning::PLACE_AFTER;
        }
        if last.any(Meaning::COMMON) && !last.any(NAME) { Meaning::COMMON } else { whole }
    }
}

/// What hyphens and apostrophes join: the first of the pieces, and the last.
#[derive(Debug, Default)]
struct Pieces {
    first: Range<usize>,
    last: Range<usize>,
    count: usize,
}

impl Pieces {
    fn add(&mut self, piece: Range<usize>) {
        if self.count == 0 {
            self.first = piece.clone();
        }
        self.last = piece;
        self.count += 1;
    }
}

/// Endings of nouns that no name has, or hardly one.
pub fn is_noun(word: &str) -> bool {
    const ENDINGS: [&str; 22] = [
        "ung", "ungen", "heit", "keit", "schaft", "tion", "tionen", "ität", "ismus", "straße", "strasse", "platz",
        "gasse", "allee", "weg", "sion", "ment", "ness", "ción", "zione", "ship", "isierung",
    ];
    let letters = word.chars().count();
    letters > 5 && ENDINGS.iter().any(|ending| word.ends_with(ending))
}
