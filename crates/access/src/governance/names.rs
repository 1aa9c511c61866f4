//! Names of persons: by given names and surnames that are known, by titles, greetings, signatures and names of fields.

use super::finding::{Confidence, Finding, PiiKind};
use super::lexicon::{Lexicon, Meaning};
use super::name_parts::{GIVEN, NAME, Part, PartsReader, SURNAME, Shape, TITLE, is_noun};
use super::scan::{LOWER, UPPER, class, digit_at, ends_in_word, is_word, skip_spaces, word_end};

/// A word of letters as the scan saw it.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    pub start: usize,
    pub end: usize,
    pub meaning: Meaning,
    pub capital: bool,
}

/// The names of one text: parts of a full name are names where they come again alone.
#[derive(Debug)]
pub struct Names<'t> {
    text: &'t str,
    lexicon: &'t Lexicon,
    reader: PartsReader<'t>,
    /// Of full names so far.
    known: Vec<&'t str>,
    before: Option<Word>,
    /// The end of a name that is that of a street or company.
    place: usize,
}

impl<'t> Names<'t> {
    pub const fn new(text: &'t str, lexicon: &'t Lexicon) -> Self {
        Self { text, lexicon, reader: PartsReader { text, lexicon }, known: Vec::new(), before: None, place: 0 }
    }

    /// A name that begins with this word, or that this word announces.
    pub fn read(&mut self, word: Word) -> Option<Finding> {
        let found = self
            .announced(word)
            .or_else(|| if word.capital && word.start >= self.place { self.begins(word) } else { None });
        self.before = Some(word);
        if let Some(found) = &found {
            self.remember(found);
        }
        found
    }

    /// Remembers a word that neither is nor announces a name.
    pub const fn pass(&mut self, start: usize, end: usize) {
        self.before = Some(Word { start, end, meaning: Meaning::NONE, capital: false });
    }

    fn meaning_before(&self, before: Word) -> Meaning {
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
        let parts = self.reader.parts(start);
        let whole = parts.last().is_some_and(|part| part.end == head.len());
        let parts = if whole { parts } else { self.last_parts(start, head.len()) };
        let found = (parts.len() > 1).then(|| self.found(&parts, Confidence::Likely))?;
        self.remember(&found);
        Some(found)
    }

    /// The shortest tail of at least two words that is nothing but a name.
    fn last_parts(&self, start: usize, end: usize) -> Vec<Part> {
        let words = self.text[start..end].match_indices(' ').map(|(at, _)| start + at + 1);
        let mut tails = words.map(|at| self.reader.parts(at)).filter(|parts| parts.len() > 1);
        tails.rfind(|parts| parts.last().is_some_and(|part| part.end == end)).unwrap_or_default()
    }

