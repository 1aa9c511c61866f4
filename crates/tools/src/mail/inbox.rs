use super::imap::{self, Header, ImapSession, MailQuery};
use super::{MailAccounts, Purpose, render};
use crate::credential::{CredentialUser, Secrets};
use crate::error::{ToolsError, refused};
use crate::files::blocking;
use crate::handler::{Context, ToolHandler};
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use steward_core::tool::{ToolOutput, ToolSpec};

const DEFAULT_MESSAGES: u64 = 20;
const MAX_MESSAGES: u64 = 100;
pub(super) const INBOX: &str = "INBOX";

pub struct MailList(pub Arc<MailAccounts>);

#[derive(Debug, Clone, Deserialize)]
pub struct ListArgs {
    mailbox: Option<String>,
    unread: Option<bool>,
    count: Option<u64>,
    account: Option<String>,
}

pub struct MailSearch(pub Arc<MailAccounts>);

#[derive(Debug, Clone, Deserialize)]
pub struct SearchArgs {
    text: Option<String>,
    from: Option<String>,
    subject: Option<String>,
    since: Option<String>,
    before: Option<String>,
    unread: Option<bool>,
    mailbox: Option<String>,
    count: Option<u64>,
    account: Option<String>,
}

pub(super) async fn open_session(
    accounts: &MailAccounts,
    account: Option<&str>,
    context: &Context,
    tool: &str,
    secrets: &mut Secrets,
) -> Result<ImapSession, ToolsError> {
    let account = accounts.account(account, &context.scope, Purpose::Read).await?;
    let server =
        account.imap.as_ref().ok_or_else(|| refused!("the mail account {} has no IMAP server", account.name))?;
    let login = accounts.login(account, CredentialUser::tool(&context.scope, tool), secrets).await?;
    imap::connect(account, server, login.as_ref(), &accounts.config.allow).await
}

async fn unless_halted<T>(
    context: &Context,
    work: impl Future<Output = Result<T, ToolsError>>,
) -> Result<T, ToolsError> {
    tokio::select! {
        done = work => done,
        () = context.halt() => Err(ToolsError::refused(
            "stopped before the mail server had answered; nothing was changed",
        )),
    }
}

fn count(asked: Option<u64>) -> u64 {
    asked.unwrap_or(DEFAULT_MESSAGES).clamp(1, MAX_MESSAGES)
}

fn list_output(mailbox: &str, headers: &[Header], total: u64, what: &str, offset: i32) -> ToolOutput {
    if headers.is_empty() {
        return ToolOutput::text(format!("{mailbox} has no {what}"));
    }
    let (list, rows, senders) = render::list_messages(headers, offset);
    let text = format!("{} of {total} {what} in {mailbox}, newest first\n{list}", headers.len());
    ToolOutput {
        data: Some(json!({"mailbox": mailbox, "total": total, "messages": rows})),
        tainted: true,
        origin: Some(render::origin(&senders)),
        ..ToolOutput::text(text.trim_end())
    }
}

async fn search_headers(
    session: &mut ImapSession,
    wanted: &MailQuery,
    most: u64,
) -> Result<(Vec<Header>, u64), ToolsError> {
    let uids = session.search(wanted).await?;
    let from = uids.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
    let headers = session.headers(&uids[from..]).await?;
    Ok((headers, u64::try_from(uids.len()).unwrap_or(u64::MAX)))
}

impl MailList {
    async fn list(&self, args: ListArgs, context: &Context, secrets: &mut Secrets) -> Result<ToolOutput, ToolsError> {
        let account = args.account.as_deref();
        let mut session = open_session(&self.0, account, context, Self::NAME, secrets).await?;
        let mailbox = args.mailbox.as_deref().unwrap_or(INBOX);
        let exists = session.examine(mailbox).await?;
        let most = count(args.count);
        let offset = context.scope.utc_offset_minutes;
        let done = if args.unread == Some(true) {
            let wanted = MailQuery { unread: true, ..MailQuery::default() };
            let (headers, total) = search_headers(&mut session, &wanted, most).await?;
            list_output(mailbox, &headers, total, "unread messages", offset)
        } else {
            let headers = session.latest(exists, most).await?;
            list_output(mailbox, &headers, exists, "messages", offset)
        };
        session.logout().await;
        Ok(done)
    }
}

impl ToolHandler for MailList {
    type Args = ListArgs;
    const NAME: &'static str = "mail_list";

