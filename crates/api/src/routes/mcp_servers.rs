//! `/api/mcp/servers`: MCP servers whose tools agents may use, and people's logins at them.

use crate::auth::{Client, clear_mcp_login, mcp_login_cookie, set_mcp_login};
use crate::dto::mcp_servers::{
    AcceptTool, AttachTools, McpLogin, McpLoginState, McpServer, McpServerInput, WithdrawTool,
};
use crate::dto::skills::Skill;
use crate::guard::{AuditNote, serves};
use crate::headers::text;
use crate::mcp::{BACK, client_url};
use crate::openapi::escape;
use crate::routes::prelude::*;
use crate::tenant_app::TenantApp;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{AppendHeaders, Html, IntoResponse, Response};
use steward_app::{Caller, LoginAnswer};
use steward_core::McpServerId;

/// Longest part of what comes back.
const MOST: usize = 8192;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get, replace, remove))
        .routes(routes!(begin_login))
        .routes(routes!(login_status))
        .routes(routes!(callback))
        .routes(routes!(check))
        .routes(routes!(accept))
        .routes(routes!(withdraw))
        .routes(routes!(attach))
}

/// MCP servers by name, with their tools as last seen.
#[utoipa::path(get, path = "/api/mcp/servers", tag = "mcp", operation_id = "listMcpServers",
    params(Paging), responses((status = 200, description = "By name", body = Page<McpServer>)))]
async fn list(Call(state, caller): Call, paging: Paging) -> Listed<McpServer> {
    let all = state.mcp_servers(&caller).await?;
    Page::cut(all.into_iter().map(McpServer::from).collect(), &paging)
}

/// Adds an MCP server. Nothing of it can be called before its tools are looked at and accepted.
#[utoipa::path(post, path = "/api/mcp/servers", tag = "mcp", operation_id = "createMcpServer",
    request_body = McpServerInput,
    responses((status = 201, description = "Added", body = McpServer)))]
async fn create(Call(state, caller): Call, Body(input): Body<McpServerInput>) -> Created<McpServer> {
    created(state.create_mcp_server(&caller, input).await?.into())
}

/// One MCP server.
#[utoipa::path(get, path = "/api/mcp/servers/{id}", tag = "mcp", operation_id = "getMcpServer",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = McpServer)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<McpServerId>) -> Answer<McpServer> {
    Ok(Json(state.mcp_server(&caller, id).await?.into()))
}

/// Changes a server's settings; what was accepted of its tools stays.
#[utoipa::path(put, path = "/api/mcp/servers/{id}", tag = "mcp", operation_id = "replaceMcpServer",
    params(("id" = Uuid, Path)), request_body = McpServerInput,
    responses((status = 200, description = "Changed", body = McpServer)))]
async fn replace(
    Call(state, caller): Call,
    PathId(id): PathId<McpServerId>,
    Body(input): Body<McpServerInput>,
) -> Answer<McpServer> {
    Ok(Json(state.replace_mcp_server(&caller, id, input).await?.into()))
}

/// Removes a server. Skills that stand for its tools are refused from then on.
#[utoipa::path(delete, path = "/api/mcp/servers/{id}", tag = "mcp", operation_id = "deleteMcpServer",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<McpServerId>) -> Done {
    done(state.remove_mcp_server(&caller, id).await)
}

/// Asks a server for its tools. One that can't be asked keeps what was known, with the reason in `error`.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/check", tag = "mcp", operation_id = "checkMcpServer",
    params(("id" = Uuid, Path)),
    responses((status = 200, description = "As seen now", body = McpServer)))]
async fn check(Call(state, caller): Call, PathId(id): PathId<McpServerId>) -> Answer<McpServer> {
    Ok(Json(state.check_mcp_server(&caller, id).await?.into()))
}

/// Accepts a tool as it was looked at: `hash` is that of what was shown. A later change of it is refused until it
/// is accepted anew.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/accept", tag = "mcp", operation_id = "acceptMcpTool",
    params(("id" = Uuid, Path)), request_body = AcceptTool,
    responses((status = 200, description = "Accepted", body = McpServer)))]
