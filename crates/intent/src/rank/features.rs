//! Features of a request that can be seen without understanding it, and the request with its literals masked.

use serde::Deserialize;
use steward_core::text::quoted;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// `http://…`.
    Url,
    /// `a@b.c`.
    Email,
    /// A word like a path or a file name.
    Path,
    Quoted,
    Number,
    /// Two numbers and an operator between or before them.
    Arithmetic,
    /// At most three words.
    Short,
}

/// Words that mean arithmetic beside numbers.
const OPERATORS: &str = "percent % plus minus times divided multiplied multiply + - * / × ÷ x ^ sum root squared cubed power modulo mod \
    product half";
/// Those that need only one number.
const FUNCTIONS: [&str; 4] = ["root", "squared", "cubed", "half"];

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mask {
    pub url: String,
    pub email: String,
    pub path: String,
    pub quoted: String,
    pub number: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub features: Vec<Feature>,
    /// Lower-case words with single spaces and without punctuation.
    pub plain: String,
    /// The request with its literals replaced by their types.
    pub masked: String,
}

pub fn see(request: &str, mask: &Mask) -> Seen {
    let mut features = Vec::new();
    let mut add = |feature: Feature| {
        if !features.contains(&feature) {
            features.push(feature);
        }
    };
    let mut masked = Vec::new();
    let mut plain = Vec::new();
    let (mut numbers, mut operators, mut compound) = (0, 0, false);
    let unquoted = unquote(request, &mask.quoted);
    if unquoted.1 {
        add(Feature::Quoted);
    }
    for word in request.split_whitespace() {
        plain.push(trim(word).to_lowercase());
    }
    for word in unquoted.0.split_whitespace() {
        let bare = trim(word);
        let lower = bare.to_lowercase();
        let kind = kind(&lower);
        if let Some(kind) = kind {
            add(kind);
        }
        if kind == Some(Feature::Number) {
            numbers += 1;
            operators += usize::from(bare.ends_with('%') || word.contains('%'));
        } else if OPERATORS.split_whitespace().any(|word| word == lower) {
            operators += 1;
        } else if is_formula(bare) {
            compound = true;
        }
        let shown = match kind {
            Some(Feature::Url) => &mask.url,
            Some(Feature::Email) => &mask.email,
            Some(Feature::Path) => &mask.path,
            Some(Feature::Number) => &mask.number,
            _ => word,
        };
        masked.push(shown.to_owned());
    }
    if compound
        || (operators > 0 && numbers > 1)
        || (operators > 0 && numbers > 0 && FUNCTIONS.iter().any(|w| plain.iter().any(|p| p == w)))
    {
        add(Feature::Arithmetic);
    }
    if plain.len() <= 3 {
        add(Feature::Short);
    }
    plain.retain(|word| !word.is_empty());
    Seen { features, plain: plain.join(" "), masked: masked.join(" ") }
}

fn trim(word: &str) -> &str {
    word.trim_matches(|c: char| "()[]{}\"'`“”‘’„«»<>.,;:!?…".contains(c))
}

fn kind(lower: &str) -> Option<Feature> {
    if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("www.") {
        return Some(Feature::Url);
    }
    if let Some((user, host)) = lower.split_once('@')
        && !user.is_empty()
        && host.contains('.')
    {
        return Some(Feature::Email);
    }
    let digits = lower.trim_matches(|c| "$€£%#".contains(c));
    if !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',')
        && digits.chars().any(|c| c.is_ascii_digit())
    {
        return Some(Feature::Number);
    }
    let extension = lower.rsplit_once('.').is_some_and(|(base, end)| {
        !base.is_empty()
            && (1..=7).contains(&end.len())
            && end.chars().all(|c| c.is_ascii_alphanumeric())
            && end.chars().any(|c| c.is_ascii_alphabetic())
    });
    let folder = lower.contains('/') && lower.chars().any(char::is_alphabetic);
    (extension || folder).then_some(Feature::Path)
}

/// `12*3.5`, `(4+5)/3`.
fn is_formula(word: &str) -> bool {
    let only = word.chars().all(|c| c.is_ascii_digit() || "+-*/^%().×÷=".contains(c));
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let signs = word.chars().filter(|c| "+*/^×÷".contains(*c)).count();
    only && digits >= 2 && signs >= 1 && !is_date(word)
}

/// `2012/07/17` and `17/07/2012` are no divisions.
fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split('/').collect();
    let [first, middle, last] = parts.as_slice() else {
        return false;
    };
    let digits = parts.iter().all(|part| part.chars().all(|c| c.is_ascii_digit()));
    digits && (1..=2).contains(&middle.len()) && [(4, 1), (4, 2), (1, 4), (2, 4)].contains(&(first.len(), last.len()))
}

/// The request with each quoted piece replaced, and whether there was one.
fn unquote(request: &str, by: &str) -> (String, bool) {
    let mut out = String::with_capacity(request.len());
    let mut from = 0;
    for quote in quoted(request) {
        out.push_str(&request[from..quote.start]);
        out.push_str(by);
        from = quote.end;
    }
    out.push_str(&request[from..]);
    (out, from > 0)
}

#[cfg(test)]
mod tests {
    use super::{Feature, see};
    use crate::settings::Settings;

    #[test]
    fn sees_and_masks() {
        let mask = &Settings::shipped().mask;
        let seen = see("Write the sentence 'it's done' to out/status.txt.", mask);
        assert_eq!(seen.masked, "Write the sentence some text to a file");
        assert_eq!(seen.features, [Feature::Quoted, Feature::Path]);
        for (request, expect) in [
            ("What is 17 percent of 2328.60?", true),
            ("compute (4+5)/3", true),
            ("the square root of 144", true),
            ("show 5 lines of a.csv", false),
            ("customers after 2010-01-02", false),
            ("the highest temperature on 2012/07/17", false),
            ("how much is 2012/3/7", false),
            ("how much is 120/3/8", true),
        ] {
            assert_eq!(see(request, mask).features.contains(&Feature::Arithmetic), expect, "{request}");
        }
        assert!(see("fetch http://127.0.0.1:1/a", mask).features.contains(&Feature::Url));
    }
}
