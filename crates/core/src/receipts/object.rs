//! What a claim is about: files, addresses, titles, times.

use super::lexicon::Language;
use super::token::{Kind, Token};

#[derive(Debug, Clone)]
pub(super) struct Name {
    /// In lower case.
    pub text: String,
    pub kind: Kind,
    /// Whether something was taken from it ("from sales.csv").
    pub source: bool,
}

impl Name {
    pub(super) fn is_target(&self) -> bool {
        self.kind != Kind::Quote
    }
}

#[derive(Debug, Default)]
pub(super) struct Objects {
    pub names: Vec<Name>,
    /// Times of day, `HH:MM`.
    pub times: Vec<String>,
    /// Kinds of things: `file`, `note`, `remind`, `draft`, `remember`.
    pub kinds: Vec<String>,
    /// Whether it is about a part of something, such as a line.
    pub part: bool,
    /// Whether it is text that may stand in the answer itself.
    pub plain: bool,
    pub count: Option<usize>,
}

pub(super) fn objects(tokens: &[Token], lang: &Language) -> Objects {
    let mut all = Objects::default();
    for (index, token) in tokens.iter().enumerate() {
        if token.names() {
            let source = tokens[index.saturating_sub(3)..index]
                .iter()
                .rev()
                .take_while(|before| before.kind == Kind::Word)
                .any(|before| lang.source.contains(&before.norm));
            all.names.push(Name { text: token.norm.clone(), kind: token.kind, source });
        }
        if let Some(time) = time(token, tokens.get(index + 1)) {
            all.times.push(time);
        }
        if token.kind != Kind::Word {
            continue;
        }
        let word = lang.bare_word(&token.norm);
        all.part |= lang.parts.contains(word);
        all.plain |= lang.plain.contains(word);
        if let Some(kind) = lang.noun(word) {
            if !all.kinds.iter().any(|known| known == kind) {
                all.kinds.push(kind.to_owned());
            }
            all.count = all.count.or_else(|| count(&tokens[..index], lang));
        }
    }
    all
}

fn count(before: &[Token], lang: &Language) -> Option<usize> {
    let last = before.last()?;
    match last.kind {
        Kind::Number => last.norm.parse().ok().filter(|number| (2..=50).contains(number)),
        Kind::Word => lang.numbers.get(&last.norm).copied(),
        _ => None,
    }
}

/// The time of day given by `token` and the token after it.
fn time(token: &Token, next: Option<&Token>) -> Option<String> {
    let after = next.map_or("", |next| next.norm.as_str());
    let glued = token.norm.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
    let half = match token.norm[glued.len()..].trim_matches('.') {
        "" => after.trim_matches('.'),
        half => half,
    };
    let (hours, minutes) = match token.kind {
        Kind::Time => glued.split_once(':')?,
        // "9 am", "9am", "9 Uhr", "9 h".
        Kind::Number | Kind::Word if matches!(half, "am" | "pm" | "a.m" | "p.m" | "uhr" | "h") => (glued, "00"),
        _ => return None,
    };
    let mut hours: u32 = hours.parse().ok().filter(|hours| *hours < 25)?;
    match half {
        "pm" | "p.m" if hours < 12 => hours += 12,
        "am" | "a.m" if hours == 12 => hours = 0,
        _ => {}
    }
    Some(format!("{hours:02}:{}", minutes.get(..2)?))
}
