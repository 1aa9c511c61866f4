//! The connections that the router knows, and the child processes of local models.

use super::errors;
use crate::exam;
use crate::local::{Endpoint, LocalModelError, Supervisor};
use crate::openai::LocalModels;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use steward_core::ConnectionId;
use steward_core::exam::{ExamReport, Grade};
use steward_core::model::{Connection, ModelError, ModelErrorClass};
use steward_core::routing::Task;

#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionSet {
    pub connections: Vec<Connection>,
    pub default: Option<ConnectionId>,
    pub reports: BTreeMap<(String, String), BTreeMap<Task, Grade>>,
}

impl ConnectionSet {
    pub fn find(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.iter().find(|connection| connection.id == id)
    }

    pub fn system_default(&self) -> Option<&Connection> {
        self.default.and_then(|id| self.find(id)).or_else(|| self.connections.first())
    }

    pub fn set_reports(&mut self, reports: Vec<ExamReport>) {
        let place = |report: &ExamReport| (exam::without_slash(&report.endpoint).to_owned(), report.model.clone());
        self.reports = reports.into_iter().map(|report| (place(&report), report.grades)).collect();
    }

    /// `None` if no exam covered this kind of request.
    pub fn grade(&self, connection: &Connection, task: Task) -> Option<Grade> {
        let grades = self.reports.get(&(exam::endpoint(connection), connection.model.clone()))?;
        grades.get(&task).copied()
    }

    pub fn resolve(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError> {
        match wanted {
            None => self.system_default().cloned().ok_or_else(errors::no_connection),
            Some(id) => self.find(id).cloned().ok_or_else(|| self.unknown(id)),
        }
    }

    pub fn unknown(&self, id: ConnectionId) -> ModelError {
        let names: Vec<&str> = self.connections.iter().map(|c| c.name.as_str()).collect();
        let hint = if names.is_empty() {
            errors::no_connection().hint
        } else {
            format!("choose one of: {}; `steward connections` shows them", names.join(", "))
        };
        ModelError::new(
            ModelErrorClass::UnknownModel,
            format!("there is no connection {id}; it may have been removed"),
            hint,
        )
    }
}

type Make = dyn Fn(&str) -> Supervisor + Send + Sync;

/// One child process per model file, each started at first use.
pub struct LocalChildren {
    make: Box<Make>,
    running: Mutex<BTreeMap<String, Arc<Supervisor>>>,
}

impl LocalChildren {
    /// `make` builds the supervisor of a model's path; each needs its own `run_dir`.
    pub fn new(make: impl Fn(&str) -> Supervisor + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), running: Mutex::default() }
    }

    pub fn supervisor(&self, path: &str) -> Arc<Supervisor> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(running.entry(path.to_owned()).or_insert_with(|| Arc::new((self.make)(path))))
    }

    pub async fn stop(&self) {
        let all: Vec<_> = self.running.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        for supervisor in all {
            supervisor.stop().await;
        }
    }
}

#[async_trait]
impl LocalModels for LocalChildren {
    async fn endpoint(&self, path: &str) -> Result<Endpoint, LocalModelError> {
        self.supervisor(path).endpoint().await
    }
}
