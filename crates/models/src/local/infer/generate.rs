use std::time::Instant;

use super::Refusal;
use super::job::{ChatJob, Finish, Progress, Usage};
use super::sample::Sampler;
use super::text::TextOut;
use super::worker::{Ended, Worker};

impl Worker<'_> {
    /// Answers a chat job; the answer goes piece by piece to its receiver.
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
        let mut out = TextOut::new(stop);
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
