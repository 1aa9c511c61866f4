//! What is known around a place: the databases, and the domains and views of the text and of others.

use crate::catalog::Catalog;
use crate::lower::lower;
use crate::model::{Domain, View};
use crate::parser::Parse;
use std::collections::HashSet;
use steward_core::tables::Table;

pub(super) struct World<'c> {
    pub catalog: &'c Catalog,
    /// Those of the text.
    domains: Vec<Domain>,
    views: Vec<View>,
}

impl<'c> World<'c> {
    pub(super) fn new(parse: &Parse, catalog: &'c Catalog) -> Self {
        let lowered = lower(parse);
        Self {
            catalog,
            domains: lowered.domains.into_iter().map(|source| source.domain).collect(),
            views: lowered.views.into_iter().map(|source| source.view).collect(),
        }
    }

    pub(super) fn domain(&self, name: &str) -> Option<&Domain> {
        self.domains.iter().find(|domain| domain.name == name).or_else(|| self.catalog.domain(name))
    }

    pub(super) fn view(&self, name: &str) -> Option<&View> {
        self.views.iter().find(|view| view.name == name).or_else(|| self.catalog.view(name))
    }

    /// Each name once.
    pub(super) fn domains(&self) -> impl Iterator<Item = &Domain> {
        let mut known = HashSet::new();
        self.domains.iter().chain(&self.catalog.domains).filter(move |domain| known.insert(&domain.name))
    }

    /// Each name once.
    pub(super) fn views(&self) -> impl Iterator<Item = &View> {
        let mut known = HashSet::new();
        self.views.iter().chain(&self.catalog.views).filter(move |view| known.insert(&view.name))
    }

    pub(super) fn table_of(&self, domain: &Domain) -> Option<&'c Table> {
        self.catalog.table(&domain.datasource, &domain.table)
    }
}
