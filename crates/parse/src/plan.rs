//! Reads plans, step by step while they are generated or as a whole.

use super::json::{Scanner, Token, repair};
use super::native::as_object;
use super::tool_index::ToolIndex;
use crate::json::unescape;
use serde_json::Value;
use steward_core::plan::{Plan, PlanStep};

/// Keys of objects that models wrap the array in.
const WRAPPERS: &[&str] = &["plan", "steps"];

/// Why a text is no plan. The messages are meant for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("there is no plan: write a JSON array of steps {{\"thought\", \"tool\", \"args\"}}")]
    Missing,
    #[error("the plan has no steps; it needs at least `final_answer`")]
    Empty,
    #[error("the plan breaks off after {complete} complete steps; write the whole plan again, shorter")]
    BrokenOff { complete: usize },
    #[error("step {number} can't be read: {problem}")]
    Step {
        /// From 1.
        number: usize,
        problem: String,
    },
}

#[derive(Debug, Default)]
pub struct PlanStream {
    tools: ToolIndex,
    buf: String,
    /// Up to where no plan was found.
    pos: usize,
    scanner: Option<Scanner>,
    /// Depth of the array of steps, once it is open.
    array: Option<usize>,
    key: String,
    item: Option<usize>,
    steps: Vec<PlanStep>,
    error: Option<PlanError>,
    closed: bool,
}

impl PlanStream {
    pub fn new(tools: &ToolIndex) -> Self {
        Self { tools: tools.clone(), ..Self::default() }
    }

    pub fn push(&mut self, text: &str) -> Vec<PlanStep> {
        self.buf.push_str(text);
        let before = self.steps.len();
        while !self.closed && self.error.is_none() && self.advance() {}
        self.steps[before..].to_vec()
    }

    pub fn finish(self) -> Result<Plan, PlanError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.closed {
            return Err(if self.array.is_some() {
                PlanError::BrokenOff { complete: self.steps.len() }
            } else {
                PlanError::Missing
            });
        }
        if self.steps.is_empty() {
            return Err(PlanError::Empty);
        }
        Ok(Plan { steps: self.steps })
    }

    /// Reads one token; `false`: more text is needed.
    fn advance(&mut self) -> bool {
        let Some(scanner) = &mut self.scanner else {
            let rest = &self.buf[self.pos..];
            let Some(step) = rest.bytes().position(|b| b == b'[' || b == b'{') else {
                self.pos = self.buf.len();
                return false;
            };
            self.pos += step;
            self.scanner = Some(Scanner::new(self.pos));
            return true;
        };
        let token = scanner.next(&self.buf);
        let depth = scanner.depth();
        match token {
            Token::More => return false,
            Token::End | Token::Error => self.not_here(&token),
            Token::Key(range) if depth == 1 => {
                self.key = unescape(&self.buf[range.start + 1..range.end - 1]);
            }
            Token::Open { array: true, .. } if self.array.is_none() => {
                let wrapped = depth == 2 && WRAPPERS.contains(&self.key.as_str());
                if depth == 1 || wrapped {
                    self.array = Some(depth);
                }
            }
            Token::Open { array: false, at } if self.array.is_some_and(|array| depth == array + 1) => {
                self.item = Some(at);
            }
            Token::Close(end) => {
                if self.array.is_some_and(|array| depth + 1 == array) {
                    self.closed = true;
                } else if self.array == Some(depth)
                    && let Some(start) = self.item.take()
                {
                    self.step(read_step(&self.buf[start..end], &self.tools));
                }
            }
            Token::Str(_) | Token::Scalar(_) if self.array == Some(depth) => self.not_here(&token),
            _ => {}
        }
        true
    }

    /// The text is no plan. Before the first step it was some other bracket.
    fn not_here(&mut self, token: &Token) {
        if self.steps.is_empty() && self.item.is_none() {
            let at = self.scanner.as_ref().map_or(0, |scanner| scanner.pos);
            self.pos = at.max(self.pos + 1);
            self.scanner = None;
            self.array = None;
            self.key.clear();
            return;
        }
        self.step(Err(match token {
            Token::Error => "it is no valid JSON".to_owned(),
            _ => "it is no object {\"thought\", \"tool\", \"args\"}".to_owned(),
        }));
    }

    fn step(&mut self, read: Result<PlanStep, String>) {
        match read {
            Ok(step) => self.steps.push(step),
            Err(problem) => self.error = Some(PlanError::Step { number: self.steps.len() + 1, problem }),
        }
    }
}

fn read_step(raw: &str, tools: &ToolIndex) -> Result<PlanStep, String> {
    let value = repair(raw, false)?.value;
    let first = |names: &[&str]| names.iter().find_map(|name| value.get(*name)).cloned();
    let tool = first(&["tool", "name"])
        .and_then(|tool| tool.as_str().map(|name| tools.name(name)))
        .filter(|name| !name.is_empty())
        .ok_or("it names no `tool`")?;
    let args = first(&["args", "arguments"]).unwrap_or(Value::Null);
    let (args, _) = as_object(args, Vec::new(), false).map_err(|_| "`args` must be a JSON object")?;
    let thought = first(&["thought", "reason"]);
    let thought = thought.as_ref().and_then(Value::as_str).unwrap_or("").to_owned();
    Ok(PlanStep { tool, args, thought })
}

/// Reads a plan, which may stand in a fence, among words, in `{"plan": […]}` or in `{"steps": […]}`.
pub fn parse(text: &str, tools: &ToolIndex) -> Result<Plan, PlanError> {
    let mut stream = PlanStream::new(tools);
    stream.push(text);
    stream.finish()
}
