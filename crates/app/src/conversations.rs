use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize, listed_owner};
use crate::dto::conversations::{Conversation as ConversationView, ConversationDetail, Message as MessageView};
use crate::dto::runs::Run;
use crate::inputs::is_line;
use futures::future::try_join_all;
use steward_core::ports::{
    ApprovalFilter, Conversation, ConversationFilter, Conversations as _, RunFilter, RunRow, RunStatus, RunStore as _,
};
use steward_core::{AgentId, ConversationId, RunId, message, ports};

const MAX_TITLE: usize = 200;
/// Runs that a conversation is shown with, the newest.
const RUNS_SHOWN: u32 = 100;

#[derive(Debug, Default)]
pub struct ConversationSearch {
    /// In the title or a message.
    pub text: Option<String>,
    pub agent: Option<AgentId>,
    /// Only deleted ones; else only others.
    pub deleted: bool,
    pub before: Option<ConversationId>,
    pub limit: u32,
}

impl App {
    /// The caller's own, newest first; operators also see those of nobody.
    pub async fn conversations(
        &self,
        caller: &Caller,
        search: ConversationSearch,
    ) -> AppResult<ports::Page<ConversationView>> {
        authorize(caller, Action::Read, Resource::Conversations)?;
        let filter = ConversationFilter {
            user: Some(caller.user()),
            nobody: listed_owner(caller, Resource::Conversations).is_none(),
            agent: search.agent,
            text: search.text.filter(|text| !text.trim().is_empty()),
            deleted: search.deleted,
            before: search.before,
            limit: search.limit,
        };
        let page = self.store.conversations(self.tenant(), filter).await?;
        Ok(ports::Page { items: self.show_conversations(page.items).await?, more: page.more })
    }

    /// With its messages and its newest 100 runs, oldest first.
    pub async fn conversation(&self, caller: &Caller, id: ConversationId) -> AppResult<ConversationDetail> {
        let row = self.conversation_of(caller, Action::Read, id).await?;
        let messages = self.store.messages(self.tenant(), id).await?;
        let filter = RunFilter { conversation: Some(id), limit: RUNS_SHOWN, ..RunFilter::default() };
        let mut runs = self.store.runs(self.tenant(), filter).await?.items;
        runs.reverse();
        let names = self.agent_names(runs.iter().map(|run| run.agent).collect()).await?;
        Ok(ConversationDetail {
            conversation: self.show_conversation(row).await?,
            messages: messages
                .into_iter()
                .filter(|message| matches!(message.role, message::Role::User | message::Role::Assistant))
                .map(MessageView::from)
                .collect(),
            runs: runs.into_iter().map(|run| Run::named(names.get(run.agent), run)).collect(),
        })
    }

    pub async fn rename_conversation(
        &self,
        caller: &Caller,
        id: ConversationId,
        title: &str,
    ) -> AppResult<ConversationView> {
        self.conversation_of(caller, Action::Operate, id).await?;
        let title = title.trim();
        if !is_line(title, MAX_TITLE) {
            return Err(AppError::invalid(
                "title",
                format!("a title has 1 to {MAX_TITLE} characters on one line"),
                "choose another title",
            ));
        }
        self.store.rename_conversation(self.tenant(), id, title, self.now()).await?;
        let row = self.store.conversation(self.tenant(), id).await?;
        self.show_conversation(row).await
    }

    /// It can be restored, and its runs stay.
    pub async fn delete_conversation(&self, caller: &Caller, id: ConversationId) -> AppResult<()> {
        self.conversation_of(caller, Action::Operate, id).await?;
        if let Some(run) = self.open_run(id).await? {
            return Err(AppError::conflict(
                "conversation_busy",
                format!("run {} of this conversation has not ended", run.id),
                "stop the run first, or wait for its end",
            )
            .run(run.id));
        }
        Ok(self.store.mark_deleted(self.tenant(), id, Some(self.now())).await?)
    }

    pub async fn restore_conversation(&self, caller: &Caller, id: ConversationId) -> AppResult<ConversationView> {
        self.conversation_of(caller, Action::Operate, id).await?;
        self.store.mark_deleted(self.tenant(), id, None).await?;
        let row = self.store.conversation(self.tenant(), id).await?;
        self.show_conversation(row).await
    }

