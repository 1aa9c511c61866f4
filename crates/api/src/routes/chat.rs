//! `POST /api/chat/{agent_id}`.

use super::{agents, attachments, people};
use crate::auth::Person;
use crate::dto::conversation::{Chat, ChatStarted};
use crate::extract::{Body, PathId};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use steward_core::agent::Agent;
use steward_core::ports::{Conversation, Role};
use steward_core::{AgentId, ConversationId};
use steward_engine::StartRun;

/// Longest message, characters; as the engine has it for the whole request.
const MAX_MESSAGE: usize = 199_000;
const MAX_TITLE: usize = 120;

/// Says something to an agent. The run is durable when this answers; watch it at
/// `/api/runs/{id}/events`.
#[utoipa::path(post, path = "/api/chat/{agent_id}", tag = "chat", operation_id = "chat",
    params(("agent_id" = Uuid, Path)), request_body = Chat,
    responses((status = 202, description = "At work", body = ChatStarted)))]
pub(crate) async fn chat(
    State(state): State<ApiState>,
    person: Person,
    PathId(id): PathId<AgentId>,
    Body(body): Body<Chat>,
) -> Result<(StatusCode, Json<ChatStarted>), Problem> {
    person.may(Role::Developer)?;
    let agent = agents::live(&state, id).await?;
    let input = attachments::with_message(&state, message(&body)?, &body.attachments).await?;
    let wanted = body.connection_id;
    // Asked before anything is written: without a model there is no run and no conversation.
    let models = &state.runs.deps().models;
    models.select(wanted.or(agent.connection)).await?;
    let (conversation, fresh) = match body.conversation_id {
        Some(id) => (known(&state, &person, id, &agent).await?, false),
        None => (begin(&state, &person, &agent, &body.message).await?, true),
    };
    let start = StartRun {
        agent,
        input,
        conversation: Some(conversation),
        history: Vec::new(),
        mode: body.mode,
        origin: person.origin(),
        asked_by: person.by(),
        workspace: state.workspace.clone(),
        grants: state.grants.clone(),
        connection: wanted,
        intent_filter: state.intent_filter,
        key: None,
        user: Some(person.user()),
    };
    match state.runs.start(start).await {
        Ok(run) => {
            let started = ChatStarted { run_id: run, conversation_id: Some(conversation) };
            Ok((StatusCode::ACCEPTED, Json(started)))
        }
        Err(error) => {
            if fresh {
                discard(&state, conversation).await;
            }
            Err(error.into())
        }
    }
}

fn message(body: &Chat) -> Result<&str, Problem> {
    if body.message.trim().is_empty() {
        return Err(Problem::invalid("message", "the message is empty", "say what is to be done"));
    }
    if body.message.chars().count() > MAX_MESSAGE {
        return Err(Problem::invalid(
            "message",
            format!("the message has more than {MAX_MESSAGE} characters"),
            "upload the text with POST /api/files and name it in `attachments`",
        ));
    }
    Ok(&body.message)
}

/// A conversation that can be gone on with.
async fn known(
    state: &ApiState,
    person: &Person,
    id: ConversationId,
    agent: &Agent,
) -> Result<ConversationId, Problem> {
    let row = people::conversation(state, person, id).await?;
    if row.deleted_at.is_some() {
        return Err(Problem::conflict(
            "deleted",
            format!("conversation {id} is deleted"),
            "restore it first, or leave `conversation_id` out to begin a new one",
        ));
    }
    if row.agent != agent.id {
        return Err(Problem::invalid(
            "conversation_id",
            format!("conversation {id} is with another agent ({})", row.agent),
            "send it to that agent, or leave `conversation_id` out to begin a new one",
        ));
    }
    Ok(id)
}

async fn begin(state: &ApiState, person: &Person, agent: &Agent, message: &str) -> Result<ConversationId, Problem> {
    let deps = state.runs.deps();
    let now = deps.clock.now();
    let row = Conversation {
        id: ConversationId(deps.ids.next()),
        agent: agent.id,
        user: Some(person.user()),
        title: title(message),
        created_at: now,
        updated_at: now,
        deleted_at: None,
        forked_from: None,
    };
    deps.store.create_conversation(deps.tenant, &row).await?;
    Ok(row.id)
}

/// A conversation whose first run could not begin is of no use to anybody.
pub(super) async fn discard(state: &ApiState, id: ConversationId) {
    let deps = state.runs.deps();
    let now = deps.clock.now();
    if let Err(error) = deps.store.mark_deleted(deps.tenant, id, Some(now)).await {
        tracing::warn!(conversation = %id, %error, "an empty conversation stays");
    }
}

fn title(message: &str) -> String {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect()
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn the_title_is_the_first_line_that_says_something() {
        assert_eq!(title("\n  \n Sum up the report \nplease"), "Sum up the report");
        assert_eq!(title(&"ä".repeat(500)).chars().count(), 120);
    }
}
