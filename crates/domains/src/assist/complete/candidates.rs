//! The names and values that can stand in a node.

use super::super::symbols::{domain_of_field, enclosing_domain};
use super::super::words::{FORMATS, KIND_MEANINGS, RIGHT_MEANINGS, ROLES, TAG_MEANINGS, WIDGET_MEANINGS};
use super::super::world::World;
use super::{CURSOR, Candidate, CompletionKind};
use crate::ast::{Leaf, ancestor, leaf, leaves};
use crate::chunks::scope;
use crate::kinds;
use crate::model::{Domain, FieldKind, RelationKind};
use crate::syntax::{SyntaxKind, SyntaxNode, quoting};
use std::collections::HashSet;
use steward_core::tables::Column;
use strum::VariantNames as _;

/// The candidates for each of the nodes that the parser looked for at `node`, which holds the cursor.
pub(super) fn of_nodes(kinds: &[SyntaxKind], node: &SyntaxNode, world: &World<'_>) -> Vec<Candidate> {
    let place = Place { node, world };
    kinds.iter().flat_map(|kind| place.candidates(*kind)).collect()
}

struct Place<'p> {
    node: &'p SyntaxNode,
    world: &'p World<'p>,
}

fn candidate(label: &str, kind: CompletionKind, insert: String, detail: impl Into<Option<String>>) -> Candidate {
    Candidate { label: label.to_owned(), kind, insert, detail: detail.into() }
}

fn named(label: &str, kind: CompletionKind, detail: impl Into<Option<String>>) -> Candidate {
    candidate(label, kind, quoting::name(label), detail)
}

fn explained(words: &[(&str, &str)], kind: CompletionKind) -> Vec<Candidate> {
    words.iter().map(|(word, meaning)| candidate(word, kind, (*word).to_owned(), (*meaning).to_owned())).collect()
}

impl<'p> Place<'p> {
    fn candidates(&self, kind: SyntaxKind) -> Vec<Candidate> {
        match kind {
            SyntaxKind::TableName => self.tables(),
            SyntaxKind::DatasourceName => self.datasources(),
            SyntaxKind::Name => self.columns_to_describe(),
            SyntaxKind::KindName => self.kinds(),
            SyntaxKind::DomainRef => self.domains(),
            SyntaxKind::ViewRef => {
                self.world.views().map(|view| named(&view.name, CompletionKind::View, view.title.clone())).collect()
            }
            SyntaxKind::MetaRef => self.metas(),
            SyntaxKind::FieldRef | SyntaxKind::ForeignRef => self.fields(kind),
            SyntaxKind::ColumnRef => self.columns_of_meta(),
            SyntaxKind::OperatorName => self.operators(),
            SyntaxKind::Value => self.values(),
            SyntaxKind::RoleName => self.roles(),
            SyntaxKind::RightName => self.rights(),
            SyntaxKind::Tag => {
                let tags = explained(&TAG_MEANINGS, CompletionKind::Tag).into_iter();
                tags.map(|tag| Candidate { insert: quoting::quote(&tag.label), ..tag }).collect()
            }
            SyntaxKind::WidgetName => explained(&WIDGET_MEANINGS, CompletionKind::Kind),
            SyntaxKind::FormatValue => explained(&FORMATS, CompletionKind::Format),
            _ => Vec::new(),
        }
    }

