//! Names of persons: by given names and surnames that are known, by titles, greetings, signatures and names of fields.

use super::evidence::{Evidence, Sides};
use super::finding::{Confidence, Finding, PiiKind};
use super::lexicon::{Lexicon, Meaning};
use super::name_parts::{GIVEN, MAX_PARTS, NAME, Part, PartsReader, SURNAME, Shape, TITLE, is_noun};
use super::scan::{LOWER, UPPER, class, digit_at, ends_in_word, is_word, skip_spaces, word_end};

/// A word of letters as the scan saw it.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    pub start: usize,
    pub end: usize,
    pub meaning: Meaning,
    pub capital: bool,
}

/// How far before an address of mail the name of its owner may stand, in bytes.
const ADDRESS_REACH: usize = 120;

/// Bytes of a remark in brackets after a name in a list.
const LONGEST_REMARK: usize = 120;

/// The names of one text: parts of a full name are names where they come again alone.
#[derive(Debug)]
pub struct Names<'t> {
    pub(super) text: &'t str,
    pub(super) lexicon: &'t Lexicon,
    pub(super) reader: PartsReader<'t>,
    /// Of full names so far.
    known: Vec<&'t str>,
    pub(super) before: Option<Word>,
    /// The end of a name that is that of a street or company.
    place: usize,
    /// The end of the last name.
    pub(super) last: usize,
    /// Names that were found with the last one.
    pub more: Vec<Finding>,
}

impl<'t> Names<'t> {
    pub const fn new(text: &'t str, lexicon: &'t Lexicon) -> Self {
        Self {
            text,
            lexicon,
            reader: PartsReader { text, lexicon },
            known: Vec::new(),
            before: None,
            place: 0,
            last: 0,
            more: Vec::new(),
        }
    }

    /// A name that begins with this word, or that this word announces.
    pub fn read(&mut self, word: Word) -> Option<Finding> {
        let found = self
            .announced(word)
            .or_else(|| if word.capital && word.start >= self.place { self.begins(word) } else { None });
        self.before = Some(word);
        if let Some(found) = &found {
            let field = word.meaning.any(Meaning::NAME_FIELD.or(Meaning::MAYBE_NAME_FIELD));
            let between = self.text.get(word.end..found.range.start).unwrap_or_default();
            if field && between.contains(':') {
                self.read_list(found.range.end);
            }
            self.last = found.range.end;
            self.remember(found);
        }
        found
    }

    /// "Attendees: Anna Müller, Xyrna Quell and Zo Ark": what follows the first of them in the same form.
    fn read_list(&mut self, end: usize) {
        let mut end = end;
        loop {
            let rest = &self.text[end..];
            let bracket = rest
                .strip_prefix(" (")
                .and_then(|inner| inner[..inner.floor_char_boundary(LONGEST_REMARK)].find([')', '\n']));
            let rest = &rest[bracket.map_or(0, |length| length + 3).min(rest.len())..];
            let Some(gap) = [", ", "; ", " and ", ", and ", " und ", " et ", " y ", " e ", " / "]
                .iter()
                .find(|gap| rest.starts_with(**gap))
            else {
                return;
            };
            let parts = self.reader.parts(self.text.len() - rest.len() + gap.len());
            let words = parts.iter().filter(|part| part.shape != Shape::Initial).count();
            let Some(last) = parts.last().filter(|_| words > 1 && parts.len() < 5) else { return };
            if parts.iter().any(|part| part.meaning.any(Meaning::PLACE_AFTER)) || is_word_after(self.text, last.end) {
                return;
            }
            let found = self.found(&parts, Confidence::Likely);
            self.remember(&found);
            end = found.range.end;
            self.more.push(found);
        }
    }

    /// Remembers a word that neither is nor announces a name.
    pub const fn pass(&mut self, start: usize, end: usize) {
        self.before = Some(Word { start, end, meaning: Meaning::NONE, capital: false });
    }

    pub(super) fn meaning_before(&self, before: Word) -> Meaning {
        self.lexicon.meaning(self.text, before.start, before.end)
    }

