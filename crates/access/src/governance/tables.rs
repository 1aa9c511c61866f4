//! Rows of a table under a line that says what its columns hold: "Name;Vorname;Geburtsdatum".

use std::ops::Range;

use super::dates;
use super::finding::{Confidence, Finding, PiiKind};
use super::identifiers::Announced;
use super::lexicon::{Lexicon, Meaning};
use super::name_parts::{GIVEN, PartsReader};
use super::numbers::Numbers;
use super::scan::{digit_at, skip_spaces, word_end};
use super::secrets::Secrets;

const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
const MOST_COLUMNS: usize = 64;
/// Longer cells are no heading.
const LONGEST_HEADING: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Name,
    /// Of a person or of something else.
    MaybeName,
    Birth,
    Phone,
    Id,
    Password,
    Other,
}

#[derive(Debug)]
pub struct Tables<'t> {
    pub text: &'t str,
    pub lexicon: &'t Lexicon,
    pub numbers: &'t Numbers,
    pub secrets: &'t Secrets,
    pub findings: Vec<Finding>,
    /// Cells whose heading doesn't announce a person.
    pub others: Vec<Range<usize>>,
}

impl Tables<'_> {
    pub fn read(&mut self) {
        let mut at = 0;
        let mut line = self.line(0);
        while line.end < self.text.len() {
            let next = self.line(line.end + 1);
            let table = shared_separator(line.counts, next.counts).and_then(|sign| {
                let columns = self.columns(at..line.end, sign)?;
                let known = columns.iter().any(|column| *column != Column::Other);
                let cells = self.cells(line.end + 1..next.end, sign);
                let numbered = columns.len() > 2 && cells.iter().any(|cell| digit_at(self.text, cell.start));
                (known || numbered).then_some((sign, columns))
            });
            if let Some((sign, columns)) = table {
                at = self.rows(line.end + 1, sign, &columns);
                line = self.line(at);
            } else {
                at = line.end + 1;
                line = next;
            }
        }
    }

    fn line(&self, start: usize) -> Line {
        let rest = &self.text[start.min(self.text.len())..];
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = &rest.as_bytes()[..length];
        let counts = SEPARATORS.map(|sign| line.iter().map(|byte| usize::from(*byte == sign)).sum());
        Line { end: self.text.len() - rest.len() + length, counts }
    }

    /// What the columns hold, if each cell of the line is a few short words.
    fn columns(&self, line: Range<usize>, sign: u8) -> Option<Vec<Column>> {
        if line.len() > MOST_COLUMNS * LONGEST_HEADING {
            return None;
        }
        let signs = self.text.as_bytes()[line.clone()].iter().filter(|byte| **byte == sign);
        if line.len() > (signs.count() + 1) * LONGEST_HEADING {
            return None;
        }
        let cells = self.cells(line, sign);
        let heading = |cell: &Range<usize>| {
            let text = &self.text[cell.clone()];
            text.len() <= LONGEST_HEADING && !text.contains(['@', '/', '=', '.', ':', '!', '?']) && !digit_at(text, 0)
        };
        let words = |cell: &Range<usize>| self.text[cell.clone()].split([' ', '_', '-']).count() < 5;
        if cells.len() < 2 || !cells.iter().all(|cell| heading(cell) && words(cell)) {
            return None;
        }
        let mut columns: Vec<Column> = cells.iter().map(|cell| self.column(cell.clone())).collect();
        // Beside "first name" a column "name" holds the other one.
        if columns.contains(&Column::Name) {
            for (column, cell) in columns.iter_mut().zip(&cells) {
                let name = matches!(&*self.text[cell.clone()].to_lowercase(), "name" | "nom" | "nombre" | "nome");
                if *column == Column::MaybeName && name {
                    *column = Column::Name;
                }
            }
        }
        // Many a line of prose has one comma.
        let sure = sign != b',' || columns.len() > 2 || !columns.contains(&Column::Other);
        sure.then_some(columns)
    }

    fn column(&self, cell: Range<usize>) -> Column {
        let (mut at, mut meaning, mut words) = (cell.start, Meaning::NONE, 0);
        while at < cell.end {
            let end = word_end(self.text, at).min(cell.end);
            if end > at {
                meaning = meaning.or(self.lexicon.meaning(self.text, at, end));
                words += 1;
            }
            at = end + self.text[end..].chars().next().map_or(1, char::len_utf8);
        }
        let kinds = [
            (Meaning::BIRTH, Column::Birth),
            (Meaning::NAME_FIELD, Column::Name),
            (Meaning::PASSWORD, Column::Password),
            (Meaning::PHONE, Column::Phone),
            (Meaning::ID, Column::Id),
        ];
        let found = kinds.iter().find(|(kind, _)| meaning.any(*kind)).map(|(_, column)| *column);
        let maybe = words == 1 && meaning.any(Meaning::MAYBE_NAME_FIELD.or(Meaning::ROLE));
        found.unwrap_or(if maybe { Column::MaybeName } else { Column::Other })
    }

    /// Reads the rows from `start` on; returns where they end.
    fn rows(&mut self, start: usize, sign: u8, columns: &[Column]) -> usize {
        let mut at = start;
        let place = SEPARATORS.iter().position(|separator| *separator == sign).unwrap_or_default();
        while at < self.text.len() {
            let Line { end, counts } = self.line(at);
            if counts[place] + 1 < columns.len() {
                break;
            }
            let cells = self.cells(at..end, sign);
            if cells.len() != columns.len() {
                break;
            }
            for (cell, column) in cells.into_iter().zip(columns) {
                if *column == Column::Other {
                    self.others.push(cell);
                } else if let Some(kind) = self.holds(cell.clone(), *column) {
                    self.findings.push(Finding::new(kind, cell, Confidence::Likely));
                }
            }
            at = end + 1;
        }
        at.min(self.text.len())
    }

    fn holds(&self, cell: Range<usize>, column: Column) -> Option<PiiKind> {
        let (text, start) = (&self.text[cell.clone()], cell.start);
        if text.len() < 2 || text.len() > 80 {
            return None;
        }
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '+' | '(' | ')' | '/' | ' ' | '.' | '-' | '\u{a0}');
        match column {
            Column::Name | Column::MaybeName => {
                let parts = PartsReader { text: self.text, lexicon: self.lexicon }.parts(start);
                let whole = parts.last().is_some_and(|part| part.end == cell.end);
                let given = parts.iter().any(|part| part.meaning.any(GIVEN)) && parts.len() > 1;
                let letters = text.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '\'' | '’' | '.'));
                let name = column == Column::Name && letters && text.split(' ').count() < 6;
                (name && text.starts_with(char::is_uppercase) || whole && given).then_some(PiiKind::PersonName)
            }
            Column::Birth => {
                (dates::end(self.text, start, self.lexicon, true)? == cell.end).then_some(PiiKind::DateOfBirth)
            }
            Column::Phone => ((6..=15).contains(&digits) && text.chars().all(is_number)).then_some(PiiKind::Phone),
            Column::Id => self.numbers.identifiers.at(self.text, start, Announced::AsThis).map(|found| found.kind),
            Column::Password => self.secrets.is_password(text).then_some(PiiKind::Secret),
            Column::Other => None,
        }
    }

    /// The cells of a line without spaces and quotes around them.
    fn cells(&self, line: Range<usize>, sign: u8) -> Vec<Range<usize>> {
        let whole = self.text[line.clone()].trim_end_matches(['\r', ' ']);
        let (mut cells, mut start) = (Vec::new(), line.start);
        let end = line.start + whole.len();
        let (mut quoted, line) = (false, line.start);
        for (at, byte) in self.text.as_bytes()[line..end].iter().chain([&sign]).enumerate() {
            quoted ^= *byte == b'"';
            let at = line + at;
            if at < end && (*byte != sign || quoted) {
                continue;
            }
            // No further than the cell: a tab is a space too.
            let begin = skip_spaces(&self.text[..at], start);
            let inner = self.text[begin..at].trim_end_matches([' ', '\u{a0}']);
            let cell = match inner.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
                Some(within) => begin + 1..begin + 1 + within.len(),
                None => begin..begin + inner.len(),
            };
            cells.push(cell);
            start = at + 1;
        }
        cells
    }
}

#[derive(Debug, Clone, Copy)]
struct Line {
    end: usize,
    /// How often it has each separator.
    counts: [usize; SEPARATORS.len()],
}

/// The separator that two lines have equally often.
fn shared_separator(line: [usize; 4], next: [usize; 4]) -> Option<u8> {
    let equal = |at: &usize| line[*at] > 0 && line[*at] == next[*at] && line[*at] < MOST_COLUMNS;
    (0..SEPARATORS.len()).filter(equal).max_by_key(|at| line[*at]).map(|at| SEPARATORS[at])
}
