use std::collections::BTreeMap;

use steward_core::ConnectionId;
use steward_core::exam::{ExamReport, Grade};
use steward_core::model::{Connection, ModelError, ModelErrorClass, Provider};
use steward_core::routing::Task;

use super::words;

/// What the router was told: connections, the default among them, and report cards.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub connections: Vec<Connection>,
    pub default: Option<ConnectionId>,
    pub reports: BTreeMap<(String, String), BTreeMap<Task, Grade>>,
}

impl Known {
    pub fn find(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.iter().find(|connection| connection.id == id)
    }

    /// The system's default, else the first.
    pub fn system_default(&self) -> Option<&Connection> {
        self.default.and_then(|id| self.find(id)).or_else(|| self.connections.first())
    }

    pub fn set_reports(&mut self, reports: Vec<ExamReport>) {
        self.reports =
            reports.into_iter().map(|report| ((endpoint(&report.endpoint), report.model), report.grades)).collect();
    }

    /// The grade in an exam, if there was one that looked at this kind of request.
    pub fn grade(&self, connection: &Connection, task: Task) -> Option<Grade> {
        let place = match connection.provider {
            Provider::Local => "local".to_owned(),
            _ => endpoint(&connection.base_url),
        };
        let grades = self.reports.get(&(place, connection.model.clone()))?;
        grades.get(&task).copied()
    }

    /// The connection, or the default.
    pub fn resolve(&self, wanted: Option<ConnectionId>) -> Result<Connection, ModelError> {
        match wanted {
            None => self.system_default().cloned().ok_or_else(words::no_connection),
            Some(id) => self.find(id).cloned().ok_or_else(|| self.unknown(id)),
        }
    }

    pub fn unknown(&self, id: ConnectionId) -> ModelError {
        let names: Vec<&str> = self.connections.iter().map(|c| c.name.as_str()).collect();
        let hint = if names.is_empty() {
            words::no_connection().hint
        } else {
            format!("choose one of: {}; `steward connections` shows them", names.join(", "))
        };
        ModelError {
            class: ModelErrorClass::UnknownModel,
            message: format!("there is no connection {id}; it may have been removed"),
            hint,
            detail: None,
            retry_after_ms: None,
        }
    }
}

fn endpoint(url: &str) -> String {
    url.trim().trim_end_matches('/').to_owned()
}