    /// The name right before an address in `<…>` or `(…)` that begins at `at`.
    pub fn before_address(&mut self, at: usize) -> Option<Finding> {
        let head = self.text[..at].strip_suffix(['<', '(', '['])?.trim_end_matches([' ', '"', '\'']);
        let from = self.text.ceil_char_boundary(head.len().saturating_sub(60));
        let from = head[from..]
            .rfind(['\n', ',', ';', ':', '"', '>', '<', '(', '\'', '=', '|'])
            .map_or(from, |at| from + at + 1);
        let start = skip_spaces(self.text, from);
        if start >= head.len() {
            return None;
        }
        let parts = self.reader.parts(start);
        let whole = parts.last().is_some_and(|part| part.end == head.len());
        let parts = if whole { parts } else { self.last_parts(start, head.len()) };
        let found = (parts.len() > 1).then(|| self.found(&parts, Confidence::Likely))?;
        self.remember(&found);
        Some(found)
    }

    /// "Zora Quell, zora.quell@example.org": words near an address that are its parts, the last of them before it.
    pub fn beside_address(&mut self, start: usize, at: usize) -> Option<Finding> {
        let pieces: Vec<&str> = self.text[start..at].split(['.', '_', '-']).collect();
        let letters = |piece: &&str| piece.len() > 1 && piece.bytes().all(|byte| byte.is_ascii_alphabetic());
        let surname = pieces.last().filter(|piece| pieces.len() == 2 && piece.len() > 3 && letters(piece))?;
        let from = self.text.floor_char_boundary(start.saturating_sub(ADDRESS_REACH)).max(self.last);
        let near = self.text.get(from..start)?;
        let words = near.match_indices(|c: char| c.is_uppercase()).map(|(at, _)| from + at);
        let begins = |at: &usize| !ends_in_word(self.text, *at) && !self.attached(*at);
        let found = words.filter(begins).find_map(|at| {
            let initial = self.text[at..].chars().next()?.to_lowercase().eq(pieces[0].chars().next());
            let parts = if initial { self.reader.parts(at) } else { return None };
            let (first, last) = (parts.first()?, parts.last()?);
            let same = self.text[last.start..last.end].eq_ignore_ascii_case(surname);
            let whole = pieces[0].len() == 1 || self.text[first.start..first.end].eq_ignore_ascii_case(pieces[0]);
            (parts.len() > 1 && same && whole).then(|| self.found(&parts, Confidence::Likely))
        })?;
        self.last = found.range.end;
        self.remember(&found);
        Some(found)
    }

    /// The shortest tail of at least two words that is nothing but a name.
    fn last_parts(&self, start: usize, end: usize) -> Vec<Part> {
        let words = self.text[start..end].rmatch_indices(' ').map(|(at, _)| start + at + 1);
        let mut tails = words.take(MAX_PARTS).map(|at| self.reader.parts(at)).filter(|parts| parts.len() > 1);
        tails.find(|parts| parts.last().is_some_and(|part| part.end == end)).unwrap_or_default()
    }

    fn remember(&mut self, found: &Finding) {
        let name = &self.text[found.range.clone()];
        if !name.contains(' ') || self.known.len() > 64 {
            return;
        }
        let parts = self.reader.parts(found.range.start);
        if !parts.iter().any(|part| part.meaning.any(NAME)) {
            return;
        }
        for part in name.split([' ', '\u{a0}']).filter(|part| part.chars().count() > 2) {
            let meaning = self.lexicon.meaning(part, 0, part.len());
            let plain = part.starts_with(char::is_uppercase) && !meaning.any(Meaning::COMMON.or(Meaning::PARTICLE));
            if plain && !self.known.contains(&part) {
                self.known.push(part);
            }
        }
    }

    /// A name that nothing announces.
    fn begins(&mut self, word: Word) -> Option<Finding> {
        let Word { start, end, mut meaning, .. } = word;
        let compound = self.text.as_bytes().get(end) == Some(&b'-');
        let known = !self.known.is_empty() && self.known.contains(&&self.text[start..end]);
        if self.attached(start) || meaning.any(Meaning::BEFORE_PERSON.or(Meaning::PLACE_BEFORE)) {
            return None;
        }
        if end - start < 4 && self.text[end..].starts_with(['\'', '’']) {
            // "O'Neill", "D'Angelo"
            meaning = self.reader.parts(start).first().map_or(meaning, |part| meaning.or(part.meaning));
        }
        let word = Word { meaning, ..word };
        if !(meaning.any(NAME) || known) {
            let initials = self.text[..start].ends_with(". ") && !meaning.any(TITLE);
            let comma = self.text.as_bytes().get(end) == Some(&b',') && meaning.is_none();
            if meaning.any(Meaning::PARTICLE) && self.starts_cell(start) {
                return self.by_prefix(&self.reader.parts(start));
            }
            return match (initials, comma) {
                (true, _) => self.after_initials(word),
                (_, true) => self.by_comma(&self.reader.parts(start)),
                _ => None,
            };
        }
        let parts = self.reader.parts(start);
        let first = *parts.first()?;
        if self.is_place(start, &parts) {
            self.place = parts.last()?.end;
            return None;
        }
        if let Some(found) = self.by_comma(&parts).or_else(|| self.after_capitals(word)) {
            return Some(found);
        }
        if first.meaning.any(GIVEN)
            && first.shape != Shape::Initial
            && let Some(found) = self.by_given(&parts)
        {
            return Some(found);
        }
        if meaning.any(SURNAME)
            && let Some(found) = self.by_surname(word, &parts)
        {
            return Some(found);
        }
        let whole = known && (!compound || first.end == end);
        whole.then(|| self.found(&parts[..1], Confidence::Likely))
    }

