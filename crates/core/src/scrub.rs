//! Takes secrets out of everything that leaves an executor.
//!
//! A secret is found as it is; in base64 (standard and URL-safe, padded or not, also inside a longer text that was
//! encoded); in hexadecimal; with line breaks put between; and behind any mixture, up to three deep, of
//! percent-encoding, JSON and similar escapes, and HTML escapes. Secrets of several lines, such as private keys, are
//! found line by line too. Scrub before cutting to a length: half a secret is not found.
//!
//! What can't be found: secrets of less than four characters (they would be found everywhere), lines of
//! less than sixteen, and what was encrypted, compressed, reversed or spelled out.

mod decode;
mod json;
mod needles;
mod search;
mod stream;

use aho_corasick::AhoCorasick;
use std::borrow::Cow;
use std::fmt;

pub use needles::{Secrets, secrets_of};
pub use stream::ScrubStream;

/// Replaces secrets by `[secret NAME]` in linear time.
#[derive(Clone, Default)]
pub struct Scrubber {
    /// `None` if there is nothing to look for.
    needles: Option<AhoCorasick>,
    of: Vec<needles::Needle>,
    replacements: Vec<String>,
    /// Longest needle before any escaping, bytes.
    longest: usize,
    /// Whether any secret holds a space.
    spaced: bool,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scrubber({} secrets)", self.replacements.len())
    }
}

impl Scrubber {
    /// Looks for these secrets, given as names and values. The names are shown.
    pub fn new<N, V>(secrets: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: AsRef<str>,
    {
        needles::build(secrets)
    }

    pub fn is_empty(&self) -> bool {
        self.needles.is_none()
    }

    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.spans(text.as_bytes());
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for span in spans {
            let start = text.floor_char_boundary(span.start).max(at);
            out.push_str(&text[at..start]);
            out.push_str(&self.replacements[span.secret]);
            at = text.ceil_char_boundary(span.end);
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }

    pub fn scrub_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        let spans = self.spans(bytes);
        if spans.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = 0;
        for span in spans {
            out.extend_from_slice(&bytes[at..span.start]);
            out.extend_from_slice(self.replacements[span.secret].as_bytes());
            at = span.end;
        }
        out.extend_from_slice(&bytes[at..]);
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests;
