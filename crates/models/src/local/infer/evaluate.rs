use llama_cpp_2::token::LlamaToken;

use super::Refusal;
use super::load::BATCH_TOKENS;
use super::worker::{Ended, Worker};

/// A prompt that is in the cache.
pub(super) struct Evaluated {
    pub slot: usize,
    pub cached: usize,
    /// Row of the output of the last token.
    pub row: i32,
}

impl Worker<'_> {
    /// Brings a prompt into the cache, evaluating only what is not there yet.
    pub fn evaluate(&mut self, prompt: &[LlamaToken], cancelled: &dyn Fn() -> bool) -> Result<Evaluated, Ended> {
        let placement = self.slots.place(prompt);
        let slot = placement.slot;
        let mut keep = placement.keep;
        let ready = match placement.share_from {
            None => self.forget(slot, keep),
            Some(source) => self.forget(slot, 0).and_then(|()| self.share(source, sequence(slot), keep)),
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
                    .add(*token, position(base + offset), &[sequence(slot)], wanted)
                    .map_err(|e| Refusal::internal(e.to_string()))?;
            }
            self.decode()?;
            self.slots.extend(slot, chunk);
            row = position(chunk.len()) - 1;
        }
        Ok(Evaluated { slot, cached, row })
    }

    /// Evaluates one more token in a slot; its output is in row 0.
    pub fn advance(&mut self, slot: usize, token: LlamaToken) -> Result<(), Refusal> {
        for other in self.slots.make_room(slot, 1) {
            self.forget(other, 0)?;
        }
        self.batch.clear();
        let at = position(self.slots.len(slot));
        self.batch.add(token, at, &[sequence(slot)], true).map_err(|e| Refusal::internal(e.to_string()))?;
        self.decode()?;
        self.slots.extend(slot, &[token]);
        Ok(())
    }

    /// Runs the model over the batch. After a failure nothing in the cache is trusted.
    pub fn decode(&mut self) -> Result<(), Refusal> {
        self.context.decode(&mut self.batch).map_err(|e| {
            self.context.clear_kv_cache();
            self.slots.clear();
            Refusal::internal(format!("llama.cpp failed: {e}; ask again"))
        })
    }

    /// Drops all but the first `keep` tokens of a slot from the cache.
    pub fn forget(&mut self, slot: usize, keep: usize) -> Result<(), Refusal> {
        self.drop_sequence(sequence(slot), keep)
    }

    /// Drops all but the first `keep` tokens of a sequence from the cache.
    pub fn drop_sequence(&mut self, sequence: i32, keep: usize) -> Result<(), Refusal> {
        let from = u32::try_from(keep).map_err(|e| Refusal::internal(e.to_string()))?;
        self.context.kv_cache_seq_rm(sequence, Some(from), None).map_err(|e| Refusal::internal(e.to_string()))
    }

    /// Lets a sequence begin with the first `tokens` of a slot, without evaluating them again.
    pub fn share(&mut self, slot: usize, with: i32, tokens: usize) -> Result<(), Refusal> {
        let to = u32::try_from(tokens).map_err(|e| Refusal::internal(e.to_string()))?;
        self.context
            .kv_cache_seq_cp(sequence(slot), with, Some(0), Some(to))
            .map_err(|e| Refusal::internal(e.to_string()))
    }
}

/// llama.cpp's number for a slot.
pub(super) fn sequence(slot: usize) -> i32 {
    position(slot)
}

/// Window and slots are far below `i32::MAX`.
pub(super) fn position(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}
