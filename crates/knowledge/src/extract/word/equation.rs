//! Formulas of old kind: fields `EQ` whose code says how parts stand beside and above each other.

use super::super::rich_text::Script;
use std::iter::Peekable;
use std::str::Chars;

/// Most parts within each other; what is deeper stands as it is.
const DEPTH: usize = 20;

/// What the code of a field `EQ` shows, in one line: `EQ \f(3,8)` is `3/8`. `None`: it is another field.
pub(super) fn read(code: &str) -> Option<String> {
    let code = code.trim();
    let name = code.get(..2).filter(|name| name.eq_ignore_ascii_case("EQ"))?;
    let rest = code.strip_prefix(name).filter(|rest| rest.starts_with([' ', '\\']))?;
    let mut letters = rest.trim_start().chars().peekable();
    Some(sequence(&mut letters, false, 0).concat().trim().to_owned())
}

/// Texts up to the end of the code, or within brackets up to their end, parted by commas or semicolons.
fn sequence(letters: &mut Peekable<Chars<'_>>, is_within: bool, depth: usize) -> Vec<String> {
    let (mut parts, mut open) = (vec![String::new()], 0_usize);
    while let Some(letter) = letters.next() {
        let part = match letter {
            ')' if is_within && open == 0 => break,
            ',' | ';' if is_within && open == 0 => {
                parts.push(String::new());
                continue;
            }
            '\\' => element(letters, depth),
            letter => {
                open = match letter {
                    '(' => open + 1,
                    ')' => open.saturating_sub(1),
                    _ => open,
                };
                letter.to_string()
            }
        };
        parts.last_mut().into_iter().for_each(|last| last.push_str(&part));
    }
    parts
}

/// What stands behind a backslash: an element with its options, or a sign that means itself.
fn element(letters: &mut Peekable<Chars<'_>>, depth: usize) -> String {
    let Some(first) = letters.next() else { return String::new() };
    if first == '*' {
        skip_look(letters);
        return String::new();
    }
    if !first.is_ascii_alphabetic() || depth >= DEPTH {
        return first.to_string();
    }
    let kind = format!("{first}{}", word(letters)).to_ascii_lowercase();
    let (mut options, mut signs) = (Vec::new(), Vec::new());
    loop {
        let mut ahead = letters.clone();
        while ahead.next_if(|letter| *letter == ' ').is_some() {}
        match ahead.next() {
            Some('\\') if ahead.peek().is_some_and(char::is_ascii_alphabetic) => {
                let option = word(&mut ahead).to_ascii_lowercase();
                // The sign of a bracket.
                if matches!(option.as_str(), "lc" | "rc" | "bc") && ahead.next_if_eq(&'\\').is_some() {
                    signs.extend(ahead.next().map(|sign| (option.clone(), sign)));
                }
                options.push(option);
                *letters = ahead;
            }
            // A number may stand apart from its option.
            Some(digit) if digit.is_ascii_digit() && !options.is_empty() => *letters = ahead,
            Some('(') => {
                *letters = ahead;
                let parts = sequence(letters, true, depth + 1);
                return shown(&kind, &options, &signs, &parts);
            }
            _ => return String::new(),
        }
    }
}

/// Letters, and the number that ends them.
fn word(letters: &mut Peekable<Chars<'_>>) -> String {
    let mut word = String::new();
    while let Some(letter) = letters.next_if(char::is_ascii_alphabetic) {
        word.push(letter);
    }
    while letters.next_if(char::is_ascii_digit).is_some() {}
    word
}

/// `jc2` and `"Font:Arial"` behind `\*`.
fn skip_look(letters: &mut Peekable<Chars<'_>>) {
    while letters.next_if_eq(&' ').is_some() {}
    if letters.next_if_eq(&'"').is_some() {
        letters.by_ref().take_while(|letter| *letter != '"').for_each(drop);
    } else {
        while letters.next_if(|letter| !letter.is_whitespace() && *letter != '\\').is_some() {}
    }
    letters.next_if_eq(&' ');
}

