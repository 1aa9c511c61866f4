//! `/v1/responses`: runs the whole loop of an agent, in the shape of OpenAI's Responses API.

pub(crate) mod kept;
mod object;
mod request;
mod stream;

use crate::auth::DialectCaller;
use crate::dialect::responses_usage;
use crate::gateway::{Inbound, keeps_answers, note_answer_of_connection, pass};
use crate::main_runtime::MainRuntime;
use crate::openai::OpenAiError;
use crate::openai::agent_start::{AgentRequest, Begun, begin};
use crate::openai::chat::asked_by;
use crate::openai::delta_projector::{OpenAiDelta, OpenAiDeltas};
use crate::openai::may_ask;
use crate::openai::message_fields::check_input;
use crate::openai::models::find;
use crate::openai::unsupported_fields::check_responses;
use crate::tenant_app::TenantApp;
use axum::Json;
use axum::response::{IntoResponse, Response};
use object::{Frame, Repeated};
use request::Request;
use serde_json::{Value, json};
use steward_app::{Caller, EarlierMessages, RunRequest};
use steward_core::message::Message;
use steward_core::ports::Passage;
use stream::stream;

pub(crate) async fn create(
    DialectCaller(state, caller): DialectCaller,
    runtime: MainRuntime,
    inbound: Inbound,
) -> Result<Response, OpenAiError> {
    if let Some(name) = inbound.connection() {
        check_kept(&state, &caller, name, &inbound).await?;
        let answer = pass(&state, &caller, name, &inbound, Passage::Responses).await?;
        return Ok(note_answer_of_connection(state, caller, answer).await);
    }
    runtime.run(ask_agent(state, caller, inbound)).await
}

async fn ask_agent(state: TenantApp, caller: Caller, inbound: Inbound) -> Result<Response, OpenAiError> {
    may_ask(&caller)?;
    let (inbound, request) = inbound
        .read(|inbound| {
            let body = inbound.parsed()?;
            check_responses(&body)?;
            check_input(&body)?;
            inbound.parsed::<Request>()
        })
        .await?;
    let mut agent = find(&state, &caller, &request.model).await?;
    let asked = request.input.asked(request.instructions.clone())?;
    let mut earlier = match &request.previous_response_id {
        Some(id) => history(&state, &caller, id).await?,
        None => Vec::new(),
    };
    earlier.extend(asked.history);
    format!("{}\n\n{}", agent.instructions, asked.instructions).trim().clone_into(&mut agent.instructions);
    if let Some(temperature) = request.temperature {
        agent.tuning.temperature = temperature.clamp(0.0, 2.0);
    }
    if let Some(limit) = request.max_output_tokens {
        agent.tuning.max_tokens = limit.max(1);
    }
    let (stored, background) = (request.keep != Some(false), request.background == Some(true));
    if background && !stored {
        return Err(OpenAiError::invalid(
            "what runs in the background is kept so that it can be asked for: leave `store` out, or `background`",
            "background",
        ));
    }
    let repeated = Repeated {
        model: agent.name.clone(),
        instructions: request.instructions,
        previous: request.previous_response_id,
        temperature: agent.tuning.temperature,
        max_output_tokens: request.max_output_tokens,
        metadata: request.metadata.unwrap_or_else(|| json!({})),
        background,
        keep: stored,
        safety_identifier: request.safety_identifier,
        prompt_cache_key: request.prompt_cache_key,
        user: request.user.clone(),
    };
    let asked_by = asked_by(&caller.principal, request.user.as_deref());
    let start = AgentRequest {
        path: "/v1/responses",
        prefix: object::PREFIX,
        run: RunRequest { agent, input: asked.input, history: earlier, asked_by, client_retries: !background },
        repeated: json!(repeated),
        stored,
        background,
    };
    let created = state.now().0 / 1000;
    let mut begun = begin(&state, &caller, &inbound, start).await?;
    if background {
        // It is asked for by its id.
        begun.attached.let_go();
    }
    let frame = Frame { run: begun.run, created, completed: None, repeated };
    if request.stream.unwrap_or(false) {
        return stream(&state, begun, frame, 0).await;
    }
    if background {
        return kept::shown(&state, frame).await;
    }
    whole(&state, begun, frame).await.map(|response| Json(response).into_response())
}

/// Refuses what should run on at a connection that keeps no answers (nobody could ask for it), and to go on from answers
/// that somebody else asked for: all of them have the same account at the connection's provider.
async fn check_kept(state: &TenantApp, caller: &Caller, name: &str, inbound: &Inbound) -> Result<(), OpenAiError> {
    let (background, earlier) = (inbound.asked.background, &inbound.asked.previous_responses);
    if !background && earlier.is_empty() {
        return Ok(());
    }
    let Ok(connection) = state.usable_connection(caller, name).await else {
        // It is refused where it is looked for.
        return Ok(());
    };
    if !keeps_answers(&connection) {
        return if background { Err(keeps_none(name)) } else { Ok(()) };
    }
    for id in earlier {
        let made = state.own_answer(caller, id).await?;
        if made.is_none_or(|answer| answer.connection != Some(connection.id)) {
            return Err(no_earlier(id));
        }
    }
    Ok(())
}

fn keeps_none(name: &str) -> OpenAiError {
    OpenAiError::invalid(
        format!("the connection `{name}` keeps no answers that could be asked for later; leave `background` out"),
        "background",
    )
}

/// Waits for the end, or until a person is asked.
async fn whole(state: &TenantApp, begun: Begun, mut frame: Frame) -> Result<Value, OpenAiError> {
    let mut all = OpenAiDeltas::open(state, begun).await?;
    let mut text = String::new();
    while let Some(delta) = all.next().await {
        frame.completed = Some(state.now().0 / 1000);
        match delta {
            OpenAiDelta::Reasoning(_) => {}
            OpenAiDelta::Text(more) => text.push_str(&more),
            OpenAiDelta::Waits(what) => {
                text.push_str(&what);
                let output = [frame.message("completed", Some(&text))];
                return Ok(frame.response("completed", &output, &Value::Null, "waiting"));
            }
            OpenAiDelta::Ended { limited, usage: spent } => {
                let status = if limited { "incomplete" } else { "completed" };
                let output = [frame.message(status, Some(&text))];
                return Ok(frame.response(status, &output, &responses_usage(&spent), "finished"));
            }
            OpenAiDelta::Failed(error) => return Err(error),
        }
    }
    Err(OpenAiError::failed(format!("the log of run {} ended early", frame.run)))
}

const FIELD: &str = "previous_response_id";

fn no_earlier(id: &str) -> OpenAiError {
    let shown: String = id.chars().take(80).collect();
    OpenAiError {
        code: "previous_response_not_found",
        ..OpenAiError::invalid(format!("there is no response `{shown}` that this key asked for"), FIELD)
    }
}

/// The messages up to and with the answer of that response, with what of outside entered its run.
async fn history(state: &TenantApp, caller: &Caller, id: &str) -> Result<Vec<Message>, OpenAiError> {
    if !id.starts_with(object::PREFIX) {
        return Err(no_earlier(id));
    }
    match state.earlier_messages(caller, id).await? {
        EarlierMessages::Said(said) => Ok(said),
        EarlierMessages::Missing => Err(no_earlier(id)),
        EarlierMessages::Open => Err(OpenAiError::invalid(
            format!("response `{id}` has not ended; wait for it, or answer its approval"),
            FIELD,
        )),
    }
}
