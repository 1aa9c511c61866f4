//! Headings of plain texts that have no mark but how they are written: `CHAPTER 2 Methods`, `TERMS OF PAYMENT`.

/// Most letters of one.
const MOST_CHARS: usize = 80;
/// Least letters of one in capitals: shorter ones are abbreviations and codes.
const LEAST_LETTERS: usize = 4;
/// Words that begin one before a number, by what they stand above.
const PARTS: [&[&str]; 2] = [
    &["part", "chapter", "appendix", "annex", "teil", "kapitel", "anhang", "anlage", "partie", "chapitre", "annexe"],
    &["section", "abschnitt", "paragraph", "article", "artikel"],
];

/// What tells headings of one kind from those of another, the outer ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum UnmarkedHeading {
    Chapter,
    Section,
    Capitals,
}

/// Which kind of heading a line is that begins a paragraph; `next` is the one after it.
pub(super) fn unmarked_heading(line: &str, next: Option<&str>) -> Option<UnmarkedHeading> {
    let line = line.trim_end();
    if line.chars().count() > MOST_CHARS
        || line.starts_with(char::is_whitespace)
        || line.ends_with(['.', ',', ';', ':', '!', '?'])
    {
        return None;
    }
    let mut words = line.split_whitespace();
    let (first, number) = (words.next()?, words.next());
    let part = |words: &[&str]| words.iter().any(|word| first.to_lowercase() == *word);
    if first.starts_with(char::is_uppercase) && number.is_some_and(is_number) {
        match PARTS.iter().position(|words| part(words)) {
            Some(0) => return Some(UnmarkedHeading::Chapter),
            Some(_) => return Some(UnmarkedHeading::Section),
            None => {}
        }
    }
    // A whole text in capitals has none.
    let alone = next.is_none_or(|next| next.trim().is_empty() || !is_in_capitals(next));
    (alone && is_in_capitals(line)).then_some(UnmarkedHeading::Capitals)
}

/// `3`, `3.2`, `IV`, `A`, with a mark behind it or not.
fn is_number(word: &str) -> bool {
    let word = word.trim_end_matches([':', '.', ')', '-', '–']);
    let digits = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let roman = !word.is_empty() && word.chars().all(|c| "IVXLC".contains(c));
    digits && word.starts_with(|c: char| c.is_ascii_digit())
        || roman
        || (word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Words in capitals, and no code, amount or table.
fn is_in_capitals(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let others = line.chars().filter(|c| !c.is_alphabetic() && !c.is_whitespace()).count();
    letters >= LEAST_LETTERS
        && others * 3 <= letters
        && !line.contains(['|', '\t', '=', '_', '<', '>', '{', '}', '/', '\\'])
        && !line.contains("   ")
        && line.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::{UnmarkedHeading, unmarked_heading};

    #[test]
    fn headings_are_told_from_lines_that_only_look_like_them() {
        for (line, kind) in [
            ("CHAPTER 2 Methods", Some(UnmarkedHeading::Chapter)),
            ("Chapter IV: The return", Some(UnmarkedHeading::Chapter)),
            ("Anhang A", Some(UnmarkedHeading::Chapter)),
            ("Section 3.2 Notice", Some(UnmarkedHeading::Section)),
            ("Abschnitt 12", Some(UnmarkedHeading::Section)),
            ("TERMS OF PAYMENT", Some(UnmarkedHeading::Capitals)),
            ("3. ÜBERGABE UND ABNAHME", Some(UnmarkedHeading::Capitals)),
            ("Chapter two was long", None),
            ("Section 3.2 says that notice is given in writing.", None),
            ("VAT", None),
            ("INV-2026-00417", None),
            ("SKU   PRICE   STOCK", None),
            ("MAX_RETRIES=3", None),
            ("Part of the house", None),
            ("A line of a letter", None),
        ] {
            assert_eq!(unmarked_heading(line, Some("The text goes on.")), kind, "{line}");
        }
        assert_eq!(unmarked_heading("ALL OF THIS IS WRITTEN", Some("IN CAPITALS AND NO HEADING")), None);
    }
}
