use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use steward_core::locks::lock;
use tokio::sync::watch;

use super::actions::{self, Action, Asked, json_response};
use super::check;
use super::http::Request;
use super::rank::logprob;
use super::script::{Behaviour, BodyRule, Rule, Script};

#[derive(Debug, Clone)]
pub struct Recorded {
    pub method: String,
    /// Such as `/v1/chat/completions`.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body as JSON; null if it was none.
    pub body: Value,
    pub at: Instant,
}

#[derive(Debug)]
pub(super) struct State {
    inner: Mutex<Inner>,
    /// Number of requests, for waiting.
    pub requests: watch::Sender<u64>,
    /// Number of clients that left before their answer was complete, for waiting.
    pub disconnects: watch::Sender<u64>,
}

#[derive(Debug)]
struct Inner {
    script: Script,
    next: usize,
    recorded: Vec<Recorded>,
    violations: Vec<String>,
}

impl State {
    pub fn new(script: Script) -> Self {
        Self {
            inner: Mutex::new(Inner { script, next: 0, recorded: Vec::new(), violations: Vec::new() }),
            requests: watch::Sender::new(0),
            disconnects: watch::Sender::new(0),
        }
    }

    pub fn recorded(&self) -> Vec<Recorded> {
        lock(&self.inner).recorded.clone()
    }

    pub fn violations(&self) -> Vec<String> {
        lock(&self.inner).violations.clone()
    }

    pub fn replace(&self, script: Script) {
        let mut inner = lock(&self.inner);
        inner.script = script;
        inner.next = 0;
    }

    pub fn push(&self, behaviour: Behaviour) {
        lock(&self.inner).script.replies.push(behaviour);
    }

    pub fn handle(&self, request: &Request) -> Vec<Action> {
        let path = request.path.split('?').next().unwrap_or_default();
        if path == "/_scripted/state" {
            return json_response(200, &self.report());
        }
        let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let mut inner = lock(&self.inner);
        inner.recorded.push(Recorded {
            method: request.method.clone(),
            path: path.to_owned(),
            headers: request.headers.clone(),
            body: body.clone(),
            at: Instant::now(),
        });
        let actions = inner.route(request, path, &body);
        drop(inner);
        self.requests.send_modify(|n| *n += 1);
        actions
    }

    fn report(&self) -> Value {
        let inner = lock(&self.inner);
        let requests: Vec<Value> = inner
            .recorded
            .iter()
            .map(|r| json!({"method": r.method, "path": r.path, "headers": r.headers, "body": r.body}))
            .collect();
        json!({
            "requests": requests,
            "violations": inner.violations,
            "disconnects": *self.disconnects.borrow(),
        })
    }

    pub async fn wait(counter: &watch::Sender<u64>, count: u64, limit: Duration) -> bool {
        let mut receiver = counter.subscribe();
        let reached = receiver.wait_for(|n| *n >= count);
        matches!(tokio::time::timeout(limit, reached).await, Ok(Ok(_)))
    }
}

impl Inner {
    fn route(&mut self, request: &Request, path: &str, body: &Value) -> Vec<Action> {
        let key = format!("{} {path}", request.method);
        if let Some(answer) = self.script.routes.get(&key) {
            return json_response(200, answer);
        }
        if !self.authorised(request) {
            return self.play(&Behaviour::unauthorised(), body);
        }
        match key.as_str() {
            "GET /v1/models" => json_response(200, &self.models()),
            "POST /v1/chat/completions" => self.chat(body),
            "POST /v1/embeddings" if self.script.embeddings.is_some() => self.embed(body),
            "POST /v1/score" => json_response(200, &self.score(body)),
            _ => json_response(404, &json!({"error": {"message": format!("no {key} here")}})),
        }
    }

    fn authorised(&self, request: &Request) -> bool {
        self.script
            .api_key
            .as_ref()
            .is_none_or(|key| request.headers.get("authorization") == Some(&format!("Bearer {key}")))
    }

    fn models(&self) -> Value {
        let data: Vec<Value> = self
            .script
            .models
            .iter()
            .map(|id| json!({"id": id, "object": "model", "created": 0, "owned_by": "test"}))
            .collect();
        json!({"object": "list", "data": data})
    }

