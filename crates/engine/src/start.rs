//! A request becomes the first event of a run.

use crate::deps::Deps;
use crate::error::EngineError;
use steward_core::agent::Agent;
use steward_core::event::{EVENT_VERSION, EventBody, Mode, Origin, Setup};
use steward_core::policy::Grant;
use steward_core::ports::{Lease, RunRow, RunStatus, SideWrite};
use steward_core::{ConnectionId, ConversationId, RunId};

/// Longest request, characters; what is longer belongs into a file.
const MAX_INPUT: usize = 200_000;
/// Longest title, characters.
const MAX_TITLE: usize = 120;

/// What is asked of an agent.
#[derive(Debug, Clone)]
pub struct StartRun {
    /// The agent.
    pub agent: Agent,
    /// The request.
    pub input: String,
    /// Its conversation, if any.
    pub conversation: Option<ConversationId>,
    /// Earlier messages, where there is no conversation but the caller keeps them (OpenAI API).
    pub history: Vec<steward_core::message::Message>,
    /// Loop or plan.
    pub mode: Mode,
    /// Where it comes from.
    pub origin: Origin,
    /// Who asks.
    pub asked_by: String,
    /// Folder for file tools.
    pub workspace: String,
    /// Permissions given along.
    pub grants: Vec<Grant>,
    /// Another connection than the agent's.
    pub connection: Option<ConnectionId>,
    /// Whether the intent filter narrows the tools.
    pub intent_filter: bool,
}

pub(crate) async fn start(deps: &Deps, request: StartRun) -> Result<Lease, EngineError> {
    if request.input.trim().is_empty() {
        return Err(EngineError::Invalid(
            "the request is empty; say what is to be done".to_owned(),
        ));
    }
    if request.input.chars().count() > MAX_INPUT {
        return Err(EngineError::Invalid(format!(
            "the request has more than {MAX_INPUT} characters; put the text into a file and name it"
        )));
    }
    let connection = deps
        .models
        .select(request.connection.or(request.agent.connection))
        .await?;
    let history = match request.conversation {
        Some(id) => deps.store.messages(deps.tenant, id).await?,
        None => request.history,
    };
    let (memory, _) = deps.store.memory(deps.tenant, request.agent.id).await?;
    let mut tools = deps.tools.catalogue();
    if !request.agent.tools.is_empty() {
        tools.retain(|spec| request.agent.tools.contains(&spec.name));
    }
    let now = deps.clock.now();
    let run = RunId(deps.ids.next());
    let setup = Setup {
        budget: request.agent.budget.budget(),
        tools,
        conversation: request.conversation,
        history,
        memory,
        input: request.input.clone(),
        mode: request.mode,
        origin: request.origin,
        asked_by: request.asked_by,
        grants: request.grants,
        connection: connection.id,
        model: connection.model,
        capabilities: connection.capabilities,
        intent_filter: request.intent_filter,
        workspace: request.workspace,
        utc_offset_minutes: deps.clock.utc_offset_minutes(now),
        parent: None,
        agent: request.agent,
    };
    let row = RunRow {
        id: run,
        tenant: deps.tenant,
        agent: setup.agent.id,
        conversation: setup.conversation,
        title: title(&request.input),
        status: RunStatus::Running,
        outcome: None,
        answer: None,
        created_at: now,
        updated_at: now,
        last_seq: 0,
        tokens: 0,
        cost_micros: 0,
    };
    let first = vec![EventBody::RunStarted {
        v: EVENT_VERSION,
        setup: Box::new(setup),
    }];
    let until = now.plus(deps.config.lease);
    let side: Vec<SideWrite> = Vec::new();
    Ok(deps
        .store
        .create_run(row, first, side, &deps.config.node, until)
        .await?)
}

fn title(input: &str) -> String {
    let line = input
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    line.trim().chars().take(MAX_TITLE).collect()
}
