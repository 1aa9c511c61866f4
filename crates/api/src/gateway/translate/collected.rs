//! An answer as far as it has come. Pure.

use super::tools::ToolNames;
use steward_core::model::{ModelChunk, Usage};

/// Most calls of one answer.
const MOST_CALLS: usize = 255;

#[derive(Debug)]
pub(super) struct CollectedCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// What a chunk adds to the answer.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Reasoning(String),
    /// `begins`: its name has come with it.
    Call {
        index: usize,
        begins: bool,
        arguments: String,
    },
}

#[derive(Debug)]
pub(super) struct Collected {
    /// Of the answer; made-up ids of calls begin with it.
    id: String,
    /// Only the first call counts.
    single_call: bool,
    names: ToolNames,
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<CollectedCall>,
    pub finish: String,
    pub usage: Usage,
    pub ended: bool,
}

impl Collected {
    pub fn new(id: String, single_call: bool, names: ToolNames) -> Self {
        Self {
            id,
            single_call,
            names,
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            finish: "stop".to_owned(),
            usage: Usage::default(),
            ended: false,
        }
    }

    /// What it took: as told at the end, before that as guessed from its length; `prompt` in tokens.
    pub fn spent(&self, prompt: u64) -> Usage {
        if self.ended {
            return self.usage;
        }
        let arguments: usize = self.calls.iter().map(|call| call.arguments.chars().count()).sum();
        let chars = self.text.chars().count() + self.reasoning.chars().count() + arguments;
        Usage { prompt_tokens: prompt, completion_tokens: chars.div_ceil(4) as u64, ..Usage::default() }
    }

    /// The end adds what calls without arguments lack.
    pub fn take(&mut self, chunk: ModelChunk) -> Vec<Piece> {
        match chunk {
            ModelChunk::Text(text) => {
                self.text.push_str(&text);
                vec![Piece::Text(text)]
            }
            ModelChunk::Reasoning(text) => {
                self.reasoning.push_str(&text);
                vec![Piece::Reasoning(text)]
            }
            ModelChunk::ToolCall { index, .. } if self.single_call && index > 0 => Vec::new(),
            ModelChunk::ToolCall { index, id, name, arguments } => vec![self.call(index, id, name, arguments)],
            ModelChunk::Signature { .. } => Vec::new(),
            ModelChunk::End { finish, usage, .. } => {
                self.finish = finish;
                self.usage = usage;
                self.ended = true;
                let pieces = self.fill_empty_arguments();
                if !self.calls.is_empty() && !self.is_cut() {
                    "tool_calls".clone_into(&mut self.finish);
                }
                pieces
            }
        }
    }

    /// Whether it ended before its own end, so that its last call may be half a one.
    pub fn is_cut(&self) -> bool {
        matches!(self.finish.as_str(), "length" | "content_filter")
    }

    fn fill_empty_arguments(&mut self) -> Vec<Piece> {
        let (last, cut) = (self.calls.len().saturating_sub(1), self.is_cut());
        let calls = self.calls.iter_mut().enumerate();
        let empty = calls.filter(|(at, call)| call.arguments.trim().is_empty() && !(cut && *at == last));
        empty
            .map(|(index, call)| {
                "{}".clone_into(&mut call.arguments);
                Piece::Call { index, begins: false, arguments: "{}".to_owned() }
            })
            .collect()
    }

    fn call(&mut self, index: usize, id: Option<String>, name: Option<String>, arguments: String) -> Piece {
        // As many as any model makes at once; a wrong number must not fill the memory.
        let index = index.min(MOST_CALLS);
        while self.calls.len() <= index {
            let id = format!("call_{}_{}", self.id, self.calls.len());
            self.calls.push(CollectedCall { id, name: String::new(), arguments: String::new() });
        }
        let call = &mut self.calls[index];
        if let Some(id) = id {
            call.id = id;
        }
        let begins = name.is_some();
        let name = name.map(|name| self.names.given(name));
        call.name = name.unwrap_or_else(|| std::mem::take(&mut call.name));
        call.arguments.push_str(&arguments);
        Piece::Call { index, begins, arguments }
    }
}
