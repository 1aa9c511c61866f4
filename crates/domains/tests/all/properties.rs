//! What holds for every text and every model.

use crate::initial::text_for;
use crate::support::{SHOP, catalog};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use steward_core::tables::{Column, ForeignKey, Schema, Table};
use steward_domains::analyze;
use steward_domains::assist::{complete, hover, rename};
use steward_domains::format::format;
use steward_domains::init::Samples;
use steward_domains::kinds::{ALL, operators};
use steward_domains::lower::lower;
use steward_domains::model::{
    Button, ButtonAction, ColumnPart, Domain, Example, Field, Grantee, Meta, Note, Permission, Relation, RelationKind,
    Section, TablePart, Target, View, Widget, WidgetKind,
};
use steward_domains::parser::parse;
use steward_domains::render::{render, render_view};

/// Parts that texts are made of, so that random texts get far into the grammar.
const PARTS: &[&str] = &[
    "domain",
    "view",
    "from",
    "over",
    "field",
    "relation",
    "meta",
    "permission",
    "ai",
    "aliases",
    "toolbar",
    "table",
    "section",
    "row",
    "widget",
    "column",
    "on_select",
    "new",
    "save",
    "example",
    "options",
    "bind",
    "as",
    "tab",
    "{",
    "}",
    "[",
    "]",
    ":",
    "=",
    ",",
    ";",
    ".",
    "@",
    "->",
    "*",
    "-",
    "\"",
    "\"a b\"",
    "\"\\\"\"",
    "\\",
    "#c\n",
    "\n",
    "\r\n",
    " ",
    "\t",
    "a",
    "b",
    "int",
    "5",
    "2024-01-01",
    "read",
    "has_many",
    "rows",
    "é",
    "§",
    "\u{feff}",
    "domain a from t@d {\n",
    "view v \"V\" over a {\n",
    "field x : int {",
    "example eq 5 \"t\"\n",
];

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        vec(select(PARTS), 0..60).prop_map(|parts| parts.concat()),
        vec(select(PARTS), 0..60).prop_map(|parts| parts.join(" ")),
        (0..=SHOP.len(), 0..=SHOP.len(), select(PARTS)).prop_map(|(at, until, part)| mutated(SHOP, at, until, part)),
    ]
}

/// A text with a part of it replaced.
fn mutated(text: &str, at: usize, until: usize, part: &str) -> String {
    let (start, end) = (at.min(until).min(text.len()), at.max(until).min(text.len()));
    let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = (end..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    format!("{}{part}{}", &text[..start], &text[end..])
}

fn models(text: &str) -> (Vec<Domain>, Vec<View>) {
    let lowered = lower(&parse(text));
    let domains = lowered.domains.into_iter().map(|source| source.domain).collect();
    (domains, lowered.views.into_iter().map(|source| source.view).collect())
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_][a-z0-9_]{0,6}",
        select(
            &["field", "bind", "order_by", "as", "tab", "rows", "from", "*", "1a", "a.b", "a\"b", "a\\", "ü ü", "a\nb"]
                [..]
        )
        .prop_map(str::to_owned),
        any::<String>(),
    ]
}

fn permissions() -> impl Strategy<Value = Vec<Permission>> {
    let rights = any::<(bool, bool, bool)>().prop_filter("a right", |(r, w, d)| *r || *w || *d);
    let permission =
        (names().prop_filter("a name", |name| !name.is_empty()), rights).prop_map(|(name, (read, write, delete))| {
            let to = name.parse().unwrap_or(Grantee::Group(name));
            Permission { to, read, write, delete }
        });
    vec(permission, 0..3)
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let example = (select(&ALL[..]), any::<prop::sample::Index>(), names(), names());
    let aliases = vec(names(), 0..3);
    let field = (
        names(),
        any::<(bool, bool, Option<bool>)>(),
        proptest::option::of(names()),
        vec(example, 0..3),
        select(&ALL[..]),
        aliases,
    );
    let field = field.prop_map(|(name, (readonly, filterable, trusted), options, examples, kind, aliases)| {
        let examples = examples.into_iter().map(|(_, op, value, text)| {
            let operators = operators(kind);
            Example { op: operators[op.index(operators.len())].to_owned(), value, text }
        });
        Field { name, kind, readonly, filterable, trusted, options, examples: examples.collect(), aliases }
    });
    vec(field, 0..4)
}

