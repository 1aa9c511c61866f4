//! `mail_list`, `mail_search`, `mail_read`: each opens a mailbox, looks, and leaves it as it was.

use super::imap::{self, Header, ImapSession, MailQuery};
use super::{MailAccounts, Purpose, render};
use crate::error::{ToolsError, refused};
use crate::files::blocking;
use crate::handler::{Context, ToolHandler};
use crate::text::given;
use jiff::civil::Date;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::marker::PhantomData;
use std::sync::Arc;
use steward_core::provenance::Provenance;
use steward_core::tool::{ToolOutput, ToolSpec};

const DEFAULT_MESSAGES: u64 = 20;
const MAX_MESSAGES: u64 = 100;
const INBOX: &str = "INBOX";

/// What a tool asks of a mailbox: the arguments of the tool.
pub(super) trait MailboxRequest: DeserializeOwned + Send + Sync + 'static {
    const TOOL: &'static str;

    /// Refuses a request that can't be answered, before the server is asked.
    fn check(&self) -> Result<(), ToolsError> {
        Ok(())
    }

    fn answer(
        self,
        mailbox: &mut OpenMailbox,
        context: &Context,
    ) -> impl Future<Output = Result<ToolOutput, ToolsError>> + Send;
}

#[derive(Debug, Deserialize)]
pub(super) struct MailboxArgs<R> {
    mailbox: Option<String>,
    account: Option<String>,
    #[serde(flatten)]
    request: R,
}

pub(super) struct OpenMailbox {
    session: ImapSession,
    name: String,
    /// How many messages it has.
    exists: u64,
}

pub(super) struct MailboxTool<R> {
    accounts: Arc<MailAccounts>,
    request: PhantomData<R>,
}

impl<R: MailboxRequest> MailboxTool<R> {
    pub fn new(accounts: &Arc<MailAccounts>) -> Self {
        Self { accounts: Arc::clone(accounts), request: PhantomData }
    }

    async fn look(&self, args: MailboxArgs<R>, context: &Context) -> Result<ToolOutput, ToolsError> {
        args.request.check()?;
        let (account, server) = self.accounts.account(args.account.as_deref(), &context.scope, Purpose::Read).await?;
        let login = self.accounts.login_for(account, context, R::TOOL).await?;
        let (allow, consulted) = (&self.accounts.config.allow, &context.scope.consulted);
        let mut session = imap::connect(account, server, login.as_ref(), allow, consulted).await?;
        let name = args.mailbox.unwrap_or_else(|| INBOX.to_owned());
        let exists = session.examine(&name).await?;
        let mut mailbox = OpenMailbox { session, name, exists };
        let output = args.request.answer(&mut mailbox, context).await;
        mailbox.session.logout().await;
        output
    }
}

impl<R: MailboxRequest> ToolHandler for MailboxTool<R> {
    type Args = MailboxArgs<R>;
    const NAME: &'static str = R::TOOL;

    fn spec(&self) -> ToolSpec {
        self.accounts.spec(Self::NAME, Purpose::Read)
    }

    async fn run(&self, args: MailboxArgs<R>, context: &Context) -> Result<ToolOutput, ToolsError> {
        tokio::select! {
            done = self.look(args, context) => done,
            () = context.halt() => Err(ToolsError::refused(
                "stopped before the mail server had answered; nothing was changed",
            )),
        }
    }
}

impl OpenMailbox {
    async fn search(&mut self, wanted: &MailQuery, most: u64) -> Result<(Vec<Header>, u64), ToolsError> {
        let uids = self.session.search(wanted).await?;
        let from = uids.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
        let headers = self.session.headers(&uids[from..]).await?;
        Ok((headers, u64::try_from(uids.len()).unwrap_or(u64::MAX)))
    }

    fn list(&self, headers: &[Header], total: u64, what: &str, context: &Context) -> ToolOutput {
        let mailbox = &self.name;
        if headers.is_empty() {
            return ToolOutput::text(format!("{mailbox} has no {what}"));
        }
        let (list, rows, senders) = render::list_messages(headers, context.scope.utc_offset_minutes);
        let text = format!("{} of {total} {what} in {mailbox}, newest first\n{list}", headers.len());
        ToolOutput {
            data: Some(json!({"mailbox": mailbox, "total": total, "messages": rows})),
            provenance: Provenance::from_outside(&render::origin(&senders)),
            ..ToolOutput::text(text.trim_end())
        }
    }
}

