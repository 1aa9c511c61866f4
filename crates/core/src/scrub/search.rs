use super::Scrubber;
use super::decode::{DECODERS, Decoder, View, form, joined};
use aho_corasick::AhoCorasick;

/// Most layers of escaping.
const DEPTH: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
    pub secret: usize,
}

impl Scrubber {
    /// Ranges with secrets in `text`, in order and without overlap.
    pub(super) fn spans(&self, text: &[u8]) -> Vec<Span> {
        let Some(needles) = &self.needles else {
            return Vec::new();
        };
        let mut found = Vec::new();
        self.look(needles, text, &[], &mut found);
        merge(found)
    }

    /// Searches `text` and what it may have been before it was escaped.
    fn look(&self, needles: &AhoCorasick, text: &[u8], path: &[&View], found: &mut Vec<Span>) {
        self.hits(needles, text, path, found);
        if let Some(view) = joined(text) {
            self.hits(needles, &view.bytes, &[path, &[&view]].concat(), found);
        }
        if path.len() == DEPTH {
            return;
        }
        // A plus sign of a form matters only if a secret holds a space.
        let form: Option<Decoder> = self.spaced.then_some(form);
        for decoder in DECODERS.into_iter().chain(form) {
            if let Some(view) = decoder(text) {
                self.look(needles, &view.bytes, &[path, &[&view]].concat(), found);
            }
        }
    }

    /// `path` lists the decoding steps that led to `text`, the last one last.
    fn hits(&self, needles: &AhoCorasick, text: &[u8], path: &[&View], found: &mut Vec<Span>) {
        for hit in needles.find_overlapping_iter(text) {
            let needle = self.of[hit.pattern().as_usize()];
            let (mut start, mut end) = (hit.start(), hit.end());
            if needle.base64 {
                (start, end) = whole(text, start, end);
            }
            for view in path.iter().rev() {
                (start, end) = view.origin(start, end);
            }
            found.push(Span { start, end, secret: needle.secret });
        }
    }
}

/// Extends a match to the characters at its ends that hold some bits of the secret, and to the padding.
fn whole(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let is_part = |at: usize| text.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte));
    let start = match start.checked_sub(1) {
        Some(before) if is_part(before) => before,
        _ => start,
    };
    let mut end = if is_part(end) { end + 1 } else { end };
    while text.get(end) == Some(&b'=') {
        end += 1;
    }
    (start, end)
}

/// Merges overlapping ranges into one, named after the longest.
fn merge(mut found: Vec<Span>) -> Vec<Span> {
    found.sort_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Span> = Vec::new();
    let mut longest = 0;
    for span in found {
        let length = span.end - span.start;
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                if length > longest {
                    (longest, last.secret) = (length, span.secret);
                }
            }
            _ => {
                longest = length;
                merged.push(span);
            }
        }
    }
    merged
}
