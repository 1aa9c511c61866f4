//! Strategy `guided_json`: one object `{reasoning, tool_calls, done}`.

use super::{Found, Grammar, Read};
use crate::complexity_counter::find_byte;
use crate::json::{Scanner, Token, repair, unescape, unescape_part};
use crate::native::as_object;
use crate::out::Sink;
use crate::tool_index::ToolIndex;
use serde_json::{Map, Value, json};
use steward_core::schema::embed;
use steward_core::tool::{CallSource, ToolSpec};

/// The keys by which the object is recognised.
const KEYS: &[&str] = &["reasoning", "tool_calls", "done"];

/// JSON Schema of a reply: each call has one tool's name and that tool's arguments.
pub fn schema(tools: &[ToolSpec]) -> Value {
    let mut definitions = Map::new();
    let variants: Vec<Value> = tools.iter().map(|spec| call_schema(spec, &mut definitions)).collect();
    let calls = if variants.is_empty() {
        json!({"type": "array", "items": {"type": "object"}, "maxItems": 0})
    } else {
        json!({"type": "array", "items": {"anyOf": variants}})
    };
    let mut schema = json!({
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "tool_calls": calls,
            "done": {"type": "boolean"},
        },
        "required": ["reasoning", "tool_calls", "done"],
        "additionalProperties": false,
    });
    if !definitions.is_empty() {
        schema["$defs"] = definitions.into();
    }
    schema
}

/// The system prompt's part on how to call `tools`.
pub fn instructions(tools: &[ToolSpec]) -> String {
    super::with_tools(include_str!("../../prompts/guided.md"), tools)
}

