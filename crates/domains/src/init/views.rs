//! A view of the rows and a view of one row for each domain.

use super::names::{Namer, bare, title};
use crate::model::{
    Button, ButtonAction, ColumnPart, Domain, Field, FieldKind, RelationKind, Section, TablePart, Target,
};
use crate::model::{View, Widget, WidgetKind};
use crate::registry::only;
use std::collections::HashMap;
use steward_core::tables::Table;

/// Columns of a list of rows.
const COLUMNS: usize = 8;

/// Widgets in a row of a form.
const ABREAST: usize = 2;

/// How the rows of a domain are opened.
struct Opening {
    list: String,
    detail: String,
    /// The primary key, where it is one column that is described.
    key: Option<String>,
}

pub(super) fn of_domains(domains: &[Domain], tables: &[Table]) -> Vec<(View, View)> {
    let mut namer = Namer::default();
    let openings: HashMap<&str, Opening> = domains
        .iter()
        .zip(tables)
        .map(|(domain, table)| {
            let list = namer.unique(&format!("{}_list", domain.name));
            let detail = namer.unique(&format!("{}_detail", domain.name));
            (domain.name.as_str(), Opening { list, detail, key: key(domain, table) })
        })
        .collect();
    let by_name: HashMap<&str, &Domain> = domains.iter().map(|domain| (domain.name.as_str(), domain)).collect();
    domains
        .iter()
        .zip(tables)
        .filter_map(|(domain, table)| {
            let opening = openings.get(domain.name.as_str())?;
            let title = title(bare(&table.name));
            let changes = !table.view && table.columns.iter().any(|column| column.pk);
            let list = list(domain, opening, &title, changes);
            Some((list, detail(domain, opening, title, changes, &by_name, &openings)))
        })
        .collect()
}

fn key(domain: &Domain, table: &Table) -> Option<String> {
    let key = only(table.columns.iter().filter(|column| column.pk))?;
    domain.fields.iter().any(|field| field.name == key.name).then(|| key.name.clone())
}

fn button(action: ButtonAction, label: &str) -> Button {
    Button { action, label: label.to_owned(), target: None }
}

fn list(domain: &Domain, opening: &Opening, title: &str, changes: bool) -> View {
    let mut toolbar = vec![button(ButtonAction::Refresh, "Reload")];
    if changes {
        let target = Target { view: opening.detail.clone(), bind: None, tab: true };
        toolbar.insert(0, Button { target: Some(target), ..button(ButtonAction::New, "New") });
    }
    View {
        name: opening.list.clone(),
        title: title.to_owned(),
        domain: domain.name.clone(),
        toolbar,
        tables: vec![rows(domain, opening, &[])],
        sections: Vec::new(),
    }
}

/// The rows of a domain without the columns in `left_out`.
fn rows(domain: &Domain, opening: &Opening, left_out: &[&str]) -> TablePart {
    let fields =
        domain.fields.iter().filter(|field| field.kind != FieldKind::Text && !left_out.contains(&field.name.as_str()));
    TablePart {
        domain: domain.name.clone(),
        on_select: opening.key.as_ref().map(|key| Target {
            view: opening.detail.clone(),
            bind: Some(key.clone()),
            tab: true,
        }),
        columns: fields.take(COLUMNS).map(column).collect(),
    }
}

fn column(field: &Field) -> ColumnPart {
    let (width, format) = match field.kind {
        FieldKind::Int => (10, None),
        FieldKind::Float => (12, Some("number:2")),
        FieldKind::String => (30, None),
        FieldKind::Text => (40, None),
        FieldKind::Bool => (8, None),
        FieldKind::Date => (12, Some("date:short")),
        FieldKind::Datetime => (18, None),
    };
    ColumnPart {
        field: field.name.clone(),
        label: title(&field.name),
        width: Some(width),
        format: format.map(str::to_owned),
    }
}

fn detail(
    domain: &Domain,
    opening: &Opening,
    title: String,
    changes: bool,
    domains: &HashMap<&str, &Domain>,
    openings: &HashMap<&str, Opening>,
) -> View {
    let mut toolbar = Vec::new();
    if changes {
        toolbar.push(button(ButtonAction::Save, "Save"));
        toolbar.push(button(ButtonAction::Delete, "Delete"));
    }
    toolbar.push(button(ButtonAction::Refresh, "Reload"));
    let mut tables: Vec<TablePart> = Vec::new();
    for relation in domain.relations.iter().filter(|relation| relation.kind == RelationKind::HasMany) {
        let child = relation.domain.as_str();
        // The view of one row lists each kind of rows once.
        if child == domain.name || tables.iter().any(|part| part.domain == child) {
            continue;
        }
        if let (Some(listed), Some(opening)) = (domains.get(child), openings.get(child)) {
            let keys: Vec<&str> = relation.bind.iter().map(|(_, foreign)| foreign.as_str()).collect();
            tables.push(rows(listed, opening, &keys));
        }
    }
    let widgets: Vec<Widget> = domain.fields.iter().map(widget).collect();
    let rows = widgets.chunks(ABREAST).map(<[Widget]>::to_vec).collect();
    View {
        name: opening.detail.clone(),
        title: title.clone(),
        domain: domain.name.clone(),
        toolbar,
        tables,
        sections: vec![Section { title, rows }],
    }
}

fn widget(field: &Field) -> Widget {
    let kind = match field.kind {
        _ if field.options.is_some() => WidgetKind::Select,
        FieldKind::Int | FieldKind::Float => WidgetKind::Number,
        FieldKind::String => WidgetKind::Text,
        FieldKind::Text => WidgetKind::Textarea,
        FieldKind::Bool => WidgetKind::Checkbox,
        FieldKind::Date | FieldKind::Datetime => WidgetKind::Date,
    };
    Widget { kind, field: field.name.clone() }
}
