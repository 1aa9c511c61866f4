//! Tells the assistant's own lines from a text that it delivers (a letter, verses), which claims nothing. By form only.

use super::lexicon::languages;

/// Longest line that can be a salutation or the end of a letter, words.
const SHORT: usize = 6;
/// Longest line of verse, bytes.
const VERSE: usize = 75;

/// For each line of `answer`, whether it is part of a delivered text.
pub(super) fn handed_over(answer: &str) -> Vec<bool> {
    let lines: Vec<&str> = answer.lines().map(bare).collect();
    let mut shown = vec![false; lines.len()];
    letters(&lines, &mut shown);
    verses(&lines, &mut shown);
    let labelled: Vec<usize> = (0..lines.len()).filter(|at| is_labelled(lines[*at])).collect();
    if labelled.len() > 1 {
        for at in labelled {
            shown[at] = true;
        }
    }
    for (line, shown) in lines.iter().zip(&mut shown) {
        *shown |= line.starts_with(['"', '“', '„', '«', '—']);
    }
    shown
}

/// `line` without marks of emphasis around it.
fn bare(line: &str) -> &str {
    line.trim().trim_matches(['*', '_']).trim()
}

fn words(line: &str) -> usize {
    line.split_whitespace().count()
}

/// Marks letters, from a salutation or a subject to the signature or a rule.
fn letters(lines: &[&str], shown: &mut [bool]) {
    let mut open = false;
    let mut closing = 0;
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("---") || line.starts_with('#') {
            open = false;
        }
        if !open && begins_letter(line) && lines[at + 1..].iter().any(|next| !next.is_empty()) {
            open = true;
            closing = 0;
        }
        if !open {
            continue;
        }
        shown[at] = true;
        let short = !line.is_empty() && words(line) <= SHORT;
        let signs = short && line.ends_with(',') && !begins_letter(line);
        closing = match closing {
            _ if signs => 1,
            0 => 0,
            // The name ends the letter.
            _ if short => 2,
            2 if line.is_empty() => {
                open = false;
                0
            }
            1 if line.is_empty() => 1,
            _ => 0,
        };
    }
}

/// "Dear Anna," or "Subject: …".
fn begins_letter(line: &str) -> bool {
    let rest = line.trim_start_matches(char::is_alphanumeric);
    let first = line[..line.len() - rest.len()].to_lowercase();
    let known = languages().iter().any(|lang| lang.letter.contains(&first));
    let short = words(line) <= SHORT;
    let ends = |marks: &[char]| line.trim_end_matches('*').ends_with(marks);
    let subject = rest.trim_start().starts_with([':', '：']);
    (known && ((short && ends(&[',', ':', '!'])) || subject)) || (short && words(line) > 1 && ends(&[',']))
}

/// Marks verses: three or more consecutive lines, most of which end without a full stop.
fn verses(lines: &[&str], shown: &mut [bool]) {
    let mut from = 0;
    while from < lines.len() {
        let length =
            lines[from..].iter().take_while(|line| !line.is_empty() && line.len() < VERSE && !is_item(line)).count();
        let run = &lines[from..from + length];
        let open = run.iter().filter(|line| !line.ends_with(['.', '!', '?', ':'])).count();
        if length >= 3 && open * 2 >= length {
            shown[from..from + length].fill(true);
        }
        from += length.max(1);
    }
}

fn is_item(line: &str) -> bool {
    line.starts_with(['-', '*', '•', '+', '#', '>', '|', '`']) || line.starts_with(|c: char| c.is_ascii_digit())
}

/// "Customer: …".
fn is_labelled(line: &str) -> bool {
    let Some((label, rest)) = line.split_once(':') else {
        return false;
    };
    let label = label.trim_matches(['*', '_', '-', ' ']);
    !rest.trim().is_empty()
        && (1..=3).contains(&words(label))
        && label.starts_with(char::is_uppercase)
        && !label.contains(['.', ',', '!', '/', '`'])
}
