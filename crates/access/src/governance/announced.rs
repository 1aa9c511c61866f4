//! Names after a word that announces them: titles, roles, fields, greetings, introductions, signatures.

use super::finding::{Confidence, Finding};
use super::lexicon::Meaning;
use super::name_parts::{NAME, Shape, TITLE};
use super::names::{Names, Word, is_word_after};
use super::scan::{ends_in_word, skip_spaces, word_end};

/// Words such as "von der" before a name.
const MAX_PARTICLES: usize = 4;
/// How far from a field the one before or after it may begin, in bytes.
const FORM_REACH: usize = 120;

impl Names<'_> {
    /// The name that this word announces.
    pub fn announced(&self, word: Word) -> Option<Finding> {
        let meaning = word.meaning;
        if meaning.any(Meaning::BIRTH)
            && let Some(found) = self.born(word)
        {
            return Some(found);
        }
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

    /// "Mathilde Overbeck, geb. Lüning": the name before the marriage.
    fn born(&self, word: Word) -> Option<Finding> {
        let between = self.text.get(self.last..word.start).filter(|_| self.last > 0)?;
        let at = word.end + usize::from(self.text.as_bytes().get(word.end) == Some(&b'.'));
        let parts = self.reader.parts(skip_spaces(self.text, at));
        let one = parts.len() == 1 && parts[0].shape == Shape::Word && parts[0].start > at;
        let near = matches!(between, " " | ", " | " (");
        (near && one && !is_word_after(self.text, parts[0].end)).then(|| self.found(&parts, Confidence::Likely))
    }

    /// "Herr Dr. med. Müller", "Mrs. O'Neill"
    fn after_title(&self, word: Word) -> Option<Finding> {
        // "calle Doctor Fleming"
        if self.before.is_some_and(|before| {
            before.end + 1 == word.start && self.meaning_before(before).any(Meaning::PLACE_BEFORE)
        }) {
            return None;
        }
        // "-D format"
        if word.end - word.start == 1 && self.attached(word.start) || self.text[..word.start].ends_with('-') {
            return None;
        }
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
        for _ in 0..MAX_PARTICLES {
            let Some(particle) = self.reader.particle(at).filter(|_| !genitive) else { break };
            at = skip_spaces(self.text, particle);
        }
        let mut parts = self.reader.parts(at);
        let first = parts.first_mut()?;
        first.start = start.max(word.end);
        let first = *first;
        let short = self.text[word.start..word.end].chars().count() == 1;
        let lone_initial = (parts.len() == 1 || short) && first.shape == Shape::Initial;
        // "Captain Morgan", "Dr. Müller GmbH"
        if self.is_place(first.start, &parts) {
            return None;
        }
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
        let is_one = parts.len() > 1
            && (words > 1 || parts[0].meaning.any(NAME) || parts[0].shape == Shape::Initial)
            && parts[0].shape != Shape::Capitals;
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
        if parts.is_empty() || self.is_place(at, &parts) {
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
        let ends = parts
            .last()
            .is_some_and(|part| self.text[part.end..].trim_start_matches([' ', '"', ',']).starts_with('\n'));
        (!of_something && (words > 1 || ends && self.in_form(word.start, parts[0].end)))
            .then(|| self.found(&parts, Confidence::Likely))
    }

    /// Whether the line before or after is a field for a name too: "Nom", "Prénom".
    fn in_form(&self, start: usize, end: usize) -> bool {
        let from = self.text.floor_char_boundary(start.saturating_sub(FORM_REACH));
        let to = self.text.ceil_char_boundary((end + FORM_REACH).min(self.text.len()));
        let begin = |until: usize| self.text[from..until].rfind('\n').map_or(from, |at| from + at + 1);
        let line = begin(start);
        let before = line.checked_sub(1).filter(|end| *end > from).map(begin);
        let after = self.text[end..to].find('\n').map(|length| end + length + 1);
        before.into_iter().chain(after).any(|at| {
            let line = &self.text[at.min(to)..to];
            let at = at + line.find(|c: char| c.is_alphanumeric()).unwrap_or(0);
            let colon = self.text[at..to.max(at)].find([':', '=', '\n']).map_or(at, |length| at + length);
            let name = self.text[at..colon].trim_end_matches(['"', ' ', '\'']);
            let last = at + name.rfind([' ', '_']).map_or(0, |gap| gap + 1);
            self.lexicon.meaning(self.text, last, at + name.len()).any(Meaning::NAME_FIELD)
        })
    }

    /// "Hi Zoltan,"
    fn greeted(&self, word: Word) -> Option<Finding> {
        let parts = self.reader.parts(skip_spaces(self.text, word.end));
        let last = parts.last()?;
        let spaced = parts[0].start > word.end;
        let rest = &self.text[last.end..];
        let rest =
            rest.strip_prefix([' ', '\u{a0}', '\u{202f}']).filter(|rest| rest.starts_with(['!', '?'])).unwrap_or(rest);
        let ends = rest.chars().next().is_none_or(|c| matches!(c, ',' | '!' | '.' | ':' | '\n' | '\r' | '?' | ';'));
        (spaced && ends && parts[0].shape == Shape::Word).then(|| self.found(&parts, Confidence::Likely))
    }

    /// The line after "Best regards,".
    fn signed(&self, word: Word) -> Option<Finding> {
        let bytes = self.text.as_bytes();
        let mut at = word.end;
        let mut apart = false;
        while let Some(byte) = bytes.get(at) {
            apart |= matches!(byte, b',' | b'\n' | b'.' | b'!' | b':');
            if !matches!(byte, b',' | b'.' | b'!' | b':' | b' ' | b'\n' | b'\r' | b'\t' | b'-') {
                break;
            }
            at += 1;
        }
        let parts = self.reader.parts(at);
        let last = parts.last()?;
        let rest = self.text[last.end..].trim_start_matches([' ', '.', '!']);
        let ends =
            rest.chars().next().is_none_or(|c| matches!(c, '\n' | '\r' | ',' | '|' | '(' | '<' | '-' | '–' | '/'));
        let named = parts.iter().any(|part| part.meaning.any(NAME));
        let written = parts.len() > 1 || parts[0].shape == Shape::Word;
        (if apart { named || written } else { named && word.end - word.start < 4 }
            && ends
            && !self.attached(word.start)
            && parts[0].shape != Shape::Particle)
            .then(|| self.found(&parts, Confidence::Likely))
    }
}
