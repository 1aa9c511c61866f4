//! What a server tells unasked: that its list changed, and how far a call has got. What it asks for (a model's
//! answer, a person's input, folders) is declined.

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken};
use rmcp::service::{NotificationContext, RoleClient};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Longest word on progress that is kept, characters.
const WORD: usize = 120;

/// What was heard on a connection.
#[derive(Debug, Default)]
pub(super) struct Heard {
    changes: AtomicU64,
    progress: Mutex<HashMap<ProgressToken, String>>,
}

impl Heard {
    /// Counts the changes of the list.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    fn words(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, String>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to listen to a call's progress; nothing is kept of calls that nobody makes.
    pub fn follow(&self, token: &ProgressToken) {
        self.words().insert(token.clone(), String::new());
    }

    /// Ends it; how far the call got, for an error.
    pub fn leave(&self, token: &ProgressToken) -> String {
        match self.words().remove(token) {
            Some(word) if !word.is_empty() => format!(" (it had got to {word})"),
            _ => String::new(),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Listener {
    pub heard: Arc<Heard>,
}

impl ClientHandler for Listener {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.changes.fetch_add(1, Ordering::AcqRel);
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        if let Some(word) = self.heard.words().get_mut(&params.progress_token) {
            *word = said(&params);
        }
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("steward", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}

fn said(params: &ProgressNotificationParam) -> String {
    let mut word = params.progress.to_string();
    if let Some(total) = params.total {
        word = format!("{word} of {total}");
    }
    if let Some(message) = &params.message {
        word = format!("{word}: {message}");
    }
    word.chars().take(WORD).collect()
}