fn call_schema(spec: &ToolSpec, definitions: &mut Map<String, Value>) -> Value {
    let arguments = embed(&spec.parameters, &spec.name, definitions);
    json!({
        "type": "object",
        "properties": {"name": {"type": "string", "enum": [spec.name]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": false,
    })
}

#[derive(Default)]
enum State {
    #[default]
    Prose,
    /// A code fence at the start of a line that may hold the object.
    Fence {
        from: usize,
        gap: bool,
    },
    /// A brace that may open the object; held back from `from`.
    Candidate {
        from: usize,
        scanner: Scanner,
    },
    Object(Box<Object>),
    /// The object, with invalid JSON in it.
    Failed(Box<Object>),
    /// After the object: a closing fence may follow.
    Trailer,
    Ignored,
}

#[derive(Default)]
struct Object {
    scanner: Scanner,
    start: usize,
    /// Key of the value at depth 1.
    key: String,
    /// Up to where `reasoning` was shown.
    shown: usize,
    /// Start and depth of the call that is being read.
    item: Option<(usize, usize)>,
    item_key: String,
    item_name: String,
    calls: usize,
}

#[derive(Default)]
pub(crate) struct Guided {
    tools: ToolIndex,
    buf: String,
    pos: usize,
    state: State,
    found: Found,
    seen: bool,
    /// Another form was asked for, so only an object with `tool_calls` is meant.
    lax: bool,
}

impl Guided {
    pub fn new(tools: &ToolIndex) -> Self {
        Self { tools: tools.clone(), ..Self::default() }
    }

    /// For replies that were asked for in another form.
    pub fn lax(tools: &ToolIndex) -> Self {
        Self { lax: true, ..Self::new(tools) }
    }

    /// Works until more text is needed.
    fn advance(&mut self, sink: &mut Sink) {
        loop {
            let state = std::mem::replace(&mut self.state, State::Ignored);
            let (next, more) = match state {
                State::Prose => self.prose(sink),
                State::Fence { from, gap } => self.fence(from, gap, sink),
                State::Candidate { from, scanner } => self.candidate(from, scanner, sink),
                State::Object(object) => self.object(object, sink),
                State::Trailer => self.trailer(),
                State::Failed(object) => (State::Failed(object), true),
                State::Ignored => (State::Ignored, true),
            };
            self.state = next;
            if more {
                return;
            }
        }
    }

    fn prose(&mut self, sink: &mut Sink) -> (State, bool) {
        loop {
            let rest = &self.buf[self.pos..];
            let Some(step) = find_byte([b'{', b'`', b'{'], rest) else {
                sink.text(rest);
                self.pos = self.buf.len();
                return (State::Prose, true);
            };
            sink.text(&rest[..step]);
            self.pos += step;
            let rest = &rest[step..];
            if rest.starts_with('{') {
                let scanner = Scanner::new(self.pos);
                let from = self.pos;
                return (State::Candidate { from, scanner }, false);
            }
            let line_start = self.pos == 0 || self.buf.as_bytes()[self.pos - 1] == b'\n';
            if line_start && "```".starts_with(rest) && rest.len() < 3 {
                return (State::Prose, true);
            }
            if line_start && rest.starts_with("```") {
                let from = self.pos;
                self.pos += 3;
                return (State::Fence { from, gap: false }, false);
            }
            sink.text("`");
            self.pos += 1;
        }
    }

    fn fence(&mut self, from: usize, mut gap: bool, sink: &mut Sink) -> (State, bool) {
        while let Some(c) = self.buf[self.pos..].chars().next() {
            if c == '{' {
                let scanner = Scanner::new(self.pos);
                return (State::Candidate { from, scanner }, false);
            }
            gap |= c.is_whitespace();
            if !(c.is_whitespace() || (!gap && c.is_ascii_alphanumeric())) {
                sink.text(&self.buf[from..self.pos]);
                return (State::Prose, false);
            }
            self.pos += c.len_utf8();
        }
        (State::Fence { from, gap }, true)
    }

    fn candidate(&mut self, from: usize, mut scanner: Scanner, sink: &mut Sink) -> (State, bool) {
        loop {
            match scanner.next(&self.buf) {
                Token::More => return (State::Candidate { from, scanner }, true),
                Token::Key(range) if scanner.depth() == 1 => {
                    let key = unescape(&self.buf[range.start + 1..range.end - 1]);
                    if self.lax && key != "tool_calls" && KEYS.contains(&key.as_str()) {
                        continue;
                    }
                    if self.lax && key == "tool_calls" {
                        // Reads again from the start, for the keys before this one.
                        scanner = Scanner::new(self.pos);
                        while !matches!(scanner.next(&self.buf), Token::Open { .. }) {}
                        sink.reasoning_break();
                        return (self.object_from(from, scanner, String::new()), false);
                    }
                    if self.lax {
                        let stop = scanner.pos;
                        sink.text(&self.buf[from..stop]);
                        self.pos = stop;
                        return (State::Prose, false);
                    }
                    if KEYS.contains(&key.as_str()) {
                        sink.reasoning_break();
                        return (self.object_from(from, scanner, key), false);
                    }
                }
                Token::Error | Token::End => {
                    // The unexpected byte may itself open something.
                    let stop = scanner.pos.max(self.pos + 1);
                    sink.text(&self.buf[from..stop]);
                    self.pos = stop;
                    return (State::Prose, false);
                }
                _ => {}
            }
        }
    }

    fn object_from(&mut self, start: usize, scanner: Scanner, key: String) -> State {
        self.seen = true;
        State::Object(Box::new(Object { scanner, start, key, ..Object::default() }))
    }

    fn object(&mut self, mut object: Box<Object>, sink: &mut Sink) -> (State, bool) {
        loop {
            let token = object.scanner.next(&self.buf);
            object.show(&self.buf, &token, sink);
            match token {
                Token::More => return (State::Object(object), true),
                Token::End => {
                    self.pos = object.scanner.pos;
                    let next = if self.found.is_empty() { State::Trailer } else { State::Ignored };
                    return (next, false);
                }
                Token::Error => return (State::Failed(object), false),
                token => {
                    if let Some(item) = object.track(&self.buf, &token, &mut self.found.done, &self.tools, sink) {
                        let raw = &self.buf[item];
                        let item = repair(raw, false).map(|read| (read.value, read.fixes));
                        add_item(&mut self.found, item, raw, &self.tools);
                        object.calls += 1;
                    }
                }
            }
        }
    }

    /// The object ends too early: complete calls count, and the model is told about the rest.
    fn break_off(&mut self, object: &Object, cut: bool, why: &str) {
        self.found.done = false;
        if let Some((start, _)) = object.item {
            let raw = &self.buf[start..];
            match repair(raw, cut) {
                Ok(read) => {
                    let item = Ok((read.value, read.fixes));
                    add_item(&mut self.found, item, raw, &self.tools);
                }
                Err(error) => {
                    let name = self.tools.name(&object.item_name);
                    self.found.unreadable(None, name, raw, &error);
                }
            }
        } else if object.calls == 0 {
            let raw = &self.buf[object.start..];
            let message = format!("the JSON object could not be read to its end: {why}. Write the whole object again");
            self.found.broken(None, String::new(), raw, &message);
        } else {
            self.found.note(format!("the object was not complete: {why}"));
        }
    }

    fn trailer(&mut self) -> (State, bool) {
        let rest = self.buf[self.pos..].trim_start();
        if rest.len() < 3 && "```".starts_with(rest) {
            return (State::Trailer, true);
        }
        if rest.starts_with("```") {
            self.pos = self.buf.len() - rest.len() + 3;
        }
        (State::Prose, false)
    }
}

impl Object {
    fn show(&mut self, buf: &str, token: &Token, sink: &mut Sink) {
        if self.key != "reasoning" || self.scanner.depth() != 1 {
            return;
        }
        let (start, end, last) = match token {
            Token::Str(range) => (range.start + 1, range.end - 1, true),
            Token::More => match self.scanner.open_string() {
                Some(start) => (start, self.scanner.pos, false),
                None => return,
            },
            _ => return,
        };
        let from = self.shown.max(start);
        let (text, used) = unescape_part(&buf[from..end], last);
        sink.reasoning(&text);
        self.shown = from + used;
    }

    /// Follows the keys; returns the range of a complete call.
    fn track(
        &mut self,
        buf: &str,
        token: &Token,
        done: &mut bool,
        tools: &ToolIndex,
        sink: &mut Sink,
    ) -> Option<std::ops::Range<usize>> {
        let depth = self.scanner.depth();
        let inner = |range: &std::ops::Range<usize>| unescape(&buf[range.start + 1..range.end - 1]);
        let in_calls = self.key == "tool_calls";
        match token {
            Token::Key(range) if depth == 1 => {
                self.key = inner(range);
                self.shown = 0;
            }
            Token::Scalar(range) if depth == 1 && self.key == "done" => {
                *done = &buf[range.clone()] == "true";
            }
            Token::Open { array: false, at } if in_calls && self.item.is_none() && depth <= 3 => {
                self.item = Some((*at, depth));
                self.item_name.clear();
            }
            Token::Key(range) if self.item.is_some_and(|(_, at)| at == depth) => {
                self.item_key = inner(range);
            }
            Token::Str(range) if in_calls && self.item.is_none() => return Some(range.clone()),
            Token::Str(range)
                if self.item_key == "name"
                    && self.item_name.is_empty()
                    && self.item.is_some_and(|(_, at)| at == depth) =>
            {
                self.item_name = inner(range);
                sink.call_started(&tools.name(&self.item_name));
            }
            Token::Close(end) => {
                if let Some((start, at)) = self.item
                    && depth + 1 == at
                {
                    self.item = None;
                    return Some(start..*end);
                }
            }
            _ => {}
        }
        None
    }
}

fn add_item(found: &mut Found, read: Read, raw: &str, tools: &ToolIndex) {
    let (item, fixes) = match read {
        Ok(read) => read,
        Err(error) => return found.unreadable(None, String::new(), raw, &error),
    };
    let Some(name) = item["name"].as_str().map(|name| tools.name(name)).filter(|name| !name.is_empty()) else {
        let message = "each call must be an object with `name` and `arguments`";
        return found.broken(None, String::new(), raw, message);
    };
    let arguments = item.get("arguments").cloned().unwrap_or(Value::Object(Map::new()));
    let read = as_object(arguments, fixes, false);
    found.read((None, name), (raw, read), "call", (CallSource::GuidedJson, 0.95));
}

impl Grammar for Guided {
    fn push(&mut self, text: &str, sink: &mut Sink) {
        self.buf.push_str(text);
        self.advance(sink);
    }

    fn finish(&mut self, sink: &mut Sink, cut: bool) -> Found {
        match std::mem::replace(&mut self.state, State::Ignored) {
            State::Prose => sink.text(&self.buf[self.pos..]),
            State::Fence { from, .. } | State::Candidate { from, .. } => {
                sink.text(&self.buf[from..]);
            }
            State::Trailer if !self.buf[self.pos..].trim_matches(['`', ' ', '\n', '\r', '\t']).is_empty() => {
                sink.text(&self.buf[self.pos..]);
            }
            State::Failed(object) => self.break_off(&object, cut, "it is no valid JSON"),
            State::Object(object) => self.break_off(&object, cut, "it breaks off"),
            State::Trailer => {}
            State::Ignored => {
                let rest = self.buf.get(self.pos..).unwrap_or("");
                if rest.chars().any(|c| !(c.is_whitespace() || c == '`')) {
                    self.found.note("text after the object was ignored");
                }
            }
        }
        if !self.seen && !self.lax && sink.has_text() {
            self.found.note("no object of the expected form; taken as text");
        }
        std::mem::take(&mut self.found)
    }
}
