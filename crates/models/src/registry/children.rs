use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use crate::local::{Endpoint, LocalModelError, Supervisor};
use crate::openai::LocalModels;

type Make = dyn Fn(&str) -> Supervisor + Send + Sync;

/// One child per model file, each started when it is first asked.
pub struct LocalChildren {
    make: Box<Make>,
    running: Mutex<BTreeMap<String, Arc<Supervisor>>>,
}

impl LocalChildren {
    /// `make` gives the supervisor of the model at a path; each needs a `run_dir` of its own.
    pub fn new(make: impl Fn(&str) -> Supervisor + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), running: Mutex::default() }
    }

    /// The supervisor of the model at `path`.
    pub fn supervisor(&self, path: &str) -> Arc<Supervisor> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = running.get(path) {
            return Arc::clone(known);
        }
        let made = Arc::new((self.make)(path));
        running.insert(path.to_owned(), Arc::clone(&made));
        made
    }

    /// Stops all children.
    pub async fn stop(&self) {
        let all: Vec<_> = {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.values().cloned().collect()
        };
        for supervisor in all {
            supervisor.stop().await;
        }
    }
}

impl std::fmt::Debug for LocalChildren {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalChildren")
    }
}

#[async_trait]
impl LocalModels for LocalChildren {
    async fn endpoint(&self, path: &str) -> Result<Endpoint, LocalModelError> {
        self.supervisor(path).endpoint().await
    }
}
