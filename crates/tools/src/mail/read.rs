//! `mail_read`.

use super::desk::{MailDesk, Want};
use super::list::{INBOX, open, unless_halted};
use super::show;
use crate::catalogue;
use crate::credential::Secrets;
use crate::error::ToolsError;
use crate::files::blocking;
use crate::handler::{Context, ToolHandler};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use steward_core::policy::RiskClass;
use steward_core::tool::{EffectClass, ToolError, ToolOutput, ToolSpec};

const NAME: &str = "mail_read";
/// Bytes of a message that are read.
const MOST: usize = 8 << 20;

/// Shows one message. It stays unread.
pub struct MailRead {
    desk: Arc<MailDesk>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ReadArgs {
    uid: u64,
    mailbox: Option<String>,
    account: Option<String>,
}

impl MailRead {
    pub fn new(desk: Arc<MailDesk>) -> Self {
        Self { desk }
    }

    async fn read(&self, args: ReadArgs, context: &Context, secrets: &mut Secrets) -> Result<ToolOutput, ToolsError> {
        let mut session = open(&self.desk, args.account.as_deref(), context, NAME, secrets).await?;
        let mailbox = args.mailbox.as_deref().unwrap_or(INBOX);
        session.examine(mailbox).await?;
        let found = session.message(args.uid, MOST).await?;
        session.leave().await;
        let Some(message) = found else {
            return Err(ToolsError::Refused(format!(
                "{mailbox} has no message {}; `mail_list` and `mail_search` show the uids that there are",
                args.uid
            )));
        };
        let offset = context.scope.utc_offset_minutes;
        let (text, data, sender) = blocking(move || Ok(show::message(&message, offset))).await?;
        Ok(ToolOutput {
            data: Some(data),
            tainted: true,
            origin: Some(show::origin(&[sender])),
            ..ToolOutput::text(text)
        })
    }
}

impl ToolHandler for MailRead {
    type Args = ReadArgs;

    fn spec(&self) -> ToolSpec {
        let properties = json!({
            "uid": {"type": "integer", "minimum": 1, "description": "The number in brackets that mail_list and mail_search show"},
            "mailbox": {"type": "string", "maxLength": 200, "description": "Which mailbox; INBOX if left out"},
        });
        let schema = self.desk.schema(Want::Look, properties, &["uid"]);
        catalogue::spec(NAME, RiskClass::Read, EffectClass::Read, schema)
    }

    async fn run(&self, args: ReadArgs, context: &Context) -> Result<ToolOutput, ToolError> {
        let mut secrets = Secrets::default();
        let result = unless_halted(context, self.read(args, context, &mut secrets)).await;
        secrets.clean(result)
    }
}
