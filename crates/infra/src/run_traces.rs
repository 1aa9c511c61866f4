//! OpenTelemetry: the spans of a run, read from its log when it has ended. They never hold a prompt, an answer,
//! arguments or a key. The names of the GenAI conventions are defined only here.

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use steward_core::event::{Event, EventBody, Outcome, ToolResult};
use steward_core::model::{Provider, Usage};
use steward_core::ports::{RunStore, StoreResult};
use steward_core::{RunId, TenantId, Timestamp, hash};
use tokio_util::task::TaskTracker;

const OPERATION_NAME: &str = "gen_ai.operation.name";
const PROVIDER_NAME: &str = "gen_ai.provider.name";
const REQUEST_MODEL: &str = "gen_ai.request.model";
const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
const RESPONSE_MODEL: &str = "gen_ai.response.model";
const RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
const USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
const USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
const USAGE_CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
const TOOL_NAME: &str = "gen_ai.tool.name";
const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
const CONVERSATION_ID: &str = "gen_ai.conversation.id";
const AGENT_NAME: &str = "gen_ai.agent.name";
const ERROR_TYPE: &str = "error.type";
const RUN_ID: &str = "steward.run.id";

const PAGE: u32 = 1000;

pub struct RunTraces {
    exporter: SpanExporter,
    store: Arc<dyn RunStore>,
    tenant: TenantId,
    tasks: TaskTracker,
}

impl RunTraces {
    /// Spans go to this OTLP endpoint; the error says why they can't.
    pub fn open(endpoint: &str, store: Arc<dyn RunStore>, tenant: TenantId) -> Result<Self, String> {
        let base = endpoint.trim_end_matches('/');
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{base}/v1/traces"))
            .build();
        match exporter {
            Ok(mut exporter) => {
                let resource = Resource::builder().with_service_name("steward").build();
                exporter.set_resource(&resource);
                Ok(Self { exporter, store, tenant, tasks: TaskTracker::new() })
            }
            Err(error) => Err(format!("OTEL_EXPORTER_OTLP_ENDPOINT can't be used: {error}")),
        }
    }

    /// Reads and sends the spans of an ended run in the background.
    pub fn ended(self: &Arc<Self>, run: RunId) {
        let traces = Arc::clone(self);
        self.tasks.spawn(async move {
            match traces.of(run).await {
                Ok(spans) => {
                    if let Err(error) = traces.exporter.export(spans).await {
                        tracing::warn!(%run, %error, "the trace of a run was not sent");
                    }
                }
                Err(error) => tracing::warn!(%run, %error, "the trace of a run can't be read"),
            }
        });
    }

    /// Waits briefly for what is being sent.
    pub async fn close(&self) {
        self.tasks.close();
        if tokio::time::timeout(Duration::from_secs(5), self.tasks.wait()).await.is_err() {
            tracing::warn!("traces were not all sent");
        }
    }

    async fn of(&self, run: RunId) -> StoreResult<Vec<SpanData>> {
        let events = self.log(run).await?;
        let mut above = None;
        let mut trace = run;
        let mut next = parent_of(&events).map(|parent| (run, parent));
        while let Some((child, parent)) = next {
            let log = self.log(parent).await?;
            if above.is_none() {
                above = delegation(&log, child).map(|call| span_id(parent, call));
            }
            trace = parent;
            next = parent_of(&log).map(|above| (parent, above));
        }
        Ok(spans(&events, trace, above))
    }

    async fn log(&self, run: RunId) -> StoreResult<Vec<Event>> {
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = events.last().map_or(0, |event| event.seq);
            let page = self.store.events(self.tenant, run, after, PAGE).await?;
            let last = page.len() < PAGE as usize;
            events.extend(page.into_iter().map(|stored| stored.event));
            if last {
                return Ok(events);
            }
        }
    }
}

fn parent_of(events: &[Event]) -> Option<RunId> {
    match &events.first()?.body {
        EventBody::RunStarted { setup, .. } => setup.parent,
        _ => None,
    }
}

fn delegation(events: &[Event], child: RunId) -> Option<&str> {
    events.iter().find_map(|event| match &event.body {
        EventBody::RunDelegated { call_id, child: made, .. } if *made == child => Some(call_id.as_str()),
        _ => None,
    })
}

