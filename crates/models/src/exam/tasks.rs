//! Questions by kind of request, and summarising.

use super::CheckResult;
use super::findings::{Findings, Score};
use super::questions::QUESTIONS;
use super::rules::contains_any;
use super::session::{ExamSession, NoReply};
use futures::{StreamExt, stream};
use std::collections::BTreeSet;
use steward_core::message::Message;
use steward_core::model::Provider;
use steward_core::routing::Task;

/// Longest answer, tokens.
const LONGEST: u32 = 150;
/// Parallel questions to a server that is shared anyway.
const AT_ONCE: usize = 4;

pub(super) async fn check(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    // A model on this machine mostly serves one request at a time.
    let at_once = match session.connection.provider {
        Provider::Local | Provider::Ollama | Provider::LlamaCpp => 1,
        _ => AT_ONCE,
    };
    let questions = &QUESTIONS.all;
    let mut answers = stream::iter(0..questions.len())
        .map(|n| async move {
            let question = &questions[n];
            let reply = session.ask_text(question.messages(), LONGEST).await;
            (question, reply)
        })
        .buffered(at_once);
    let (mut score, mut no_reply, mut wrong) = (Score::default(), None, BTreeSet::new());
    while let Some((question, reply)) = answers.next().await {
        let right = match reply {
            Ok(reply) => question.rule.is_met(&reply.text),
            Err(over @ NoReply::Over(_)) => {
                no_reply = Some(over);
                continue;
            }
            // A missing answer counts as wrong.
            Err(NoReply::Failed(_)) => false,
        };
        if !right {
            wrong.insert(question.task);
        }
        let one = Score::new(u32::from(right), 1);
        found.tasks.entry(question.task).or_default().add(one);
        score.add(one);
    }
    drop(answers);
    if score.of == 0 {
        return Err(no_reply.unwrap_or(NoReply::Over("time was up")));
    }
    let mut detail = format!("{} of {} right", score.points, score.of);
    if !wrong.is_empty() {
        let names: Vec<&str> = wrong.into_iter().map(name).collect();
        detail.push_str("; mistakes in ");
        detail.push_str(&names.join(", "));
    }
    if no_reply.is_some() {
        detail.push_str("; not all were asked");
    }
    Ok((score, detail))
}

/// Whether a short text's facts are in its summary, and nothing else.
pub(super) async fn summary(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let asked = &QUESTIONS.summary;
    let reply = session.ask_text(vec![Message::user(&asked.ask)], LONGEST).await?;
    let answer = reply.answer().to_lowercase();
    let mut facts = asked.facts.iter();
    let kept = facts.by_ref().filter(|group| contains_any(&answer, group)).count();
    let invented = invented(&asked.ask, &answer) || contains_any(&answer, &asked.none);
    let short = answer.chars().count() <= asked.longest;
    let points = u32::try_from(kept).unwrap_or(0) + u32::from(!invented) + u32::from(short);
    let of = u32::try_from(asked.facts.len()).unwrap_or(0) + 2;
    // Inventing weighs more than leaving out.
    let points = if invented { points / 2 } else { points };
    let score = Score::new(if answer.is_empty() { 0 } else { points }, of);
    found.summary = Some(score);
    let tasks = found.tasks.entry(Task::Summarize).or_default();
    tasks.add(Score::new(u32::from(score.share() >= 0.8), 1));
    let mut words = vec![format!("{kept} of {} facts", asked.facts.len())];
    if invented {
        words.push(format!("something is made up: {}", reply.answer()));
    }
    if !short {
        words.push("it is too long".to_owned());
    }
    Ok((score, words.join("; ")))
}

/// Whether there are numbers that the source does not have.
fn invented(source: &str, answer: &str) -> bool {
    let numbers = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .map(|part| part.trim_start_matches('0').to_owned())
            .collect()
    };
    let known = numbers(source);
    numbers(answer).iter().any(|number| !number.is_empty() && !known.contains(number) && number.len() > 1)
}

pub(super) fn name(task: Task) -> &'static str {
    match task {
        Task::Reasoning => "reasoning",
        Task::CodeGen => "code",
        Task::RagAnswer => "answers from documents",
        Task::Summarize => "summing up",
        Task::Classify => "classifying",
        Task::Extract => "extracting",
        Task::Translate => "translating",
        Task::Chat => "conversation",
        Task::ToolCall => "tool calls",
        Task::Planning => "planning",
    }
}

#[cfg(test)]
mod tests {
    use super::invented;

    #[test]
    fn numbers_from_nowhere() {
        assert!(!invented("at 02:15, 48 GB", "48 GB at 2:15"));
        assert!(invented("at 02:15, 48 GB", "49 GB"));
        assert!(!invented("two servers", "1. alpha"));
    }
}
