//! What a remote command printed, kept within bounds: its beginning and its end.

use std::collections::VecDeque;

/// Bytes kept of the beginning of a stream, and as many of its end.
const KEPT: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    pub total: u64,
}

impl Kept {
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = KEPT.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(KEPT)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(KEPT);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// As text; what is no UTF-8 is replaced, what is missing is counted.
    pub fn text(&self) -> String {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let mut bytes = self.head.clone();
        if self.total > kept {
            let gap = format!("\n[{} bytes were left out here]\n", self.total - kept);
            bytes.extend_from_slice(gap.as_bytes());
        }
        bytes.extend(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Both streams as one text of about `limit` characters, errors last.
pub(super) fn printed(stdout: &str, stderr: &str, limit: usize) -> String {
    let (out, err) = (stdout.trim_end(), stderr.trim_end());
    if err.is_empty() {
        return shortened(out, limit);
    }
    let err = shortened(err, (limit / 4).max(limit.saturating_sub(out.chars().count())));
    if out.is_empty() {
        return format!("[stderr] {err}");
    }
    let left = limit.saturating_sub(err.chars().count() + 12);
    format!("{}\n[stderr] {err}", shortened(out, left))
}

/// The beginning and the end, where a text is too long.
fn shortened(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    // Room for the line that says so.
    let half = limit.saturating_sub(60) / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    let left = count - 2 * half;
    format!("{head}\n[{left} characters were left out here]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_stream_keeps_its_beginning_and_its_end() {
        let mut kept = Kept::default();
        let all: Vec<u8> = (0..KEPT * 5).map(|i| b'a' + u8::try_from(i % 26).unwrap()).collect();
        for chunk in all.chunks(1_000) {
            kept.push(chunk);
        }
        let text = kept.text();
        assert!(text.as_bytes().starts_with(&all[..KEPT]));
        assert!(text.as_bytes().ends_with(&all[all.len() - KEPT..]));
        let left = all.len() - 2 * KEPT;
        assert!(text.contains(&format!("[{left} bytes were left out here]")));
        assert_eq!(text.len(), 2 * KEPT + format!("\n[{left} bytes were left out here]\n").len());
    }

    #[test]
    fn a_short_stream_stays_as_it_is() {
        for size in [0, 1, KEPT, KEPT + 1, 2 * KEPT] {
            let mut kept = Kept::default();
            let all = vec![b'x'; size];
            for chunk in all.chunks(777) {
                kept.push(chunk);
            }
            assert_eq!(kept.text().as_bytes(), all, "{size}");
        }
    }

    #[test]
    fn both_streams_stay_within_the_limit_and_errors_are_seen() {
        let (out, err) = ("o".repeat(50_000), "e".repeat(50_000));
        for (out, err) in [(&*out, &*err), (&*out, "fault"), ("fine", &*err), (&*out, "")] {
            let text = printed(out, err, 1_000);
            assert!(text.chars().count() <= 1_000, "{}", text.len());
            assert_eq!(text.contains("[stderr]"), !err.is_empty());
        }
        assert_eq!(printed("fine\n", "", 100), "fine");
    }
}