async fn accept(
    Call(state, caller): Call,
    PathId(id): PathId<McpServerId>,
    Body(wanted): Body<AcceptTool>,
) -> Result<Noted<McpServer>, Problem> {
    Ok(noted(id, &wanted.tool, state.accept_mcp_tool(&caller, id, &wanted).await?.into()))
}

/// Takes the acceptance of a tool back. It is refused from the next call on, until it is accepted anew; skills that
/// stand for it stay.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/withdraw", tag = "mcp", operation_id = "withdrawMcpTool",
    params(("id" = Uuid, Path)), request_body = WithdrawTool,
    responses((status = 200, description = "Withdrawn", body = McpServer)))]
async fn withdraw(
    Call(state, caller): Call,
    PathId(id): PathId<McpServerId>,
    Body(wanted): Body<WithdrawTool>,
) -> Result<Noted<McpServer>, Problem> {
    Ok(noted(id, &wanted.tool, state.withdraw_mcp_tool(&caller, id, &wanted).await?.into()))
}

/// An answer whose entry in the audit trail names the tool beside the server.
type Noted<T> = (Extension<AuditNote>, Json<T>);

fn noted(id: McpServerId, tool: &str, server: McpServer) -> Noted<McpServer> {
    (Extension(AuditNote::target(format!("{id}/{tool}"))), Json(server))
}

/// Makes skills of accepted tools and gives them to an agent, if one is named. Twice is the same as once.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/attach", tag = "mcp", operation_id = "attachMcpTools",
    params(("id" = Uuid, Path)), request_body = AttachTools,
    responses((status = 200, description = "The skills", body = Vec<Skill>)))]
async fn attach(
    Call(state, caller): Call,
    PathId(id): PathId<McpServerId>,
    Body(wanted): Body<AttachTools>,
) -> Answer<Vec<Skill>> {
    let skills = state.attach_mcp_tools(&caller, id, &wanted).await?;
    Ok(Json(skills.into_iter().map(Skill::from).collect()))
}

/// How to come back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Way {
    /// The address under which the browser reaches Steward, such as `https://steward.example.org`; left out: that of
    /// this request.
    #[param(nullable = false, max_length = 200)]
    origin: Option<String>,
}

/// What the browser brings back.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Callback {
    /// The login.
    #[param(nullable = false)]
    state: Option<String>,
    /// What is changed for tokens.
    #[param(nullable = false)]
    code: Option<String>,
    /// Who says so.
    #[param(nullable = false)]
    iss: Option<String>,
    /// Why there is no code.
    #[param(nullable = false)]
    error: Option<String>,
}

/// Begins a login at the login server of an MCP server: open `url` in the browser that asked for it, which gets a cookie; no
/// other can finish the login. A program that has no browser takes what comes back itself and asks for
/// `/api/mcp/callback` with the same key as here. Where each user has a token of their
/// own, it becomes that of who asks; else the server's, which is an operator's to set.
#[utoipa::path(post, path = "/api/mcp/servers/{id}/login", tag = "mcp", operation_id = "beginMcpLogin",
    params(("id" = Uuid, Path), Way),
    responses((status = 200, description = "Begun", body = McpLogin)))]
async fn begin_login(
    Call(state, caller): Call,
    client: Client,
    PathId(id): PathId<McpServerId>,
    Params(way): Params<Way>,
    headers: HeaderMap,
) -> Result<(AppendHeaders<[(HeaderName, HeaderValue); 1]>, Json<McpLogin>), Problem> {
    state.may_begin_mcp_login(&caller, id).await?;
    let origin = origin(&state, &client, way.origin, &headers)?;
    // Only an address that others can trust says who this client is.
    let client_url = origin.starts_with("https://").then(|| client_url(&origin));
    let (begun, proof) = state.begin_mcp_login(&caller, id, format!("{origin}{BACK}"), client_url).await?;
    let cookie = set_mcp_login(&begun.login, &proof, client.https);
    Ok((AppendHeaders([(header::SET_COOKIE, cookie)]), Json(begun)))
}