    /// What stands around the name `from..to`.
    fn evidence(&self, from: usize, to: usize) -> Evidence {
        let sides = Sides { text: self.text, lexicon: self.lexicon, last_name: self.last };
        sides.around(self.before.filter(|before| before.end <= from).map(|before| before.start), from, to)
    }

    fn by_given(&self, parts: &[Part]) -> Option<Finding> {
        let first = parts[0];
        let sure = is_sure(first.meaning);
        let last = parts.last()?;
        let evidence = || self.evidence(first.start, last.end);
        if parts.len() == 1 {
            if first.shape != Shape::Word || first.meaning.any(Meaning::MONTH) || self.goes_on(last.end) {
                return None;
            }
            let enough = if sure { evidence().speaks_for() } else { evidence().speaks_strongly_for() };
            return enough.then(|| self.found(parts, Confidence::Possible));
        }
        let rest = &parts[1..];
        let surname = rest.iter().any(|part| part.meaning.any(Meaning::SURNAME) && !part.meaning.any(Meaning::COMMON));
        let named = surname || rest.iter().any(|part| part.meaning.any(NAME));
        let acronym = parts[1].shape == Shape::Capitals
            && first.shape != Shape::Capitals
            && parts[1].end - parts[1].start < 4
            && !surname;
        if acronym {
            return (sure && evidence().speaks_for()).then(|| self.found(&parts[..1], Confidence::Possible));
        }
        let article = self
            .before
            .is_some_and(|before| self.meaning_before(before).any(Meaning::ARTICLE) && before.end + 1 == first.start);
        let of_many = self.text[last.start..last.end].ends_with(['s', 'x']);
        let enough = if first.shape == Shape::Capitals && !named {
            false
        } else if sure {
            surname || evidence().is_open()
        } else if surname {
            // "Will Review", "the Rose Garden"
            !(article || self.starts_sentence(first.start) && first.meaning.any(Meaning::MONTH)) && evidence().is_open()
        } else {
            !article && !of_many && evidence().speaks_for()
        };
        let confidence = if named { Confidence::Likely } else { Confidence::Possible };
        enough.then(|| self.found(parts, confidence))
    }

    fn by_surname(&self, word: Word, parts: &[Part]) -> Option<Finding> {
        let bytes = self.text.as_bytes();
        let sure = word.meaning.any(Meaning::SURNAME) && !word.meaning.any(Meaning::COMMON);
        let last = parts.last()?;
        // "DUPONT Jean", "Garcia Lopez Maria"
        if sure
            && parts.len() > 1
            && parts[1..].iter().any(|part| {
                if parts[0].shape == Shape::Capitals { part.meaning.any(GIVEN) } else { is_sure(part.meaning) }
            })
            && (parts[0].shape == Shape::Capitals || self.evidence(word.start, last.end).is_open())
        {
            return Some(self.found(parts, Confidence::Likely));
        }
        // "J. Smith"
        if !word.meaning.any(Meaning::ARTICLE)
            && let Some(start) = self.initial_before(word.start)
        {
            let end = last.end;
            return Some(Finding::new(PiiKind::PersonName, start..end, Confidence::Likely));
        }
        // "Thandiwe Johnson"
        let before = self.before?;
        let adjacent = before.end + 1 == word.start && bytes[before.end] == b' ';
        let plain =
            before.capital && before.meaning.is_none() && !self.is_acronym(before) && !self.attached(before.start);
        let sides = || Sides { text: self.text, lexicon: self.lexicon, last_name: self.last };
        if sure
            && adjacent
            && plain
            && before.end - before.start > 2
            && !self.starts_sentence(before.start)
            && !is_noun(&self.text[before.start..before.end])
            && sides().around(sides().word_before(before.start), before.start, last.end).speaks_for()
        {
            return Some(Finding::new(PiiKind::PersonName, before.start..last.end, Confidence::Possible));
        }
        None
    }

