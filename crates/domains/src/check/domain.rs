//! A domain against its table, its metas' tables and the domains that it has relations to.

use super::{Checker, TAGS};
use crate::diagnostic::suggest;
use crate::kinds;
use crate::lower::{DomainSource, FieldRanges, MetaRanges, RelationRanges};
use crate::model::{Domain, Field, FieldKind, Grantee, Meta, Relation};
use crate::syntax::Range;
use std::collections::HashMap;
use steward_core::tables::{Column, Table};

impl<'c> Checker<'c> {
    pub(super) fn domain(&mut self, source: &'c DomainSource) {
        let DomainSource { domain, ranges } = source;
        let readable = self.schema(source);
        if let Some(table) = self.table(&domain.datasource, &domain.table, ranges.table) {
            // Tables may have thousands of columns.
            let columns: HashMap<&str, &Column> =
                table.columns.iter().map(|column| (column.name.as_str(), column)).collect();
            for (field, at) in domain.fields.iter().zip(&ranges.fields) {
                self.described_column(field, at, table, &columns);
            }
        }
        for (meta, at) in domain.metas.iter().zip(&ranges.metas).filter(|_| readable) {
            self.meta(&domain.datasource, meta, at);
        }
        for (relation, at) in domain.relations.iter().zip(&ranges.relations) {
            self.relation(domain, relation, at);
        }
        for (note, at) in domain.notes.iter().zip(&ranges.notes) {
            if !TAGS.contains(&note.tag.as_str()) {
                let message =
                    format!("`{}` is no known subject of an `ai` line, so a model will not see it.", note.tag);
                let hint = suggest(&note.tag, TAGS).unwrap_or_default();
                self.warning(*at, "unknown-tag", message, &hint);
            }
        }
        for (permission, at) in domain.permissions.iter().zip(&ranges.permissions) {
            self.group(&permission.to, *at);
        }
        if !domain.permissions.iter().any(|permission| permission.read) {
            let message = format!("Nobody can read the domain `{}`.", domain.name);
            let hint = "Add a permission such as `permission role:viewer read`.";
            self.warning(ranges.name, "no-reader", message, hint);
        }
    }

    fn group(&mut self, to: &Grantee, range: Range) {
        let Grantee::Group(name) = to else { return };
        if self.catalog.groups.contains(name) {
            return;
        }
        let hint = suggest(name, self.catalog.groups.iter().map(String::as_str))
            .unwrap_or_else(|| "Make the group first, or name a role with `role:<role>`.".to_owned());
        self.error(range, "unknown-group", format!("There is no group `{name}`."), hint);
    }

    /// Whether the datasource is known.
    fn schema(&mut self, source: &DomainSource) -> bool {
        let name = &source.domain.datasource;
        let known = self.catalog.schemas.contains_key(name);
        if !known && !name.is_empty() {
            let hint = suggest(name, self.catalog.schemas.keys().map(String::as_str))
                .unwrap_or_else(|| "Add the datasource first.".to_owned());
            let message = format!("There is no datasource `{name}`.");
            self.error(source.ranges.datasource, "unknown-datasource", message, hint);
        }
        known
    }

