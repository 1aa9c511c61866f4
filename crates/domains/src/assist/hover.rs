//! Explanations of what stands at a place, as Markdown.

use super::symbols::{Symbol, SymbolKind, symbol};
use super::words::{KIND_MEANINGS, RIGHT_MEANINGS, ROLES, TAG_MEANINGS, WIDGET_MEANINGS};
use super::world::World;
use super::{token_at, words};
use crate::ast::{Leaf, ancestor, leaf};
use crate::catalog::Catalog;
use crate::chunks::scope;
use crate::kinds;
use crate::model::{Domain, Field, Grantee};
use crate::parser::parse;
use crate::syntax::{Range, SyntaxKind, SyntaxNode, bytes_of, range_of};
use serde::Serialize;
use std::fmt::Write;
use steward_core::tables::{Column, Table};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hover {
    pub range: Range,
    pub markdown: String,
}

pub fn hover(text: &str, offset: usize, catalog: &Catalog) -> Option<Hover> {
    let parse = parse(text);
    let token = token_at(&parse.tree(), offset)?;
    if token.kind() == SyntaxKind::Keyword {
        let word = words::find(token.text())?;
        let markdown = format!("**{}**: {}\n\n```\n{}\n```", word.word, word.meaning, word.form);
        return Some(Hover { range: bytes_of(token.text_range()), markdown });
    }
    let node = token.parent()?;
    let world = World::new(&parse, catalog);
    let markdown = explain(&node, &world)?;
    Some(Hover { range: range_of(&node), markdown })
}

fn explain(node: &SyntaxNode, world: &World<'_>) -> Option<String> {
    let text = Leaf::of(node).text;
    let meaning = |words: &[(&str, &str)]| {
        words.iter().find(|(word, _)| *word == text).map(|(word, meaning)| format!("**{word}**: {meaning}"))
    };
    match node.kind() {
        SyntaxKind::KindName => {
            let mut markdown = meaning(&KIND_MEANINGS)?;
            if let Ok(kind) = text.parse() {
                let names: Vec<String> = kinds::operators(kind).iter().map(|name| format!("`{name}`")).collect();
                let _ = write!(markdown, "\n\nOperators: {}", names.join(", "));
            }
            Some(markdown)
        }
        SyntaxKind::OperatorName => {
            let name = kinds::operator(&text)?;
            let (_, meaning) = kinds::OPERATORS.iter().find(|(known, _)| *known == name)?;
            Some(format!("**{name}**: the value {meaning} what follows."))
        }
        SyntaxKind::WidgetName => meaning(&WIDGET_MEANINGS),
        SyntaxKind::RightName => meaning(&RIGHT_MEANINGS),
        SyntaxKind::RoleName => match text.parse::<Grantee>().ok()? {
            Grantee::Group(name) => Some(format!("The group `{name}`.")),
            to => {
                let written = to.to_string();
                let name = written.trim_start_matches("role:");
                let found = ROLES.iter().find(|(role, _)| *role == name);
                found.map(|(role, meaning)| format!("**{role}**: {meaning}"))
            }
        },
        SyntaxKind::Tag => meaning(&TAG_MEANINGS),
        SyntaxKind::DatasourceName => {
            let schema = world.catalog.schemas.get(&text)?;
            Some(format!("Datasource `{text}` with {} tables.", schema.tables.len()))
        }
        SyntaxKind::TableName => Some(table_text(world.catalog.table(&enclosing(node, world)?.datasource, &text)?)),
        SyntaxKind::ColumnRef => {
            let name = leaf(&ancestor(node, SyntaxKind::Meta)?, SyntaxKind::TableName)?.text;
            let table = world.catalog.table(&enclosing(node, world)?.datasource, &name)?;
            Some(column_text(table, table.columns.iter().find(|column| column.name == text)?))
        }
        _ => symbol_text(&symbol(node)?, world),
    }
}

fn enclosing<'w>(node: &SyntaxNode, world: &'w World<'_>) -> Option<&'w Domain> {
    world.domain(&super::symbols::enclosing_domain(node)?)
}

