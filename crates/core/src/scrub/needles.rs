use super::Scrubber;
use crate::ports::OpenedCredential;
use aho_corasick::{AhoCorasick, MatchKind};
use secrecy::{ExposeSecret, SecretString};
use std::collections::{BTreeMap, BTreeSet};

/// Fewest characters of a secret.
const SHORTEST: usize = 4;
/// Fewest characters of a line of a secret.
const SHORTEST_LINE: usize = 16;
/// For a secret of more bytes, a stream holds back only the length of its longest line.
const LONGEST_HELD: usize = 1024;
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Secrets by the name that is shown instead.
pub type Secrets = Vec<(String, SecretString)>;

/// A needle's secret, and whether it is a part of a base64 text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needle {
    pub secret: usize,
    pub base64: bool,
}

/// The secrets of an opened credential, named `CREDENTIAL.FIELD`. A password inside a URL is a separate secret.
pub fn secrets_of(opened: &OpenedCredential) -> Secrets {
    let credential = &opened.credential;
    let mut secrets = Secrets::new();
    for (field, value) in &opened.fields {
        if credential.kind.shows(field) {
            continue;
        }
        let name = format!("{}.{field}", credential.name);
        if let Some(password) = password_in(value.expose_secret()) {
            secrets.push((format!("{name}.password"), password.into()));
        }
        secrets.push((name, value.clone()));
    }
    secrets
}

/// The password of `scheme://user:password@host`, as written.
fn password_in(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if scheme.is_empty() || !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+') {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    let plain = super::decode::percent(password.as_bytes());
    let plain = plain.and_then(|view| String::from_utf8(view.bytes).ok());
    Some(plain.unwrap_or_else(|| password.to_owned()))
}

pub(super) fn build<N, V>(secrets: impl IntoIterator<Item = (N, V)>) -> Scrubber
where
    N: Into<String>,
    V: AsRef<str>,
{
    let mut scrubber = Scrubber::default();
    let mut found: BTreeMap<Vec<u8>, Needle> = BTreeMap::new();
    let mut names = Vec::new();
    for (name, value) in secrets {
        let (name, value) = (name.into(), value.as_ref().trim());
        if value.chars().count() < SHORTEST {
            continue;
        }
        let parts = parts(value);
        let held = parts.iter().map(|part| part.len()).filter(|length| *length <= LONGEST_HELD);
        let held = held.max().unwrap_or(value.len());
        scrubber.longest = scrubber.longest.max(held);
        scrubber.spaced |= value.contains(' ');
        for part in parts {
            add(&mut found, names.len(), part.as_bytes());
        }
        names.push(name);
    }
    if names.is_empty() {
        return scrubber;
    }
    let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(found.keys());
    // This fails only if the needles don't fit into memory.
    let Ok(automaton) = automaton else {
        return scrubber;
    };
    scrubber.of = found.into_values().collect();
    scrubber.needles = Some(automaton);
    scrubber.replacements = names.iter().map(|name| scrubber.shown(name)).collect();
    scrubber
}

/// What is searched for: the value and its lines, except the first and last line of private keys, always the same.
fn parts(value: &str) -> BTreeSet<&str> {
    let lines = value.lines().map(str::trim);
    let lines = lines.filter(|line| line.chars().count() >= SHORTEST_LINE && !line.starts_with("-----"));
    lines.chain([value]).collect()
}

fn add(found: &mut BTreeMap<Vec<u8>, Needle>, secret: usize, part: &[u8]) {
    let mut keep = |bytes: Vec<u8>, base64| {
        found.entry(bytes).or_insert(Needle { secret, base64 });
    };
    keep(part.to_vec(), false);
    keep(hex::encode(part).into_bytes(), false);
    keep(hex::encode_upper(part).into_bytes(), false);
    for alphabet in [STANDARD, URL_SAFE] {
        for before in 0..3 {
            keep(base64_inside(part, before, alphabet), true);
        }
    }
}

/// The characters of a base64 text that depend on `part` alone, where `before` bytes precede it in its group of three.
fn base64_inside(part: &[u8], before: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bit = |at: usize| (part[at / 8] >> (7 - at % 8)) & 1;
    // The first bit of the part that begins a character, counted from the part's own first bit.
    let first = (6 - (8 * before) % 6) % 6;
    let mut out = Vec::with_capacity(part.len() * 4 / 3);
    let mut at = first;
    while at + 6 <= part.len() * 8 {
        let value = (at..at + 6).fold(0, |value, at| (value << 1) | bit(at));
        out.push(alphabet[usize::from(value)]);
        at += 6;
    }
    out
}

impl Scrubber {
    /// The replacement for the secret `name`; it must not contain a secret itself.
    fn shown(&self, name: &str) -> String {
        let choices = [format!("[secret {name}]"), "[secret]".to_owned(), "[***]".to_owned()];
        let mut good = choices.into_iter().filter(|text| self.spans(text.as_bytes()).is_empty());
        good.next().unwrap_or_default()
    }
}
