use super::load::BATCH_TOKENS;
use super::sample::Sampler;
use super::{ChatJob, Ended, Finish, Progress, Refusal, Usage, Worker};
use llama_cpp_2::token::LlamaToken;
use std::time::Instant;

impl Worker<'_> {
    pub fn chat(&mut self, job: ChatJob) {
        let reply = job.reply.clone();
        match self.generate(job) {
            Ok((finish, usage)) => drop(reply.send(Progress::Done(finish, usage))),
            Err(Ended::Refused(refusal)) => drop(reply.send(Progress::Failed(refusal))),
            Err(Ended::Cancelled) => {}
        }
    }

    fn generate(&mut self, job: ChatJob) -> Result<(Finish, Usage), Ended> {
        let ChatJob { prompt, sampling, constraint, stop, max_tokens, reply } = job;
        if reply.is_closed() {
            return Err(Ended::Cancelled);
        }
        let started = Instant::now();
        let parts = self.prompter.tokens(&prompt)?;
        let mut tokens = parts.head;
        tokens.extend(self.prompter.plain(&parts.tail));
        if tokens.is_empty() {
            return Err(Refusal::invalid("messages", "the prompt is empty").into());
        }
        let window = self.window as usize;
        if tokens.len() >= window {
            return Err(Refusal::too_long("messages", tokens.len(), self.window).into());
        }
        let mut sampler = Sampler::new(self.model, sampling, &constraint)?;
        let mut usage = Usage { prompt_tokens: tokens.len(), ..Usage::default() };
        let _ = reply.send(Progress::Started);
        let evaluated = self.evaluate(&tokens, &|| reply.is_closed())?;
        usage.cached_tokens = evaluated.cached;
        usage.prompt_time = started.elapsed();

        let started = Instant::now();
        let room = window - tokens.len();
        let limit = max_tokens.map_or(room, |n| room.min(n as usize));
        let mut out = TextDecoder::new(stop);
        let mut row = evaluated.row;
        let finish = loop {
            if reply.is_closed() || self.shared.ending() {
                return Err(Ended::Cancelled);
            }
            let token = sampler.next(self.context.get_logits_ith(row))?;
            let vocab = self.model.vocab();
            if vocab.is_eog(token) {
                break Finish::Stop;
            }
            usage.completion_tokens += 1;
            let text = out.push(&vocab.token_to_piece(token, false, None));
            if !text.is_empty() {
                let _ = reply.send(Progress::Text(text));
            }
            if out.stopped() {
                break Finish::Stop;
            }
            if usage.completion_tokens >= limit {
                break Finish::Length;
            }
            self.advance(evaluated.slot, token)?;
            row = 0;
        };
        let rest = out.finish();
        if !rest.is_empty() {
            let _ = reply.send(Progress::Text(rest));
        }
        usage.completion_time = started.elapsed();
        Ok((finish, usage))
    }
}

pub(super) struct Evaluated {
    pub slot: usize,
    pub cached: usize,
    /// Output row of the last token.
    pub row: i32,
}

impl Worker<'_> {
    pub fn evaluate(&mut self, prompt: &[LlamaToken], cancelled: &dyn Fn() -> bool) -> Result<Evaluated, Ended> {
        let placement = self.slots.place(prompt);
        let slot = placement.slot;
        let mut keep = placement.keep;
        let ready = match placement.share_from {
            None => self.forget(slot, keep),
            Some(source) => self.forget(slot, 0).and_then(|()| self.share(source, position(slot), keep)),
        };
        for other in &placement.evict {
            self.forget(*other, 0)?;
        }
        if ready.is_err() {
            // Recurrent models can't drop a part of what they have read.
            self.context.clear_kv_cache();
            self.slots.clear();
            keep = 0;
        }
        let cached = keep;
        self.slots.truncate(slot, keep);
        let mut row = 0;
        let chunks = prompt[keep..].chunks(BATCH_TOKENS);
        let last_chunk = chunks.len().saturating_sub(1);
        for (i, chunk) in chunks.enumerate() {
            if cancelled() || self.shared.ending() {
                return Err(Ended::Cancelled);
            }
            self.batch.clear();
            let base = self.slots.len(slot);
            for (offset, token) in chunk.iter().enumerate() {
                let wanted = i == last_chunk && offset + 1 == chunk.len();
                self.batch
                    .add(*token, position(base + offset), &[position(slot)], wanted)
                    .map_err(|e| Refusal::internal(e.to_string()))?;
            }
            self.decode()?;
            self.slots.extend(slot, chunk);
            row = position(chunk.len()) - 1;
        }
        Ok(Evaluated { slot, cached, row })
    }

    /// Its output is in row 0.
    pub fn advance(&mut self, slot: usize, token: LlamaToken) -> Result<(), Refusal> {
        for other in self.slots.make_room(slot, 1) {
            self.forget(other, 0)?;
        }
        self.batch.clear();
        let at = position(self.slots.len(slot));
        self.batch.add(token, at, &[position(slot)], true).map_err(|e| Refusal::internal(e.to_string()))?;
        self.decode()?;
        self.slots.extend(slot, &[token]);
        Ok(())
    }

    /// After a failure the whole cache is dropped.
    pub fn decode(&mut self) -> Result<(), Refusal> {
        self.context.decode(&mut self.batch).map_err(|e| {
            self.context.clear_kv_cache();
            self.slots.clear();
            Refusal::internal(format!("llama.cpp failed: {e}; ask again"))
        })
    }

    /// Keeps the first `keep` tokens of a slot.
    pub fn forget(&mut self, slot: usize, keep: usize) -> Result<(), Refusal> {
        self.drop_sequence(position(slot), keep)
    }

    /// Keeps the first `keep` tokens of a sequence.
    pub fn drop_sequence(&mut self, sequence: i32, keep: usize) -> Result<(), Refusal> {
        let from = u32::try_from(keep).map_err(|e| Refusal::internal(e.to_string()))?;
        self.context.kv_cache_seq_rm(sequence, Some(from), None).map_err(|e| Refusal::internal(e.to_string()))
    }

    /// Makes a sequence begin with the first `tokens` of a slot, without evaluating them again.
    pub fn share(&mut self, slot: usize, with: i32, tokens: usize) -> Result<(), Refusal> {
        let to = u32::try_from(tokens).map_err(|e| Refusal::internal(e.to_string()))?;
        self.context
            .kv_cache_seq_cp(position(slot), with, Some(0), Some(to))
            .map_err(|e| Refusal::internal(e.to_string()))
    }
}

/// A position in the window, or a slot's sequence; both are far below `i32::MAX`.
pub(super) fn position(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

/// Turns token bytes into text: whole characters only, and nothing that may be part of a stop string.
#[derive(Debug, Default)]
struct TextDecoder {
    bytes: Vec<u8>,
    held: String,
    stops: Vec<String>,
    stopped: bool,
}

impl TextDecoder {
    pub fn new(stops: Vec<String>) -> Self {
        Self { stops, ..Self::default() }
    }

    /// Whether a stop string was met; then there is no more text.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// The text that is certain after one more token.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        if self.stopped {
            return String::new();
        }
        self.bytes.extend_from_slice(bytes);
        self.decode();
        self.release()
    }

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
        let mut out = TextDecoder::new(stops.iter().map(|s| (*s).to_owned()).collect());
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
