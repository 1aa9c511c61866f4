//! The exam's questions, from `data/exam`.

use super::rules::{Rule, Wanted};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};
use steward_core::message::Message;
use steward_core::policy::RiskClass;
use steward_core::routing::Task;
use steward_core::tool::{EffectClass, ToolSpec};

const QUESTIONS_JSON: &str = include_str!("../../data/exam/questions.json");
const TOOLS_JSON: &str = include_str!("../../data/exam/tools.json");

/// A test reads the files, so the defaults are never used.
pub(super) static QUESTIONS: LazyLock<Questions> =
    LazyLock::new(|| serde_json::from_str(QUESTIONS_JSON).unwrap_or_default());
pub(super) static TOOL_QUESTIONS: LazyLock<ToolQuestions> =
    LazyLock::new(|| serde_json::from_str(TOOLS_JSON).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
pub(super) struct Questions {
    #[serde(rename = "questions")]
    pub all: Vec<Question>,
    pub summary: Summary,
    pub system: Plain,
    pub speed: Plain,
    pub needle: Needle,
    pub constrained: Constrained,
    pub vision: Plain,
}

#[derive(Debug, Deserialize)]
pub(super) struct Question {
    pub task: Task,
    /// Earlier turns of user and assistant.
    #[serde(default)]
    pub before: Vec<(String, String)>,
    pub ask: String,
    #[serde(flatten)]
    pub rule: Rule,
}

impl Question {
    pub fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for (asked, said) in &self.before {
            messages.push(Message::user(asked));
            messages.push(Message::assistant(said));
        }
        messages.push(Message::user(&self.ask));
        messages
    }
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Summary {
    pub ask: String,
    /// A point for each group with a member in the answer.
    pub facts: Vec<Vec<String>>,
    pub none: Vec<String>,
    pub longest: usize,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Plain {
    #[serde(default)]
    pub system: String,
    pub ask: String,
    #[serde(flatten)]
    pub rule: Rule,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Needle {
    pub word: String,
    pub before: String,
    pub after: String,
    pub filler: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Constrained {
    pub ask: String,
    pub json_ask: String,
    /// Answers that the schema allows and that nobody would give unasked.
    pub allowed: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ToolQuestions {
    tools: Vec<Offered>,
    pub cases: Vec<Case>,
    pub parallel: Parallel,
    pub follow_up: FollowUp,
    /// `name: description` of tools that only lengthen the list.
    more: Vec<String>,
    pub tool_count: ToolCount,
}

#[derive(Debug, Deserialize)]
struct Offered {
    name: String,
    description: String,
    parameters: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct Case {
    pub ask: String,
    /// The right call; `None`: none is needed.
    pub call: Option<Wanted>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Parallel {
    pub ask: String,
    pub calls: Vec<Wanted>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FollowUp {
    pub ask: String,
    pub call: Wanted,
    pub result: String,
    pub expect: Rule,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ToolCount {
    pub few: usize,
    pub many: usize,
    pub ask: Vec<String>,
    /// The right tool for each of `ask`.
    pub names: Vec<String>,
}

impl Needle {
    /// Appends numbered lines until `text` has about `tokens` tokens.
    pub fn fill(&self, text: &mut String, tokens: u32) {
        // A token of plain English has about four and a half letters.
        let chars = tokens as usize * 9 / 2;
        for (n, line) in self.filler.iter().cycle().enumerate() {
            if text.len() >= chars {
                break;
            }
            let _ = write!(text, "\n{}. {line}", n + 1);
        }
    }
}

impl ToolQuestions {
    pub fn tools(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|one| spec(&one.name, &one.description, one.parameters.clone())).collect()
    }

    /// `count` tools, those of the cases in the middle.
    pub fn tool_count(&self, count: usize) -> Vec<ToolSpec> {
        let own = self.tools();
        let extra = count.saturating_sub(own.len());
        let parameters =
            serde_json::json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let mut all: Vec<ToolSpec> = self
            .more
            .iter()
            .filter_map(|line| line.split_once(": "))
            .take(extra)
            .map(|(name, description)| spec(name, description, parameters.clone()))
            .collect();
        let middle = all.len() / 2;
        all.splice(middle..middle, own);
        all
    }
}

fn spec(name: &str, description: &str, parameters: Value) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: parameters.into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 1000,
        skill: None,
    }
}

#[cfg(test)]
mod tests {
    use super::{QUESTIONS, TOOL_QUESTIONS};
    use std::collections::BTreeMap;

    #[test]
    fn the_files_are_whole() {
        let book = &*QUESTIONS;
        let mut by_task: BTreeMap<_, usize> = BTreeMap::new();
        for question in &book.all {
            *by_task.entry(question.task).or_default() += 1;
            assert!(question.rule.is_telling(), "{question:?}");
        }
        // Tool calls have questions of their own.
        assert_eq!(by_task.len(), 9);
        assert_eq!(book.summary.facts.len(), 4);
        assert!(book.system.rule.is_telling() && book.vision.rule.is_telling());
        assert_eq!(book.constrained.allowed.len(), 2);
        assert!(book.needle.filler.len() > 4);
        let tools = &*TOOL_QUESTIONS;
        assert_eq!(tools.cases.len(), 4);
        assert_eq!(tools.parallel.calls.len(), 2);
        assert!(tools.follow_up.expect.is_telling());
        for count in [tools.tool_count.few, tools.tool_count.many] {
            let tool_count = tools.tool_count(count);
            assert_eq!(tool_count.len(), count);
            for name in &tools.tool_count.names {
                assert!(tool_count.iter().any(|tool| tool.name == *name));
            }
        }
        assert_eq!(tools.tool_count.ask.len(), tools.tool_count.names.len());
    }
}