    fn spec(&self) -> ToolSpec {
        self.0.spec(Self::NAME, Purpose::Read)
    }

    async fn run(&self, args: ListArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let mut secrets = Secrets::default();
        let result = unless_halted(context, self.list(args, context, &mut secrets)).await;
        secrets.clean(result)
    }
}

impl MailSearch {
    async fn search(
        &self,
        args: SearchArgs,
        context: &Context,
        secrets: &mut Secrets,
    ) -> Result<ToolOutput, ToolsError> {
        let wanted = query_of(&args)?;
        let account = args.account.as_deref();
        let mut session = open_session(&self.0, account, context, Self::NAME, secrets).await?;
        let mailbox = args.mailbox.as_deref().unwrap_or(INBOX);
        session.examine(mailbox).await?;
        let (headers, total) = search_headers(&mut session, &wanted, count(args.count)).await?;
        session.logout().await;
        let offset = context.scope.utc_offset_minutes;
        Ok(list_output(mailbox, &headers, total, "messages that fit", offset))
    }
}

fn query_of(args: &SearchArgs) -> Result<MailQuery, ToolsError> {
    let text = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        match text {
            Some(text) if text.chars().any(char::is_control) => {
                Err(ToolsError::refused("what to search for is a single line without control characters"))
            }
            other => Ok(other.map(str::to_owned)),
        }
    };
    let day = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        text.map(|text| {
            let day: Date = text.parse().map_err(|_| refused!("`{text}` is no day; write it as YYYY-MM-DD"))?;
            Ok::<_, ToolsError>(day.strftime("%-d-%b-%Y").to_string())
        })
        .transpose()
    };
    let wanted = MailQuery {
        from: text(&args.from)?,
        subject: text(&args.subject)?,
        text: text(&args.text)?,
        since: day(&args.since)?,
        before: day(&args.before)?,
        unread: args.unread == Some(true),
    };
    let nothing = [&wanted.from, &wanted.subject, &wanted.text, &wanted.since, &wanted.before];
    if nothing.iter().all(|one| one.is_none()) && !wanted.unread {
        return Err(ToolsError::refused(
            "say what to search for: text, from, subject, since or before; `mail_list` shows the latest mail",
        ));
    }
    Ok(wanted)
}

impl ToolHandler for MailSearch {
    type Args = SearchArgs;
    const NAME: &'static str = "mail_search";

    fn spec(&self) -> ToolSpec {
        self.0.spec(Self::NAME, Purpose::Read)
    }

    async fn run(&self, args: SearchArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let mut secrets = Secrets::default();
        let result = unless_halted(context, self.search(args, context, &mut secrets)).await;
        secrets.clean(result)
    }
}

const MESSAGE_BYTES: usize = 8 << 20;

/// Shows one message, without marking it as read.
pub struct MailRead(pub Arc<MailAccounts>);

#[derive(Debug, Clone, Deserialize)]
pub struct ReadArgs {
    uid: u64,
    mailbox: Option<String>,
    account: Option<String>,
}

impl MailRead {
    async fn read(&self, args: ReadArgs, context: &Context, secrets: &mut Secrets) -> Result<ToolOutput, ToolsError> {
        let mut session = open_session(&self.0, args.account.as_deref(), context, Self::NAME, secrets).await?;
        let mailbox = args.mailbox.as_deref().unwrap_or(INBOX);
        session.examine(mailbox).await?;
        let found = session.message(args.uid, MESSAGE_BYTES).await?;
        session.logout().await;
        let Some(message) = found else {
            return Err(refused!(
                "{mailbox} has no message {}; `mail_list` and `mail_search` show the uids that there are",
                args.uid
            ));
        };
        let offset = context.scope.utc_offset_minutes;
        let (text, data, sender) = blocking(move || Ok(render::render_message(&message, offset))).await?;
        Ok(ToolOutput {
            data: Some(data),
            tainted: true,
            origin: Some(render::origin(&[sender])),
            ..ToolOutput::text(text)
        })
    }
}

impl ToolHandler for MailRead {
    type Args = ReadArgs;
    const NAME: &'static str = "mail_read";

    fn spec(&self) -> ToolSpec {
        self.0.spec(Self::NAME, Purpose::Read)
    }

    async fn run(&self, args: ReadArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let mut secrets = Secrets::default();
        let result = unless_halted(context, self.read(args, context, &mut secrets)).await;
        secrets.clean(result)
    }
}
