//! Users: who may log in, as what. Only administrators see and change them.

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::users::{EndedSessions, InvitedUser, User, UserDetail, UserInput, UserPatch};
use crate::inputs::{check_search, given};
use steward_access::{AccessError, LOCAL_USER};
use steward_core::UserId;
use steward_core::ports::{self, StoreError, UserChange, UserFilter, UserState};

impl App {
    /// By email, those after `after`.
    pub async fn users(
        &self,
        caller: &Caller,
        filter: UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> AppResult<ports::Page<User>> {
        authorize(caller, Action::Administer, Resource::Users)?;
        check_search(filter.text.as_deref())?;
        let text = given(filter.text.as_deref()).map(str::to_owned);
        let page = self.access.users(&UserFilter { text, ..filter }, after, limit).await?;
        Ok(ports::Page { items: page.items.into_iter().map(User::from).collect(), more: page.more })
    }

    pub async fn user(&self, caller: &Caller, id: UserId) -> AppResult<UserDetail> {
        authorize(caller, Action::Administer, Resource::Users)?;
        let user = self.access.user(id).await?;
        let sessions = self.access.sessions(id).await?.len();
        Ok(UserDetail { user: user.into(), sessions })
    }

    /// Makes a user without a password, and the token by which they choose one. It is not kept anywhere.
    pub async fn invite_user(&self, caller: &Caller, input: UserInput) -> AppResult<InvitedUser> {
        authorize(caller, Action::Administer, Resource::Users)?;
        let (user, issued) = self.access.invite(&input.email, input.name.as_deref(), input.role).await?;
        tracing::info!(user = %user.id, role = user.role.as_str(), by = %caller.user(), "user invited");
        Ok(InvitedUser::new(user, issued))
    }

    /// A new token in the place of the one before: also for somebody who has forgotten their password.
    pub async fn renew_invitation(&self, caller: &Caller, id: UserId) -> AppResult<InvitedUser> {
        self.changeable_user(caller, id).await?;
        let (user, issued) = self.access.renew_invitation(id).await?;
        tracing::info!(user = %id, by = %caller.user(), "invitation renewed");
        Ok(InvitedUser::new(user, issued))
    }

    /// In force at their next request.
    pub async fn change_user(&self, caller: &Caller, id: UserId, patch: UserPatch) -> AppResult<User> {
        let user = self.changeable_user(caller, id).await?;
        let role = patch.role.filter(|role| *role != user.role);
        let disabled = patch.disabled.filter(|disabled| *disabled != user.is_disabled());
        if id == caller.user() && (role.is_some() || disabled.is_some()) {
            return Err(AppError::conflict(
                "own_account",
                "nobody changes their own role, or disables themselves",
                "let another administrator do it",
            ));
        }
        let change = UserChange {
            name: patch.name,
            role,
            disabled_at: disabled.map(|disabled| disabled.then(|| self.now())),
            ..UserChange::default()
        };
        if change == UserChange::default() {
            return Ok(user.into());
        }
        let user = self.access.change_user(id, change).await?;
        tracing::info!(
            user = %id,
            role = user.role.as_str(),
            state = user.state().as_str(),
            by = %caller.user(),
            "user changed"
        );
        Ok(user.into())
    }

    /// For good, with their keys, their budgets and what agents keep for them; their runs stay. Only somebody who is
    /// disabled or has never accepted.
    pub async fn remove_user(&self, caller: &Caller, id: UserId) -> AppResult<()> {
        let user = self.changeable_user(caller, id).await?;
        if id == caller.user() {
            return Err(AppError::conflict(
                "own_account",
                "nobody removes themselves",
                "let another administrator do it",
            ));
        }
        if user.state() == UserState::Active {
            return Err(active(&user.email));
        }
        // What agents keep for them goes with the account.
        if let Some(hold) = self.hold_on(&self.kept_retention().await?, id).await? {
            return Err(AppError::conflict("held", hold, "lift the hold first, or leave the account disabled"));
        }
        self.access.remove_user(id).await.map_err(|error| match error {
            // Enabled, or accepted, a moment ago.
            AccessError::Store(StoreError::Conflict(_)) => active(&user.email),
            other => other.into(),
        })?;
        if let Err(error) = self.remove_kept(id).await {
            tracing::warn!(user = %id, %error, "databases or the calendar of a removed user stay");
        }
        if let Err(error) = self.mcp.forget_user(self.tenant(), id).await {
            tracing::warn!(user = %id, %error, "logins or folders of a removed user at MCP servers stay");
        }
        tracing::info!(user = %id, by = %caller.user(), "user removed");
        Ok(())
    }

    /// Logs somebody out everywhere. Their keys stay good.
    pub async fn end_user_sessions(&self, caller: &Caller, id: UserId) -> AppResult<EndedSessions> {
        authorize(caller, Action::Administer, Resource::Users)?;
        self.access.user(id).await?;
        let ended = self.access.end_sessions(id).await?;
        tracing::info!(user = %id, ended, by = %caller.user(), "sessions ended");
        Ok(EndedSessions { ended })
    }

    /// Their sessions end too: whoever took app and password is out.
    pub async fn reset_second_factor(&self, caller: &Caller, id: UserId) -> AppResult<()> {
        self.changeable_user(caller, id).await?;
        if !self.access.reset_second_factor(id).await? {
            return Err(AppError::not_found(format!("a second factor of user {id}")));
        }
        self.access.end_sessions(id).await?;
        tracing::info!(user = %id, by = %caller.user(), "second factor reset");
        Ok(())
    }

    async fn changeable_user(&self, caller: &Caller, id: UserId) -> AppResult<ports::User> {
        authorize(caller, Action::Administer, Resource::Users)?;
        let user = self.access.user(id).await?;
        if user.email == LOCAL_USER {
            return Err(AppError::conflict(
                "built_in",
                format!("{LOCAL_USER} stands for the programs of this machine's owner and can't be changed"),
                "to shut them out, stop the server and delete the file `api-key` in the data directory",
            ));
        }
        Ok(user)
    }
}

fn active(email: &str) -> AppError {
    AppError::conflict("user_active", format!("{email} is active"), "disable them first, then remove them")
}
