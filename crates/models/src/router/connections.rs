//! The connections that the router knows.

use super::errors;
use crate::exam;
use std::collections::BTreeMap;
use steward_core::ConnectionId;
use steward_core::exam::{ExamReport, Grade};
use steward_core::model::{Connection, ModelError, ModelErrorClass};
use steward_core::routing::{Role, Task};

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

    pub fn is_examined(&self, connection: &Connection) -> bool {
        self.reports.contains_key(&(exam::endpoint(connection), connection.model.clone()))
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

    /// The connection that a setting names.
    pub fn named(&self, role: Role, name: &str) -> Result<&Connection, ModelError> {
        self.connections.iter().find(|connection| connection.name == name).ok_or_else(|| {
            let setting = role.setting();
            ModelError::new(
                ModelErrorClass::UnknownModel,
                format!("the setting {setting} names the connection `{name}`, which isn't there"),
                format!("{}, or leave {setting} unset", self.choice_hint()),
            )
        })
    }

    pub fn unknown(&self, id: ConnectionId) -> ModelError {
        ModelError::new(
            ModelErrorClass::UnknownModel,
            format!("there is no connection {id}; it may have been removed"),
            self.choice_hint(),
        )
    }

    fn choice_hint(&self) -> String {
        let names: Vec<&str> = self.connections.iter().map(|c| c.name.as_str()).collect();
        if names.is_empty() {
            errors::no_connection().hint
        } else {
            format!("choose one of: {}; `steward connections` shows them", names.join(", "))
        }
    }
}
