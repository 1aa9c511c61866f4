//! Words made comparable: a light stemmer and a test for kinship.

/// The word without its usual endings, lower case.
pub(super) fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    let mut text = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(&word).to_owned();
    if !text.is_ascii() || text.len() < 4 {
        if text.len() == 3 && text.ends_with('s') && !text.ends_with("ss") && text != "gas" {
            text.pop();
        }
        return text;
    }
    if text.ends_with("ies") && text.len() > 4 {
        text.truncate(text.len() - 3);
        text.push('y');
    } else if ["sses", "xes", "ches", "shes", "zes"].iter().any(|end| text.ends_with(end)) {
        text.truncate(text.len() - 2);
    } else if text.ends_with('s') && !["ss", "us", "is"].iter().any(|end| text.ends_with(end)) {
        text.pop();
    }
    for end in ["ing", "ed"] {
        if let Some(rest) = text.strip_suffix(end)
            && rest.len() >= 3
            && rest.contains(['a', 'e', 'i', 'o', 'u', 'y'])
        {
            let mut rest = rest.to_owned();
            let bytes = rest.as_bytes();
            let last = bytes[bytes.len() - 1];
            if bytes.len() > 3 && last == bytes[bytes.len() - 2] && !b"lsz".contains(&last) {
                rest.pop();
            }
            text = rest;
            break;
        }
    }
    if text.len() > 3 && text.ends_with('e') {
        text.pop();
    }
    text
}

/// Whether two stems are of one family: the same, or one begins with the other.
pub(super) fn kin(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.len() >= 8 && long.len() - short.len() <= 1 && slip(short.as_bytes(), long.as_bytes()) {
        return true;
    }
    short.len() >= 4 && long.len() - short.len() <= 5 && long.starts_with(short)
}

/// Whether one letter more, less or other makes one of the other.
fn slip(short: &[u8], long: &[u8]) -> bool {
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    if short.len() == long.len() { short[same + 1..] == long[same + 1..] } else { short[same..] == long[same + 1..] }
}

/// Whether two words in small letters are one in different forms: `user` and `users`.
pub fn same_word(a: &str, b: &str) -> bool {
    kin(&stem(a), &stem(b))
}

/// Words of a name: `from_timezone`, `fullName`, `point-1`.
pub(super) fn split_name(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for c in name.chars() {
        let digit_edge = c.is_ascii_digit() != before.is_ascii_digit() && before.is_alphanumeric();
        let hump = c.is_uppercase() && before.is_lowercase();
        if (!c.is_alphanumeric() || digit_edge || hump) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
