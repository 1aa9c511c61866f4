//! Questions by kind of request, and summing up results.

use std::collections::BTreeSet;

use futures::StreamExt;
use futures::stream;
use steward_core::message::Message;
use steward_core::model::Provider;
use steward_core::routing::Task;

use super::desk::{Desk, Silence};
use super::examine::Mark;
use super::findings::{Findings, Score};
use super::judge::has_any;
use super::questions::BOOK;

/// Longest answer, tokens.
const LONGEST: u32 = 150;
/// Questions asked at once of a server that others share anyway.
const AT_ONCE: usize = 4;

/// All questions.
pub(super) async fn check(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    // A model on this machine has one seat, most of the time.
    let at_once = match desk.connection.provider {
        Provider::Local | Provider::Ollama | Provider::LlamaCpp => 1,
        _ => AT_ONCE,
    };
    let questions = &BOOK.all;
    let mut answers = stream::iter(0..questions.len())
        .map(|n| async move {
            let question = &questions[n];
            let heard = desk.say(question.messages(), LONGEST).await;
            (question, heard)
        })
        .buffered(at_once);
    let (mut score, mut silence, mut wrong) = (Score::default(), None, BTreeSet::new());
    while let Some((question, heard)) = answers.next().await {
        let right = match heard {
            Ok(heard) => question.rule.is_met(&heard.text),
            Err(over @ Silence::Over(_)) => {
                silence = Some(over);
                continue;
            }
            // An answer that does not come is none.
            Err(Silence::Failed(_)) => false,
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
        return Err(silence.unwrap_or(Silence::Over("time was up")));
    }
    let mut detail = format!("{} of {} right", score.points, score.of);
    if !wrong.is_empty() {
        let names: Vec<&str> = wrong.into_iter().map(name).collect();
        detail.push_str("; mistakes in ");
        detail.push_str(&names.join(", "));
    }
    if silence.is_some() {
        detail.push_str("; not all were asked");
    }
    Ok((score, detail))
}

/// A short text of results: whether its facts are in the summary, and nothing else.
pub(super) async fn summary(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    let asked = &BOOK.summary;
    let heard = desk.say(vec![Message::user(&asked.ask)], LONGEST).await?;
    let answer = heard.answer().to_lowercase();
    let mut facts = asked.facts.iter();
    let kept = facts.by_ref().filter(|group| has_any(&answer, group)).count();
    let invented = invented(&asked.ask, &answer) || has_any(&answer, &asked.none);
    let short = answer.chars().count() <= asked.longest;
    let points = u32::try_from(kept).unwrap_or(0) + u32::from(!invented) + u32::from(short);
    let of = u32::try_from(asked.facts.len()).unwrap_or(0) + 2;
    // What is made up weighs more than what is left out.
    let points = if invented { points / 2 } else { points };
    let score = Score::new(if answer.is_empty() { 0 } else { points }, of);
    found.summary = Some(score);
    let tasks = found.tasks.entry(Task::Summarize).or_default();
    tasks.add(Score::new(u32::from(score.share() >= 0.8), 1));
    let mut words = vec![format!("{kept} of {} facts", asked.facts.len())];
    if invented {
        words.push(format!("something is made up: {}", heard.answer()));
    }
    if !short {
        words.push("it is too long".to_owned());
    }
    Ok((score, words.join("; ")))
}

/// Whether there are numbers that the text does not have.
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

/// As people read it.
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
