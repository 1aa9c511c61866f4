//! Formulas as they are typed. One that many cells share stands at the first of them.

use std::collections::HashMap;

/// Row and column of a cell.
type Place = (usize, usize);

#[derive(Default)]
pub(super) struct Formulas {
    shared: HashMap<String, (Place, String)>,
}

impl Formulas {
    /// The formula of a cell, with `=` before it.
    pub fn of(&mut self, text: &str, shared: Option<String>, place: Place) -> Option<String> {
        let text = text.trim();
        match (shared, text.is_empty()) {
            (Some(id), false) => {
                let shown = format!("={text}");
                self.shared.insert(id, (place, text.to_owned()));
                Some(shown)
            }
            (Some(id), true) => {
                let (first, text) = self.shared.get(&id)?;
                Some(format!("={}", moved(text, *first, place)))
            }
            (None, false) => Some(format!("={text}")),
            (None, true) => None,
        }
    }
}

/// A formula as it is in another cell: references without `$` move along.
fn moved(formula: &str, from: Place, to: Place) -> String {
    let mut out = String::with_capacity(formula.len());
    let mut rest = formula;
    while let Some(letter) = rest.chars().next() {
        // Texts, and names of sheets in quotes.
        if matches!(letter, '"' | '\'') {
            let end = rest[1..].find(letter).map_or(rest.len(), |end| end + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let word =
            rest.find(|one: char| !one.is_alphanumeric() && !matches!(one, '$' | '_' | '.')).unwrap_or(rest.len());
        if word == 0 {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        }
        let (name, after) = rest.split_at(word);
        let is_reference = !after.starts_with(['(', '!']);
        match reference(name).filter(|_| is_reference) {
            Some(reference) => out.push_str(&reference.moved(from, to)),
            None => out.push_str(name),
        }
        rest = after;
    }
    out
}

struct Reference {
    /// From 1.
    column: usize,
    row: usize,
    is_fixed: (bool, bool),
}

fn reference(text: &str) -> Option<Reference> {
    let letters = text.trim_start_matches('$');
    let fixed_column = letters.len() < text.len();
    let split = letters.find(|one: char| !one.is_ascii_alphabetic()).filter(|at| (1..=3).contains(at))?;
    let (column, rest) = letters.split_at(split);
    let row = rest.trim_start_matches('$');
    let is_number = !row.is_empty() && row.bytes().all(|byte| byte.is_ascii_digit());
    let column =
        column.bytes().fold(0, |number, letter| number * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1);
    let row_number = row.parse().ok().filter(|_| is_number)?;
    Some(Reference { column, row: row_number, is_fixed: (fixed_column, row.len() < rest.len()) })
}

impl Reference {
    fn moved(&self, from: Place, to: Place) -> String {
        let shifted = |at: usize, from: usize, to: usize| at.saturating_add(to).saturating_sub(from).max(1);
        let (fixed_column, fixed_row) = self.is_fixed;
        let column = if fixed_column { self.column } else { shifted(self.column, from.1, to.1) };
        let row = if fixed_row { self.row } else { shifted(self.row, from.0, to.0) };
        let sign = |is_fixed: bool| if is_fixed { "$" } else { "" };
        format!("{}{}{}{row}", sign(fixed_column), column_name(column - 1), sign(fixed_row))
    }
}

/// Column 2, from 0, is `C`.
pub(in super::super) fn column_name(column: usize) -> String {
    let (mut left, mut letters) = (column + 1, Vec::new());
    while left > 0 {
        letters.insert(0, char::from(b'A' + u8::try_from((left - 1) % 26).unwrap_or(0)));
        left = (left - 1) / 26;
    }
    letters.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn shared_formulas_move_with_their_cells() {
        for (formula, expected) in [
            ("B2*C2", "C4*D4"),
            ("SUM($B$2:B2)", "SUM($B$2:C4)"),
            ("$A2&A$1&\"A1\"", "$A4&B$1&\"A1\""),
            ("'A1 b'!Z9+Data!A1", "'A1 b'!AA11+Data!B3"),
            ("LOG10(A1)+rate_2+ATAN2(1,A1)", "LOG10(B3)+rate_2+ATAN2(1,B3)"),
        ] {
            assert_eq!(moved(formula, (2, 3), (4, 4)), expected);
        }
    }
}