fn spans(events: &[Event], trace: RunId, above: Option<SpanId>) -> Vec<SpanData> {
    let Some((first, last)) = events.first().zip(events.last()) else {
        return Vec::new();
    };
    let EventBody::RunStarted { setup, .. } = &first.body else {
        return Vec::new();
    };
    let run = first.run_id;
    let root = span_id(run, "run");
    let of = TraceId::from_bytes(*trace.0.as_bytes());
    let span = |name: String, id: SpanId, parent: SpanId, from: Timestamp, to: Timestamp| {
        bare(name, of, id, parent, (from, to))
    };
    let mut whole =
        span(format!("invoke_agent {}", setup.agent.name), root, above.unwrap_or(SpanId::INVALID), first.at, last.at);
    whole.attributes = vec![
        KeyValue::new(OPERATION_NAME, "invoke_agent"),
        KeyValue::new(AGENT_NAME, setup.agent.name.clone()),
        KeyValue::new(REQUEST_MODEL, setup.model.clone()),
        KeyValue::new(RUN_ID, run.to_string()),
    ];
    if let Some(conversation) = setup.conversation {
        whole.attributes.push(KeyValue::new(CONVERSATION_ID, conversation.to_string()));
    }
    let mut found = Vec::new();
    let mut asked: Option<(Timestamp, &str)> = None;
    let mut begun: HashMap<&str, Timestamp> = HashMap::new();
    for event in events {
        match &event.body {
            EventBody::ModelRequested { model, .. } => asked = Some((event.at, model)),
            EventBody::ModelResponded { usage, .. } | EventBody::ModelFailed { usage, .. } => {
                let Some((at, model)) = asked.take() else {
                    continue;
                };
                let id = span_id(run, &format!("model {}", event.seq));
                let mut call = span(format!("chat {model}"), id, root, at, event.at);
                call.span_kind = SpanKind::Client;
                call.attributes = vec![
                    KeyValue::new(OPERATION_NAME, "chat"),
                    KeyValue::new(REQUEST_MODEL, model.to_owned()),
                    KeyValue::new(REQUEST_MAX_TOKENS, i64::from(setup.agent.tuning.max_tokens)),
                    KeyValue::new(REQUEST_TEMPERATURE, f64::from(setup.agent.tuning.temperature)),
                ];
                call.attributes.extend(tokens(usage));
                answered(&mut call, &event.body);
                found.push(call);
            }
            EventBody::ToolIntent { call_id, .. } => {
                begun.insert(call_id, event.at);
            }
            EventBody::ToolResult { call_id, tool, result, .. } => {
                let Some(at) = begun.remove(call_id.as_str()) else {
                    continue;
                };
                let id = span_id(run, call_id);
                let mut call = span(format!("execute_tool {tool}"), id, root, at, event.at);
                call.attributes = vec![
                    KeyValue::new(OPERATION_NAME, "execute_tool"),
                    KeyValue::new(TOOL_NAME, tool.clone()),
                    KeyValue::new(TOOL_CALL_ID, call_id.clone()),
                ];
                if matches!(result, ToolResult::Error { .. }) {
                    failed(&mut call, "tool_error");
                }
                found.push(call);
            }
            EventBody::RunFinished { outcome, usage, .. } => {
                whole.attributes.extend(tokens(usage));
                match outcome {
                    Outcome::Failed { .. } => failed(&mut whole, "failed"),
                    Outcome::Limited { .. } => failed(&mut whole, "limited"),
                    Outcome::Completed | Outcome::Stopped { .. } | Outcome::Rejected => {}
                }
            }
            _ => {}
        }
    }
    found.insert(0, whole);
    found
}

fn bare(name: String, trace: TraceId, id: SpanId, parent: SpanId, (from, to): (Timestamp, Timestamp)) -> SpanData {
    let (flags, state) = (TraceFlags::SAMPLED, TraceState::default());
    SpanData {
        span_context: SpanContext::new(trace, id, flags, false, state),
        parent_span_id: parent,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: name.into(),
        start_time: time(from),
        end_time: time(to),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder("steward").build(),
    }
}

fn answered(call: &mut SpanData, body: &EventBody) {
    match body {
        EventBody::ModelResponded { finish, answered, .. } => {
            let reasons = Array::String(vec![StringValue::from(finish.clone())]);
            call.attributes.push(KeyValue::new(RESPONSE_FINISH_REASONS, Value::Array(reasons)));
            if let Some(answered) = answered {
                call.attributes.push(KeyValue::new(RESPONSE_MODEL, answered.model.clone()));
                if let Some(provider) = answered.provider {
                    call.attributes.push(KeyValue::new(PROVIDER_NAME, provider_name(provider)));
                }
            }
        }
        EventBody::ModelFailed { error, .. } => {
            let class = serde_json::to_value(error.class).ok();
            let class = class.as_ref().and_then(serde_json::Value::as_str);
            failed(call, class.unwrap_or("error"));
        }
        _ => {}
    }
}

fn failed(span: &mut SpanData, class: &str) {
    span.attributes.push(KeyValue::new(ERROR_TYPE, class.to_owned()));
    span.status = Status::error(class.to_owned());
}

fn tokens(usage: &Usage) -> [KeyValue; 3] {
    let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    [
        KeyValue::new(USAGE_INPUT_TOKENS, count(usage.prompt_tokens)),
        KeyValue::new(USAGE_OUTPUT_TOKENS, count(usage.completion_tokens)),
        KeyValue::new(USAGE_CACHED_TOKENS, count(usage.cached_tokens)),
    ]
}

/// Deterministic, so that a trace that is read twice is the same one.
fn span_id(run: RunId, part: &str) -> SpanId {
    let hex = hash::sha256(format!("{run} {part}").as_bytes());
    SpanId::from_hex(&hex[..16]).unwrap_or(SpanId::INVALID)
}

