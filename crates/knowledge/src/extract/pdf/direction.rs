//! Hebrew, Arabic and other scripts that are read from right to left. Pages hold letters by where they stand; here each line
//! comes into the order in which it is read.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// Whether a letter is of a script that is read from right to left.
pub(super) fn is_of_right_to_left(letter: char) -> bool {
    let is_number = matches!(letter, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}' | '\u{66a}'..='\u{66c}');
    let is_in_blocks = matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}');
    is_in_blocks && !is_number
}

fn is_of_left_to_right(letter: char) -> bool {
    letter.is_alphabetic() && !is_of_right_to_left(letter)
}

/// Whether most letters of a line are read from right to left.
pub(super) fn is_right_to_left(line: &str) -> bool {
    let of = |is_one: fn(char) -> bool| line.chars().filter(|letter| is_one(*letter)).count();
    let to_left = of(is_of_right_to_left);
    to_left > 0 && to_left >= of(is_of_left_to_right)
}

/// A line whose letters come by where they stand, from the left, in the order in which it is read; letters as they stand
/// alone, which forms within a word are of.
pub(super) fn in_reading_order(line: String) -> String {
    if !line.contains(is_of_right_to_left) {
        return line;
    }
    let letters: Vec<char> = line.chars().collect();
    let ordered = if is_right_to_left(&line) { reversed(&letters) } else { with_runs_reversed(&letters) };
    ordered.into_iter().flat_map(|letter| shown_alone(letter).collect::<Vec<char>>()).collect()
}

/// What a glyph stands for, in the order in which it would stand from the left.
pub(super) fn in_visual_order(text: &str) -> Cow<'_, str> {
    let has_several = text.chars().nth(1).is_some() && text.contains(is_of_right_to_left);
    if has_several { reversed(&text.chars().collect::<Vec<char>>()).into_iter().collect() } else { Cow::Borrowed(text) }
}

/// Forms of Hebrew and Arabic letters become the letters.
fn shown_alone(letter: char) -> impl Iterator<Item = char> {
    let is_form = matches!(letter, '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}');
    let form = is_form.then(|| std::iter::once(letter).nfkc());
    form.into_iter().flatten().chain((!is_form).then_some(letter))
}

/// A line of the other direction: its parts that are read from left to right, and numbers, stay as they are.
fn reversed(letters: &[char]) -> Vec<char> {
    let (mut found, mut end) = (Vec::with_capacity(letters.len()), letters.len());
    while end > 0 {
        let last = letters[end - 1];
        if let Some(begin) = begin_of_part(letters, end) {
            found.extend_from_slice(&letters[begin..end]);
            end = begin;
        } else {
            // A mark stands behind the letter that it belongs to.
            found.push(mirrored(last));
            end -= 1;
        }
    }
    found
}

/// Where a part that is read from left to right begins which ends there: words with what stands between them, or a number.
fn begin_of_part(letters: &[char], end: usize) -> Option<usize> {
    let last = *letters.get(end.checked_sub(1)?)?;
    let is_digit = |letter: char| letter.is_numeric();
    if !is_of_left_to_right(last) && !is_digit(last) && last != '%' {
        return None;
    }
    let within = letters[..end].iter().rposition(|letter| is_of_right_to_left(*letter)).map_or(0, |at| at + 1);
    let part = &letters[within..end];
    if let Some(first) = part.iter().position(|letter| is_of_left_to_right(*letter)) {
        return Some(within + number_begin(letters, within, within + first));
    }
    if last == '%' && !(end >= 2 && is_digit(letters[end - 2])) {
        return None;
    }
    Some(within + number_begin(letters, within, end - 1))
}

/// From `within`, where a number begins that `at` is in or behind: digits, and signs between them.
fn number_begin(letters: &[char], within: usize, at: usize) -> usize {
    let mut begin = at;
    while begin > within {
        let before = letters[begin - 1];
        let is_between = ".,:/'’-".contains(before) && begin >= within + 2 && letters[begin - 2].is_numeric();
        if !before.is_numeric() && !is_between {
            break;
        }
        begin -= 1;
    }
    if begin > within && "+-−€$£₪#".contains(letters[begin - 1]) && letters[begin].is_numeric() {
        begin -= 1;
    }
    begin - within
}

/// A line that is read from left to right with words of the other direction in it.
fn with_runs_reversed(letters: &[char]) -> Vec<char> {
    let (mut found, mut at) = (Vec::with_capacity(letters.len()), 0);
    while at < letters.len() {
        if !is_of_right_to_left(letters[at]) {
            found.push(letters[at]);
            at += 1;
            continue;
        }
        let until = letters[at..].iter().position(|letter| is_of_left_to_right(*letter));
        let run = &letters[at..until.map_or(letters.len(), |until| at + until)];
        let length = run.iter().rposition(|letter| is_of_right_to_left(*letter)).map_or(1, |last| last + 1);
        found.extend(reversed(&run[..length]));
        at += length;
    }
    found
}

fn mirrored(letter: char) -> char {
    const PAIRS: &str = "()[]{}<>«»‹›";
    let pair = |at: usize| PAIRS.chars().nth(at ^ 1);
    PAIRS.chars().position(|one| one == letter).and_then(pair).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::{in_reading_order, in_visual_order};

    #[test]
    fn lines_come_into_the_order_in_which_they_are_read() {
        for (from_the_left, read) in [
            ("םלוע םולש", "שלום עולם"),
            ("לקש 1,250 םולשת", "תשלום 1,250 שקל"),
            (".(ףסונ) 50% הנומתב", "בתמונה 50% (נוסף)."),
            ("ﺔﻴﺑﺮﻌﻟﺍ ﺔﻐﻠﻟﺍ", "اللغة العربية"),
            ("2024-05-04 ךיראת", "תאריך 2024-05-04"),
            ("The word םולש means peace", "The word שלום means peace"),
            ("Names in the list: ןהכ 12 יול end", "Names in the list: לוי 12 כהן end"),
            ("plain (text) 12", "plain (text) 12"),
        ] {
            assert_eq!(in_reading_order(from_the_left.to_owned()), read);
        }
        assert_eq!(in_visual_order("לא"), "אל");
        assert_eq!(in_visual_order("fi"), "fi");
    }
}