    /// "Zeisig, Arnulf; Vogt, Hiltrud": a surname first, where something begins, and a given name where it ends.
    fn by_comma(&self, parts: &[Part]) -> Option<Finding> {
        let (first, last) = (parts.first()?, parts.last()?);
        if self.text.as_bytes().get(last.end) != Some(&b',') || !matches!(first.shape, Shape::Word | Shape::Prefix) {
            return None;
        }
        let next = skip_spaces(self.text, last.end + 1);
        let given = self.reader.parts(next);
        let end = given.last()?.end;
        let surname = parts.iter().any(|part| part.meaning.any(Meaning::SURNAME) && !part.meaning.any(Meaning::COMMON));
        let begins =
            self.starts_cell(first.start) && (!first.meaning.any(Meaning::GIVEN) || surname && parts.len() == 1);
        let rest = self.text[end..].trim_start_matches(' ');
        let ends = rest.is_empty() || rest.starts_with([';', '\n', '\r', '|', ')', '<', '(', '"', '.', '\t', '\'']);
        let sure = is_sure(given[0].meaning)
            && given.len() < 3
            && given[1..].iter().all(|part| part.shape == Shape::Initial || part.meaning.any(GIVEN));
        let is_one = next == last.end + 2
            && sure
            && begins
            && (ends || surname && !first.meaning.any(Meaning::GIVEN) && evidence_of_list(rest));
        is_one.then(|| Finding::new(PiiKind::PersonName, first.start..end, Confidence::Likely))
    }

    /// "De Laurentiis Marcellina", "Da Costa, Inês"
    fn by_prefix(&self, parts: &[Part]) -> Option<Finding> {
        let listed = parts.len() > 2 && parts.last().is_some_and(|part| is_sure(part.meaning));
        if listed { Some(self.found(parts, Confidence::Likely)) } else { self.by_comma(parts) }
    }

    /// "ZERROUKI Samir": an unknown surname in capitals before a given name.
    fn after_capitals(&self, word: Word) -> Option<Finding> {
        let before = self.before?;
        let adjacent = before.end + 1 == word.start && self.text.as_bytes()[before.end] == b' ';
        let capitals = adjacent && before.capital && before.end - before.start > 4 && self.is_acronym(before);
        if !capitals || !before.meaning.is_none() || !is_sure(word.meaning) || self.attached(before.start) {
            return None;
        }
        let parts = self.reader.parts(word.start);
        let own = parts.first().filter(|part| part.shape == Shape::Word)?;
        let end = parts.last()?.end;
        let alone = self.starts_cell(before.start) || parts.len() == 1;
        (alone && own.start == word.start)
            .then(|| Finding::new(PiiKind::PersonName, before.start..end, Confidence::Likely))
    }

    /// "J. R. Castellano": a word that is in no list, with two initials.
    fn after_initials(&self, word: Word) -> Option<Finding> {
        let start = self.initial_before(word.start)?;
        let first = self.initial_before(start);
        let parts = self.reader.parts(word.start);
        let last = parts.last()?;
        let own = parts[0].shape == Shape::Word && last.end - word.start > 2 && !word.meaning.any(Meaning::COMMON);
        let enough = first.is_some() || self.evidence(start, last.end).speaks_for();
        (own && enough)
            .then(|| Finding::new(PiiKind::PersonName, first.unwrap_or(start)..last.end, Confidence::Possible))
    }

    fn starts_cell(&self, start: usize) -> bool {
        let head = self.text[..start].trim_end_matches([' ', '"', '\'', '(']);
        head.is_empty() || head.ends_with([';', '\n', ':', '|', '\t', '-', '*', '•', '>', '='])
    }

    fn is_acronym(&self, word: Word) -> bool {
        self.text.as_bytes()[word.start..word.end].iter().all(|byte| class(*byte) & LOWER == 0)
    }

    /// The beginning of the initials right before `at`.
    fn initial_before(&self, at: usize) -> Option<usize> {
        let head = self.text[..at].trim_end_matches([' ', '\u{a0}']);
        if at - head.len() > 2 {
            return None;
        }
        let head = head.strip_suffix('.')?;
        let (start, letter) = head.char_indices().next_back()?;
        (letter.is_uppercase() && !ends_in_word(head, start)).then_some(start)
    }