    fn remember(&mut self, found: &Finding) {
        let name = &self.text[found.range.clone()];
        if !name.contains(' ') || self.known.len() > 64 {
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

    fn announced(&self, word: Word) -> Option<Finding> {
        let meaning = word.meaning;
        if meaning.any(Meaning::HONORIFIC)
            && let Some(found) = self.after_title(word)
        {
            return Some(found);
        }
        if meaning.any(Meaning::NAME_FIELD.or(Meaning::MAYBE_NAME_FIELD))
            && let Some(found) = self.in_field(word)
        {
            return Some(found);
        }
        if meaning.any(Meaning::INTRODUCTION)
            && let parts = self.reader.parts(skip_spaces(self.text, word.end))
            && !parts.is_empty()
        {
            return Some(self.found(&parts, Confidence::Likely));
        }
        if meaning.any(Meaning::GREETING)
            && word.capital
            && let Some(found) = self.greeted(word)
        {
            return Some(found);
        }
        if meaning.any(Meaning::CLOSING)
            && let Some(found) = self.signed(word)
        {
            return Some(found);
        }
        if meaning.any(Meaning::ROLE) { self.after_role(word) } else { None }
    }

    /// "Herr Dr. med. Müller", "Mrs. O'Neill"
    fn after_title(&self, word: Word) -> Option<Finding> {
        // "250 ms. Half of it"
        if self.text[..word.start].trim_end_matches(' ').ends_with(|c: char| c.is_ascii_digit()) && !word.capital {
            return None;
        }
        let mut at = word.end;
        for _ in 0..5 {
            at += usize::from(self.text.as_bytes().get(at) == Some(&b'.'));
            at = skip_spaces(self.text, at);
            let end = word_end(self.text, at);
            let next = self.lexicon.meaning(self.text, at, end);
            let dotted = self.text.as_bytes().get(end) == Some(&b'.');
            let small = self.text[at..end].bytes().all(|byte| byte.is_ascii_lowercase());
            if end == at || !(next.any(TITLE) && !next.any(NAME) || dotted && small && end - at < 5) {
                break;
            }
            at = end;
        }
        // "Herr von Arnim", but not "Herr des Hauses"
        let start = at;
        let genitive =
            ["des ", "der ", "den ", "das ", "la ", "le ", "y "].iter().any(|word| self.text[at..].starts_with(word));
        while !genitive && let Some(particle) = self.reader.particle(at) {
            at = skip_spaces(self.text, particle);
        }
        let mut parts = self.reader.parts(at);
        let first = parts.first_mut()?;
        first.start = start.max(word.end);
        let first = *first;
        let short = self.text[word.start..word.end].chars().count() == 1;
        let lone_initial = (parts.len() == 1 || short) && first.shape == Shape::Initial;
        (at > word.end && !lone_initial && self.text[first.start..first.end].chars().count() > 1)
            .then(|| self.found(&parts, Confidence::Likely))
    }

    /// "Kundin Aylin Demir": two words, since many a noun follows a role.
    fn after_role(&self, word: Word) -> Option<Finding> {
        let bytes = self.text.as_bytes();
        let mut at = word.end;
        at += usize::from(matches!(bytes.get(at), Some(b':' | b',')));
        let parts = self.reader.parts(skip_spaces(self.text, at));
        let words = parts.iter().filter(|part| part.shape == Shape::Word).count();
        let is_one = parts.len() > 1 && (words > 1 || parts[0].meaning.any(NAME)) && parts[0].shape != Shape::Capitals;
        let surname = parts.len() == 1
            && parts[0].meaning.any(Meaning::SURNAME)
            && !parts[0].meaning.any(Meaning::SURNAME_OR_WORD.or(Meaning::COMMON));
        (is_one || surname).then(|| self.found(&parts, Confidence::Likely))
    }

    /// `"last_name": "…"`, `Name: …`
    fn in_field(&self, word: Word) -> Option<Finding> {
        let bytes = self.text.as_bytes();
        let mut at = word.end;
        while matches!(bytes.get(at), Some(b'"' | b'\'' | b'*' | b'`')) {
            at += 1;
        }
        at = skip_spaces(self.text, at);
        if self.text[at..].starts_with("(s)") || self.text[at..].starts_with("/in") {
            at += 3;
        }
        if !matches!(bytes.get(at), Some(b':' | b'=')) {
            return None;
        }
        at += 1;
        while matches!(bytes.get(at), Some(b'=' | b'>' | b'*' | b' ' | b'\t' | b'"' | b'\'')) {
            at += 1;
        }
        let end = word_end(self.text, at);
        if self.lexicon.meaning(self.text, at, end).any(Meaning::HONORIFIC)
            && matches!(bytes.get(end), Some(b'.' | b' '))
        {
            return None;
        }
        let parts = self.reader.parts(at);
        if parts.is_empty() {
            return None;
        }
        if word.meaning.any(Meaning::NAME_FIELD) {
            return Some(self.found(&parts, Confidence::Likely));
        }
        // The name of something else: "product name", "file_name".
        let of_something = self.text[..word.start]
            .strip_suffix([' ', '_', '-', '.'])
            .is_some_and(|head| ends_in_word(head, head.len()));
        let words = parts.iter().filter(|part| part.shape == Shape::Word || part.shape == Shape::Initial).count();
        (!of_something && words > 1).then(|| self.found(&parts, Confidence::Likely))
    }

    /// "Hi Zoltan,"
    fn greeted(&self, word: Word) -> Option<Finding> {
        let parts = self.reader.parts(skip_spaces(self.text, word.end));
        let last = parts.last()?;
        let spaced = parts[0].start > word.end;
        let ends = self.text[last.end..]
            .chars()
            .next()
            .is_none_or(|c| matches!(c, ',' | '!' | '.' | ':' | '\n' | '\r' | '?' | ';'));
        (spaced && ends && parts[0].shape == Shape::Word).then(|| self.found(&parts, Confidence::Likely))
    }

    /// The line after "Best regards,".
    fn signed(&self, word: Word) -> Option<Finding> {
        let bytes = self.text.as_bytes();
        let mut at = word.end;
        let mut apart = false;
        while let Some(byte) = bytes.get(at) {
            apart |= matches!(byte, b',' | b'\n' | b'.' | b'!');
            if !matches!(byte, b',' | b'.' | b'!' | b' ' | b'\n' | b'\r' | b'\t' | b'-') {
                break;
            }
            at += 1;
        }
        let parts = self.reader.parts(at);
        let last = parts.last()?;
        let rest = self.text[last.end..].trim_start_matches([' ', '.', '!']);
        let ends =
            rest.chars().next().is_none_or(|c| matches!(c, '\n' | '\r' | ',' | '|' | '(' | '<' | '-' | '–' | '/'));
        ((apart || word.end - word.start < 4) && ends && parts[0].shape != Shape::Particle)
            .then(|| self.found(&parts, Confidence::Likely))
    }

    /// A name that nothing announces.
    fn begins(&mut self, word: Word) -> Option<Finding> {
        let Word { start, end, meaning, .. } = word;
        let compound = self.text.as_bytes().get(end) == Some(&b'-');
        let known = !self.known.is_empty() && self.known.contains(&&self.text[start..end]);
        if !(meaning.any(NAME) || known) || self.attached(start) {
            return None;
        }
        let parts = self.reader.parts(start);
        let first = *parts.first()?;
        if self.is_place(start, &parts) {
            self.place = parts.last()?.end;
            return None;
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

    fn by_given(&self, parts: &[Part]) -> Option<Finding> {
        let first = parts[0];
        let sure = first.meaning.any(Meaning::GIVEN) && !first.meaning.any(Meaning::GIVEN_OR_WORD.or(Meaning::COMMON));
        let last = parts.last()?;
        if parts.len() == 1 {
            if self.is_cell_before(last.end, SURNAME) {
                return Some(self.found(parts, Confidence::Likely));
            }
            let acronym = self
                .before
                .is_some_and(|before| before.end + 1 == first.start && before.capital && self.is_acronym(before));
            let alone = sure && !acronym && first.shape == Shape::Word && !self.goes_on(last.end);
            return alone.then(|| self.found(parts, Confidence::Possible));
        }
        let surname = parts[1..].iter().any(|part| part.meaning.any(SURNAME.or(GIVEN)));
        let article = self
            .before
            .is_some_and(|before| self.meaning_before(before).any(Meaning::ARTICLE) && before.end + 1 == first.start);
        let strong = parts[1..].iter().any(|part| part.meaning.any(Meaning::SURNAME));
        let of_many = |part: &Part| {
            self.text[part.start..part.end].ends_with(['s', 'x']) || is_noun(&self.text[part.start..part.end])
        };
        // "Will Review", "the Rose Garden"
        if !sure
            && !strong
            && (article
                || !surname
                    && (self.starts_sentence(first.start) && first.meaning.any(Meaning::COMMON.or(Meaning::MONTH))
                        || of_many(last)))
        {
            return None;
        }
        let acronym = parts[1].shape == Shape::Capitals
            && first.shape != Shape::Capitals
            && parts[1].end - parts[1].start < 4
            && !surname;
        if acronym {
            return sure.then(|| self.found(&parts[..1], Confidence::Possible));
        }
        let confidence = if surname { Confidence::Likely } else { Confidence::Possible };
        Some(self.found(parts, confidence))
    }

    fn by_surname(&self, word: Word, parts: &[Part]) -> Option<Finding> {
        let bytes = self.text.as_bytes();
        let sure = word.meaning.any(Meaning::SURNAME) && !word.meaning.any(Meaning::COMMON);
        let last = parts.last()?;
        // "DUPONT Jean", "Garcia Lopez Maria"
        if sure
            && parts.len() > 1
            && parts[1..]
                .iter()
                .any(|part| part.meaning.any(if parts[0].shape == Shape::Capitals { GIVEN } else { Meaning::GIVEN }))
        {
            return Some(self.found(parts, Confidence::Likely));
        }
        // "Müller, Anna"
        if bytes.get(parts[0].end) == Some(&b',') {
            let next = skip_spaces(self.text, parts[0].end + 1);
            let given = self.reader.parts(next);
            let short = given.first().is_some_and(|part| part.meaning.any(Meaning::GIVEN)) && given.len() < 3;
            if short && next == parts[0].end + 2 && sure {
                let both = [parts[0], *given.last()?];
                return Some(self.found(&both, Confidence::Likely));
            }
        }
        // Cells of a table: "Müller;Anna", "Anna,Müller".
        if self.is_cell_before(last.end, GIVEN) {
            return Some(self.found(parts, Confidence::Likely));
        }
        let before = self.before?;
        if before.end + 1 == word.start && is_border(bytes[before.end]) && before.capital && before.meaning.any(GIVEN) {
            return Some(self.found(parts, Confidence::Likely));
        }
        // "J. Smith"
        if let Some(start) = self.initial_before(word.start) {
            let end = last.end;
            return Some(Finding::new(PiiKind::PersonName, start..end, Confidence::Likely));
        }
        // "Thandiwe Johnson"
        let adjacent = before.end + 1 == word.start && bytes[before.end] == b' ';
        let plain =
            before.capital && before.meaning.is_none() && !self.is_acronym(before) && !self.attached(before.start);
        if sure
            && adjacent
            && plain
            && before.end - before.start > 2
            && !self.starts_sentence(before.start)
            && !is_noun(&self.text[before.start..before.end])
        {
            return Some(Finding::new(PiiKind::PersonName, before.start..last.end, Confidence::Possible));
        }
        None
    }

    /// Whether a cell ends here, and the next one begins with such a word.
    fn is_cell_before(&self, end: usize, meaning: Meaning) -> bool {
        let next = end + 1;
        self.text.as_bytes().get(end).is_some_and(|byte| is_border(*byte))
            && self.lexicon.meaning(self.text, next, word_end(self.text, next)).any(meaning)
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
    fn attached(&self, start: usize) -> bool {
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
    fn is_place(&self, start: usize, parts: &[Part]) -> bool {
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

    fn found(&self, parts: &[Part], confidence: Confidence) -> Finding {
        let start = parts.first().map_or(0, |part| part.start);
        let mut end = parts.last().map_or(start, |part| part.end);
        let initial = parts.last().is_some_and(|part| part.shape == Shape::Initial);
        end -= usize::from(initial && parts.len() == 1 && self.text[..end].ends_with('.'));
        Finding::new(PiiKind::PersonName, start..end, confidence)
    }
}

/// Between two cells of a row.
const fn is_border(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'\t' | b'|')
}
