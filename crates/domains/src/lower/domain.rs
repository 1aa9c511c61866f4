//! Domains of a tree.

use super::{DomainRanges, DomainSource, FieldRanges, MetaRanges, RelationRanges, Report, part};
use crate::ast::{self, AstNode};
use crate::diagnostic::suggest;
use crate::kinds;
use crate::model::{Domain, Example, Field, FieldKind, Meta, Note, Permission, Relation, RelationKind};
use crate::syntax::Range;
use std::collections::HashMap;

const KINDS: [&str; 7] = ["int", "float", "string", "text", "bool", "date", "datetime"];
pub(crate) const RELATION_KINDS: [&str; 3] = ["has_many", "belongs_to", "has_one"];
pub(crate) const RIGHTS: [&str; 3] = ["read", "write", "delete"];

pub(super) fn lower(node: &ast::Domain, report: &mut Report) -> Option<DomainSource> {
    let name = node.name()?;
    let (table, table_range) = part(node.table(), node);
    let (datasource, datasource_range) = part(node.datasource(), node);
    let (permissions, permission_ranges) = node.statements().map(|node| permission(&node, report)).unzip();
    let (fields, field_ranges): (Vec<_>, Vec<_>) = node.statements().filter_map(|node| field(&node, report)).unzip();
    let (relations, relation_ranges): (Vec<_>, Vec<_>) =
        node.statements().filter_map(|node| relation(&node, report)).unzip();
    let (metas, meta_ranges): (Vec<_>, Vec<_>) = node.statements().filter_map(|node| meta(&node, report)).unzip();
    let (notes, note_ranges) = node.statements().filter_map(|node| note(&node)).unzip();
    let source = DomainSource {
        domain: Domain {
            name: report.name(&name),
            table,
            datasource,
            permissions,
            fields,
            relations,
            metas,
            notes,
            aliases: aliases(node.statements()),
        },
        ranges: DomainRanges {
            whole: node.range(),
            name: name.range,
            table: table_range,
            datasource: datasource_range,
            fields: field_ranges,
            relations: relation_ranges,
            metas: meta_ranges,
            notes: note_ranges,
            permissions: permission_ranges,
        },
    };
    names(&source, report);
    options(&source, report);
    Some(source)
}

fn aliases(nodes: impl Iterator<Item = ast::Aliases>) -> Vec<String> {
    nodes.flat_map(|node| node.texts().map(|leaf| leaf.text).collect::<Vec<_>>()).collect()
}

fn names(source: &DomainSource, report: &mut Report) {
    let DomainSource { domain, ranges } = source;
    let fields = domain.fields.iter().zip(&ranges.fields).map(|(field, at)| (field.name.as_str(), at.name));
    report.duplicates("field", fields.clone());
    let relations = domain.relations.iter().zip(&ranges.relations);
    report.duplicates("relation", relations.clone().map(|(relation, at)| (relation.name.as_str(), at.name)));
    let fields: HashMap<&str, Range> = fields.collect();
    for (relation, at) in relations.filter(|(relation, _)| fields.contains_key(relation.name.as_str())) {
        let message = format!("There is a field `{0}`, so a relation can't be called `{0}`.", relation.name);
        report.error(at.name, "duplicate-name", message, "Give the relation another name.".to_owned());
    }
    let metas = domain.metas.iter().zip(&ranges.metas);
    report.duplicates("meta", metas.map(|(meta, at)| (meta.name.as_str(), at.name)));
    let roles = domain.permissions.iter().zip(&ranges.permissions);
    report.duplicates("permission for", roles.map(|(permission, at)| (permission.role.as_str(), *at)));
}

fn options(source: &DomainSource, report: &mut Report) {
    let metas: Vec<&str> = source.domain.metas.iter().map(|meta| meta.name.as_str()).collect();
    for (field, at) in source.domain.fields.iter().zip(&source.ranges.fields) {
        let (Some(options), Some(range)) = (&field.options, at.options) else { continue };
        if !metas.contains(&options.as_str()) {
            let hint = suggest(options, metas.iter().copied())
                .unwrap_or_else(|| format!("Add `meta {options} from <table> <key> <label>` to the domain."));
            report.error(range, "unknown-meta", format!("The domain has no meta `{options}`."), hint);
        }
    }
}

fn permission(node: &ast::Permission, report: &mut Report) -> (Permission, Range) {
    let (role, range) = part(node.role(), node);
    let mut permission = Permission { role, read: false, write: false, delete: false };
    for right in node.rights() {
        let granted = match right.text.as_str() {
            "read" => &mut permission.read,
            "write" => &mut permission.write,
            "delete" => &mut permission.delete,
            other => {
                let message = format!("`{other}` is no right.");
                report.error(right.range, "unknown-right", message, suggest(other, RIGHTS));
                continue;
            }
        };
        if std::mem::replace(granted, true) {
            let message = format!("`{}` stands twice in this permission.", right.text);
            report.error(right.range, "duplicate-right", message, "Remove it.".to_owned());
        }
    }
    (permission, range)
}