    fn table(&mut self, datasource: &str, name: &str, range: Range) -> Option<&'c Table> {
        let schema = self.catalog.schemas.get(datasource)?;
        let table = schema.tables.iter().find(|table| table.name == name);
        if table.is_none() && !name.is_empty() {
            let hint = suggest(name, schema.tables.iter().map(|table| table.name.as_str()))
                .unwrap_or_else(|| "The datasource shows no tables; check its settings.".to_owned());
            let message = format!("The datasource `{datasource}` has no table `{name}`.");
            self.error(range, "unknown-table", message, hint);
        }
        table
    }

    fn column(&mut self, table: &'c Table, name: &str, range: Range) -> Option<&'c Column> {
        let column = table.columns.iter().find(|column| column.name == name);
        if column.is_none() && !name.is_empty() {
            self.unknown_column(table, name, range);
        }
        column
    }

    fn unknown_column(&mut self, table: &Table, name: &str, range: Range) {
        let hint = suggest(name, table.columns.iter().map(|column| column.name.as_str()));
        let message = format!("The table `{}` has no column `{name}`.", table.name);
        self.error(range, "unknown-column", message, hint);
    }

    fn described_column(&mut self, field: &Field, at: &FieldRanges, table: &Table, columns: &HashMap<&str, &Column>) {
        let Some(column) = columns.get(field.name.as_str()) else {
            if !field.name.is_empty() {
                self.unknown_column(table, &field.name, at.name);
            }
            return;
        };
        let fitting = kinds::of_column(&column.kind);
        if fitting.contains(&field.kind) || at.kind.0 == at.kind.1 {
            return;
        }
        let message = format!(
            "The column `{}` is declared as {}, which the kind {} does not fit.",
            column.name,
            column.kind,
            field.kind.name()
        );
        let hint = match fitting {
            [] => "Remove the field: bytes can't be shown.".to_owned(),
            fitting => {
                let names: Vec<String> = fitting.iter().map(|kind| format!("`{}`", kind.name())).collect();
                format!("Use {}.", names.join(" or "))
            }
        };
        // SQLite keeps any value in any column, and a domain may say so: it reads a number or text as less.
        let declared = fitting.first().copied();
        let reads_less = match field.kind {
            FieldKind::String | FieldKind::Text => declared.is_some(),
            FieldKind::Int | FieldKind::Float => declared.is_some_and(|kind| kind.is_time() || kind == FieldKind::Bool),
            _ => false,
        };
        if reads_less {
            self.warning(at.kind, "kind-does-not-fit", message, &hint);
        } else {
            self.error(at.kind, "kind-does-not-fit", message, hint);
        }
    }

    fn meta(&mut self, datasource: &str, meta: &Meta, at: &MetaRanges) {
        let Some(table) = self.table(datasource, &meta.table, at.table) else { return };
        self.column(table, &meta.key, at.key);
        self.column(table, &meta.label, at.label);
        if let (Some(order_by), Some(range)) = (&meta.order_by, at.order_by) {
            self.column(table, order_by, range);
        }
    }

    fn relation(&mut self, domain: &Domain, relation: &Relation, at: &RelationRanges) {
        let Some(other) = self.domains.get(relation.domain.as_str()).copied() else {
            self.unknown_domain(at.domain, &relation.domain);
            return;
        };
        if other.datasource != domain.datasource && !other.datasource.is_empty() && !domain.datasource.is_empty() {
            let message = format!(
                "The domain `{}` lies in the datasource `{}`, and this one in `{}`.",
                other.name, other.datasource, domain.datasource
            );
            let hint = "A relation joins domains of one datasource; remove it.".to_owned();
            self.error(at.domain, "other-datasource", message, hint);
            return;
        }
        for ((local, foreign), (local_range, foreign_range)) in relation.bind.iter().zip(&at.bind) {
            let here = self.key(domain, local, *local_range);
            let there = self.key(other, foreign, *foreign_range);
            if let (Some(here), Some(there)) = (here, there)
                && !kinds::comparable(here, there)
            {
                let message =
                    format!("`{local}` is declared as {here}, and `{foreign}` as {there}: they are never equal.");
                let hint = "Bind the columns of the foreign key.".to_owned();
                self.error((local_range.0, foreign_range.1), "keys-differ", message, hint);
            }
        }
    }

    /// The declared type of a column that a relation is bound to. Keys need not be described as fields.
    fn key(&mut self, domain: &Domain, name: &str, range: Range) -> Option<&'c str> {
        if let Some(table) = self.catalog.table(&domain.datasource, &domain.table) {
            return self.column(table, name, range).map(|column| column.kind.as_str());
        }
        self.field(range, domain, name);
        None
    }
}