fn domains() -> impl Strategy<Value = Domain> {
    let kind = select(&[RelationKind::HasMany, RelationKind::BelongsTo, RelationKind::HasOne][..]);
    let relation = (names(), kind, names(), vec((names(), names()), 1..3))
        .prop_map(|(name, kind, domain, bind)| Relation { name, kind, domain, bind });
    let meta = (names(), names(), names(), names(), proptest::option::of(names()))
        .prop_map(|(name, table, key, label, order_by)| Meta { name, table, key, label, order_by });
    let note = (names(), names()).prop_map(|(tag, text)| Note { tag, text });
    let head = (names(), names(), names());
    let rest = (vec(relation, 0..3), vec(meta, 0..3), vec(note, 0..3), vec(names(), 0..3));
    (head, permissions(), fields(), rest).prop_map(|((name, table, datasource), permissions, fields, rest)| {
        let (relations, metas, notes, aliases) = rest;
        Domain { name, table, datasource, permissions, fields, relations, metas, notes, aliases }
    })
}

fn targets() -> impl Strategy<Value = Target> {
    (names(), proptest::option::of(names()), any::<bool>()).prop_map(|(view, bind, tab)| Target { view, bind, tab })
}

fn views() -> impl Strategy<Value = View> {
    let action = select(&[ButtonAction::Refresh, ButtonAction::Save, ButtonAction::Delete][..]);
    let button = prop_oneof![
        (action, names()).prop_map(|(action, label)| Button { action, label, target: None }),
        (names(), proptest::option::of(targets())).prop_map(|(label, target)| Button {
            action: ButtonAction::New,
            label,
            target
        }),
    ];
    let format = prop_oneof![
        select(&["number:0", "date:short", "a:1:b", "12", "a:", "1:2"][..]).prop_map(str::to_owned),
        names()
    ];
    let column = (names(), names(), proptest::option::of(1..=1_000_u32), proptest::option::of(format))
        .prop_map(|(field, label, width, format)| ColumnPart { field, label, width, format });
    let table = (names(), proptest::option::of(targets()), vec(column, 0..3))
        .prop_map(|(domain, on_select, columns)| TablePart { domain, on_select, columns });
    let kind = select(
        &[
            WidgetKind::Text,
            WidgetKind::Textarea,
            WidgetKind::Select,
            WidgetKind::Checkbox,
            WidgetKind::Number,
            WidgetKind::Date,
        ][..],
    );
    let widget = (kind, names()).prop_map(|(kind, field)| Widget { kind, field });
    let section = (names(), vec(vec(widget, 0..4), 0..3)).prop_map(|(title, rows)| Section { title, rows });
    (names(), names(), names(), vec(button, 0..3), vec(table, 0..3), vec(section, 0..3)).prop_map(
        |(name, title, domain, toolbar, tables, sections)| View { name, title, domain, toolbar, tables, sections },
    )
}

