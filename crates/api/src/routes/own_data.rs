//! `/api/agents/{id}/memory` and `/api/agents/{id}/database`: what an agent keeps for the caller, or for all of its users.

use super::files::FileBody;
use crate::dto::own_data::{ImportedAgent, KeptNote, KeptText, KeptTextInput, OwnDatabase, OwnQuery, OwnRows};
use crate::extract::sent_file;
use crate::guard::MAX_IMPORT;
use crate::routes::prelude::*;
use axum::extract::Request;
use steward_core::AgentId;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(memory, set_memory, clear_memory))
        .routes(routes!(notes))
        .routes(routes!(delete_note))
        .routes(routes!(database, clear_database))
        .routes(routes!(query))
        .routes(routes!(set_documentation))
        .routes(routes!(restore_database))
        .routes(routes!(table))
        .routes(routes!(import_metatron))
}

/// What an agent remembers for the caller, or for all of its users where they share that.
#[utoipa::path(get, path = "/api/agents/{id}/memory", tag = "agents", operation_id = "getAgentMemory",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = KeptText)))]
async fn memory(Call(state, caller): Call, PathId(id): PathId<AgentId>) -> Answer<KeptText> {
    Ok(Json(state.agent_memory(&caller, id).await?))
}

/// Replaces what an agent remembers, if it has not changed since it was read. What all share needs the grant `edit`.
#[utoipa::path(put, path = "/api/agents/{id}/memory", tag = "agents", operation_id = "setAgentMemory",
    params(("id" = Uuid, Path)), request_body = KeptTextInput,
    responses((status = 200, description = "Saved", body = KeptText),
        (status = 409, description = "It has changed since")))]
async fn set_memory(
    Call(state, caller): Call,
    PathId(id): PathId<AgentId>,
    Body(input): Body<KeptTextInput>,
) -> Answer<KeptText> {
    Ok(Json(state.set_agent_memory(&caller, id, &input).await?))
}

/// Has an agent forget all that it remembers for the caller, or for all of its users where they share that.
#[utoipa::path(delete, path = "/api/agents/{id}/memory", tag = "agents", operation_id = "clearAgentMemory",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Done")))]
async fn clear_memory(Call(state, caller): Call, PathId(id): PathId<AgentId>) -> Done {
    done(state.clear_agent_memory(&caller, id).await)
}

/// The notes that an agent keeps for the caller, or for all of its users where they share them.
#[utoipa::path(get, path = "/api/agents/{id}/notes", tag = "agents", operation_id = "listAgentNotes",
    params(("id" = Uuid, Path), Paging), responses((status = 200, description = "By title", body = Page<KeptNote>)))]
async fn notes(Call(state, caller): Call, PathId(id): PathId<AgentId>, paging: Paging) -> Listed<KeptNote> {
    Page::cut(state.agent_notes(&caller, id).await?, &paging)
}

/// Deletes a note for good.
#[utoipa::path(delete, path = "/api/agents/{id}/notes/{title}", tag = "agents", operation_id = "deleteAgentNote",
    params(("id" = Uuid, Path), ("title" = String, Path)), responses((status = 204, description = "Deleted")))]
async fn delete_note(Call(state, caller): Call, PathIds(id, title): PathIds<AgentId, String>) -> Done {
    done(state.delete_agent_note(&caller, id, &title).await)
}

/// The private database of an agent: the caller's own, or the one that all of its users share.
#[utoipa::path(get, path = "/api/agents/{id}/database", tag = "agents", operation_id = "getAgentDatabase",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = OwnDatabase)))]
async fn database(Call(state, caller): Call, PathId(id): PathId<AgentId>) -> Answer<OwnDatabase> {
    Ok(Json(state.agent_database(&caller, id).await?))
}

/// Empties the private database of an agent. A copy stays until the agent makes a table again.
#[utoipa::path(delete, path = "/api/agents/{id}/database", tag = "agents", operation_id = "clearAgentDatabase",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Done")))]
async fn clear_database(Call(state, caller): Call, PathId(id): PathId<AgentId>) -> Done {
    done(state.clear_agent_database(&caller, id).await)
}

/// Puts back the copy from before the database was emptied, or from before its tables were last changed.
#[utoipa::path(post, path = "/api/agents/{id}/database/restore", tag = "agents",
    operation_id = "restoreAgentDatabase", params(("id" = Uuid, Path)),
    responses((status = 200, description = "As it is now", body = OwnDatabase),
        (status = 409, description = "There is no copy")))]
async fn restore_database(Call(state, caller): Call, PathId(id): PathId<AgentId>) -> Answer<OwnDatabase> {
    Ok(Json(state.restore_agent_database(&caller, id).await?))
}

/// Runs one SELECT in the private database of an agent.
#[utoipa::path(post, path = "/api/agents/{id}/database/query", tag = "agents", operation_id = "queryAgentDatabase",
    params(("id" = Uuid, Path)), request_body = OwnQuery,
    responses((status = 200, description = "Its rows", body = OwnRows)))]
async fn query(Call(state, caller): Call, PathId(id): PathId<AgentId>, Body(query): Body<OwnQuery>) -> Answer<OwnRows> {
    Ok(Json(state.query_agent_database(&caller, id, &query.sql).await?))
}

/// Replaces what an agent has written down about its tables, if it has not changed since it was read.
#[utoipa::path(put, path = "/api/agents/{id}/database/schema", tag = "agents",
    operation_id = "setAgentDatabaseDocumentation", params(("id" = Uuid, Path)), request_body = KeptTextInput,
    responses((status = 200, description = "Saved", body = KeptText),
        (status = 409, description = "It has changed since")))]
async fn set_documentation(
    Call(state, caller): Call,
    PathId(id): PathId<AgentId>,
    Body(input): Body<KeptTextInput>,
) -> Answer<KeptText> {
    Ok(Json(state.set_agent_database_doc(&caller, id, &input).await?))
}

/// Which rows.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Rows {
    /// Most rows.
    #[serde(default = "usual_page")]
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: u32,
    /// Rows that are left out at the beginning: `next` of the page before.
    #[serde(default)]
    after: u64,
}

fn usual_page() -> u32 {
    50
}

/// Rows of a table or a view in the private database of an agent.
#[utoipa::path(get, path = "/api/agents/{id}/database/{table}", tag = "agents", operation_id = "listAgentTableRows",
    params(("id" = Uuid, Path), ("table" = String, Path), Rows),
    responses((status = 200, description = "A page", body = OwnRows)))]
async fn table(
    Call(state, caller): Call,
    PathIds(id, table): PathIds<AgentId, String>,
    Params(rows): Params<Rows>,
) -> Answer<OwnRows> {
    Ok(Json(state.agent_table(&caller, id, &table, (rows.after, rows.limit)).await?))
}

/// Takes over the instruction, the memory and the tables of a database of MetatronOS, up to 64 MB. What the agent kept
/// before is replaced; a copy of its database stays.
#[utoipa::path(post, path = "/api/agents/{id}/import-metatron", tag = "agents", operation_id = "importMetatron",
    params(("id" = Uuid, Path)),
    request_body(content = inline(FileBody), content_type = "application/octet-stream"),
    responses((status = 200, description = "What was taken over", body = ImportedAgent)))]
async fn import_metatron(
    Call(state, caller): Call,
    PathId(id): PathId<AgentId>,
    request: Request,
) -> Answer<ImportedAgent> {
    state.may_import_metatron(&caller, id).await?;
    let file = sent_file(request, MAX_IMPORT).await?;
    Ok(Json(state.import_metatron(&caller, id, file).await?))
}
