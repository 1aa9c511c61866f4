use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::authorize::SkillReach;
use crate::dto::mcp_servers::{
    AcceptTool, AttachTools, McpLogin, McpLoginState, McpLoginStatus, McpServerInput, WithdrawTool,
};
use crate::error::ErrorKind;
use std::path::Path;
use steward_core::mcp::{McpServer, McpTransport};
use steward_core::ports::{UserState, Users as _};
use steward_core::skill::Skill;
use steward_core::{McpServerId, UserId};
use steward_tools::mcp::{LoginAnswer, LoginRequest, LoginStatus, McpError, McpHub, find_program_places};

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
        let mut server = input.with_id(McpServerId(self.new_id()), None);
        McpHub::validate(&server)?;
        self.give_reach(caller, &mut server).await?;
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
        let mut server = input.with_id(id, Some(before));
        McpHub::validate(&server)?;
        self.give_reach(caller, &mut server).await?;
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

    /// Begins a login at the login server of an MCP server, which sends the browser back to `redirect_uri`. With it comes
    /// the proof that the browser of who began it keeps: whoever else is sent the address can't finish the login.
    pub async fn begin_mcp_login(
        &self,
        caller: &Caller,
        id: McpServerId,
        redirect_uri: String,
        client_url: Option<String>,
    ) -> AppResult<(McpLogin, String)> {
        self.may_begin_mcp_login(caller, id).await?;
        let request = LoginRequest { tenant: self.tenant(), server: id, user: caller.user(), redirect_uri, client_url };
        let begun = self.mcp.begin_login(request).await?;
        let proof = self.access.browser_proof(PURPOSE, &proof_of(&begun.state, caller.user()));
        Ok((McpLogin { url: begun.url, login: begun.id }, proof))
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

    /// The id of the login that was begun here and waits for the answer with this `state`.
    pub fn awaited_mcp_login(&self, state: &str) -> Option<String> {
        self.mcp.awaited_login(state).map(|(_, id)| id)
    }

    /// Ends the login with what comes back, once: from the browser that keeps its `proof`, or from whoever began it
    /// (`caller`), as the command line does.
    pub async fn complete_mcp_login(
        &self,
        state: &str,
        (proof, caller): (Option<&str>, Option<&Caller>),
        answer: LoginAnswer<'_>,
    ) -> Result<McpServer, McpError> {
        let Some((user, _)) = self.mcp.awaited_login(state) else {
            return self.mcp.complete_login(state, answer).await;
        };
        let theirs = caller.is_some_and(|caller| caller.principal.tenant == self.tenant() && caller.user() == user);
        let here = proof.is_some_and(|proof| self.access.is_browser_proof(PURPOSE, &proof_of(state, user), proof));
        if !theirs && !here {
            return Err(McpError::Invalid(
                "this login was begun in another browser, or by somebody else, and nothing was kept of it; begin one in this browser"
                    .to_owned(),
            ));
        }
        let known = self.store.user(self.tenant(), user).await?;
        if !known.is_some_and(|user| user.state() == UserState::Active) {
            return Err(McpError::Invalid("who began this login can't log in any more".to_owned()));
        }
        self.mcp.complete_login(state, answer).await
    }

    /// Private hosts, this machine's network and its files are those of the installation. Its files are kept by their real
    /// paths.
    async fn give_reach(&self, caller: &Caller, server: &mut McpServer) -> AppResult<()> {
        let network = match &server.transport {
            McpTransport::Http { allow, .. } => !allow.is_empty(),
            McpTransport::Stdio { network, .. } => *network,
        };
        if network {
            authorize(caller, Action::Write, Resource::SkillChange { reach: SkillReach::PrivateHosts })?;
        }
        if let McpTransport::Stdio { command, read, write, .. } = &mut server.transport {
            for path in write.iter_mut() {
                let real = self.host_path(caller, "transport.write", path, |found| found.mount(true).map(drop)).await;
                *path = real.map_err(|error| hint_missing(path, error))?.display().to_string();
            }
            // What the program makes itself, where it may write, need not be there yet.
            read.retain(|path| {
                Path::new(path).exists() || !write.iter().any(|folder| Path::new(path).starts_with(folder))
            });
            for path in read.iter_mut() {
                let real = self.host_path(caller, "transport.read", path, |found| found.mount(false).map(drop)).await;
                *path = real.map_err(|error| hint_missing(path, error))?.display().to_string();
            }
            // What it may change itself says nothing about what else it may read.
            let own = |program: &String| write.iter().any(|folder| Path::new(program).starts_with(folder));
            if !command.first().is_some_and(own) {
                self.give_program_places(caller, command, read).await;
            }
        }
        Ok(())
    }

    /// Adds to `read` what a program that is named by its whole path needs to start, where the caller may name that. It is
    /// looked up now and not at each start, so that nobody widens it later by changing a file of it.
    async fn give_program_places(&self, caller: &Caller, command: &mut [String], read: &mut Vec<String>) {
        if authorize(caller, Action::Write, Resource::ServerPaths).is_err() {
            return;
        }
        let Some(program) = command.first_mut() else { return };
        let (rules, named) = (self.documents.places.clone(), program.clone());
        let found = tokio::task::spawn_blocking(move || find_program_places(&rules, &named)).await;
        let Ok(needed) = found else { return };
        for place in needed.read {
            let place = place.display().to_string();
            if read.iter().any(|given| Path::new(&place).starts_with(given)) {
                continue;
            }
            match self.host_path(caller, "transport.read", &place, |found| found.mount(false).map(drop)).await {
                Ok(found) => read.push(found.display().to_string()),
                // The start says what is missing.
                Err(error) => tracing::debug!(place, %error, "a place that a program needs is not given to it"),
            }
        }
        *program = needed.program;
    }
}

/// Says what can be done about a path that isn't there.
fn hint_missing(path: &str, error: AppError) -> AppError {
    if error.kind != ErrorKind::Invalid || Path::new(path).exists() {
        return error;
    }
    let hint = "make it first; or, if the program makes it itself, name the folder that it comes into under `write`";
    AppError::invalid(error.detail.field.as_deref().unwrap_or_default(), error.detail.title.clone(), hint)
}

/// What proofs of browsers are for here.
const PURPOSE: &str = "mcp login";

/// What a proof is of: just this login, and who began it.
fn proof_of(state: &str, user: UserId) -> String {
    format!("{state}\n{user}")
}
