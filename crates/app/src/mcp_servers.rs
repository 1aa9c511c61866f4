use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::authorize::SkillReach;
use crate::dto::mcp_servers::{
    AcceptTool, AttachTools, McpLogin, McpLoginState, McpLoginStatus, McpServerInput, WithdrawTool,
};
use steward_core::McpServerId;
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::skill::Skill;
use steward_tools::mcp::{LoginAnswer, LoginRequest, LoginStatus, McpError, McpHub};

impl App {
    /// By name, with their tools as last seen.
    pub async fn mcp_servers(&self, caller: &Caller) -> AppResult<Vec<McpServer>> {
        authorize(caller, Action::Read, Resource::McpServers)?;
        Ok(self.mcp.servers().mcp_servers(self.tenant()).await?)
    }

    pub async fn mcp_server(&self, caller: &Caller, id: McpServerId) -> AppResult<McpServer> {
        authorize(caller, Action::Read, Resource::McpServers)?;
        Ok(self.mcp.servers().mcp_server(self.tenant(), id).await?)
    }

    /// Nothing of it can be called before its tools are looked at and accepted.
    pub async fn create_mcp_server(&self, caller: &Caller, input: McpServerInput) -> AppResult<McpServer> {
        authorize(caller, Action::Write, Resource::McpServers)?;
        let server = input.with_id(McpServerId(self.new_id()), None);
        may_reach(caller, &server)?;
        McpHub::validate(&server)?;
        self.mcp.servers().save_mcp_server(self.tenant(), &server).await?;
        Ok(server)
    }

    /// What was accepted of its tools stays.
    pub async fn replace_mcp_server(
        &self,
        caller: &Caller,
        id: McpServerId,
        input: McpServerInput,
    ) -> AppResult<McpServer> {
        authorize(caller, Action::Write, Resource::McpServers)?;
        let tenant = self.tenant();
        let _changing = self.mcp.changing().await;
        let before = self.mcp.servers().mcp_server(tenant, id).await?;
        let server = input.with_id(id, Some(before));
        may_reach(caller, &server)?;
        McpHub::validate(&server)?;
        self.mcp.servers().save_mcp_server(tenant, &server).await?;
        self.mcp.close(tenant, id);
        Ok(server)
    }

    /// Skills that stand for its tools are refused from then on.
    pub async fn remove_mcp_server(&self, caller: &Caller, id: McpServerId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::McpServers)?;
        let tenant = self.tenant();
        let _changing = self.mcp.changing().await;
        self.store.remove_mcp_server(tenant, id).await?;
        self.mcp.close(tenant, id);
        Ok(())
    }

    /// Asks a server for its tools. One that can't be asked keeps what was known, with the reason.
    pub async fn check_mcp_server(&self, caller: &Caller, id: McpServerId) -> AppResult<McpServer> {
        authorize(caller, Action::Write, Resource::McpServers)?;
        Ok(self.mcp.check(self.tenant(), id, Some(caller.user())).await?)
    }

    /// Accepts a tool as it was looked at: `hash` is that of what was shown.
    pub async fn accept_mcp_tool(&self, caller: &Caller, id: McpServerId, wanted: &AcceptTool) -> AppResult<McpServer> {
        authorize(caller, Action::Write, Resource::McpServers)?;
        Ok(self.mcp.accept(self.tenant(), id, &wanted.tool, &wanted.hash, &caller.by()).await?)
    }

    /// Takes the acceptance of a tool back: it is refused from the next call on.
    pub async fn withdraw_mcp_tool(
        &self,
        caller: &Caller,
        id: McpServerId,
        wanted: &WithdrawTool,
    ) -> AppResult<McpServer> {
        authorize(caller, Action::Write, Resource::McpServers)?;
        match self.mcp.withdraw(self.tenant(), id, &wanted.tool).await {
            Ok(server) => Ok(server),
            Err(McpError::NotAccepted { server, tool }) => Err(AppError::conflict(
                "mcp_tool",
                format!("the tool `{tool}` of the MCP server `{server}` is not accepted"),
                "nothing is to be done: it is refused already; see GET /api/mcp/servers for what is accepted",
            )),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn attach_mcp_tools(
        &self,
        caller: &Caller,
        id: McpServerId,
        wanted: &AttachTools,
    ) -> AppResult<Vec<Skill>> {
        authorize(caller, Action::Write, Resource::McpServers)?;
        if let Some(agent) = wanted.agent {
            self.live_agent(agent).await?;
        }
        Ok(self.mcp.attach(self.tenant(), id, wanted.agent, &wanted.tools, &caller.by()).await?)
    }

    /// Refuses a caller who may not set the token of this server: their own, or that of all users.
    pub async fn may_begin_mcp_login(&self, caller: &Caller, id: McpServerId) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::McpLogin { per_user: true })?;
        let server = self.mcp.servers().mcp_server(self.tenant(), id).await?;
        authorize(caller, Action::Write, Resource::McpLogin { per_user: server.per_user })
    }

    /// Begins a login at the login server of an MCP server, which sends the browser back to `redirect_uri`.
    pub async fn begin_mcp_login(&self, caller: &Caller, id: McpServerId, redirect_uri: String) -> AppResult<McpLogin> {
        self.may_begin_mcp_login(caller, id).await?;
        let request =
            LoginRequest { tenant: self.tenant(), server: id, user: caller.user(), redirect_uri, scopes: Vec::new() };
        let begun = self.mcp.begin_login(request).await?;
        Ok(McpLogin { url: begun.url, login: begun.id })
    }

    /// How a login that the caller began went; it is forgotten after ten minutes.
    pub fn mcp_login(&self, caller: &Caller, login: &str) -> AppResult<McpLoginState> {
        authorize(caller, Action::Read, Resource::McpLogin { per_user: true })?;
        let found = self.mcp.login_status(caller.user(), login);
        let (status, error) = match found.ok_or_else(|| AppError::not_found("login"))? {
            LoginStatus::Waiting => (McpLoginStatus::Waiting, None),
            LoginStatus::Done => (McpLoginStatus::Done, None),
            LoginStatus::Failed(why) => (McpLoginStatus::Failed, Some(why)),
        };
        Ok(McpLoginState { status, error })
    }

    /// Whether a login that was begun here waits for the answer with this `state`.
    pub fn awaits_mcp_login(&self, state: &str) -> bool {
        self.mcp.awaits_login(state)
    }

    /// Ends the login with what the browser brings back. `login` is the proof, good for one time; no caller is needed.
    pub async fn complete_mcp_login(&self, login: &str, answer: LoginAnswer<'_>) -> Result<McpServer, McpError> {
        self.mcp.complete_login(login, answer).await
    }
}

/// Private hosts, this machine's network and its files are those of the installation.
fn may_reach(caller: &Caller, server: &McpServer) -> AppResult<()> {
    let (network, files) = match &server.transport {
        McpTransport::Http { allow, .. } => (!allow.is_empty(), false),
        McpTransport::Stdio { network, read, write, .. } => (*network, !read.is_empty() || !write.is_empty()),
    };
    if network {
        authorize(caller, Action::Write, Resource::SkillChange { reach: SkillReach::PrivateHosts })?;
    }
    if files {
        authorize(caller, Action::Write, Resource::ServerPaths)?;
    }
    Ok(())
}