    fn chat(&mut self, body: &Value) -> Vec<Action> {
        if let Some(violation) = check::violation(body) {
            self.violations.push(violation.clone());
            return json_response(422, &json!({"error": {"message": violation, "type": "violation"}}));
        }
        if self.script.refuse_stream_options && body.get("stream_options").is_some() {
            let message = "Unrecognized request argument supplied: stream_options";
            return json_response(400, &json!({"error": {"message": message}}));
        }
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
        if self.script.strict_models && !self.script.models.iter().any(|name| name == model) {
            return self.play(&Behaviour::unknown_model(model), body);
        }
        let behaviour = self.choose(body);
        self.play(&behaviour, body)
    }

    fn choose(&mut self, body: &Value) -> Behaviour {
        let last = body["messages"].as_array().and_then(|list| list.last());
        let role = last.and_then(|m| m["role"].as_str()).unwrap_or_default();
        let text = last.map(|m| content(&m["content"])).unwrap_or_default();
        if !self.script.by_body.is_empty() {
            let whole = body.to_string();
            let mut rules = self.script.by_body.iter();
            let fits = |rule: &&BodyRule| whole.contains(&rule.body) && text.contains(&rule.contains);
            if let Some(rule) = rules.find(fits) {
                return rule.then.clone();
            }
        }
        if let Some(rule) = self.script.rules.iter_mut().find(|rule| applies(rule, role, &text)) {
            rule.times = rule.times.map(|n| n.saturating_sub(1));
            return rule.then.clone();
        }
        if let Some(behaviour) = self.script.replies.get(self.next) {
            self.next += 1;
            return behaviour.clone();
        }
        self.script.otherwise.clone().unwrap_or_else(|| {
            let message = format!("the script has no answer for this request: {text}");
            self.violations.push(message.clone());
            Behaviour::Status {
                status: 422,
                body: json!({"error": {"message": message, "type": "violation"}}),
                retry_after: None,
            }
        })
    }

    fn play(&self, behaviour: &Behaviour, body: &Value) -> Vec<Action> {
        let asked = Asked {
            model: body["model"].as_str().unwrap_or("scripted").to_owned(),
            stream: body["stream"] == true,
            usage: body["stream_options"]["include_usage"] == true,
            number: self.recorded.len(),
        };
        actions::of(behaviour, &asked)
    }

    fn embed(&mut self, body: &Value) -> Vec<Action> {
        let Some(embeddings) = &mut self.script.embeddings else {
            return Vec::new();
        };
        if !embeddings.faults.is_empty() {
            let fault = embeddings.faults.remove(0);
            return self.play(&fault, body);
        }
        let numbers = embeddings.numbers;
        let texts = body["input"].as_array().cloned().unwrap_or_default();
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let vector = word_counts(text.as_str().unwrap_or_default(), numbers);
                json!({"object": "embedding", "index": index, "embedding": vector})
            })
            .collect();
        json_response(200, &json!({"object": "list", "data": data, "model": body["model"]}))
    }

    fn score(&self, body: &Value) -> Value {
        let candidates = body["candidates"].as_array().cloned().unwrap_or_default();
        let scores: Vec<Value> = candidates
            .iter()
            .filter_map(Value::as_str)
            .map(|candidate| {
                json!({
                    "candidate": candidate,
                    "logprob_sum": logprob(&self.script.scores, candidate),
                    "tokens": candidate.split_whitespace().count().max(1),
                })
            })
            .collect();
        json!({"object": "scores", "scores": scores})
    }
}

/// How often a text has the words that fall on each number.
fn word_counts(text: &str, numbers: usize) -> Vec<f32> {
    let mut vector = vec![0.1; numbers];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3) {
        let place = word.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        if let Some(number) = vector.get_mut(place.checked_rem(numbers).unwrap_or(0)) {
            *number += 1.0;
        }
    }
    vector
}

fn applies(rule: &Rule, from: &str, text: &str) -> bool {
    rule.times != Some(0) && rule.role.as_ref().is_none_or(|wanted| wanted == from) && text.contains(&rule.contains)
}

/// Text of a message, also where it comes in parts.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
