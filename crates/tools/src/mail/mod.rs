//! Mail: sent over SMTP, looked at over IMAP, on accounts that the operator has set up.

mod account;
pub(crate) mod compose;
mod desk;
mod imap;
mod link;
mod list;
mod read;
mod send;
mod show;
mod smtp;

pub use account::{MailAccount, MailConfig, MailServer, Security};
pub use desk::{MailDesk, MailPorts};
pub use list::{MailList, MailSearch};
pub use read::MailRead;
pub use send::MailSend;

use crate::dispatcher::DispatcherBuilder;
use std::sync::Arc;

/// Adds what the configured accounts can do: sending where one has an SMTP server, looking where one has
/// an IMAP server.
#[must_use]
pub fn with_mail(mut builder: DispatcherBuilder, config: MailConfig, ports: MailPorts) -> DispatcherBuilder {
    let sends = config.accounts.iter().any(|account| account.smtp.is_some());
    let looks = config.accounts.iter().any(|account| account.imap.is_some());
    let desk = Arc::new(MailDesk::new(config, ports));
    if sends {
        builder = builder.with(MailSend::new(Arc::clone(&desk)));
    }
    if looks {
        builder = builder
            .with(MailList::new(Arc::clone(&desk)))
            .with(MailSearch::new(Arc::clone(&desk)))
            .with(MailRead::new(desk));
    }
    builder
}
