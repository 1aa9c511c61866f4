use super::PiiKind;
use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Personal data or a secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundData {
    pub kind: PiiKind,
    /// In bytes of the text.
    pub range: Range<usize>,
}

/// What was found in several texts, by the tokens that stand for it: `[email-1]`. The numbers are those of the first
/// places, so texts that go on as before have the same tokens again. Nothing of it is ever stored.
#[derive(Debug, Default)]
pub struct MaskMap {
    /// Token of each value.
    tokens: HashMap<String, String>,
    /// Value of each token.
    values: HashMap<String, String>,
    next: BTreeMap<PiiKind, usize>,
    /// Tokens that the texts have by themselves.
    taken: BTreeSet<String>,
    /// How often something of a kind was masked.
    counts: BTreeMap<PiiKind, u64>,
    known: Option<(AhoCorasick, Vec<(String, PiiKind)>)>,
    kinds: HashMap<String, PiiKind>,
}

impl MaskMap {
    /// Learns what was found in the next text.
    pub fn learn(&mut self, text: &str, found: &[FoundData]) {
        self.known = None;
        for (at, _) in text.match_indices('[') {
            let end = text.as_bytes()[at..].iter().take(LONGEST_TOKEN).position(|byte| *byte == b']');
            self.taken.extend(end.map(|end| text[at..=at + end].to_owned()));
        }
        for one in found {
            let Some(value) = text.get(one.range.clone()).filter(|value| !value.is_empty()) else {
                continue;
            };
            if !self.kinds.contains_key(value) {
                self.kinds.insert(value.to_owned(), one.kind);
                let number = self.next.entry(one.kind).or_insert(0);
                *number += 1;
                self.tokens.insert(value.to_owned(), format!("{}-{number}", one.kind.as_str()));
            }
        }
    }

    /// To be called once, when all texts are learnt.
    pub fn finish(&mut self) {
        for (value, token) in &mut self.tokens {
            let mut wanted = format!("[{token}]");
            while self.taken.contains(&wanted) {
                token.push('x');
                wanted = format!("[{token}]");
            }
            token.clone_from(&wanted);
            self.values.insert(wanted, value.clone());
        }
        let mut values: Vec<(String, PiiKind)> =
            self.kinds.iter().map(|(value, kind)| (value.clone(), *kind)).collect();
        values.sort();
        let patterns = values.iter().map(|(value, _)| value.as_str());
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns);
        self.known = automaton.ok().map(|automaton| (automaton, values));
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn counts(&self) -> impl Iterator<Item = (PiiKind, u64)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// The text with tokens in the place of what was found in it, and of the same values elsewhere in it.
    pub fn mask(&mut self, text: &str, found: &[FoundData]) -> String {
        let mut places: Vec<(Range<usize>, PiiKind)> = found.iter().map(|one| (one.range.clone(), one.kind)).collect();
        if let Some((automaton, values)) = &self.known {
            for hit in automaton.find_iter(text) {
                let next = found.partition_point(|one| one.range.end <= hit.start());
                let free = found.get(next).is_none_or(|one| hit.end() <= one.range.start);
                if free && stands_alone(text, hit.range()) {
                    let kind = values.get(hit.pattern().as_usize()).map_or(PiiKind::Secret, |(_, kind)| *kind);
                    places.push((hit.range(), kind));
                }
            }
        }
        places.sort_by_key(|(place, _)| place.start);
        let (mut masked, mut done) = (String::with_capacity(text.len()), 0);
        for (place, kind) in places {
            let Some(value) = text.get(place.clone()).filter(|_| place.start >= done) else {
                continue;
            };
            let Some(token) = self.tokens.get(value) else {
                continue;
            };
            masked.push_str(&text[done..place.start]);
            masked.push_str(token);
            done = place.end;
            *self.counts.entry(kind).or_default() += 1;
        }
        masked.push_str(&text[done..]);
        masked
    }