fn symbol_text(symbol: &Symbol, world: &World<'_>) -> Option<String> {
    let name = &symbol.name;
    match symbol.kind {
        SymbolKind::Domain => Some(domain_text(world.domain(name)?)),
        SymbolKind::View => {
            let view = world.view(name)?;
            Some(format!("View `{name}` \"{}\" over the domain `{}`.", view.title, view.domain))
        }
        SymbolKind::Field => {
            let domain = world.domain(&symbol.domain)?;
            let table = world.table_of(domain);
            let column =
                table.and_then(|table| Some((table, table.columns.iter().find(|column| column.name == *name)?)));
            let column = column.map(|(table, column)| column_text(table, column));
            let field = domain.fields.iter().find(|field| field.name == *name).map(|field| field_text(domain, field));
            match (field, column) {
                (Some(field), Some(column)) => Some(format!("{field}\n\n{column}")),
                (field, column) => field.or(column),
            }
        }
        SymbolKind::Relation => {
            let relation = world.domain(&symbol.domain)?.relations.iter().find(|relation| relation.name == *name)?;
            let pairs: Vec<String> =
                relation.bind.iter().map(|(here, there)| format!("`{here}` = `{there}`")).collect();
            let (kind, other) = (relation.kind.name(), &relation.domain);
            let target = world.domain(other).map_or(String::new(), |domain| format!("\n\n{}", domain_text(domain)));
            Some(format!("Relation `{name}`: {kind} `{other}`, where {}.{target}", pairs.join(" and ")))
        }
        SymbolKind::Meta => {
            let meta = world.domain(&symbol.domain)?.metas.iter().find(|meta| meta.name == *name)?;
            Some(format!("Meta `{name}`: the values of `{}.{}`, shown as `{}`.", meta.table, meta.key, meta.label))
        }
    }
}

fn domain_text(domain: &Domain) -> String {
    let mut text = format!("Domain `{}` from `{}@{}`.", domain.name, domain.table, domain.datasource);
    if let Some(scope) = scope(domain).filter(|scope| !scope.is_empty()) {
        let _ = write!(text, " {scope}");
    }
    let fields: Vec<String> =
        domain.fields.iter().map(|field| format!("`{}` {}", field.name, field.kind.name())).collect();
    if !fields.is_empty() {
        let _ = write!(text, "\n\nFields: {}", fields.join(", "));
    }
    text
}

fn field_text(domain: &Domain, field: &Field) -> String {
    let mut text = format!("Field `{}` of `{}`: {}", field.name, domain.name, field.kind.name());
    let trust = [(field.trusted == Some(true), "trusted"), (field.trusted == Some(false), "untrusted")];
    for (set, word) in [(field.readonly, "readonly"), (field.filterable, "filterable")].into_iter().chain(trust) {
        if set {
            let _ = write!(text, ", {word}");
        }
    }
    if let Some(options) = &field.options {
        let _ = write!(text, ", with the options of `{options}`");
    }
    text.push('.');
    text
}

fn table_text(table: &Table) -> String {
    let columns: Vec<String> =
        table.columns.iter().map(|column| format!("`{}` {}", column.name, column.kind)).collect();
    let rows = table.row_estimate.map_or(String::new(), |rows| format!(" with about {rows} rows"));
    let what = if table.view { "Database view" } else { "Table" };
    format!("{what} `{}`{rows}.\n\nColumns: {}", table.name, columns.join(", "))
}

fn column_text(table: &Table, column: &Column) -> String {
    let mut text = format!("Column `{}.{}`", table.name, column.name);
    if !column.kind.is_empty() {
        let _ = write!(text, " {}", column.kind);
    }
    if column.pk {
        text.push_str(", primary key");
    }
    if column.not_null {
        text.push_str(", not null");
    }
    for key in table.foreign_keys.iter().filter(|key| key.column == column.name) {
        let _ = write!(text, ", refers to `{}`", key.table);
    }
    text.push('.');
    text
}
