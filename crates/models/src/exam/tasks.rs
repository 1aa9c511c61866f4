//! Questions by kind of request, summarising, and the rules that judge answers.

use super::CheckResult;
use super::decide::{Findings, Score};
use super::questions::{QUESTIONS, Wanted};
use super::session::{ExamSession, NoReply};
use futures::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use steward_core::message::Message;
use steward_core::model::Provider;
use steward_core::routing::Task;
use steward_core::tool::ToolCall;

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

/// What an answer must be like. Case does not matter.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Rule {
    /// One of each group must be in it.
    all: Vec<Vec<String>>,
    /// None of these may be.
    none: Vec<String>,
    /// Values by JSON pointer, in the first JSON object of the answer.
    json: BTreeMap<String, Value>,
    /// Only the last line counts.
    last_line: bool,
    /// Most characters; 0: any.
    longest: usize,
}

impl Rule {
    pub fn is_met(&self, answer: &str) -> bool {
        let answer = without_reasoning(answer).trim();
        if self.longest > 0 && answer.chars().count() > self.longest {
            return false;
        }
        if !self.json.is_empty() {
            return object_in(answer).is_some_and(|object| self.holds(&object));
        }
        let judged =
            if self.last_line { answer.lines().rev().find(|line| !line.trim().is_empty()) } else { Some(answer) };
        let judged = judged.unwrap_or_default().to_lowercase();
        let mut groups = self.all.iter();
        groups.all(|group| contains_any(&judged, group)) && !contains_any(&judged, &self.none)
    }

    fn holds(&self, object: &Value) -> bool {
        let mut wanted = self.json.iter();
        wanted.all(|(pointer, value)| {
            let found = object.pointer(pointer);
            found.is_some_and(|found| is_same(value, found))
        })
    }

    /// Whether there is an answer that is wrong.
    #[cfg(test)]
    pub fn is_telling(&self) -> bool {
        !(self.all.is_empty() && self.json.is_empty())
    }
}

/// Whether one of `texts` stands in `answer` (in lower case) as whole words.
pub(super) fn contains_any(answer: &str, texts: &[String]) -> bool {
    texts.iter().any(|text| {
        let text = text.to_lowercase();
        answer.match_indices(&text).any(|(at, _)| {
            let before = answer[..at].chars().next_back();
            let after = answer[at + text.len()..].chars().next();
            let joined = |one: Option<char>, other: Option<char>| {
                one.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
            };
            !joined(before, text.chars().next()) && !joined(text.chars().next_back(), after)
        })
    })
}

pub(super) fn without_reasoning(answer: &str) -> &str {
    answer.rsplit("</think>").next().unwrap_or(answer)
}

pub(super) fn object_in(text: &str) -> Option<Value> {
    text.match_indices('{').take(8).find_map(|(at, _)| {
        let mut read = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        read.next()?.ok().filter(Value::is_object)
    })
}

/// Points where one call is right: one for the tool, one for its arguments.
pub(super) fn call_points(wanted: Option<&Wanted>, calls: &[ToolCall]) -> u32 {
    let Some(wanted) = wanted else {
        return if calls.is_empty() { 2 } else { 0 };
    };
    let [call] = calls else { return 0 };
    if call.name != wanted.name {
        return 0;
    }
    1 + u32::from(fits(&wanted.arguments, &call.arguments))
}

pub(super) fn are_all_made(wanted: &[Wanted], calls: &[ToolCall]) -> bool {
    let is_made =
        |one: &Wanted| calls.iter().any(|call| call.name == one.name && fits(&one.arguments, &call.arguments));
    calls.len() == wanted.len() && wanted.iter().all(is_made)
}

fn fits(wanted: &Map<String, Value>, given: &Value) -> bool {
    let mut fields = wanted.iter();
    fields.all(|(name, value)| given.get(name).is_some_and(|found| is_same(value, found)))
}