fn shown(kind: &str, options: &[String], signs: &[(String, char)], parts: &[String]) -> String {
    let has = |option: &str| options.iter().any(|one| one == option);
    let part = |at: usize| parts.get(at).map_or("", |part| part.trim());
    match kind {
        "f" => format!("{}/{}", grouped(part(0)), grouped(part(1))),
        "r" if parts.len() > 1 => format!("{}√{}", Script::Raised.show(part(0)), grouped(part(1))),
        "r" => format!("√{}", grouped(part(0))),
        "s" if has("up") => Script::Raised.show(&parts.concat()).into_owned(),
        "s" if has("do") => Script::Lowered.show(&parts.concat()).into_owned(),
        // How characters are spoken stands above them.
        "o" if has("ad") && parts.len() == 2 => format!("{}({})", part(1), part(0)),
        "o" if part(0) == "○" => format!("({})", parts[1..].concat()),
        "o" | "d" | "x" => parts.concat(),
        "b" => {
            let sign = |of: &str| signs.iter().rev().find(|(option, _)| option == of).map(|(_, sign)| *sign);
            let both = sign("bc");
            let left = sign("lc").or(both).unwrap_or('(');
            let end = match both {
                Some('[') => Some(']'),
                Some('{') => Some('}'),
                Some('<') => Some('>'),
                both => both.map(|sign| if sign == '(' { ')' } else { sign }),
            };
            let right = sign("rc").or(end).unwrap_or(')');
            let left = if has("rc") && !has("lc") { String::new() } else { left.to_string() };
            let right = if has("lc") && !has("rc") { String::new() } else { right.to_string() };
            format!("{left}{}{right}", parts.join(","))
        }
        "i" => {
            let sign = if has("su") {
                "∑"
            } else if has("pr") {
                "∏"
            } else {
                "∫"
            };
            let limit = |mark: &str, at: usize| {
                if part(at).is_empty() { String::new() } else { format!("{mark}{}", grouped(part(at))) }
            };
            format!("{sign}{}{} {}", limit("_", 0), limit("^", 1), part(2))
        }
        "l" => parts.join(","),
        _ => parts.join(" "),
    }
}

/// In brackets if it has several parts.
fn grouped(text: &str) -> String {
    if text.contains([' ', '+', '-', '−', '/', '*', '·', '=']) { format!("({text})") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn formulas_of_old_kind_are_lines() {
        for (code, expected) in [
            (r" EQ \f(3,8) ", "3/8"),
            (r"eq \f(a+b;2)", "(a+b)/2"),
            (r"EQ \r(3,x+1) + \r(16)", "³√(x+1) + √16"),
            (r"EQ x\s\up8(2) y\s\do 4(1)", "x² y₁"),
            (r#"EQ \* jc2 \* "Font:MS Mincho" \* hps10 \o\ad(\s\up 9(かん),漢)"#, "漢(かん)"),
            (r"EQ \o\ac(○,1)", "(1)"),
            (r"EQ \o(A,´)", "A´"),
            (r"EQ \b\bc\[(x)", "[x]"),
            (r"EQ \b\lc\{(\a\co1(1,2))", "{1 2"),
            (r"EQ \i\su(i=1,n,i)", "∑_(i=1)^n i"),
            (r"EQ \x(boxed)\d\fo10()\l(1,2)", "boxed1,2"),
            (r"EQ \f(f(x,y),1\,5)", "f(x,y)/1,5"),
            (r"EQ \f(3", "3/"),
            (r"EQ \", ""),
        ] {
            assert_eq!(read(code).as_deref(), Some(expected), "{code}");
        }
        assert_eq!(read(" PAGE "), None);
        assert_eq!(read("EQUAL"), None);
        assert!(read(&format!("EQ {}", r"\f(".repeat(1000))).is_some());
    }
}