    /// Whether the word at `start` is a part of an address, path or identifier.
    pub(super) fn attached(&self, start: usize) -> bool {
        let bytes = self.text.as_bytes();
        start.checked_sub(1).is_some_and(|before| {
            matches!(bytes[before], b'@' | b'/' | b'_' | b'#' | b'\\' | b'$' | b'.' | b'-' | b'&' | b'~')
        }) && !(bytes[start - 1] == b'.' && start > 1 && class(bytes[start - 2]) & UPPER != 0)
            && !(matches!(bytes[start - 1], b'-' | b'@') && (start < 2 || !is_word(self.text, start - 2)))
    }

    /// Whether what follows makes the word before it a part of something longer.
    fn goes_on(&self, end: usize) -> bool {
        let bytes = self.text.as_bytes();
        match bytes.get(end) {
            Some(b'_' | b'/' | b'\\' | b'=' | b'@' | b'&' | b'$' | b'+') => true,
            Some(b'.' | b'-' | b'(') => is_word(self.text, end + 1),
            Some(b' ') => digit_at(self.text, end + 1) && !digit_at(self.text, end + 3),
            _ => false,
        }
    }

    fn starts_sentence(&self, start: usize) -> bool {
        let head = self.text[..start].trim_end_matches([' ', '"', '\'', '(', '“', '„', '«', '*', '-', '#', '>']);
        head.is_empty() || head.ends_with(['.', '!', '?', ':', '\n', ';', '|', '\t', '•'])
    }

    /// "Rue Victor Hugo", "Anna-Seghers-Straße", "Martin GmbH"
    pub(super) fn is_place(&self, start: usize, parts: &[Part]) -> bool {
        let before = self.before.filter(|before| {
            let between = &self.text[before.end.min(start)..start];
            between.len() <= 2
                && between.trim_matches([' ', '\u{a0}', '-', '\'', '.']).is_empty()
                && !between.is_empty()
        });
        if before.is_some_and(|before| {
            self.meaning_before(before).any(Meaning::PLACE_BEFORE) && (before.capital || before.end - before.start > 2)
        }) {
            return true;
        }
        let Some(last) = parts.last() else { return false };
        if parts.iter().any(|part| part.meaning.any(Meaning::PLACE_AFTER)) {
            return true;
        }
        let mut next = skip_spaces(self.text, last.end);
        next += usize::from(next == last.end && self.text.as_bytes().get(next) == Some(&b'-'));
        if self.text[next..].starts_with('&') {
            return true;
        }
        next > last.end && self.lexicon.meaning(self.text, next, word_end(self.text, next)).any(Meaning::PLACE_AFTER)
    }

    pub(super) fn found(&self, parts: &[Part], confidence: Confidence) -> Finding {
        // "Oma Trude", "Don Pedro"
        let titled = parts.len() > 1 && parts[0].meaning.any(Meaning::HONORIFIC);
        let parts = &parts[usize::from(titled)..];
        // "Vertrag von Anna Müller"
        let of = parts.iter().position(|part| part.shape == Shape::Particle).filter(|at| {
            let thing = parts[..*at].iter().all(|part| !part.meaning.any(NAME) && part.shape == Shape::Word);
            thing && parts.get(at + 1).is_some_and(|part| is_sure(part.meaning)) && parts.len() > at + 2
        });
        let parts = &parts[of.map_or(0, |at| at + 1)..];
        let start = parts.first().map_or(0, |part| part.start);
        let mut end = parts.last().map_or(start, |part| part.end);
        let initial = parts.last().is_some_and(|part| part.shape == Shape::Initial);
        end -= usize::from(initial && parts.len() == 1 && self.text[..end].ends_with('.'));
        Finding::new(PiiKind::PersonName, start..end, confidence)
    }
}

/// Whether a word in small letters follows, other than a conjunction.
pub(super) fn is_word_after(text: &str, end: usize) -> bool {
    let Some(rest) = text[end..].strip_prefix(' ') else { return false };
    rest.starts_with(char::is_lowercase)
        && !["and ", "und ", "et ", "y ", "e "].iter().any(|word| rest.starts_with(word))
}

/// A given name, and no other word.
fn is_sure(meaning: Meaning) -> bool {
    meaning.any(Meaning::GIVEN) && !meaning.any(Meaning::GIVEN_OR_WORD.or(Meaning::COMMON).or(Meaning::MONTH))
}

/// Whether the text after "Müller, Anna" goes on as no sentence does.
fn evidence_of_list(rest: &str) -> bool {
    rest.starts_with([',', '-', '–', '/']) || rest.starts_with(|c: char| c.is_ascii_digit())
}
