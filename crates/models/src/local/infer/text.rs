//! From token bytes to text: whole characters only, and nothing that may be part of a stop string.

/// Collects bytes and lets text go as soon as it is certain.
#[derive(Debug, Default)]
pub(super) struct TextOut {
    bytes: Vec<u8>,
    held: String,
    stops: Vec<String>,
    stopped: bool,
}

impl TextOut {
    pub fn new(stops: Vec<String>) -> Self {
        Self { stops, ..Self::default() }
    }

    /// Whether a stop string was met; nothing more is given out then.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Takes the bytes of one token, gives the text that is certain now.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        if self.stopped {
            return String::new();
        }
        self.bytes.extend_from_slice(bytes);
        self.decode();
        self.release()
    }

    /// Gives what was held back, at the end.
    pub fn finish(&mut self) -> String {
        if self.stopped {
            return String::new();
        }
        let rest = String::from_utf8_lossy(&self.bytes).into_owned();
        self.bytes.clear();
        let mut text = std::mem::take(&mut self.held);
        text.push_str(&rest);
        text
    }

    fn decode(&mut self) {
        loop {
            match std::str::from_utf8(&self.bytes) {
                Ok(text) => {
                    self.held.push_str(text);
                    self.bytes.clear();
                    return;
                }
                Err(e) => {
                    let valid = e.valid_up_to();
                    self.held.push_str(&String::from_utf8_lossy(&self.bytes[..valid]));
                    match e.error_len() {
                        // The rest may become a character with the next token.
                        None => {
                            self.bytes.drain(..valid);
                            return;
                        }
                        Some(bad) => {
                            self.held.push(char::REPLACEMENT_CHARACTER);
                            self.bytes.drain(..valid + bad);
                        }
                    }
                }
            }
        }
    }

    fn release(&mut self) -> String {
        let met = self.stops.iter().filter_map(|s| self.held.find(s)).min();
        if let Some(at) = met {
            self.stopped = true;
            self.held.truncate(at);
            return std::mem::take(&mut self.held);
        }
        let keep = self.stops.iter().map(|stop| overlap(&self.held, stop)).max().unwrap_or(0);
        let kept = self.held.split_off(self.held.len() - keep);
        std::mem::replace(&mut self.held, kept)
    }
}

/// Bytes at the end of `text` that begin `stop`.
fn overlap(text: &str, stop: &str) -> usize {
    stop.char_indices()
        .map(|(at, _)| at)
        .rev()
        .filter(|at| *at > 0)
        .find(|at| text.ends_with(&stop[..*at]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(stops: &[&str], parts: &[&[u8]]) -> (Vec<String>, String, bool) {
        let mut out = TextOut::new(stops.iter().map(|s| (*s).to_owned()).collect());
        let given = parts.iter().map(|p| out.push(p)).collect();
        let rest = out.finish();
        (given, rest, out.stopped())
    }

    #[test]
    fn characters_come_whole() {
        let (given, rest, _) = feed(&[], &[b"a\xc3", b"\xa9\xf0\x9f", b"\x98\x80"]);
        assert_eq!(given, ["a", "é", "😀"]);
        assert_eq!(rest, "");
    }

    #[test]
    fn broken_bytes_become_a_mark() {
        let (given, rest, _) = feed(&[], &[b"a\xff\xfeb", b"\xe2\x82"]);
        assert_eq!(given, ["a\u{fffd}\u{fffd}b", ""]);
        assert_eq!(rest, "\u{fffd}");
    }

    #[test]
    fn a_stop_string_across_tokens_is_never_shown() {
        let (given, rest, stopped) = feed(&["\nObs"], &[b"one", b"\n", b"O", b"bservation"]);
        assert_eq!(given.concat(), "one");
        assert_eq!(rest, "");
        assert!(stopped);
    }

    #[test]
    fn what_only_looked_like_a_stop_is_given_later() {
        let (given, rest, stopped) = feed(&["\nObs"], &[b"one\n", b"Ob", b"ject\nO"]);
        assert_eq!(given, ["one", "", "\nObject"]);
        assert_eq!(rest, "\nO");
        assert!(!stopped);
    }

    #[test]
    fn the_earliest_stop_wins() {
        let (given, _, stopped) = feed(&["c", "b"], &[b"abc"]);
        assert_eq!(given, ["a"]);
        assert!(stopped);
    }
}