    fn domain(&self) -> Option<&'p Domain> {
        self.world.domain(&enclosing_domain(self.node)?)
    }

    fn statement(&self, kind: SyntaxKind) -> Option<SyntaxNode> {
        ancestor(self.node, kind)
    }

    fn tables(&self) -> Vec<Candidate> {
        let schema = self.statement(SyntaxKind::TableName).map(|name| Leaf::of(&name).text);
        let schema = schema.as_deref().and_then(|name| name.strip_suffix(CURSOR)).unwrap_or_default();
        let known = self.domain().map(|domain| domain.datasource.as_str()).filter(|name| !name.is_empty());
        let schemas = self.world.catalog.schemas.iter().filter(|(name, _)| known.is_none_or(|known| known == *name));
        let mut found = Vec::new();
        for (datasource, shown) in schemas {
            for table in &shown.tables {
                let Some(rest) = table.name.strip_prefix(schema) else { continue };
                let rows = table.row_estimate.map_or(String::new(), |rows| format!(", about {rows} rows"));
                let what = if table.view { "view" } else { "table" };
                let detail = format!("{what} of {datasource}, {} columns{rows}", table.columns.len());
                let written = if schema.is_empty() { quoting::table(rest) } else { quoting::name(rest) };
                let insert = match known {
                    Some(_) => written,
                    None => format!("{written}@{}", quoting::name(datasource)),
                };
                found.push(candidate(rest, CompletionKind::Table, insert, detail));
            }
        }
        found
    }

    fn datasources(&self) -> Vec<Candidate> {
        let table = self.domain().map(|domain| domain.table.clone()).unwrap_or_default();
        let mut found: Vec<(bool, Candidate)> = Vec::new();
        for (name, schema) in &self.world.catalog.schemas {
            let has = schema.tables.iter().any(|known| known.name == table);
            let detail = if has { format!("has the table {table}") } else { format!("{} tables", schema.tables.len()) };
            found.push((!has, named(name, CompletionKind::Datasource, detail)));
        }
        found.sort_by_key(|(without, _)| *without);
        found.into_iter().map(|(_, candidate)| candidate).collect()
    }

    /// The columns of the domain's table that have no field, with the kind that suits them.
    fn columns_to_describe(&self) -> Vec<Candidate> {
        let Some(field) = self.statement(SyntaxKind::Field) else { return Vec::new() };
        let Some(domain) = self.domain() else { return Vec::new() };
        let Some(table) = self.world.table_of(domain) else { return Vec::new() };
        let described: HashSet<&str> = domain.fields.iter().map(|field| field.name.as_str()).collect();
        let has_kind = leaf(&field, SyntaxKind::KindName).is_some();
        let missing = table.columns.iter().filter(|column| !described.contains(column.name.as_str()));
        missing
            .filter_map(|column| {
                let kind = kinds::of_column(&column.kind).first()?;
                let name = quoting::name(&column.name);
                let insert = if has_kind { name } else { format!("{name} : {}", kind.name()) };
                Some(candidate(&column.name, CompletionKind::Column, insert, declaration(column)))
            })
            .collect()
    }

    fn kinds(&self) -> Vec<Candidate> {
        if self.statement(SyntaxKind::Relation).is_some() {
            let meanings = KIND_MEANINGS.iter().filter(|(kind, _)| RelationKind::VARIANTS.contains(kind)).copied();
            return explained(&meanings.collect::<Vec<_>>(), CompletionKind::Kind);
        }
        let column = self.column_of_field();
        let fitting = column.map_or(&[] as &[FieldKind], |column| kinds::of_column(&column.kind));
        let rest = kinds::ALL.iter().filter(|kind| !fitting.contains(kind));
        let meaning =
            |kind: &str| KIND_MEANINGS.iter().find(|(name, _)| *name == kind).map(|(_, text)| (*text).to_owned());
        fitting
            .iter()
            .chain(rest)
            .map(|kind| candidate(kind.name(), CompletionKind::Kind, kind.name().to_owned(), meaning(kind.name())))
            .collect()
    }

    fn column_of_field(&self) -> Option<&'p Column> {
        let name = leaf(&self.statement(SyntaxKind::Field)?, SyntaxKind::Name)?.text;
        let table = self.world.table_of(self.domain()?)?;
        table.columns.iter().find(|column| column.name == name)
    }

    /// Relations stay within a datasource, and tables of a view list domains that its own has relations to.
    fn domains(&self) -> Vec<Candidate> {
        let relation = self.statement(SyntaxKind::Relation).and_then(|_| self.domain());
        let view = self.statement(SyntaxKind::TablePart).and_then(|_| {
            let view = self.statement(SyntaxKind::View)?;
            self.world.domain(&leaf(&view, SyntaxKind::DomainRef)?.text)
        });
        let fits = |domain: &Domain| {
            relation.is_none_or(|own| own.datasource == domain.datasource)
                && view.is_none_or(|own| {
                    own.name == domain.name || own.relations.iter().any(|relation| relation.domain == domain.name)
                })
        };
        let fitting = self.world.domains().filter(|domain| fits(domain));
        fitting.map(|domain| named(&domain.name, CompletionKind::Domain, scope(domain).map(str::to_owned))).collect()
    }

    fn metas(&self) -> Vec<Candidate> {
        let metas = self.domain().map_or(&[] as &[_], |domain| domain.metas.as_slice());
        metas.iter().map(|meta| named(&meta.name, CompletionKind::Meta, format!("values of {}", meta.table))).collect()
    }

    fn fields(&self, kind: SyntaxKind) -> Vec<Candidate> {
        // A broken pair has no node of the kind, so what it is bound to tells the two sides apart.
        let owner = match (kind, self.statement(SyntaxKind::Relation)) {
            (SyntaxKind::ForeignRef, Some(relation)) => leaf(&relation, SyntaxKind::DomainRef).map(|leaf| leaf.text),
            _ => domain_of_field(self.node),
        };
        let Some(domain) = owner.and_then(|name| self.world.domain(&name)) else { return Vec::new() };
        let fields = domain.fields.iter().filter(|field| field.name != CURSOR);
        let mut found: Vec<Candidate> =
            fields.map(|field| named(&field.name, CompletionKind::Field, field.kind.name().to_owned())).collect();
        if self.statement(SyntaxKind::Relation).is_some()
            && let Some(table) = self.world.table_of(domain)
        {
            // Keys need no fields; they come first.
            let columns =
                table.columns.iter().filter(|column| !domain.fields.iter().any(|field| field.name == column.name));
            found.extend(columns.map(|column| named(&column.name, CompletionKind::Column, declaration(column))));
            let is_key = |name: &str| {
                table.columns.iter().any(|column| column.pk && column.name == name)
                    || table.foreign_keys.iter().any(|key| key.column == name)
            };
            found.sort_by_key(|candidate| !is_key(&candidate.label));
        }
        found
    }

    fn columns_of_meta(&self) -> Vec<Candidate> {
        let columns = || {
            let name = leaf(&self.statement(SyntaxKind::Meta)?, SyntaxKind::TableName)?.text;
            Some(&self.world.catalog.table(&self.domain()?.datasource, &name)?.columns)
        };
        let columns = columns().map_or(&[] as &[Column], Vec::as_slice);
        columns.iter().map(|column| named(&column.name, CompletionKind::Column, declaration(column))).collect()
    }

    fn field_kind(&self) -> Option<FieldKind> {
        leaf(&self.statement(SyntaxKind::Field)?, SyntaxKind::KindName)?.text.parse().ok()
    }

    fn operators(&self) -> Vec<Candidate> {
        let allowed = self.field_kind().map_or(&[] as &[&str], kinds::operators);
        let known = kinds::OPERATORS.iter().filter(|(name, _)| allowed.is_empty() || allowed.contains(name));
        explained(&known.copied().collect::<Vec<_>>(), CompletionKind::Operator)
    }

    fn values(&self) -> Vec<Candidate> {
        match self.field_kind() {
            Some(FieldKind::Bool) => explained(&[("true", "Yes."), ("false", "No.")], CompletionKind::Value),
            _ => Vec::new(),
        }
    }

    /// Roles and groups that have no permission yet.
    fn roles(&self) -> Vec<Candidate> {
        let written = self.statement(SyntaxKind::RoleName).map(|name| Leaf::of(&name).text).unwrap_or_default();
        let (after_role, after_group) = (written.starts_with("role:"), written.starts_with("group:"));
        let taken: Vec<String> = self.domain().map_or_else(Vec::new, |domain| {
            domain.permissions.iter().map(|permission| permission.to.to_string()).collect()
        });
        let mut found = Vec::new();
        for (role, meaning) in ROLES.iter().filter(|_| !after_group) {
            let whole = if *role == "*" { (*role).to_owned() } else { format!("role:{role}") };
            let offered = !(taken.contains(&whole) || after_role && *role == "*");
            let insert = if after_role { (*role).to_owned() } else { whole };
            found.extend(offered.then(|| candidate(role, CompletionKind::Role, insert, (*meaning).to_owned())));
        }
        for group in self.world.catalog.groups.iter().filter(|_| !after_role) {
            let whole = format!("group:{group}");
            let insert = if after_group { quoting::name(group) } else { quoting::role(&whole) };
            let offered = !taken.contains(&whole);
            found.extend(offered.then(|| candidate(group, CompletionKind::Role, insert, "A group.".to_owned())));
        }
        found
    }

    fn rights(&self) -> Vec<Candidate> {
        let permission = self.statement(SyntaxKind::Permission);
        let written: Vec<String> =
            permission.iter().flat_map(|node| leaves(node, SyntaxKind::RightName)).map(|right| right.text).collect();
        let missing = RIGHT_MEANINGS.iter().filter(|(right, _)| !written.iter().any(|known| known == right));
        explained(&missing.copied().collect::<Vec<_>>(), CompletionKind::Right)
    }
}

fn declaration(column: &Column) -> String {
    let kind = if column.kind.is_empty() { "no declared type" } else { &column.kind };
    format!("{kind}{}{}", if column.pk { ", primary key" } else { "" }, if column.not_null { ", not null" } else { "" })
}
