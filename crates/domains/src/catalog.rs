//! What a text is checked against.

use crate::model::{Domain, View};
use std::collections::BTreeMap;
use steward_core::tables::{Schema, Table};

/// The databases, and the domains and views that were saved. Those of a text itself count before these.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// By the name of the datasource.
    pub schemas: BTreeMap<String, Schema>,
    pub domains: Vec<Domain>,
    pub views: Vec<View>,
    /// Names that can stand behind `group:` in permissions.
    pub groups: Vec<String>,
}

impl Catalog {
    pub fn table(&self, datasource: &str, table: &str) -> Option<&Table> {
        self.schemas.get(datasource)?.tables.iter().find(|known| known.name == table)
    }

    pub fn domain(&self, name: &str) -> Option<&Domain> {
        self.domains.iter().find(|domain| domain.name == name)
    }

    pub fn view(&self, name: &str) -> Option<&View> {
        self.views.iter().find(|view| view.name == name)
    }
}
