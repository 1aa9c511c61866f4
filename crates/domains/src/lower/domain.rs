//! Domains of a tree.

use super::{DomainRanges, DomainSource, FieldRanges, MetaRanges, RelationRanges, Report, part};
use crate::ast::{children, inner_leaf, leaf, leaves, statements};
use crate::diagnostic::suggest;
use crate::kinds;
use crate::model::{
    Domain, Example, Field, FieldKind, Grantee, Meta, NoGrantee, Note, Permission, Relation, RelationKind,
};
use crate::syntax::{Range, SyntaxKind as K, SyntaxNode, quoting, range_of};
use std::collections::HashMap;

const RIGHTS: [&str; 3] = ["read", "write", "delete"];

pub(super) fn lower(node: &SyntaxNode, report: &mut Report) -> Option<DomainSource> {
    let name = leaf(node, K::Name)?;
    let (table, table_range) = part(inner_leaf(node, K::Source, K::TableName), node);
    let (datasource, datasource_range) = part(inner_leaf(node, K::Source, K::DatasourceName), node);
    let (permissions, permission_ranges) =
        statements(node, K::Permission).filter_map(|node| permission(&node, report)).unzip();
    let (fields, field_ranges) = statements(node, K::Field).filter_map(|node| field(&node, report)).unzip();
    let (relations, relation_ranges) = statements(node, K::Relation).filter_map(|node| relation(&node, report)).unzip();
    let (metas, meta_ranges) = statements(node, K::Meta).filter_map(|node| meta(&node, report)).unzip();
    let (notes, note_ranges) = statements(node, K::Note).filter_map(|node| note(&node)).unzip();
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
            aliases: aliases(node),
        },
        ranges: DomainRanges {
            whole: range_of(node),
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

fn aliases(node: &SyntaxNode) -> Vec<String> {
    statements(node, K::Aliases).flat_map(|node| leaves(&node, K::Text)).map(|leaf| leaf.text).collect()
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
    let grantees: Vec<String> = domain.permissions.iter().map(|permission| permission.to.to_string()).collect();
    report.duplicates("permission for", grantees.iter().map(String::as_str).zip(ranges.permissions.iter().copied()));
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

fn permission(node: &SyntaxNode, report: &mut Report) -> Option<(Permission, Range)> {
    let (written, range) = part(leaf(node, K::RoleName), node);
    let to = grantee(&written, range, report);
    let mut permission =
        Permission { to: to.clone().unwrap_or(Grantee::Everybody), read: false, write: false, delete: false };
    for right in leaves(node, K::RightName) {
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
    to.map(|_| (permission, range))
}

fn grantee(written: &str, range: Range, report: &mut Report) -> Option<Grantee> {
    let Err(NoGrantee(name)) = written.parse::<Grantee>() else { return written.parse().ok() };
    // What is missing was reported by the parser.
    if !name.is_empty() {
        let group = quoting::role(&format!("group:{name}"));
        let hint = format!("Write `{group}` for the group, or a role: `admin`, `operator`, `developer` or `viewer`.");
        report.error(range, "unknown-role", format!("`{name}` is no role."), hint);
    }
    None
}

fn field(node: &SyntaxNode, report: &mut Report) -> Option<(Field, FieldRanges)> {
    let name = leaf(node, K::Name)?;
    let written = leaf(node, K::KindName);
    let known: Option<FieldKind> =
        written.as_ref().and_then(|leaf| report.choice(leaf, "unknown-kind", "kind of fields"));
    let mut flags = [("readonly", false), ("filterable", false), ("trusted", false), ("untrusted", false)];
    for word in leaves(node, K::Flag) {
        for (flag, set) in &mut flags {
            if *flag == word.text && std::mem::replace(set, true) {
                let message = format!("`{flag}` stands twice.");
                report.error(word.range, "duplicate-word", message, "Remove it.".to_owned());
            }
        }
    }
    if flags[2].1 && flags[3].1 {
        let message = "A field is either `trusted` or `untrusted`.";
        report.error(name.range, "duplicate-word", message, "Remove one of the two.".to_owned());
    }
    let mut options = children(node, K::Options).filter_map(|options| leaf(&options, K::MetaRef));
    let first = options.next();
    for more in options {
        let message = "A field takes its values from one meta only.";
        report.error(more.range, "duplicate-word", message, "Remove the second `options`.".to_owned());
    }
    let examples = statements(node, K::Example).filter_map(|node| example(&node, known, report)).collect();
    let ranges =
        FieldRanges { name: name.range, kind: part(written, node).1, options: first.as_ref().map(|leaf| leaf.range) };
    let field = Field {
        name: report.name(&name),
        kind: known.unwrap_or(FieldKind::String),
        readonly: flags[0].1,
        filterable: flags[1].1,
        trusted: (flags[2].1 || flags[3].1).then_some(!flags[3].1),
        options: first.map(|leaf| leaf.text),
        examples,
        aliases: aliases(node),
    };
    Some((field, ranges))
}

/// An example of a field, whose kind is `None` where it is unknown.
fn example(node: &SyntaxNode, kind: Option<FieldKind>, report: &mut Report) -> Option<Example> {
    let (operator, value, text) = (leaf(node, K::OperatorName)?, leaf(node, K::Value)?, leaf(node, K::Text)?);
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

fn relation(node: &SyntaxNode, report: &mut Report) -> Option<(Relation, RelationRanges)> {
    let name = leaf(node, K::Name)?;
    let kind = leaf(node, K::KindName).and_then(|leaf| report.choice(&leaf, "unknown-kind", "kind of relations"));
    let domain = leaf(node, K::DomainRef)?;
    let (bind, bind_ranges) = children(node, K::Pair)
        .filter_map(|pair| {
            let (local, foreign) = (leaf(&pair, K::FieldRef)?, leaf(&pair, K::ForeignRef)?);
            Some(((local.text, foreign.text), (local.range, foreign.range)))
        })
        .unzip();
    let ranges = RelationRanges { name: name.range, domain: domain.range, bind: bind_ranges };
    let name = report.name(&name);
    Some((Relation { name, kind: kind.unwrap_or(RelationKind::HasMany), domain: domain.text, bind }, ranges))
}

fn meta(node: &SyntaxNode, report: &mut Report) -> Option<(Meta, MetaRanges)> {
    let name = leaf(node, K::Name)?;
    let (table, table_range) = part(leaf(node, K::TableName), node);
    let mut columns = leaves(node, K::ColumnRef);
    let (key, key_range) = part(columns.next(), node);
    let (label, label_range) = part(columns.next(), node);
    let order_by = inner_leaf(node, K::OrderBy, K::ColumnRef);
    let ranges = MetaRanges {
        name: name.range,
        table: table_range,
        key: key_range,
        label: label_range,
        order_by: order_by.as_ref().map(|leaf| leaf.range),
    };
    Some((Meta { name: report.name(&name), table, key, label, order_by: order_by.map(|leaf| leaf.text) }, ranges))
}

fn note(node: &SyntaxNode) -> Option<(Note, Range)> {
    let (tag, text) = (leaf(node, K::Tag)?, leaf(node, K::Text)?);
    Some((Note { tag: tag.text, text: text.text }, tag.range))
}
