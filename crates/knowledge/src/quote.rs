//! The part of a passage that answers a question, for people who read no more than that.

use crate::chunk::units::sentences;

/// What has no end of a sentence for so long is taken line by line, bytes.
const LONG: usize = 300;

/// Sentences, rows and lines of a passage, in order.
pub fn parts(text: &str) -> Vec<&str> {
    let by_line = |text: &str| text.lines().any(is_row);
    let mut found = Vec::new();
    for sentence in sentences(text, "").into_iter().map(|unit| unit.text) {
        if by_line(sentence) || (sentence.len() > LONG && sentence.contains('\n')) {
            found.extend(sentence.lines().map(str::trim));
        } else {
            found.push(sentence);
        }
    }
    found.retain(|part| part.chars().any(char::is_alphanumeric));
    found
}

/// The best of `parts` with those around it, at most `most` bytes unless that one is longer by itself. `scores`: one for
/// each part.
pub fn quote(text: &str, parts: &[&str], scores: &[f32], most: usize) -> String {
    let Some(best) = (0..parts.len().min(scores.len())).max_by(|a, b| scores[*a].total_cmp(&scores[*b])) else {
        return text.trim().to_owned();
    };
    if is_row(parts[best]) {
        return row_with_names(text, parts[best]);
    }
    let (mut from, mut until) = (best, best + 1);
    let mut bytes = parts[best].len();
    loop {
        let before = from.checked_sub(1).filter(|at| !is_row(parts[*at]));
        let after = Some(until).filter(|at| *at < parts.len().min(scores.len()) && !is_row(parts[*at]));
        let next = match (before, after) {
            (Some(before), Some(after)) if scores[before] > scores[after] => before,
            (_, Some(after)) => after,
            (Some(before), None) => before,
            (None, None) => break,
        };
        if bytes + parts[next].len() > most {
            break;
        }
        bytes += parts[next].len();
        (from, until) = (from.min(next), until.max(next + 1));
    }
    between(text, parts[from], parts[until - 1])
}

/// As it stands in the passage, with what is between the two.
fn between(text: &str, first: &str, last: &str) -> String {
    let start = first.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    let end = last.as_ptr().addr().saturating_sub(text.as_ptr().addr()) + last.len();
    text.get(start..end).unwrap_or(first).trim().to_owned()
}

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

fn row_with_names(text: &str, row: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| is_row(line));
    match (lines.next(), lines.next()) {
        (Some(names), Some(rule)) if names != row && rule.chars().all(|c| "|-: ".contains(c)) => {
            format!("{names}\n{rule}\n{row}")
        }
        _ => row.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{parts, quote};

    const TEXT: &str =
        "On call this week: Priya (primary). The export failed twice.\nThe disk was full. 40 GB were freed.";

    #[test]
    fn the_best_sentence_is_quoted_with_its_neighbours() {
        let all = parts(TEXT);
        assert_eq!(
            all,
            [
                "On call this week: Priya (primary).",
                "The export failed twice.",
                "The disk was full.",
                "40 GB were freed."
            ]
        );
        let scores = [0.1, 0.2, 0.9, 0.5];
        assert_eq!(quote(TEXT, &all, &scores, 10), "The disk was full.");
        assert_eq!(quote(TEXT, &all, &scores, 40), "The disk was full. 40 GB were freed.");
        assert_eq!(quote(TEXT, &all, &scores, 500), TEXT);
        assert_eq!(quote("", &[], &[], 500), "");
    }

    #[test]
    fn a_row_is_quoted_below_the_names_of_its_columns() {
        let text = "| symbol | price |\n|---|---|\n| AAPL | 173.95 |\n| IBM | 102.10 |";
        let all = parts(text);
        let scores: Vec<f32> = all.iter().map(|part| if part.contains("AAPL") { 1.0 } else { 0.0 }).collect();
        assert_eq!(quote(text, &all, &scores, 500), "| symbol | price |\n|---|---|\n| AAPL | 173.95 |");
    }
}