/// Equal for a person: `"Oslo, Norway"` is Oslo, `"17"` is 17.
fn is_same(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::String(wanted), Value::String(found)) => {
            contains_any(&found.to_lowercase(), std::slice::from_ref(wanted))
        }
        (Value::Number(wanted), Value::String(found)) => found.trim() == wanted.to_string(),
        (Value::Number(wanted), Value::Number(found)) => wanted.as_f64() == found.as_f64(),
        _ => wanted == found,
    }
}

#[cfg(test)]
mod tasks_tests {
    use super::invented;

    #[test]
    fn numbers_from_nowhere() {
        assert!(!invented("at 02:15, 48 GB", "48 GB at 2:15"));
        assert!(invented("at 02:15, 48 GB", "49 GB"));
        assert!(!invented("two servers", "1. alpha"));
    }
}

#[cfg(test)]
mod judge_tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

    use super::{Rule, are_all_made, call_points, object_in, without_reasoning};
    use crate::exam::questions::Wanted;
    use serde_json::{Value, json};
    use steward_core::tool::{CallSource, ToolCall};

    fn check(rule: &Value, answer: &str, expect: bool) {
        let rule: Rule = serde_json::from_value(rule.clone()).unwrap();
        assert_eq!(rule.is_met(answer), expect, "{answer}");
    }

    #[test]
    fn texts() {
        let rule = json!({"all": [["8", "eight"]], "none": ["18"]});
        check(&rule, "You get 8 euros.", true);
        check(&rule, "Eight.", true);
        check(&rule, "You get 80 euros.", false);
        check(&rule, "8, no, 18", false);
        check(&rule, "<think>18?</think>8", true);
        let last = json!({"all": [["carl"]], "none": ["ann"], "last_line": true});
        check(&last, "Ann is older.\n\n**Carl**\n", true);
        check(&last, "Carl.\nOr Ann.", false);
        check(&json!({"all": [["tokyo"]], "longest": 10}), "Tokyo, of course", false);
        check(&json!({"all": [["count("]]}), "SELECT count(*)", true);
        check(&json!({"all": [["a"]]}), "", false);
    }

    #[test]
    fn objects() {
        let rule = json!({"json": {"/company": "Miller Ltd", "/amount": 120}});
        check(&rule, "```json\n{\"company\": \"Miller Ltd\", \"amount\": 120.0}\n```", true);
        check(&rule, "{\"company\": \"Miller Ltd\", \"amount\": \"120\"}", true);
        check(&rule, "{\"company\": \"Miller Ltd\"}", false);
        check(&rule, "Miller Ltd, 120", false);
        assert_eq!(object_in("{x} {\"a\": 1} {"), Some(json!({"a": 1})));
        assert_eq!(object_in("[1]"), None);
        assert_eq!(without_reasoning("a</think> b"), " b");
    }

    fn call(name: &str, arguments: Value) -> ToolCall {
        ToolCall::new("1", name, arguments, CallSource::Native)
    }

    fn wanted(name: &str, arguments: Value) -> Wanted {
        serde_json::from_value(json!({"name": name, "arguments": arguments})).unwrap()
    }

    #[test]
    fn calls() {
        let oslo = wanted("get_weather", json!({"city": "Oslo"}));
        let right = call("get_weather", json!({"city": "oslo, Norway"}));
        let wrong = call("get_weather", json!({"city": "Lima"}));
        assert_eq!(call_points(Some(&oslo), std::slice::from_ref(&right)), 2);
        assert_eq!(call_points(Some(&oslo), std::slice::from_ref(&wrong)), 1);
        assert_eq!(call_points(Some(&oslo), &[call("other", json!({}))]), 0);
        assert_eq!(call_points(Some(&oslo), &[]), 0);
        assert_eq!(call_points(None, &[]), 2);
        assert_eq!(call_points(None, std::slice::from_ref(&wrong)), 0);
        let both = [oslo.clone(), wanted("get_weather", json!({"city": "Lima"}))];
        assert!(are_all_made(&both, &[wrong.clone(), right.clone()]));
        assert!(!are_all_made(&both, &[right.clone(), right]));
        assert!(!are_all_made(&both, &[wrong]));
    }
}