fn field(node: &ast::Field, report: &mut Report) -> Option<(Field, FieldRanges)> {
    let name = node.name()?;
    let written = node.kind();
    let known: Option<FieldKind> =
        written.as_ref().and_then(|leaf| report.choice(leaf, "unknown-kind", "kind of fields", &KINDS));
    let mut flags = [("readonly", false), ("filterable", false)];
    for word in node.flags().map(|flag| flag.word()) {
        for (flag, set) in &mut flags {
            if *flag == word.text && std::mem::replace(set, true) {
                let message = format!("`{flag}` stands twice.");
                report.error(word.range, "duplicate-word", message, "Remove it.".to_owned());
            }
        }
    }
    let mut options = node.options();
    let first = options.next();
    for more in options {
        let message = "A field takes its values from one meta only.";
        report.error(more.range, "duplicate-word", message, "Remove the second `options`.".to_owned());
    }
    let examples = node.examples().filter_map(|example| self::example(&example, known, report)).collect();
    let ranges =
        FieldRanges { name: name.range, kind: part(written, node).1, options: first.as_ref().map(|leaf| leaf.range) };
    let field = Field {
        name: report.name(&name),
        kind: known.unwrap_or(FieldKind::String),
        readonly: flags[0].1,
        filterable: flags[1].1,
        options: first.map(|leaf| leaf.text),
        examples,
        aliases: aliases(node.aliases()),
    };
    Some((field, ranges))
}

/// An example of a field, whose kind is `None` where it is unknown.
fn example(node: &ast::Example, kind: Option<FieldKind>, report: &mut Report) -> Option<Example> {
    let (operator, value, text) = (node.operator()?, node.value()?, node.text()?);
    let Some(op) = kinds::operator(&operator.text) else {
        let known =
            kind.map_or(kinds::OPERATORS.map(|(name, _)| name).to_vec(), |kind| kinds::operators(kind).to_vec());
        let message = format!("`{}` is no operator.", operator.text);
        report.error(operator.range, "unknown-operator", message, suggest(&operator.text, known));
        return None;
    };
    if let Some(kind) = kind {
        let allowed = kinds::operators(kind);
        if !allowed.contains(&op) {
            let message = format!("A field of the kind {} can't be compared with `{op}`.", kind.name());
            let names: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
            report.error(operator.range, "operator-not-allowed", message, format!("Use {}.", names.join(", ")));
        }
        if !kinds::value_fits(kind, &value.text) {
            let message = format!("`{}` is no value of the kind {}.", value.text, kind.name());
            report.error(value.range, "value-does-not-fit", message, value_hint(kind).to_owned());
        }
    }
    Some(Example { op: op.to_owned(), value: value.text, text: text.text })
}

fn value_hint(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Int => "Write a whole number such as `42`.",
        FieldKind::Float => "Write a number such as `4.5`.",
        FieldKind::Bool => "Write `true` or `false`.",
        FieldKind::Date => "Write a day such as `2024-12-31`.",
        FieldKind::Datetime => "Write a time such as `2024-12-31T18:30:00`.",
        FieldKind::String | FieldKind::Text => "Write a text between quotes.",
    }
}

fn relation(node: &ast::Relation, report: &mut Report) -> Option<(Relation, RelationRanges)> {
    let name = node.name()?;
    let kind = node.kind().and_then(|leaf| report.choice(&leaf, "unknown-kind", "kind of relations", &RELATION_KINDS));
    let domain = node.domain()?;
    let (bind, bind_ranges) = node
        .pairs()
        .filter_map(|pair| {
            let (local, foreign) = (pair.local()?, pair.foreign()?);
            Some(((local.text, foreign.text), (local.range, foreign.range)))
        })
        .unzip();
    let ranges = RelationRanges { name: name.range, domain: domain.range, bind: bind_ranges };
    let name = report.name(&name);
    Some((Relation { name, kind: kind.unwrap_or(RelationKind::HasMany), domain: domain.text, bind }, ranges))
}

fn meta(node: &ast::Meta, report: &mut Report) -> Option<(Meta, MetaRanges)> {
    let name = node.name()?;
    let (table, table_range) = part(node.table(), node);
    let mut columns = node.columns();
    let (key, key_range) = part(columns.next(), node);
    let (label, label_range) = part(columns.next(), node);
    let order_by = node.order_by();
    let ranges = MetaRanges {
        name: name.range,
        table: table_range,
        key: key_range,
        label: label_range,
        order_by: order_by.as_ref().map(|leaf| leaf.range),
    };
    Some((Meta { name: report.name(&name), table, key, label, order_by: order_by.map(|leaf| leaf.text) }, ranges))
}

fn note(node: &ast::Note) -> Option<(Note, Range)> {
    let (tag, text) = (node.tag()?, node.text()?);
    Some((Note { tag: tag.text, text: text.text }, tag.range))
}