    pub async fn fork_conversation(
        &self,
        caller: &Caller,
        id: ConversationId,
        before: Option<RunId>,
    ) -> AppResult<ConversationView> {
        let from = self.conversation_of(caller, Action::Operate, id).await?;
        if from.deleted_at.is_some() {
            return Err(AppError::conflict("deleted", format!("conversation {id} is deleted"), "restore it first"));
        }
        if let Some(run) = before {
            let row = self.store.run(self.tenant(), run).await?;
            if row.conversation != Some(id) {
                return Err(AppError::invalid(
                    "before_run",
                    format!("run {run} does not belong to this conversation"),
                    "take a run of the conversation, or leave it out to take everything along",
                ));
            }
        }
        let row = self.copy_conversation(caller, from, before).await?;
        self.show_conversation(row).await
    }

    /// A conversation of the caller, deleted or not.
    pub(crate) async fn conversation_of(
        &self,
        caller: &Caller,
        action: Action,
        id: ConversationId,
    ) -> AppResult<Conversation> {
        authorize(caller, action, Resource::Conversations)?;
        let row = self.store.conversation(self.tenant(), id).await?;
        authorize(caller, action, Resource::Conversation { id, owner: row.user })?;
        Ok(row)
    }

    /// Branches off `from` for the caller, with what was said before `before`.
    pub(crate) async fn copy_conversation(
        &self,
        caller: &Caller,
        from: Conversation,
        before: Option<RunId>,
    ) -> AppResult<Conversation> {
        let now = self.now();
        let copy = Conversation {
            id: ConversationId(self.new_id()),
            user: Some(caller.user()),
            created_at: now,
            updated_at: now,
            deleted_at: None,
            forked_from: Some(from.id),
            ..from
        };
        self.store.fork_conversation(self.tenant(), from.id, before, &copy).await?;
        Ok(copy)
    }

    /// A conversation whose first run could not begin is of no use to anybody.
    pub(crate) async fn discard_conversation(&self, id: ConversationId) {
        let now = self.now();
        if let Err(error) = self.store.mark_deleted(self.tenant(), id, Some(now)).await {
            tracing::warn!(conversation = %id, %error, "an empty conversation stays");
        }
    }

    /// The run of a conversation that has not ended. A conversation has one run at a time, so it is the newest.
    async fn open_run(&self, conversation: ConversationId) -> AppResult<Option<RunRow>> {
        let filter = RunFilter { conversation: Some(conversation), limit: 1, ..RunFilter::default() };
        let newest = self.store.runs(self.tenant(), filter).await?.items.pop();
        Ok(newest.filter(|row| row.status != RunStatus::Finished))
    }

    /// Whether a person is asked by `run`: one that is parked may as well wait for the hour of a busy provider.
    async fn waits(&self, run: Option<&RunRow>) -> AppResult<bool> {
        let Some(run) = run.filter(|run| run.status == RunStatus::Parked) else {
            return Ok(false);
        };
        let filter = ApprovalFilter { open: true, run: Some(run.id), limit: 1, ..ApprovalFilter::default() };
        Ok(!self.store.approvals(self.tenant(), filter).await?.items.is_empty())
    }

    async fn show_conversations(&self, rows: Vec<Conversation>) -> AppResult<Vec<ConversationView>> {
        let names = self.agent_names(rows.iter().map(|row| row.agent).collect()).await?;
        try_join_all(rows.into_iter().map(|row| self.show_named(names.get(row.agent), row))).await
    }

    async fn show_conversation(&self, row: Conversation) -> AppResult<ConversationView> {
        let names = self.agent_names(vec![row.agent]).await?;
        self.show_named(names.get(row.agent), row).await
    }

    async fn show_named(&self, agent: Option<String>, row: Conversation) -> AppResult<ConversationView> {
        let open = self.open_run(row.id).await?;
        let waits = self.waits(open.as_ref()).await?;
        Ok(ConversationView::named(agent, row, open.as_ref(), waits))
    }
}
