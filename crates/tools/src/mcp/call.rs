//! Calls of MCP tools: compared with what was accepted, sent, retried once where safe. Media is named, not inlined.

use super::connect::login_hint;
use super::connection::{Connection, RequestFault};
use super::credentials::Caller;
use super::error::McpError;
use super::failure::advice;
use super::{McpHub, accepted_tools, is_server_name};
use crate::error::ToolsError;
use crate::handler::Context;
use crate::skills::{Executor, SkillCall, spec_of};
use async_trait::async_trait;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::hash;
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::policy::RiskClass;
use steward_core::ports::ToolScope;
use steward_core::provenance::Provenance;
use steward_core::skill::{McpSpec, Skill, SkillKind};
use steward_core::tool::{EffectClass, Preview, Receipt, ToolOutput, Undo, truncate};

impl McpHub {
    async fn call(&self, job: SkillCall<'_>, spec: &McpSpec, context: &Context) -> Result<ToolOutput, McpError> {
        let who = Caller::of_call(job, context, self.ports.clock.now());
        let server = self.named(who.by.tenant, &spec.server).await?;
        accepted_tools::check_accepted(&server, spec)?;
        // Whether it may be sent again after the server died during the call.
        let repeats = matches!(job.skill.effect, EffectClass::Read | EffectClass::Idempotent);
        let work = |connection| self.try_once(&server, connection, spec, job.arguments, context);
        self.over_connection(&server, &who, &spec.tool, repeats, work).await
    }

    /// Does `work` over a connection, and once more over a new one where nothing has happened yet or it `repeats`.
    pub(super) async fn over_connection<T, F>(
        &self,
        server: &McpServer,
        who: &Caller<'_>,
        tool: &str,
        repeats: bool,
        work: impl Fn(Arc<Connection>) -> F,
    ) -> Result<T, McpError>
    where
        F: Future<Output = Result<T, RequestFault>>,
    {
        let mut last = None;
        for anew in [false, true] {
            let (key, connection) = match self.connect(server, who, anew).await {
                Ok(reached) => reached,
                // A refused token may be renewed once.
                Err(error @ McpError::Login { .. }) if !anew => {
                    self.note_challenge(server, who, &error);
                    last = Some(error);
                    continue;
                }
                Err(error) => {
                    self.note_challenge(server, who, &error);
                    return Err(error);
                }
            };
            let _busy = connection.begin();
            let fault = match work(Arc::clone(&connection)).await {
                Ok(done) => return Ok(done),
                Err(fault) => fault,
            };
            // A call that was answered by an error leaves its connection as it is.
            if who.context.is_none() || !matches!(fault, RequestFault::Error(_)) {
                self.pool.remove(&key, &connection);
            }
            let name = server.name.clone();
            let (error, again) = match fault {
                RequestFault::Error(error) => (error, false),
                RequestFault::Gone(reason) => (McpError::Unreachable { server: name, reason }, true),
                RequestFault::Login(challenge) => {
                    (McpError::Login { hint: login_hint(server, true), server: name, challenge }, true)
                }
                RequestFault::Broke(reason) => {
                    (McpError::Died { server: name, tool: tool.to_owned(), reason }, repeats)
                }
            };
            self.note_challenge(server, who, &error);
            if !again || who.context.is_some_and(Context::halted) {
                return Err(error);
            }
            last = Some(error);
        }
        Err(last.unwrap_or_else(|| McpError::Unknown(server.name.clone())))
    }

    async fn try_once(
        &self,
        server: &McpServer,
        connection: Arc<Connection>,
        spec: &McpSpec,
        arguments: &Value,
        context: &Context,
    ) -> Result<ToolOutput, RequestFault> {
        let name = &spec.tool;
        let tools = connection.tools(false).await?;
        let same = tools.iter().any(|one| one.name == *name && one.hash() == spec.hash);
        if !same {
            // Stored, so that a person sees the difference.
            let seen = self.record_listing(context.scope.tenant, server.id, Ok(&tools)).await;
            let seen = seen.map_err(RequestFault::Error)?;
            let error = match seen.tools.iter().find(|one| one.name == *name) {
                Some(tool) => accepted_tools::changed_error(&seen, tool),
                None => McpError::NotAccepted { server: server.name.clone(), tool: name.clone() },
            };
            tracing::warn!(server = server.name, tool = %name, "an MCP tool changed and is refused");
            return Err(RequestFault::Error(error));
        }
        // It may have been withdrawn while the server was started.
        let now = self.named(context.scope.tenant, &spec.server).await;
        now.and_then(|now| accepted_tools::check_accepted(&now, spec)).map_err(RequestFault::Error)?;
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let result = connection.call(name, arguments, context).await?;
        let output = tool_output(&server.name, result).map_err(|error| match error {
            McpError::Said { server: name, message } if matches!(server.transport, McpTransport::Stdio { .. }) => {
                let advice = advice(&message);
                McpError::Said { server: name, message: format!("{message}{advice}") }
            }
            error => error,
        });
        output.map_err(RequestFault::Error)
    }
}

const HASH_CHARS: usize = 64;

/// Calls tools of MCP servers. The first call of a server's tool starts the server.
pub struct McpExecutor {
    hub: Arc<McpHub>,
}

impl McpExecutor {
    pub fn new(hub: Arc<McpHub>) -> Self {
        Self { hub }
    }
}

spec_of!(Mcp, McpSpec, "mcp");

#[async_trait]
impl Executor for McpExecutor {
    fn kind(&self) -> SkillKind {
        SkillKind::Mcp
    }

