use super::generate::position;
use super::load::{BATCH_TOKENS, PROMPT_SLOTS, SCORE_SEQUENCES};
use super::prompt_cache::common_prefix;
use super::{Ended, Refusal, Score, ScoreJob, Scores, Usage, Worker};
use llama_cpp_2::token::LlamaToken;
use std::time::Instant;

struct Line {
    /// After what all candidates share.
    tokens: Vec<LlamaToken>,
    logprob: f64,
}

impl Worker<'_> {
    pub fn score(&mut self, job: ScoreJob) {
        let ScoreJob { prompt, candidates, end_of_turn, reply } = job;
        let result = self.prompter.tokens(&prompt).map_err(Ended::from).and_then(|parts| {
            let tails = self.tails(&parts.tail, &candidates, end_of_turn)?;
            self.score_tails(parts.head, &tails, &|| reply.is_closed())
        });
        let answer = match result {
            Ok((lines, usage)) => Ok(Scores {
                scores: candidates
                    .into_iter()
                    .zip(lines)
                    .map(|(candidate, line)| Score { candidate, logprob_sum: line.logprob, tokens: line.tokens.len() })
                    .collect(),
                usage,
            }),
            Err(Ended::Refused(refusal)) => Err(refusal),
            Err(Ended::Cancelled) => return,
        };
        let _ = reply.send(answer);
    }

    /// The prompt's end with each candidate, tokenised together, since a candidate's first letters may merge with it.
    fn tails(&self, tail: &str, candidates: &[String], end_of_turn: bool) -> Result<Tails, Refusal> {
        let alone = self.prompter.plain(tail);
        let mut joined: Vec<Vec<LlamaToken>> =
            candidates.iter().map(|candidate| self.prompter.plain(&format!("{tail}{candidate}"))).collect();
        if end_of_turn {
            let vocab = self.model.vocab();
            let end = if vocab.eot().0 < 0 { vocab.eos() } else { vocab.eot() };
            for tokens in &mut joined {
                tokens.push(end);
            }
        }
        let shared = joined.iter().map(|tokens| common_prefix(tokens, &alone)).min().unwrap_or(0);
        if joined.iter().any(|tokens| tokens.len() == shared) {
            return Err(Refusal::invalid("candidates", "a candidate is empty"));
        }
        Ok(Tails { shared, joined })
    }

    fn score_tails(
        &mut self,
        head: Vec<LlamaToken>,
        tails: &Tails,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(Vec<Line>, Usage), Ended> {
        let started = Instant::now();
        let mut prompt = head;
        prompt.extend_from_slice(&tails.joined[0][..tails.shared]);
        if prompt.is_empty() {
            // The first token needs something before it.
            let vocab = self.model.vocab();
            prompt.push(if vocab.bos().0 < 0 { vocab.eos() } else { vocab.bos() });
        }
        let mut lines: Vec<Line> =
            tails.joined.iter().map(|tokens| Line { tokens: tokens[tails.shared..].to_vec(), logprob: 0.0 }).collect();
        let longest = lines.iter().map(|l| l.tokens.len()).max().unwrap_or(0);
        if prompt.len() + longest > self.window as usize {
            return Err(Refusal::too_long("messages", prompt.len() + longest, self.window).into());
        }
        if longest > BATCH_TOKENS {
            return Err(Refusal::invalid(
                "candidates",
                format!("a candidate has {longest} tokens, at most {BATCH_TOKENS} are scored"),
            )
            .into());
        }
        let evaluated = self.evaluate(&prompt, cancelled)?;
        let mut usage = Usage {
            prompt_tokens: prompt.len(),
            cached_tokens: evaluated.cached,
            prompt_time: started.elapsed(),
            ..Usage::default()
        };
        let started = Instant::now();
        let first = LogSoftmax::new(self.context.get_logits_ith(evaluated.row));
        for line in &mut lines {
            line.logprob = first.of(line.tokens[0]);
            usage.completion_tokens += line.tokens.len();
        }
        let mut open: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].tokens.len() > 1).collect();
        while !open.is_empty() {
            if cancelled() || self.shared.ending() {
                return Err(Ended::Cancelled);
            }
            let room = (self.window as usize - prompt.len()).min(BATCH_TOKENS);
            let group = take_group(&mut open, &lines, room);
            self.score_group(evaluated.slot, prompt.len(), &group, &mut lines)?;
        }
        usage.completion_time = started.elapsed();
        Ok((lines, usage))
    }

    /// Scores several candidates in one batch, each in its own sequence.
    fn score_group(&mut self, slot: usize, base: usize, group: &[usize], lines: &mut [Line]) -> Result<(), Refusal> {
        let more = group.iter().map(|i| lines[*i].tokens.len() - 1).sum();
        for other in self.slots.make_room(slot, more) {
            self.forget(other, 0)?;
        }
        self.batch.clear();
        for (n, i) in group.iter().enumerate() {
            let sequence = position(PROMPT_SLOTS + n);
            self.share(slot, sequence, base)?;
            let tokens = &lines[*i].tokens;
            for (offset, token) in tokens[..tokens.len() - 1].iter().enumerate() {
                self.batch
                    .add(*token, position(base + offset), &[sequence], true)
                    .map_err(|e| Refusal::internal(e.to_string()))?;
            }
        }
        self.decode()?;
        let mut row = 0;
        for i in group {
            let line = &mut lines[*i];
            for token in &line.tokens[1..] {
                let after = LogSoftmax::new(self.context.get_logits_ith(row));
                line.logprob += after.of(*token);
                row += 1;
            }
        }
        for n in 0..group.len() {
            self.drop_sequence(position(PROMPT_SLOTS + n), 0)?;
        }
        Ok(())
    }
}

struct Tails {
    /// Tokens that the prompt's end and all candidates have in common.
    shared: usize,
    joined: Vec<Vec<LlamaToken>>,
}

/// As many candidates as fit one batch.
fn take_group(open: &mut Vec<usize>, lines: &[Line], room: usize) -> Vec<usize> {
    let mut total = 0;
    let count = open
        .iter()
        .take(SCORE_SEQUENCES)
        .take_while(|i| {
            total += lines[**i].tokens.len() - 1;
            total <= room
        })
        .count();
    // One candidate always fits: longer ones were refused.
    open.drain(..count.max(1)).collect()
}

struct LogSoftmax<'a> {
    logits: &'a [f32],
    normaliser: f64,
}

impl<'a> LogSoftmax<'a> {
    fn new(logits: &'a [f32]) -> Self {
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits.iter().map(|l| f64::from((l - top).exp())).sum();
        Self { logits, normaliser: f64::from(top) + sum.ln() }
    }

    fn of(&self, token: LlamaToken) -> f64 {
        usize::try_from(token.0)
            .ok()
            .and_then(|i| self.logits.get(i))
            .map_or(f64::NEG_INFINITY, |l| f64::from(*l) - self.normaliser)
    }
}