/// Where the browser is: as it says itself, or as it must be to have come here.
fn origin(state: &TenantApp, client: &Client, given: Option<String>, headers: &HeaderMap) -> Result<String, Problem> {
    let host = text(headers, header::HOST);
    let scheme = if client.https { "https" } else { "http" };
    let origin = given
        .or_else(|| text(headers, header::ORIGIN).map(str::to_owned))
        .or_else(|| host.map(|host| format!("{scheme}://{host}")))
        .unwrap_or_default();
    let origin = origin.trim_end_matches('/').to_owned();
    if serves(&state.hosts, host, &origin) {
        return Ok(origin);
    }
    Err(Problem::invalid(
        "origin",
        "this is no address of Steward",
        "write it as the browser shows it, such as http://127.0.0.1:8800, or start with --host NAME to add a name",
    ))
}

/// How a login that the caller began went; it is forgotten after ten minutes.
#[utoipa::path(get, path = "/api/mcp/logins/{login}", tag = "mcp", operation_id = "getMcpLogin",
    params(("login" = String, Path)),
    responses((status = 200, description = "How it went", body = McpLoginState)))]
async fn login_status(Call(state, caller): Call, PathName(login): PathName) -> Answer<McpLoginState> {
    Ok(Json(state.mcp_login(&caller, &login)?))
}

/// Where the browser comes back to: the one that the login was begun in, which has its cookie; or a program of who began it,
/// with their key. `state` is good for one time.
#[utoipa::path(get, path = "/api/mcp/callback", tag = "mcp", operation_id = "finishMcpLogin", security(()),
    params(Callback), responses(
        (status = 200, description = "A page that says so", body = String, content_type = "text/html"),
        (status = 400, description = "A page that says why not", body = String, content_type = "text/html")))]
async fn callback(
    State(state): State<ApiState>,
    caller: Result<Caller, Problem>,
    client: Client,
    headers: HeaderMap,
    Params(answer): Params<Callback>,
) -> Result<Response, Problem> {
    let parts = [&answer.state, &answer.code, &answer.iss, &answer.error];
    let short = parts.into_iter().flatten().all(|part| part.len() <= MOST);
    let (Some(login), true) = (&answer.state, short) else {
        return Ok(failed("This is no answer of a login server."));
    };
    let answer = match (&answer.code, &answer.error) {
        (Some(code), None) => LoginAnswer::Code { code, issuer: answer.iss.as_deref() },
        (_, Some(error)) => LoginAnswer::Refused { error },
        (None, None) => return Ok(failed("The login server sent no code.")),
    };
    // Whichever tenant began it.
    let waiting = state.tenants.all().into_iter().find_map(|app| Some((app.awaited_mcp_login(login)?, app)));
    let (id, app) = waiting.unwrap_or_else(|| (String::new(), state.tenants.installation().clone()));
    let caller = caller.ok();
    let proofs = (mcp_login_cookie(&headers, &id), caller.as_ref());
    match app.complete_mcp_login(login, proofs, answer).await {
        Ok(server) => {
            let text = format!("Steward is logged in at the MCP server {}. You can close this page.", server.name);
            let note = AuditNote::target(server.id.to_string()).in_tenant(app.tenant());
            let forget = AppendHeaders([(header::SET_COOKIE, clear_mcp_login(&id, client.https))]);
            Ok((Extension(note), forget, page("Logged in", &text)).into_response())
        }
        Err(error) => {
            tracing::info!(%error, "a login at an MCP server failed");
            Ok(failed(&error.to_string()))
        }
    }
}

fn failed(why: &str) -> Response {
    (StatusCode::BAD_REQUEST, page("Not logged in", why)).into_response()
}

/// A page of a heading and a sentence. What servers say stands in it as text only.
fn page(title: &str, text: &str) -> Html<String> {
    let (title, text) = (escape(title), escape(text));
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title} · Steward</title></head>\n\
         <body><main><h1>{title}</h1><p>{text}</p></main></body>\n</html>\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn what_servers_say_is_text() {
        let html = page("x", "<script>alert('1')</script> & \"more\"").0;
        assert!(html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;more&quot;"));
        assert!(!html.contains("<script"));
    }
}