    fn check(&self, skill: &Skill) -> Result<(), String> {
        let spec = spec(skill).map_err(|error| error.to_string())?;
        if !is_server_name(&spec.server) {
            return Err(format!(
                "`server` is the name of an MCP server (a-z, 0-9 and _, at most 32); `{}` can't be one",
                spec.server
            ));
        }
        if spec.tool.is_empty() {
            return Err("`tool` is the name of a tool of that server; it is empty".to_owned());
        }
        if spec.hash.len() != HASH_CHARS || !spec.hash.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(
                "`hash` is what a person accepted; accept the tool and attach it rather than write the skill by hand"
                    .to_owned(),
            );
        }
        Ok(())
    }

    async fn preview(&self, skill: &Skill, arguments: &Value, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let spec = spec(skill)?;
        let place = self.hub.place(scope.tenant, &spec.server).await;
        let place = place.unwrap_or_else(|error| format!("would fail: {error}"));
        Ok(Preview {
            summary: format!("calls {} of the MCP server {} ({place})", spec.tool, spec.server),
            detail: serde_json::to_string_pretty(arguments).ok(),
            count: None,
            reversible: skill.effect == EffectClass::Read && skill.risk == RiskClass::Read,
        })
    }

    async fn run(&self, job: SkillCall<'_>, context: &Context) -> Result<ToolOutput, ToolsError> {
        let skill = job.skill;
        let spec = spec(skill)?;
        let mut output = self.hub.call(job, spec, context).await?;
        if skill.effect != EffectClass::Read {
            output.receipt = Some(Receipt::new(
                "called",
                format!("{}/{}", spec.server, spec.tool),
                Some(hash::sha256(output.content.as_bytes())),
            ));
            if skill.compensation.is_none() {
                output.undo = Some(Undo::Impossible {
                    reason: format!("the MCP server {} did it; only a tool of its own could take it back", spec.server),
                });
            }
        }
        Ok(output)
    }
}

/// Longest text of a result; the skill's own limit is smaller and applied later.
const TEXT_CHARS: usize = 400_000;
const DATA_BYTES: usize = 400_000;
const ERROR_CHARS: usize = 4000;

/// The result of a call, tainted by its server.
pub(super) fn tool_output(server: &str, result: CallToolResult) -> Result<ToolOutput, McpError> {
    let mut text = content_text(&result.content);
    let data = result.structured_content.filter(|data| !data.is_null());
    if let Some(data) = &data
        && text.trim().is_empty()
    {
        text = serde_json::to_string_pretty(data).unwrap_or_default();
    }
    if result.is_error == Some(true) {
        let message = if text.trim().is_empty() {
            "the tool failed without a word".to_owned()
        } else {
            truncate(text.trim(), ERROR_CHARS).0
        };
        return Err(McpError::Said { server: server.to_owned(), message });
    }
    let (content, _) = truncate(&text, TEXT_CHARS);
    let data = data.filter(|data| data.to_string().len() <= DATA_BYTES);
    Ok(ToolOutput { data, provenance: Provenance::from_outside(&format!("mcp:{server}")), ..ToolOutput::text(content) })
}

fn content_text(blocks: &[ContentBlock]) -> String {
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        match block {
            ContentBlock::Text(part) => text.push_str(&part.text),
            ContentBlock::Image(part) => name_media(&mut text, "picture", &part.mime_type, part.data.len()),
            ContentBlock::Audio(part) => name_media(&mut text, "sound", &part.mime_type, part.data.len()),
            ContentBlock::ResourceLink(link) => {
                let _ = write!(text, "[resource {} at {}, not read]", link.name, link.uri);
            }
            ContentBlock::Resource(part) => match &part.resource {
                ResourceContents::TextResourceContents { uri, text: inner, .. } => {
                    let size = inner.chars().count();
                    let _ = write!(text, "[resource {uri}, {size} characters, not shown]");
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let media = mime_type.as_deref().unwrap_or("unknown type");
                    name_media(&mut text, "resource", &format!("{uri}, {media}"), blob.len());
                }
                _ => text.push_str("[a resource of a form that is not known]"),
            },
            _ => text.push_str("[content of a type that is not known]"),
        }
    }
    text
}

/// `encoded`: length of the media in base64.
fn name_media(text: &mut String, what: &str, media: &str, encoded: usize) {
    let _ = write!(text, "[{what} {media}, {} bytes, not shown]", encoded / 4 * 3);
}

#[cfg(test)]
mod tests {
    use super::tool_output;
    use serde_json::{Value, json};
    use steward_core::provenance::Provenance;

    fn result(value: Value) -> rmcp::model::CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn names_what_is_no_text() {
        let shown = tool_output(
            "wiki",
            result(json!({"content": [
                {"type": "text", "text": "Two files:"},
                {"type": "image", "data": "AAAAAAAA", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "secret plan"}},
                {"type": "resource_link", "uri": "file:///b.txt", "name": "b"},
            ]})),
        )
        .unwrap();
        assert_eq!(
            shown.content,
            "Two files:\n[picture image/png, 6 bytes, not shown]\n[resource file:///a.txt, 11 characters, not shown]\n[resource b at file:///b.txt, not read]"
        );
        assert_eq!(shown.provenance, Provenance::from_outside("mcp:wiki"));
    }

    #[test]
    fn data_stands_in_for_missing_text() {
        let shown = tool_output("wiki", result(json!({"content": [], "structuredContent": {"n": 3}}))).unwrap();
        assert_eq!(shown.data, Some(json!({"n": 3})));
        assert!(shown.content.contains("\"n\": 3"));
    }

    #[test]
    fn a_failure_is_an_error_with_the_servers_words() {
        let failed = result(json!({"content": [{"type": "text", "text": "no such page"}], "isError": true}));
        let error = tool_output("wiki", failed).unwrap_err().to_string();
        assert_eq!(error, "the MCP server `wiki` says: no such page");
    }
}
