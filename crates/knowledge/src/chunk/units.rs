//! The smallest pieces that chunks are made of: sentences, rows of tables, lines of code.

use crate::{Block, BlockKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    Heading,
    Prose,
    /// A row of a table; with the first one come the names of its columns.
    Row,
    CodeLine,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Unit<'a> {
    pub text: &'a str,
    pub kind: UnitKind,
    /// What stands between it and the unit before.
    pub gap: &'static str,
    /// It was cut without regard to what it says, since it is too long.
    pub is_fixed: bool,
}

/// Units of a block in order. The second part is what a table repeats where it is continued.
pub fn units(block: &Block) -> (Vec<Unit<'_>>, Option<&str>) {
    let text = block.text.as_str();
    let unit = |text, kind, gap| Unit { text, kind, gap, is_fixed: false };
    match block.kind {
        BlockKind::Heading { .. } => {
            let heading = text.trim();
            let found = (!heading.is_empty()).then(|| unit(heading, UnitKind::Heading, "\n\n"));
            (found.into_iter().collect(), None)
        }
        BlockKind::Paragraph => (sentences(text, "\n\n"), None),
        BlockKind::ListItem => (sentences(text, "\n"), None),
        BlockKind::Code => (lines(text, UnitKind::CodeLine), None),
        BlockKind::Table => {
            let header = header(text);
            let body = header.map_or(text, |header| &text[header.len()..]);
            let mut found = lines(body, UnitKind::Row);
            if let Some(header) = header {
                found.insert(0, unit(header, UnitKind::Row, "\n\n"));
                if let Some(second) = found.get_mut(1) {
                    second.gap = "\n";
                }
            }
            (found, header)
        }
    }
}

/// The first line of a table and the line of dashes below it.
fn header(table: &str) -> Option<&str> {
    let first = table.find('\n')?;
    let rest = &table[first + 1..];
    let second = rest.split('\n').next()?;
    let is_rule = second.contains('-') && second.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\r' | '\t'));
    let header = &table[..first + 1 + second.len()];
    (is_rule && !header.trim().is_empty()).then_some(header)
}

fn lines(text: &str, kind: UnitKind) -> Vec<Unit<'_>> {
    let mut found: Vec<Unit<'_>> = Vec::new();
    let mut blank = false;
    for line in text.lines().map(str::trim_end) {
        if line.trim_start().is_empty() {
            blank = true;
            continue;
        }
        let gap = if found.is_empty() || (blank && kind == UnitKind::CodeLine) { "\n\n" } else { "\n" };
        found.push(Unit { text: line, kind, gap, is_fixed: false });
        blank = false;
    }
    found
}

pub fn sentences<'a>(text: &'a str, gap: &'static str) -> Vec<Unit<'a>> {
    let mut found: Vec<Unit<'_>> = Vec::new();
    let mut from = 0;
    for end in ends(text).chain([text.len()]) {
        let piece = &text[from..end];
        let sentence = piece.trim();
        if !sentence.is_empty() {
            let lead = &piece[..piece.len() - piece.trim_start().len()];
            let gap = if found.is_empty() {
                gap
            } else if lead.contains('\n') {
                "\n"
            } else if lead.is_empty() {
                ""
            } else {
                " "
            };
            found.push(Unit { text: sentence, kind: UnitKind::Prose, gap, is_fixed: false });
        }
        from = end;
    }
    found
}

/// Where sentences end, before the white space. A line break ends one too where the next line begins with a mark of a
/// list.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    text.char_indices().filter_map(move |(at, c)| {
        let after = at + c.len_utf8();
        let rest = &text[after..];
        let ends = match c {
            '。' | '！' | '？' | '．' => true,
            '.' => followed_by_a_beginning(rest) && !is_abbreviation(&text[..at]),
            '!' | '?' | '…' | '؟' | '।' | '։' => followed_by_a_beginning(rest),
            '\n' => {
                rest.starts_with('\n') || rest.trim_start_matches([' ', '\t']).starts_with(['•', '–', '·', '▪', '◦'])
            }
            _ => return None,
        };
        let closing = rest.find(|c| !matches!(c, '"' | '”' | '’' | '»' | ')' | ']' | '\'')).unwrap_or(rest.len());
        ends.then_some(if c == '\n' { at } else { after + closing })
    })
}

