//! What a server remembers of webhooks between their calls.

use crate::dto::hooks::HookRefused;
use secrecy::SecretString;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use steward_core::locks::lock;
use steward_core::ports::HookRow;
use steward_core::{HookId, Timestamp};
use tokio::sync::Notify;

/// So late a server sees what another one changed.
const FRESH: Duration = Duration::from_secs(2);
/// How many webhooks are remembered at a time.
const MOST: usize = 2_000;
/// After so many deliveries old ones are removed without waiting for anything else.
const MANY: u32 = 50;

/// A webhook with its opened secrets.
#[derive(Clone)]
pub(crate) struct KnownHook {
    pub row: Arc<HookRow>,
    pub secrets: Arc<Vec<SecretString>>,
    read_at: Instant,
}

impl KnownHook {
    pub fn new(row: HookRow, secrets: Arc<Vec<SecretString>>) -> Self {
        Self { row: Arc::new(row), secrets, read_at: Instant::now() }
    }
}

#[derive(Default)]
pub(crate) struct HookDoors {
    known: Mutex<HashMap<HookId, KnownHook>>,
    refused: Mutex<HashMap<HookId, HookRefused>>,
    /// How many deliveries were kept since old ones were last removed.
    grown: Mutex<HashMap<HookId, u32>>,
    /// A delivery waits for its run.
    pub delivered: Notify,
    /// Held while secrets are added or removed, since all of a webhook are kept as one.
    pub changing_secrets: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for HookDoors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HookDoors")
    }
}

impl HookDoors {
    pub fn known(&self, id: HookId) -> Option<KnownHook> {
        lock(&self.known).get(&id).filter(|known| known.read_at.elapsed() < FRESH).cloned()
    }

    /// The opened secrets of this version of it, if they are known: they change with it only.
    pub fn secrets_of(&self, row: &HookRow) -> Option<Arc<Vec<SecretString>>> {
        let known = lock(&self.known);
        known.get(&row.id).filter(|known| known.row.revision == row.revision).map(|known| known.secrets.clone())
    }

    pub fn remember(&self, known: KnownHook) {
        let mut all = lock(&self.known);
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(known.row.id, known);
    }

    /// It has changed.
    pub fn forget(&self, id: HookId) {
        lock(&self.known).remove(&id);
    }

    /// One more delivery is kept; `true`: there are so many that old ones are to go now.
    pub fn note_kept(&self, id: HookId) -> bool {
        let mut grown = lock(&self.grown);
        let count = grown.entry(id).or_default();
        *count += 1;
        count.is_multiple_of(MANY)
    }

    /// Webhooks that kept deliveries since this was last asked.
    pub fn take_grown(&self) -> Vec<HookId> {
        std::mem::take(&mut *lock(&self.grown)).into_keys().collect()
    }

    pub fn note_refusal(&self, id: HookId, at: Timestamp, (problem, hint): (&str, &str)) {
        let mut all = lock(&self.refused);
        if all.len() >= MOST && !all.contains_key(&id) {
            all.clear();
        }
        let before = all.get(&id).map_or(0, |one| one.count);
        all.insert(id, HookRefused { at, problem: problem.to_owned(), hint: hint.to_owned(), count: before + 1 });
    }

    pub fn last_refusal(&self, id: HookId) -> Option<HookRefused> {
        lock(&self.refused).get(&id).cloned()
    }
}
