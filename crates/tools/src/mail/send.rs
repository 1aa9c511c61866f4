use super::compose::{self, Message};
use super::{MailAccounts, Purpose, smtp};
use crate::error::{ToolsError, refused};
use crate::handler::{Context, ToolHandler};
use crate::text::given;
use lettre::Address;
use serde::Deserialize;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use steward_core::ports::ToolScope;
use steward_core::tool::{Preview, Receipt, ToolOutput, ToolSpec, Undo};

const MAX_RECIPIENTS: usize = 50;

pub struct MailSend(pub Arc<MailAccounts>);

#[derive(Debug, Clone, Deserialize)]
pub struct SendArgs {
    to: String,
    subject: String,
    body: String,
    cc: Option<String>,
    bcc: Option<String>,
    in_reply_to: Option<String>,
    account: Option<String>,
}

struct Envelope {
    to: Vec<String>,
    cc: Vec<String>,
    bcc: Vec<String>,
    answers: Option<String>,
}

impl Envelope {
    fn read(args: &SendArgs) -> Result<Self, ToolsError> {
        compose::header_safe(&args.subject)?;
        let list = |text: &Option<String>| given(text.as_deref()).map_or(Ok(Vec::new()), compose::recipients);
        let answers = given(args.in_reply_to.as_deref()).map(message_id).transpose()?;
        let envelope = Self { to: compose::recipients(&args.to)?, cc: list(&args.cc)?, bcc: list(&args.bcc)?, answers };
        if envelope.all().count() > MAX_RECIPIENTS {
            return Err(refused!("more than {MAX_RECIPIENTS} recipients; send it to fewer at a time"));
        }
        Ok(envelope)
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.to.iter().chain(&self.cc).chain(&self.bcc)
    }
}

fn message_id(text: &str) -> Result<String, ToolsError> {
    let inner = text.trim_start_matches('<').trim_end_matches('>');
    let fine = inner.len() <= 250
        && inner.contains('@')
        && inner.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>'));
    if fine {
        return Ok(format!("<{inner}>"));
    }
    Err(refused!("`{text}` is no Message-ID; `mail_read` shows it as <…@…>"))
}

fn address(text: &str) -> Result<Address, ToolsError> {
    let bare = compose::bare_address(text);
    bare.parse().map_err(|error| refused!("`{bare}` is no mail address ({error}); write it as name@example.org"))
}

impl ToolHandler for MailSend {
    type Args = SendArgs;
    const NAME: &'static str = "mail_send";

    fn spec(&self) -> ToolSpec {
        self.0.spec(Self::NAME, Purpose::Send)
    }

    async fn preview(&self, args: SendArgs, scope: &ToolScope) -> Result<Preview, ToolsError> {
        let envelope = Envelope::read(&args)?;
        let (account, _) = self.0.account(args.account.as_deref(), scope, Purpose::Send).await?;
        let all: Vec<&str> = envelope.all().map(String::as_str).collect();
        let mut detail = format!("From: {}\nTo: {}\n", account.from, envelope.to.join(", "));
        for (name, list) in [("Cc", &envelope.cc), ("Bcc", &envelope.bcc)] {
            if !list.is_empty() {
                let _ = writeln!(detail, "{name}: {}", list.join(", "));
            }
        }
        let _ = write!(detail, "Subject: {}\n\n{}", args.subject, args.body);
        Ok(Preview {
            summary: format!("sends a mail to {}", all.join(", ")),
            detail: Some(detail),
            count: u64::try_from(all.len()).ok(),
            reversible: false,
        })
    }

    async fn run(&self, args: SendArgs, context: &Context) -> Result<ToolOutput, ToolsError> {
        let envelope = Envelope::read(&args)?;
        let (account, server) = self.0.account(args.account.as_deref(), &context.scope, Purpose::Send).await?;
        let from = address(&account.from)?;
        let to = envelope.all().map(|one| address(one)).collect::<Result<Vec<Address>, _>>()?;
        let id = format!("<{}@{}>", context.stable_id(32), from.domain());
        let message = Message {
            from: Some(&account.from),
            to: &envelope.to,
            cc: &envelope.cc,
            subject: &args.subject,
            body: &args.body,
            id: &id,
            in_reply_to: envelope.answers.as_deref(),
        };
        let message = message.text(&compose::date_header(context)?);
        let login = self.0.login_for(account, context, Self::NAME).await?;
        let prepare = async {
            let (allow, consulted) = (&self.0.config.allow, &context.scope.consulted);
            let mut open = smtp::connect(account, server, login.as_ref(), allow, consulted).await?;
            open.name_recipients(&from, &to).await?;
            Ok::<_, ToolsError>(open)
        };
        let open = tokio::select! {
            open = prepare => open?,
            () = context.halt() => return Err(refused!("stopped while {server} was spoken to; nothing was sent")),
        };
        context.check()?;
        open.deliver(&message).await?;
        let recipients: Vec<String> = to.iter().map(ToString::to_string).collect();
        let object = format!("mail \"{}\" to {}", args.subject, recipients.join(", "));
        Ok(ToolOutput {
            data: Some(json!({
                "message_id": id,
                "from": account.from,
                "to": recipients,
                "subject": args.subject,
                "account": account.name,
            })),
            receipt: Some(Receipt::new("sent", object.clone(), Some(id.clone()))),
            undo: Some(Undo::Impossible { reason: "a mail that was sent can't be called back".to_owned() }),
            ..ToolOutput::text(format!("sent {object}\nMessage-ID: {id}"))
        })
    }
}