fn followed_by_a_beginning(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['"', '”', '’', '»', ')', ']', '\'']);
    let begins = rest.trim_start();
    rest.is_empty() || (begins.len() < rest.len() && !begins.starts_with(char::is_lowercase))
}

/// Whether the word before a full stop is one letter, as in `e.g.` and in initials, a short number, as in `3. Mai`, or a
/// title.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"')).next().unwrap_or_default();
    let last = word.rsplit('.').next().unwrap_or_default();
    let letters = last.chars().count();
    let is_number = letters <= 2 && !last.is_empty() && last.chars().all(|c| c.is_ascii_digit());
    let titles =
        ["Dr", "Mr", "Mrs", "Ms", "Prof", "St", "No", "Nr", "Fig", "vs", "cf", "ca", "bzw", "Abs", "Art", "Sr"];
    (letters == 1 && last.chars().all(char::is_alphabetic)) || (is_number && word == last) || titles.contains(&last)
}

/// Cuts a text into pieces of which each `fits`, where possible at white space. Something always goes forward.
pub fn cut<'t>(text: &'t str, most_chars: usize, fits: &dyn Fn(&str) -> bool) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let ends: Vec<usize> = rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(most_chars.max(1)).collect();
        // The longest beginning that fits, by halves: tokens grow with characters.
        let (mut low, mut high) = (1, ends.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(rest[..ends[middle - 1]].trim_end()) { low = middle } else { high = middle - 1 }
        }
        let mut end = ends[low - 1];
        if end < rest.len() && !rest[end..].starts_with(char::is_whitespace) {
            let space = rest[..end].rfind(char::is_whitespace).filter(|at| *at > end / 2);
            end = space.unwrap_or(end);
        }
        let piece = rest[..end].trim_end();
        if !piece.is_empty() {
            found.push(piece);
        }
        rest = rest[end..].trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{UnitKind, cut, units};
    use crate::{Block, BlockKind};

    fn texts(kind: BlockKind, text: &str) -> Vec<String> {
        let block = Block { kind, text: text.to_owned(), area: None };
        units(&block).0.into_iter().map(|unit| unit.text.to_owned()).collect()
    }

    #[test]
    fn sentences_end_where_the_next_begins() {
        let check = |text: &str, expected: &[&str]| assert_eq!(texts(BlockKind::Paragraph, text), expected);
        check("One is. Two is! Is three?", &["One is.", "Two is!", "Is three?"]);
        check(
            "See e.g. Dr. Smith (b. 1970) of v1.2. He said \"no.\" Then left.",
            &["See e.g. Dr. Smith (b. 1970) of v1.2.", "He said \"no.\"", "Then left."],
        );
        check("Am 3. Mai war es so. Danach nicht.", &["Am 3. Mai war es so.", "Danach nicht."]);
        check("これは一つ。これは二つ。", &["これは一つ。", "これは二つ。"]);
        check("Run a.b.c and go. then not", &["Run a.b.c and go. then not"]);
        check("", &[]);
        check("  \n ", &[]);
    }

    #[test]
    fn rows_and_lines_stay_whole() {
        let table =
            Block { kind: BlockKind::Table, text: "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |".into(), area: None };
        let (found, header) = units(&table);
        assert_eq!(header, Some("| a | b |\n|---|---|"));
        let rows: Vec<&str> = found.iter().map(|unit| unit.text).collect();
        assert_eq!(rows, ["| a | b |\n|---|---|", "| 1 | 2 |", "| 3 | 4 |"]);
        assert!(found.iter().all(|unit| unit.kind == UnitKind::Row));
        assert_eq!(texts(BlockKind::Code, "fn a() {\n    b. C\n\n}\n"), ["fn a() {", "    b. C", "}"]);
        assert_eq!(texts(BlockKind::Table, "| 1 |\n| 2 |"), ["| 1 |", "| 2 |"]);
    }

    #[test]
    fn long_texts_are_cut_at_spaces_if_there_are() {
        let fits = |text: &str| text.chars().count() <= 7;
        assert_eq!(cut("alpha beta gamma", 100, &fits), ["alpha", "beta", "gamma"]);
        assert_eq!(cut("abcdefghijklmnop", 100, &fits), ["abcdefg", "hijklmn", "op"]);
        assert_eq!(cut("äöüäöü", 2, &fits), ["äö", "üä", "öü"]);
        assert_eq!(cut("ab", 100, &|_| false), ["a", "b"]);
    }
}
