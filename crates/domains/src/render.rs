//! Domains and views as canonical text.

use crate::format::format;
use crate::model::{Button, ColumnPart, Domain, Field, Permission, Relation, TablePart, Target, View};
use crate::syntax::quoting::{self, name, quote, role, table, value};
use std::fmt::{Result, Write};

pub fn render(domain: &Domain) -> String {
    let mut text = String::new();
    // Writing to a string never fails.
    let _ = write_domain(&mut text, domain);
    format(&text)
}

pub fn render_view(view: &View) -> String {
    let mut text = String::new();
    let _ = write_view(&mut text, view);
    format(&text)
}

fn write_domain(out: &mut String, domain: &Domain) -> Result {
    writeln!(out, "domain {} from {}@{} {{", name(&domain.name), table(&domain.table), name(&domain.datasource))?;
    for permission in domain.permissions.iter().filter(|permission| !rights(permission).is_empty()) {
        writeln!(out, "permission {} {}", role(&permission.to.to_string()), rights(permission).join(", "))?;
    }
    writeln!(out)?;
    domain.fields.iter().try_for_each(|field| write_field(out, field))?;
    writeln!(out)?;
    domain.relations.iter().try_for_each(|relation| write_relation(out, relation))?;
    writeln!(out)?;
    for meta in &domain.metas {
        write!(out, "meta {} from {} {} {}", name(&meta.name), table(&meta.table), name(&meta.key), name(&meta.label))?;
        if let Some(column) = &meta.order_by {
            write!(out, " order_by {}", name(column))?;
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    for note in &domain.notes {
        writeln!(out, "ai {} {}", quote(&note.tag), quote(&note.text))?;
    }
    writeln!(out)?;
    write_aliases(out, &domain.aliases)?;
    writeln!(out, "}}")
}

fn write_aliases(out: &mut String, aliases: &[String]) -> Result {
    if aliases.is_empty() {
        return Ok(());
    }
    let aliases: Vec<String> = aliases.iter().map(|alias| quote(alias)).collect();
    writeln!(out, "aliases [{}]", aliases.join(", "))
}

fn rights(permission: &Permission) -> Vec<&'static str> {
    let rights = [(permission.read, "read"), (permission.write, "write"), (permission.delete, "delete")];
    rights.into_iter().filter(|(granted, _)| *granted).map(|(_, right)| right).collect()
}

fn write_field(out: &mut String, field: &Field) -> Result {
    write!(out, "field {} : {}", name(&field.name), field.kind.name())?;
    match field.trusted {
        Some(true) => write!(out, " trusted")?,
        Some(false) => write!(out, " untrusted")?,
        None => {}
    }
    if field.readonly {
        write!(out, " readonly")?;
    }
    if field.filterable {
        write!(out, " filterable")?;
    }
    if let Some(options) = &field.options {
        write!(out, " options={}", name(options))?;
    }
    if !field.examples.is_empty() || !field.aliases.is_empty() {
        writeln!(out, " {{")?;
        for example in &field.examples {
            writeln!(out, "example {} {} {}", example.op, value(&example.value), quote(&example.text))?;
        }
        write_aliases(out, &field.aliases)?;
        write!(out, "}}")?;
    }
    writeln!(out)
}

fn write_relation(out: &mut String, relation: &Relation) -> Result {
    let pairs: Vec<String> =
        relation.bind.iter().map(|(local, foreign)| format!("{} -> {}", name(local), name(foreign))).collect();
    writeln!(
        out,
        "relation {} : {} {} bind={}",
        name(&relation.name),
        relation.kind.name(),
        name(&relation.domain),
        pairs.join(", ")
    )
}

fn write_view(out: &mut String, view: &View) -> Result {
    writeln!(out, "view {} {} over {} {{", name(&view.name), quote(&view.title), name(&view.domain))?;
    if !view.toolbar.is_empty() {
        writeln!(out, "toolbar {{")?;
        view.toolbar.iter().try_for_each(|button| write_button(out, button))?;
        writeln!(out, "}}")?;
    }
    view.tables.iter().try_for_each(|part| write_table(out, part))?;
    for section in &view.sections {
        writeln!(out, "section {} {{", quote(&section.title))?;
        for row in &section.rows {
            writeln!(out, "row {{")?;
            for widget in row {
                let kind: &str = widget.kind.into();
                writeln!(out, "widget {kind} bind={}", name(&widget.field))?;
            }
            writeln!(out, "}}")?;
        }
        writeln!(out, "}}")?;
    }
    writeln!(out, "}}")
}

fn write_button(out: &mut String, button: &Button) -> Result {
    let action: &str = button.action.into();
    write!(out, "{action} {}", quote(&button.label))?;
    if let Some(target) = &button.target {
        write_target(out, target)?;
    }
    writeln!(out)
}

fn write_target(out: &mut String, target: &Target) -> Result {
    write!(out, " -> {}", name(&target.view))?;
    if let Some(bind) = &target.bind {
        write!(out, " bind={}", name(bind))?;
    }
    if target.tab { write!(out, " as tab") } else { Ok(()) }
}

fn write_table(out: &mut String, part: &TablePart) -> Result {
    writeln!(out, "table -> {}.rows {{", name(&part.domain))?;
    if let Some(target) = &part.on_select {
        write!(out, "on_select")?;
        write_target(out, target)?;
        writeln!(out)?;
    }
    part.columns.iter().try_for_each(|column| write_column(out, column))?;
    writeln!(out, "}}")
}

fn write_column(out: &mut String, column: &ColumnPart) -> Result {
    write!(out, "column {} {}", name(&column.field), quote(&column.label))?;
    if let Some(width) = column.width {
        write!(out, " width={width}")?;
    }
    if let Some(format) = &column.format {
        write!(out, " format={}", quoting::format(format))?;
    }
    writeln!(out)
}