fn count(asked: Option<u64>) -> u64 {
    asked.unwrap_or(DEFAULT_MESSAGES).clamp(1, MAX_MESSAGES)
}

#[derive(Debug, Deserialize)]
pub(super) struct ListArgs {
    unread: Option<bool>,
    count: Option<u64>,
}

impl MailboxRequest for ListArgs {
    const TOOL: &'static str = "mail_list";

    async fn answer(self, mailbox: &mut OpenMailbox, context: &Context) -> Result<ToolOutput, ToolsError> {
        let most = count(self.count);
        if self.unread == Some(true) {
            let wanted = MailQuery { unread: true, ..MailQuery::default() };
            let (headers, total) = mailbox.search(&wanted, most).await?;
            return Ok(mailbox.list(&headers, total, "unread messages", context));
        }
        let headers = mailbox.session.latest(mailbox.exists, most).await?;
        Ok(mailbox.list(&headers, mailbox.exists, "messages", context))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct SearchArgs {
    text: Option<String>,
    from: Option<String>,
    subject: Option<String>,
    since: Option<String>,
    before: Option<String>,
    unread: Option<bool>,
    count: Option<u64>,
}

impl SearchArgs {
    fn query(&self) -> Result<MailQuery, ToolsError> {
        let mut wanted = MailQuery { unread: self.unread == Some(true), ..MailQuery::default() };
        for (key, value) in [("FROM", &self.from), ("SUBJECT", &self.subject), ("TEXT", &self.text)] {
            let Some(text) = given(value.as_deref()) else { continue };
            if text.chars().any(char::is_control) {
                return Err(ToolsError::refused("what to search for is a single line without control characters"));
            }
            wanted.texts.push((key, text.to_owned()));
        }
        for (key, value) in [("SINCE", &self.since), ("BEFORE", &self.before)] {
            let Some(text) = given(value.as_deref()) else { continue };
            let day: Date = text.parse().map_err(|_| refused!("`{text}` is no day; write it as YYYY-MM-DD"))?;
            wanted.days.push((key, day));
        }
        if wanted == MailQuery::default() {
            return Err(ToolsError::refused(
                "say what to search for: text, from, subject, since or before; `mail_list` shows the latest mail",
            ));
        }
        Ok(wanted)
    }
}

impl MailboxRequest for SearchArgs {
    const TOOL: &'static str = "mail_search";

    fn check(&self) -> Result<(), ToolsError> {
        self.query().map(|_| ())
    }

    async fn answer(self, mailbox: &mut OpenMailbox, context: &Context) -> Result<ToolOutput, ToolsError> {
        let (headers, total) = mailbox.search(&self.query()?, count(self.count)).await?;
        Ok(mailbox.list(&headers, total, "messages that fit", context))
    }
}

const MESSAGE_BYTES: usize = 8 << 20;

/// Shows one message, without marking it as read.
#[derive(Debug, Deserialize)]
pub(super) struct ReadArgs {
    uid: u64,
}

impl MailboxRequest for ReadArgs {
    const TOOL: &'static str = "mail_read";

    async fn answer(self, mailbox: &mut OpenMailbox, context: &Context) -> Result<ToolOutput, ToolsError> {
        let Some(message) = mailbox.session.message(self.uid, MESSAGE_BYTES).await? else {
            return Err(refused!(
                "{} has no message {}; `mail_list` and `mail_search` show the uids that there are",
                mailbox.name,
                self.uid
            ));
        };
        let offset = context.scope.utc_offset_minutes;
        let (text, data, sender) = blocking(move || Ok(render::render_message(&message, offset))).await?;
        Ok(ToolOutput {
            data: Some(data),
            provenance: Provenance::from_outside(&render::origin(&[sender])),
            ..ToolOutput::text(text)
        })
    }
}
