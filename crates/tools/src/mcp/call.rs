//! The way of a call: is it what was accepted, ask, and ask once more where that is safe.

use super::connection::{Connection, Fault};
use super::content;
use super::error::McpError;
use super::hub::McpHub;
use super::reach::Who;
use super::skills;
use crate::handler::Context;
use serde_json::{Map, Value};
use steward_core::mcp::McpServer;
use steward_core::ports::OpenedCredential;
use steward_core::skill::McpSpec;
use steward_core::tool::ToolOutput;

pub(super) struct Call<'a> {
    pub spec: &'a McpSpec,
    pub tool: &'a str,
    pub arguments: Map<String, Value>,
    /// Whether it may be sent again after the server died over it.
    pub repeats: bool,
    pub secret: Option<&'a OpenedCredential>,
}

impl McpHub {
    /// Calls a tool, if it is what a person accepted.
    pub(super) async fn call(&self, call: Call<'_>, context: &Context) -> Result<ToolOutput, McpError> {
        let who = Who::caller(&call, context);
        let server = self.named(who.tenant, &call.spec.server).await?;
        let (tool, accepted) = skills::callable(&server, &call.spec.tool)?;
        // The run began with another acceptance of it.
        if accepted.hash != call.spec.hash {
            return Err(skills::changed(&server, tool));
        }
        let mut last = None;
        for anew in [false, true] {
            let (key, connection) = match self.reach(&server, &who, anew).await {
                Ok(reached) => reached,
                // A token that was refused may be renewed once.
                Err(error @ McpError::Login { .. }) if !anew => {
                    last = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let _busy = connection.begin();
            match self.once(&server, &connection, &call, context).await {
                Ok(output) => return Ok(output),
                Err(fault) => {
                    if !matches!(fault, Fault::Error(_)) {
                        self.pool.remove(&key, &connection);
                    }
                    let (error, again) = settle(&server, &call.spec.tool, fault, call.repeats);
                    if !again || context.halted() {
                        return Err(error);
                    }
                    last = Some(error);
                }
            }
        }
        Err(last.unwrap_or_else(|| McpError::Unknown(server.name.clone())))
    }

    async fn once(
        &self,
        server: &McpServer,
        connection: &Connection,
        call: &Call<'_>,
        context: &Context,
    ) -> Result<ToolOutput, Fault> {
        let name = &call.spec.tool;
        let tools = connection.tools(false).await?;
        let same = tools.iter().any(|one| one.name == *name && one.hash() == call.spec.hash);
        if !same {
            // Written down, so that a person sees the difference.
            let seen = self.seen(context.scope.tenant, server.id, &tools).await;
            let seen = seen.map_err(Fault::Error)?;
            let error = match seen.tools.iter().find(|one| one.name == *name) {
                Some(tool) => skills::changed(&seen, tool),
                None => McpError::NotAccepted { server: server.name.clone(), tool: name.clone() },
            };
            tracing::warn!(server = server.name, tool = %name, "an MCP tool changed and is refused");
            return Err(Fault::Error(error));
        }
        let result = connection.call(name, call.arguments.clone(), context).await?;
        content::output(&server.name, result).map_err(Fault::Error)
    }
}

/// What a fault means for the caller, and whether to try once more on a new connection.
pub(super) fn settle(server: &McpServer, tool: &str, fault: Fault, repeats: bool) -> (McpError, bool) {
    let name = server.name.clone();
    match fault {
        Fault::Error(error) => (error, false),
        Fault::Gone(reason) => (McpError::Unreachable { server: name, reason }, true),
        Fault::Login => (McpError::Login { hint: super::open::login_hint(server, true), server: name }, true),
        Fault::Broke(reason) => (McpError::Died { server: name, tool: tool.to_owned(), reason }, repeats),
    }
}