fn time(at: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(at.0).unwrap_or_default())
}

/// The conventions' names of providers; ours where they have none.
fn provider_name(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => "openai",
        Provider::AzureOpenAi => "azure.ai.openai",
        Provider::Anthropic => "anthropic",
        Provider::Gemini => "gcp.gemini",
        Provider::Cohere => "cohere",
        Provider::Bedrock => "aws.bedrock",
        Provider::Vllm => "vllm",
        Provider::TextGen => "text_generation_webui",
        Provider::HuggingFace => "hugging_face",
        Provider::Compatible => "openai_compatible",
        Provider::Ollama => "ollama",
        Provider::LlamaCpp => "llama_cpp",
        Provider::Local => "steward_local",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{AGENT_NAME, ERROR_TYPE, TOOL_NAME, span_id, spans};
    use opentelemetry::trace::{SpanId, TraceId};
    use opentelemetry_sdk::trace::SpanData;
    use serde_json::{Value, json};
    use steward_core::RunId;
    use steward_core::event::Event;
    use uuid::Uuid;

    const RUN: RunId = RunId(Uuid::from_u128(7));

    fn log(bodies: &[Value]) -> Vec<Event> {
        let events = (1_u64..).zip(bodies).map(|(seq, body)| {
            let mut event = json!({"run_id": RUN, "seq": seq, "at": seq * 1000, "epoch": 1});
            for (name, value) in body.as_object().unwrap() {
                event[name] = value.clone();
            }
            serde_json::from_value(event).unwrap()
        });
        events.collect()
    }

    fn started() -> Value {
        let id = Uuid::from_u128(1);
        json!({"type": "run.started", "v": 1, "setup": {
            "agent": {"id": id, "name": "helper", "instructions": ""}, "tools": [], "input": "secret words", "mode": "loop",
            "origin": "api", "asked_by": "ann", "budget": steward_core::budget::Preset::Agent.budget(),
            "connection": id, "model": "m", "capabilities": steward_core::model::Capabilities::default(),
            "intent_filter": false, "workspace": "/w",
        }})
    }

    fn attribute(span: &SpanData, name: &str) -> Option<String> {
        let found = span.attributes.iter().find(|one| one.key.as_str() == name);
        found.map(|one| one.value.to_string())
    }

    #[test]
    fn a_log_becomes_the_spans_of_its_run() {
        let usage = json!({"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 2});
        let asked = |step: u32| json!({"type": "model.requested", "step": step, "purpose": "reply", "model": "m", "prompt_hash": "", "prompt": [], "reserved": 1});
        let events = log(&[
            started(),
            asked(1),
            json!({"type": "model.responded", "step": 1, "purpose": "reply", "text": "secret words", "calls": [], "finish": "tool_calls", "usage": usage}),
            json!({"type": "tool.intent", "call_id": "c1", "tool": "read", "arguments": {"path": "secret words"}, "args_hash": "", "effect": "read", "idempotency_key": ""}),
            json!({"type": "tool.result", "call_id": "c1", "tool": "read", "outcome": "error", "message": "secret words", "ms": 1}),
            asked(2),
            json!({"type": "model.failed", "step": 2, "purpose": "reply", "error": {"class": "timeout", "message": "secret words", "hint": ""}}),
            json!({"type": "run.finished", "outcome": {"status": "failed", "message": "secret words"}, "answer": "secret words", "usage": usage}),
        ]);
        let above = span_id(RunId(Uuid::from_u128(9)), "c9");
        let found = spans(&events, RunId(Uuid::from_u128(9)), Some(above));
        let names: Vec<&str> = found.iter().map(|span| span.name.as_ref()).collect();
        assert_eq!(names, ["invoke_agent helper", "chat m", "execute_tool read", "chat m"]);
        assert!(!format!("{found:?}").contains("secret"), "{found:?}");
        let root = found[0].span_context.span_id();
        assert_eq!((found[0].parent_span_id, attribute(&found[0], AGENT_NAME)), (above, Some("helper".to_owned())));
        assert!(found[1..].iter().all(|span| span.parent_span_id == root));
        let trace = TraceId::from_bytes(*Uuid::from_u128(9).as_bytes());
        assert!(found.iter().all(|span| span.span_context.trace_id() == trace));
        assert_eq!(attribute(&found[2], TOOL_NAME).as_deref(), Some("read"));
        assert_eq!(attribute(&found[3], ERROR_TYPE).as_deref(), Some("timeout"));
        assert_eq!(attribute(&found[1], super::USAGE_CACHED_TOKENS).as_deref(), Some("4"));
        let took = found[2].end_time.duration_since(found[2].start_time).unwrap();
        assert_eq!(took.as_millis(), 1000);
        assert_ne!(root, SpanId::INVALID);
        assert_eq!(found, spans(&events, RunId(Uuid::from_u128(9)), Some(above)), "read twice it is the same");
    }
}
