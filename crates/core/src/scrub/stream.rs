use super::Scrubber;

/// Most bytes that one byte of a secret takes when it is escaped, even twice: `%26%23x41%3B`.
const ESCAPED: usize = 12;
/// Longest run of backslashes that is kept together.
const RUN: usize = 64;

/// Scrubs a stream, holding back as much as the longest secret may take when escaped, so that none passes in pieces.
pub struct ScrubStream<'s> {
    scrubber: &'s Scrubber,
    pub(super) held: Vec<u8>,
    /// Bytes at the beginning of `held` that belong to a secret that was already replaced.
    gone: usize,
}

impl Scrubber {
    pub fn stream(&self) -> ScrubStream<'_> {
        ScrubStream { scrubber: self, held: Vec::new(), gone: 0 }
    }
}

impl ScrubStream<'_> {
    /// Takes a piece and returns what may go out: whole UTF-8 characters, if whole ones came in.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        if self.scrubber.is_empty() {
            return piece.to_vec();
        }
        self.held.extend_from_slice(piece);
        let keep = self.scrubber.longest * ESCAPED;
        match self.held.len().checked_sub(keep) {
            // Searching seldom in large pieces costs less than often in small ones.
            Some(ready) if ready > keep / 2 => self.release(ready),
            _ => Vec::new(),
        }
    }

    pub fn finish(mut self) -> Vec<u8> {
        let all = self.held.len();
        self.release(all)
    }

    fn release(&mut self, ready: usize) -> Vec<u8> {
        let spans = self.scrubber.spans(&self.held);
        let cut = self.boundary(ready);
        let mut out = Vec::with_capacity(cut);
        let mut at = self.gone.min(cut);
        let mut gone = self.gone.saturating_sub(cut);
        for span in spans.into_iter().take_while(|span| span.start < cut) {
            // A match that overlaps a replaced secret belongs to it.
            if span.start >= self.gone {
                out.extend_from_slice(&self.held[at.min(span.start)..span.start]);
                out.extend_from_slice(self.scrubber.replacements[span.secret].as_bytes());
            }
            at = at.max(span.end.min(cut));
            gone = gone.max(span.end.saturating_sub(cut));
        }
        out.extend_from_slice(&self.held[at..cut]);
        self.held.drain(..cut);
        self.gone = gone;
        out
    }

    /// The last position up to `ready` that splits neither a character nor an escape.
    fn boundary(&self, ready: usize) -> usize {
        if ready == self.held.len() {
            return ready;
        }
        let mut cut = ready;
        for _ in 0..3 {
            if self.held[cut] & 0xC0 == 0x80 && cut > 0 {
                cut -= 1;
            }
        }
        let run = self.held[..cut].iter().rev().take(RUN);
        cut - run.take_while(|byte| **byte == b'\\').count()
    }
}
