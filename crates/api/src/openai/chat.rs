//! `POST /v1/chat/completions`: runs the whole loop of an agent, or asks a connection.

use crate::auth::DialectCaller;
use crate::gateway::{Inbound, pass};
use crate::main_runtime::MainRuntime;
use crate::openai::agent_start::{AgentRequest, Begun, begin};
use crate::openai::chat_stream::stream;
use crate::openai::message_fields::check_messages;
use crate::openai::models::find;
use crate::openai::run_events::run_events;
use crate::openai::unsupported_fields::check_chat;
use crate::openai::{ChatFrame, ChatRequest, OpenAiError, may_ask, usage, waiting};
use crate::tenant_app::TenantApp;
use axum::Json;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value, json};
use steward_app::{Caller, RunRequest};
use steward_core::RunId;
use steward_core::agent::Agent;
use steward_core::budget::Limit;
use steward_core::event::{Event, EventBody, Outcome};
use steward_core::message::Message;
use steward_core::ports::{Passage, Principal, StoreResult};

pub(crate) async fn completions(
    DialectCaller(state, caller): DialectCaller,
    runtime: MainRuntime,
    inbound: Inbound,
) -> Result<Response, OpenAiError> {
    if let Some(name) = inbound.connection() {
        return pass(&state, &caller, name, &inbound, Passage::ChatCompletions).await;
    }
    runtime.run(ask_agent(state, caller, inbound)).await
}

async fn ask_agent(state: TenantApp, caller: Caller, inbound: Inbound) -> Result<Response, OpenAiError> {
    may_ask(&caller)?;
    let (inbound, request) = inbound
        .read(|inbound| {
            let body = inbound.parsed()?;
            check_chat(&body)?;
            check_messages(&body)?;
            inbound.parsed::<ChatRequest>()
        })
        .await?;
    let agent = find(&state, &caller, &request.model).await?;
    let (name, created) = (agent.name.clone(), state.now().0 / 1000);
    let start = AgentRequest {
        path: "/v1/chat/completions",
        prefix: "chatcmpl-",
        run: run_request(&caller, agent, &request)?,
        repeated: Value::Null,
        stored: request.keep != Some(false),
        background: false,
    };
    let begun = begin(&state, &caller, &inbound, start).await?;
    let run = begun.run;
    let frame = ChatFrame { id: format!("chatcmpl-{run}"), created, model: name };
    if request.stream {
        let with_usage = request.stream_options.is_some_and(|options| options.include_usage);
        return stream(&state, begun, frame, with_usage).await;
    }
    let (mut answer, status) = whole(&state, begun, &frame).await?;
    answer["steward"] = json!({"run_id": run, "status": status});
    Ok(Json(answer).into_response())
}

/// Longest name that a client gives its own user, characters.
const NOTE: usize = 80;

/// Who asks, for the log and for approvals: the proved caller, with the client's word for its own user as a note.
pub(crate) fn asked_by(principal: &Principal, user: Option<&str>) -> String {
    let said = user.unwrap_or_default().chars();
    let note: String = said.filter(|c| !c.is_control() && !"“”\"".contains(*c)).take(NOTE).collect();
    match note.trim() {
        "" => principal.name.clone(),
        note => format!("{} (says it asks for “{note}”)", principal.name),
    }
}

fn run_request(caller: &Caller, mut agent: Agent, request: &ChatRequest) -> Result<RunRequest, OpenAiError> {
    let mut history = Vec::new();
    for message in &request.messages {
        let text = message.text()?;
        match message.role.as_str() {
            "system" | "developer" => {
                format!("{}\n\n{text}", agent.instructions).trim().clone_into(&mut agent.instructions);
            }
            "user" => history.push(Message::user(text)),
            "assistant" => history.push(Message::assistant(text)),
            "tool" | "function" => history.push(Message::user(format!("Observation: {text}"))),
            other => {
                return Err(OpenAiError::invalid(format!("unknown role `{other}`"), "messages"));
            }
        }
    }
    let Some(input) = history.pop().filter(|last| last.role == steward_core::message::Role::User) else {
        return Err(OpenAiError::invalid("the last message must be the user's", "messages"));
    };
    if let Some(temperature) = request.temperature {
        agent.tuning.temperature = temperature.clamp(0.0, 2.0);
    }
    if let Some(limit) = request.max_completion_tokens.or(request.max_tokens) {
        agent.tuning.max_tokens = limit.max(1);
    }
    let asked_by = asked_by(&caller.principal, request.user.as_deref());
    Ok(RunRequest { agent, input: input.text, history, asked_by, client_retries: true })
}

/// The answer, and whether the run is over or waits for a person.
async fn whole(state: &TenantApp, mut begun: Begun, frame: &ChatFrame) -> Result<(Value, &'static str), OpenAiError> {
    let answer = follow(run_events(state, begun.run, begun.joined).await?, begun.run, frame).await;
    begun.attached.let_go();
    answer
}

async fn follow(
    mut events: BoxStream<'static, StoreResult<Event>>,
    run: RunId,
    frame: &ChatFrame,
) -> Result<(Value, &'static str), OpenAiError> {
    let message = |text: &str| json!({"role": "assistant", "content": text});
    let (mut refused, mut cut) = (None, false);
    while let Some(event) = events.next().await {
        match event?.body {
            EventBody::ModelFailed { error, .. } => refused = Some(error),
            EventBody::ModelResponded { finish, .. } => {
                refused = None;
                cut = finish == "length";
            }
            EventBody::ApprovalRequested { subject, .. } => {
                let nothing = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
                return Ok((frame.whole(&message(&waiting(&subject)), "stop", &nothing), "waiting"));
            }
            EventBody::RunFinished { outcome, answer, usage: spent, .. } => {
                if let Outcome::Failed { message } = outcome {
                    let message = format!("{message} (run {run})");
                    return Err(OpenAiError::run_failed(message, refused.as_ref()));
                }
                if let Outcome::Limited { limit: Limit::Spend, message } = outcome {
                    return Err(OpenAiError::over_budget(format!("{message} (run {run})")));
                }
                let limited = cut || matches!(outcome, Outcome::Limited { .. });
                let finish = if limited { "length" } else { "stop" };
                return Ok((frame.whole(&message(&answer), finish, &usage(&spent)), "finished"));
            }
            _ => {}
        }
    }
    Err(OpenAiError::failed(format!("the log of run {run} ended early")))
}
