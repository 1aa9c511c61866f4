//! Reads the usage off the bytes that pass by: the last of them are kept, unread until the end.

use bytes::Bytes;
use memchr::memmem::{self, Finder};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::LazyLock;
use steward_core::model::Usage;

/// How much of the end is looked at, bytes. The usage stands near it.
const TAIL: usize = 16 << 10;
/// Characters for each token, where the endpoint does not tell.
const CHARS_A_TOKEN: u64 = 4;
const FIELD: &[u8] = b"\"usage\"";
/// Fields whose text is counted, where the usage must be guessed.
static TEXTS: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| ["\"content\":", "\"arguments\":", "\"text\":", "\"delta\":"].map(Finder::new));

pub(super) struct UsageSniffer {
    tail: VecDeque<Bytes>,
    kept: usize,
    prompt: u64,
    chars: u64,
}

impl UsageSniffer {
    /// `prompt`: tokens of the prompt by its length.
    pub fn new(prompt: u64) -> Self {
        Self { tail: VecDeque::new(), kept: 0, prompt, chars: 0 }
    }

    pub fn take(&mut self, piece: &Bytes) {
        // Also where the endpoint tells at the end: a client may leave before.
        self.chars += texts(piece);
        self.kept += piece.len();
        self.tail.push_back(piece.clone());
        while let Some(first) = self.tail.front()
            && self.kept - first.len() >= TAIL
        {
            self.kept -= first.len();
            self.tail.pop_front();
        }
    }

    /// So many tokens were made at least, whatever has passed by.
    pub fn at_least(&mut self, tokens: u64) {
        self.chars = self.chars.max(tokens.saturating_mul(CHARS_A_TOKEN));
    }

    /// What the answer took: as told, else as guessed from what came of it.
    pub fn usage(&self) -> Usage {
        self.told().unwrap_or_else(|| Usage {
            prompt_tokens: self.prompt,
            completion_tokens: self.chars.div_ceil(CHARS_A_TOKEN),
            ..Usage::default()
        })
    }

    /// As the endpoint has told it.
    pub fn told(&self) -> Option<Usage> {
        // A whole document mostly is one piece, which is read where it lies.
        if let (1, Some(only)) = (self.tail.len(), self.tail.front()) {
            return told(&only[only.len().saturating_sub(TAIL)..]);
        }
        let mut end = Vec::with_capacity(self.kept);
        for piece in &self.tail {
            end.extend_from_slice(piece);
        }
        told(&end[end.len().saturating_sub(TAIL)..])
    }
}

fn told(end: &[u8]) -> Option<Usage> {
    let mut end = end;
    while let Some(at) = memmem::rfind(end, FIELD) {
        if let Some(usage) = object(&end[at + FIELD.len()..]) {
            return Some(usage);
        }
        end = &end[..at];
    }
    None
}

fn object(rest: &[u8]) -> Option<Usage> {
    let rest = rest.trim_ascii_start().strip_prefix(b":")?;
    let value: Value = serde_json::Deserializer::from_slice(rest).into_iter().next()?.ok()?;
    let number = |names: [&str; 2]| names.iter().find_map(|name| value.get(name)?.as_u64());
    let cached = ["prompt_tokens_details", "input_tokens_details"]
        .iter()
        .find_map(|name| value.get(name)?.get("cached_tokens")?.as_u64());
    let prompt = number(["prompt_tokens", "input_tokens"])?;
    Some(Usage {
        prompt_tokens: prompt,
        cached_tokens: cached.unwrap_or(0),
        completion_tokens: number(["completion_tokens", "output_tokens"]).unwrap_or(0),
        cost_micros: 0,
    })
}

/// Characters of texts in these bytes; escapes count as they stand.
fn texts(piece: &[u8]) -> u64 {
    let count = |field: &Finder<'_>| -> usize {
        field
            .find_iter(piece)
            .filter_map(|at| piece[at + field.needle().len()..].trim_ascii_start().strip_prefix(b"\""))
            .map(length)
            .sum()
    };
    TEXTS.iter().map(count).sum::<usize>() as u64
}

/// Up to the closing quote.
fn length(text: &[u8]) -> usize {
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'"', b'\\', &text[from..]) {
        if text[from + at] == b'"' {
            return from + at;
        }
        from = (from + at + 2).min(text.len());
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::UsageSniffer;
    use bytes::Bytes;
    use steward_core::model::Usage;

    fn of(text: &str, size: usize) -> Usage {
        let mut sniffer = UsageSniffer::new(50);
        for piece in text.as_bytes().chunks(size) {
            sniffer.take(&Bytes::copy_from_slice(piece));
        }
        sniffer.usage()
    }

    fn tokens(usage: Usage) -> (u64, u64, u64) {
        (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
    }

    #[test]
    fn usage_is_read_wherever_the_pieces_are_cut() {
        let whole = r#"{"choices":[{"message":{"content":"the \"usage\": {} of words"}}],"usage":{"prompt_tokens":20,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":5}},"x":1}"#;
        let stream = "data: {\"usage\":null}\n\ndata: {\"choices\":[],\"usage\": {\"prompt_tokens\":20,\"completion_tokens\":8,\"prompt_tokens_details\":{\"cached_tokens\":5}}}\n\ndata: [DONE]\n\n";
        let responses = r#"data: {"type":"response.completed","response":{"usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":5},"output_tokens":8},"user":null}}"#;
        for text in [whole, stream, responses] {
            for size in [1, 3, 7, 64, 4096] {
                assert_eq!(tokens(of(text, size)), (20, 5, 8), "{size} {text}");
            }
        }
    }

    #[test]
    fn the_end_of_a_long_answer_is_enough() {
        let text =
            format!(r#"{{"data":[{}0],"usage":{{"prompt_tokens":7,"total_tokens":7}}}}"#, "0.123456,".repeat(20_000));
        assert_eq!(tokens(of(&text, 1000)), (7, 0, 0));
    }

    #[test]
    fn what_is_not_told_is_guessed() {
        let stream = "data: {\"choices\":[{\"delta\":{\"content\":\"four\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\": \"a\\\"b4\"}}]}\n\n";
        assert_eq!(tokens(of(stream, 4096)), (50, 0, 3));
        assert_eq!(tokens(of("", 1)), (50, 0, 0));
        assert_eq!(tokens(of("{\"usage\":{\"prompt_tok", 100)), (50, 0, 0));
    }
}
