use super::ask;
use super::names::named;
use super::offered::{offered, run};
use crate::ApiState;
use crate::auth::Client;
use crate::openai::OpenAiError;
use crate::tenant_app::TenantApp;
use axum::http::request::Parts;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use std::sync::Arc;
use steward_app::{Action, Caller, Identity, MAX_MESSAGE, Resource, RunRequest, authorize};
use steward_core::agent::Agent;
use steward_core::{RunId, schema};
use uuid::Uuid;

const PAGE: usize = 50;
/// The tool that has the answer of a run that waited.
const FOLLOW: &str = "follow_run";

#[derive(Clone)]
pub(super) struct McpHandler {
    pub state: ApiState,
}

fn object(value: Value) -> Arc<JsonObject> {
    Arc::new(match value {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    })
}

fn ask_tool(name: String, agent: &Agent) -> Tool {
    let about = agent.metadata.get("description").and_then(Value::as_str);
    let about = about.map(|text| format!(" {}", text.trim())).unwrap_or_default();
    let description = format!(
        "Asks the agent {}.{about} It works with its own tools under its own policy and answers when it is done; what needs a person's approval waits for it.",
        agent.name
    );
    let input = object(ask_schema());
    Tool::new(name, description, input)
        .with_raw_output_schema(object(ask::schema()))
        .with_annotations(ToolAnnotations::with_title(format!("Ask {}", agent.name)).open_world(true))
}

fn ask_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"request": {
            "type": "string", "minLength": 1, "maxLength": MAX_MESSAGE,
            "description": "What is to be done or answered, in people's words.",
        }},
        "required": ["request"],
        "additionalProperties": false,
    })
}

fn follow_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"run": {"type": "string", "format": "uuid", "description": "The run, as an answer named it."}},
        "required": ["run"],
        "additionalProperties": false,
    })
}

fn follow_tool() -> Tool {
    let description =
        "Waits for a run that was asked for earlier, such as one that waited for an approval, and has its answer.";
    Tool::new(FOLLOW, description, object(follow_schema()))
        .with_raw_output_schema(object(ask::schema()))
        .with_annotations(ToolAnnotations::with_title("Follow a run").read_only(true))
}

fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}

impl McpHandler {
    /// Who asks, as was found out before the session was entered, and the application of their tenant.
    fn entered(&self, context: &RequestContext<RoleServer>) -> Result<(TenantApp, Caller), ErrorData> {
        let known =
            context.extensions.get::<Parts>().and_then(|parts| Some((parts, parts.extensions.get::<Identity>()?)));
        let nobody = || ErrorData::internal_error("nobody is known to have sent this", None);
        let (parts, identity) = known.ok_or_else(nobody)?;
        let state = self.state.app_of(identity).map_err(|_| nobody())?;
        let caller = Caller::new(identity.clone(), false).at(Client::of_request(parts).address);
        Ok((state, caller))
    }
}

async fn agents(state: &TenantApp, caller: &Caller) -> Result<Vec<Agent>, ErrorData> {
    let agents = state.usable_agents(caller).await;
    let mut agents = agents.map_err(|error| {
        tracing::error!(%error, "the store refused");
        ErrorData::internal_error("the store does not answer; try again later", None)
    })?;
    agents.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(agents)
}

fn tools(state: &TenantApp, agents: &[Agent]) -> Vec<Tool> {
    let asks = named("ask_", agents);
    let mut tools: Vec<Tool> = asks.into_iter().map(|(name, agent)| ask_tool(name, agent)).collect();
    tools.push(follow_tool());
    tools.extend(offered(state, agents).into_iter().map(|one| {
        Tool::new(one.name, one.spec.description, object(std::sync::Arc::unwrap_or_clone(one.spec.parameters)))
            .with_annotations(ToolAnnotations::default().read_only(true).open_world(false))
    }));
    tools
}

async fn follow(
    state: &TenantApp,
    caller: &Caller,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    checked(&follow_schema(), arguments)?;
    let id = arguments["run"].as_str().and_then(|text| Uuid::parse_str(text).ok());
    let run = RunId(id.ok_or_else(|| invalid("`run` is no UUID; an answer names it"))?);
    let missing = || invalid(format!("there is no run {run} of yours"));
    let row = state.asked_run(caller, run).await.ok().flatten().ok_or_else(missing)?;
    let open = agents(state, caller).await?;
    if !open.iter().any(|agent| agent.id == row.agent) {
        return Err(missing());
    }
    Ok(ask::follow(state, caller, run, context).await?.into())
}

fn checked(schema: &Value, arguments: &Value) -> Result<(), ErrorData> {
    schema::validate(schema, arguments).map_err(invalid)
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let us = Implementation::new("steward", self.state.tenants.installation().facts.version.clone());
        // Clients may list prompts and resources; there are none.
        let offers = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().build();
        ServerConfig::new(offers)
            .with_server_info(us)
            .with_instructions(
                "Each `ask_…` tool is an agent of this Steward. Runs are durable: a call that ends early has not ended its run; `follow_run` has the answer.",
            )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (state, caller) = self.entered(&context)?;
        let agents = agents(&state, &caller).await?;
        let mut tools = tools(&state, &agents);
        let from = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => {
                let last = tools.iter().position(|tool| tool.name == cursor);
                last.ok_or_else(|| invalid("this cursor is no longer good; list from the beginning"))? + 1
            }
        };
        let rest = tools.split_off(from.min(tools.len()));
        let more = rest.len() > PAGE;
        let mut page = ListToolsResult { tools: rest.into_iter().take(PAGE).collect(), ..ListToolsResult::default() };
        if more {
            page.next_cursor = page.tools.last().map(|tool| tool.name.to_string());
        }
        Ok(page)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(invalid(format!("there is no prompt `{}`; Steward offers tools only", request.name)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let missing = format!("there is no resource `{}`; Steward offers tools only", request.uri);
        Err(ErrorData::resource_not_found(missing, Some(json!({"uri": request.uri}))))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (state, caller) = self.entered(&context)?;
        authorize(&caller, Action::Ask, Resource::Agents).map_err(|_| invalid(OpenAiError::for_viewers().message))?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if request.name == FOLLOW {
            return follow(&state, &caller, &arguments, &context).await;
        }
        let agents = agents(&state, &caller).await?;
        let asked = named("ask_", &agents).into_iter().find(|(name, _)| *name == request.name);
        if let Some((_, agent)) = asked {
            checked(&ask_schema(), &arguments)?;
            let input = arguments["request"].as_str().unwrap_or_default().to_owned();
            let asked_by = caller.principal.name.clone();
            let request =
                RunRequest { agent: agent.clone(), input, history: Vec::new(), asked_by, client_retries: false };
            let begun = state.start_run(&caller, request).await;
            let run = begun.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            return Ok(ask::follow(&state, &caller, run, &context).await?.into());
        }
        let offers = offered(&state, &agents);
        let Some(one) = offers.iter().find(|one| one.name == request.name) else {
            return Err(invalid(format!(
                "there is no tool `{}` here; tools/list has those that there are",
                request.name
            )));
        };
        checked(&one.spec.parameters, &arguments)?;
        Ok(run(&state, &caller, one, arguments, &context.ct).await.into())
    }
}
