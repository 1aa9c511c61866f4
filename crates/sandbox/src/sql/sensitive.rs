//! Names that say that a table or column holds what opens something else.

use std::sync::OnceLock;

/// Whether a name speaks of secrets, as `data/sensitive-names.txt` has it.
pub fn is_sensitive(name: &str) -> bool {
    let words = words(name);
    phrases()
        .iter()
        .any(|phrase| words.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(a, b)| a == b)))
}

fn phrases() -> &'static Vec<Vec<&'static str>> {
    static PHRASES: OnceLock<Vec<Vec<&'static str>>> = OnceLock::new();
    PHRASES.get_or_init(|| {
        include_str!("../../data/sensitive-names.txt")
            .lines()
            .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
            .map(|line| line.split_whitespace().collect())
            .collect()
    })
}

/// `userAPIKey_2` → `user`, `api`, `key`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, c) in letters.iter().enumerate() {
        if !c.is_alphabetic() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|i| letters[i]);
        let after = letters.get(at + 1);
        let starts =
            c.is_uppercase() && (before.is_some_and(char::is_lowercase) || after.is_some_and(|a| a.is_lowercase()));
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_by_their_words() {
        for name in [
            "secrets",
            "SECRETS",
            "app_tokens",
            "userPassword",
            "password_hash",
            "pin",
            "API_KEY",
            "apiKey",
            "userAPIKey2",
            "v_secrets",
            "stripe-secret-key",
            "Pin",
        ] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in [
            "customers",
            "shipping",
            "pinned",
            "opinion",
            "tokenizer",
            "keys",
            "key",
            "name",
            "secretary",
            "spin",
            "",
            "apis",
        ] {
            assert!(!is_sensitive(name), "{name}");
        }
    }
}