    /// The text with the values back. `json`: as they are written within a text of JSON.
    pub fn unmask(&self, text: &str, json: bool) -> String {
        let (mut whole, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(open) = rest.find('[') {
            let (before, from) = rest.split_at(open);
            whole.push_str(before);
            let token = from.bytes().take(LONGEST_TOKEN).position(|byte| byte == b']').map(|close| &from[..=close]);
            if let Some((token, value)) = token.and_then(|token| Some((token, self.values.get(token)?))) {
                whole.push_str(&if json { escaped(value) } else { value.clone() });
                rest = &from[token.len()..];
            } else {
                whole.push('[');
                rest = &from[1..];
            }
        }
        whole.push_str(rest);
        whole
    }

    /// Puts the values back into all texts of a JSON value.
    pub fn unmask_value(&self, value: &mut Value) {
        each_text(value, true, &mut |text| *text = self.unmask(text, false));
    }

    /// What can be shown of a text that comes in pieces; the beginning of a token stays in `held` until the rest comes.
    pub fn unmask_piece(&self, held: &mut String, piece: &str, last: bool) -> String {
        held.push_str(piece);
        let begun = held.rfind('[').filter(|open| {
            let tail = &held[*open..];
            !last && self.values.keys().any(|token| token.len() > tail.len() && token.starts_with(tail))
        });
        let rest = held.split_off(begun.unwrap_or(held.len()));
        let ready = std::mem::replace(held, rest);
        self.unmask(&ready, false)
    }
}

/// No token is longer, in bytes.
const LONGEST_TOKEN: usize = 64;

/// Calls `change` with each text of a JSON value; `names`: with names of fields too.
pub fn each_text(value: &mut Value, names: bool, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, names, change)),
        Value::Object(fields) if !names => fields.values_mut().for_each(|field| each_text(field, names, change)),
        Value::Object(fields) => {
            for (mut name, mut field) in std::mem::take(fields) {
                change(&mut name);
                each_text(&mut field, names, change);
                fields.insert(name, field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether no letter or digit goes on with it at either end.
fn stands_alone(text: &str, range: Range<usize>) -> bool {
    let (first, last) = (text[range.clone()].chars().next(), text[range.clone()].chars().next_back());
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (before, after) = (text[..range.start].chars().next_back(), text[range.end..].chars().next());
    !(word(first) && word(before) || word(last) && word(after))
}

fn escaped(value: &str) -> String {
    let quoted = Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{FoundData, MaskMap};
    use crate::governance::PiiKind;

    fn found(text: &str, values: &[(PiiKind, &str)]) -> Vec<FoundData> {
        let all = values.iter().flat_map(|(kind, value)| {
            text.match_indices(value).map(|(at, _)| FoundData { kind: *kind, range: at..at + value.len() })
        });
        all.collect()
    }

    fn map(texts: &[&str], values: &[(PiiKind, &str)]) -> (MaskMap, Vec<String>) {
        let mut map = MaskMap::default();
        for text in texts {
            map.learn(text, &found(text, values));
        }
        map.finish();
        // Only the first one's places are found by the detector; the others have the same values.
        let masked = texts.iter().enumerate().map(|(at, text)| {
            let places = if at == 0 { found(text, values) } else { Vec::new() };
            map.mask(text, &places)
        });
        let masked = masked.collect();
        (map, masked)
    }

    #[test]
    fn values_are_masked_everywhere_and_come_back() {
        let values = [(PiiKind::Email, "ann@example.org"), (PiiKind::Phone, "0170 123")];
        let texts = ["Ann (ann@example.org, 0170 123)", "to ann@example.org; not joann@example.orgs or [email-7]"];
        let (map, masked) = map(&texts, &values);
        assert_eq!(masked[0], "Ann ([email-1], [phone-1])");
        assert_eq!(masked[1], "to [email-1]; not joann@example.orgs or [email-7]");
        for (masked, text) in masked.iter().zip(texts) {
            assert_eq!(map.unmask(masked, false), text);
        }
        let counts: Vec<_> = map.counts().collect();
        assert_eq!(counts, [(PiiKind::Email, 2), (PiiKind::Phone, 1)]);
    }

    #[test]
    fn tokens_that_are_there_already_are_not_taken() {
        let (map, masked) = map(&["a@b.org wrote [email-1]"], &[(PiiKind::Email, "a@b.org")]);
        assert_eq!(masked[0], "[email-1x] wrote [email-1]");
        assert_eq!(map.unmask(&masked[0], false), "a@b.org wrote [email-1]");
    }

    #[test]
    fn tokens_in_pieces_are_put_back_whole() {
        let (map, _) = map(&["a@b.org"], &[(PiiKind::Email, "a@b.org")]);
        let text = "To [email-1], [not] [email-2] [em";
        for size in 1..text.len() {
            let (mut held, mut shown) = (String::new(), String::new());
            let bytes: Vec<char> = text.chars().collect();
            for piece in bytes.chunks(size) {
                shown += &map.unmask_piece(&mut held, &piece.iter().collect::<String>(), false);
                assert!(!shown.contains("email-1"), "{shown}");
            }
            shown += &map.unmask_piece(&mut held, "", true);
            assert_eq!(shown, "To a@b.org, [not] [email-2] [em", "{size}");
        }
    }

    #[test]
    fn values_keep_json_readable() {
        let secret = "a\"b\nc";
        let (map, masked) = map(&[secret], &[(PiiKind::Secret, secret)]);
        let json = map.unmask(&format!("{{\"key\":\"{}\"}}", masked[0]), true);
        let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(value["key"], secret);
        let mut value = serde_json::json!({"[secret-1]": [1, "x [secret-1]"]});
        map.unmask_value(&mut value);
        assert_eq!(value, serde_json::json!({secret: [1, format!("x {secret}")]}));
    }
}