fn schemas() -> impl Strategy<Value = Schema> {
    let kind = select(&["INTEGER", "TEXT", "VARCHAR(20)", "REAL", "DATE", "TIMESTAMP", "BOOLEAN", "BLOB", ""][..]);
    let name = || names().prop_filter("a name", |name| !name.trim().is_empty());
    let columns = btree_map(name(), (kind, any::<bool>()), 1..5);
    let keys = vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<bool>()), 0..4);
    btree_map(name(), (columns, keys, any::<bool>(), 0..300_u64), 1..5).prop_map(|tables| {
        let names: Vec<String> = tables.keys().cloned().collect();
        let columns_of: Vec<Vec<(String, &str)>> = tables
            .values()
            .map(|(columns, ..)| columns.iter().map(|(name, (kind, _))| (name.clone(), *kind)).collect())
            .collect();
        let tables = tables.into_iter().map(|(name, (columns, keys, view, rows))| {
            let own: Vec<(String, &str)> = columns.iter().map(|(name, (kind, _))| (name.clone(), *kind)).collect();
            // Keys join columns of one type, as databases demand.
            let foreign_keys = keys.into_iter().filter_map(|(column, table, _)| {
                let (column, kind) = &own[column.index(own.len())];
                let other = table.index(names.len());
                let (references, _) = columns_of[other].iter().find(|(_, other)| other == kind)?;
                Some(ForeignKey { column: column.clone(), table: names[other].clone(), references: references.clone() })
            });
            let foreign_keys = foreign_keys.collect();
            let columns = columns
                .into_iter()
                .map(|(name, (kind, pk))| Column { name, kind: kind.to_owned(), pk, not_null: pk })
                .collect();
            Table { name, view, columns, foreign_keys, row_estimate: Some(rows) }
        });
        Schema { tables: tables.collect() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_read_without_loss(text in texts()) {
        let parse = parse(&text);
        prop_assert_eq!(parse.tree().text().to_string(), text.clone());
        let analysis = analyze(&text, &catalog());
        for diagnostic in &analysis.diagnostics {
            prop_assert!(text.get(diagnostic.range.0..diagnostic.range.1).is_some(), "{:?}", diagnostic);
        }
    }

    #[test]
    fn the_editor_is_served_in_any_text(text in texts(), offset in 0..400_usize) {
        complete(&text, offset, &catalog());
        hover(&text, offset, &catalog());
        if let Ok(edits) = rename(&text, offset, "renamed") {
            for edit in edits {
                prop_assert!(text.get(edit.range.0..edit.range.1).is_some());
            }
        }
    }

    #[test]
    fn the_layout_changes_no_meaning_and_settles(text in texts()) {
        let formatted = format(&text);
        prop_assert_eq!(models(&formatted), models(&text), "{}", formatted);
        // What is broken stays as it was typed; what stands around it may be read in another way then.
        if parse(&text).diagnostics.is_empty() {
            prop_assert_eq!(format(&formatted), formatted);
        }
    }

    #[test]
    fn domains_survive_being_written(domain in domains()) {
        let text = render(&domain);
        let parse = parse(&text);
        prop_assert!(parse.diagnostics.is_empty(), "{}\n{:?}", text, parse.diagnostics);
        prop_assert_eq!(models(&text), (vec![domain], Vec::new()), "{}", text);
        prop_assert_eq!(format(&text), text);
    }

    #[test]
    fn views_survive_being_written(view in views()) {
        let text = render_view(&view);
        let parse = parse(&text);
        prop_assert!(parse.diagnostics.is_empty(), "{}\n{:?}", text, parse.diagnostics);
        prop_assert_eq!(models(&text), (Vec::new(), vec![view]), "{}", text);
        prop_assert_eq!(format(&text), text);
    }

    /// A change within an item leaves the others as they were.
    #[test]
    fn other_items_are_still_read(at in 0..SHOP.len(), length in 0..4_usize, part in select(PARTS)) {
        // Texts that begin or end an item of their own are another thing.
        prop_assume!(!part.contains("domain") && !part.contains("view"));
        let text = mutated(SHOP, at, at + length, part);
        let items: Vec<(usize, usize)> = {
            let lowered = lower(&parse(SHOP));
            let domains = lowered.domains.iter().map(|source| source.ranges.whole);
            domains.chain(lowered.views.iter().map(|source| source.ranges.whole)).collect()
        };
        let (domains, views) = models(SHOP);
        let (found_domains, found_views) = models(&text);
        let touched = |(start, end): (usize, usize)| at <= end + 1 && at + length + 1 >= start;
        for (domain, range) in domains.iter().zip(&items) {
            prop_assert!(touched(*range) || found_domains.contains(domain), "{} is lost in\n{text}", domain.name);
        }
        for (view, range) in views.iter().zip(&items[domains.len()..]) {
            prop_assert!(touched(*range) || found_views.contains(view), "{} is lost in\n{text}", view.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_database_is_written_down(schema in schemas()) {
        text_for(&schema, &Samples::default());
    }
}

#[test]
fn large_texts_are_read_in_linear_time() {
    use std::fmt::Write;
    let mut text = "domain a from t@d {\n".to_owned();
    for number in 0..20_000 {
        let _ = writeln!(text, "  field f{number} : int filterable {{ example eq {number} \"number {number}\" }}");
    }
    text.push_str("}\n");
    assert_eq!(models(&text).0[0].fields.len(), 20_000);
    assert_eq!(format(&text), text);
    for piece in [
        "{",
        "}",
        "domain a from t@d {",
        "[",
        "\"",
        "field x : int {",
        "oops ",
        "aliases [ \"a\", ",
        "view v \"V\" over a { section \"S\" { row {",
    ] {
        let text = piece.repeat(20_000);
        assert_eq!(parse(&text).tree().text().to_string(), text);
        format(&text);
    }
}

#[test]
fn trees_are_shallow() {
    let deepest = |text: &str| parse(text).tree().descendants().map(|node| node.ancestors().count()).max();
    let bound = Some(12);
    for piece in
        ["{", "[", "domain a from t@d {", "view v \"V\" over a { section \"S\" { row {", "field x : int {", "-> ", "a:"]
    {
        assert!(deepest(&piece.repeat(500)) <= bound, "{piece}");
    }
}

#[test]
fn words_of_the_language_are_explained() {
    let known: BTreeSet<&str> = steward_domains::assist::WORDS.iter().map(|word| word.word).collect();
    for quoted in steward_domains::GRAMMAR.split('"').skip(1).step_by(2) {
        let is_word = quoted.len() > 1 && quoted.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let choices = [
            "read",
            "write",
            "int",
            "float",
            "string",
            "text",
            "bool",
            "date",
            "datetime",
            "has_many",
            "belongs_to",
            "has_one",
            "textarea",
            "select",
            "checkbox",
            "number",
        ];
        let operators = ["eq", "ne", "gt", "gte", "lt", "lte", "contains", "neq", "like"];
        if is_word && !choices.contains(&quoted) && !operators.contains(&quoted) {
            assert!(known.contains(quoted), "`{quoted}` has no explanation");
        }
    }
}
