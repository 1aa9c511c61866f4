//! Views of a tree.

use super::{ColumnRanges, Report, TableRanges, TargetRanges, ViewRanges, ViewSource, WidgetRanges, part};
use crate::ast::{self, AstNode, Leaf};
use crate::model::{Button, ButtonAction, ColumnPart, Section, TablePart, Target, View, Widget, WidgetKind};
use std::collections::HashSet;

pub(crate) const WIDGETS: [&str; 6] = ["text", "textarea", "select", "checkbox", "number", "date"];

/// The widest column, in characters.
const WIDEST: u32 = 1_000;

pub(super) fn lower(node: &ast::View, report: &mut Report) -> Option<ViewSource> {
    let name = node.name()?;
    let (title, _) = part(node.title(), node);
    let (domain, domain_range) = part(node.domain(), node);
    let mut bars = node.statements::<ast::Toolbar>();
    let first = bars.next();
    for bar in bars {
        let message = "A view has one toolbar.";
        let start = bar.range().0;
        let range = (start, start + "toolbar".len());
        report.error(range, "duplicate-toolbar", message, "Move its buttons into the first one.".to_owned());
    }
    let buttons = first.into_iter().flat_map(|bar| bar.buttons().collect::<Vec<_>>());
    let (toolbar, toolbar_ranges) = buttons.filter_map(|node| button(&node, report)).unzip();
    let (tables, table_ranges) = node.statements().filter_map(|node| table(&node, report)).unzip();
    let (sections, section_ranges) = node.statements().map(|node| section(&node, report)).unzip();
    Some(ViewSource {
        view: View { name: report.name(&name), title, domain, toolbar, tables, sections },
        ranges: ViewRanges {
            whole: node.range(),
            name: name.range,
            domain: domain_range,
            toolbar: toolbar_ranges,
            tables: table_ranges,
            sections: section_ranges,
        },
    })
}

fn button(node: &ast::Button, report: &mut Report) -> Option<(Button, Option<TargetRanges>)> {
    let action: ButtonAction = node.action()?.text.parse().ok()?;
    let label = part(node.label(), node).0;
    let target = node.target().filter(|target| {
        let leads = action == ButtonAction::New;
        if !leads {
            let message = "Only `new` leads to a view.";
            report.error(target.range(), "target-not-allowed", message, "Remove the target.".to_owned());
        }
        leads
    });
    let (target, ranges) = target.and_then(|node| self::target(&node)).unzip();
    Some((Button { action, label, target }, ranges))
}

fn target(node: &ast::Target) -> Option<(Target, TargetRanges)> {
    let view = node.view()?;
    let bind = node.bind();
    let ranges = TargetRanges { view: view.range, bind: bind.as_ref().map(|leaf| leaf.range) };
    Some((Target { view: view.text, bind: bind.map(|leaf| leaf.text), tab: node.tab() }, ranges))
}

fn table(node: &ast::TablePart, report: &mut Report) -> Option<(TablePart, TableRanges)> {
    let domain = node.domain()?;
    let mut selects = node.on_select();
    let first = selects.next();
    for more in selects {
        let message = "A table leads to one view only.";
        report.error(more.range(), "duplicate-word", message, "Remove the second `on_select`.".to_owned());
    }
    let (on_select, select_ranges) = first.and_then(|node| target(&node.target()?)).unzip();
    let mut known = HashSet::new();
    let (columns, column_ranges) = node
        .columns()
        .filter_map(|node| {
            let field = node.field()?;
            if !known.insert(field.text.clone()) {
                let message = format!("The field `{}` has a column before this one.", field.text);
                report.error(field.range, "duplicate-column", message, "Remove one of the two.".to_owned());
            }
            let ranges = ColumnRanges { field: field.range };
            let part = ColumnPart {
                field: field.text,
                label: part(node.label(), &node).0,
                width: node.width().and_then(|leaf| width(&leaf, report)),
                format: node.format().map(|leaf| leaf.text),
            };
            Some((part, ranges))
        })
        .unzip();
    let ranges = TableRanges { domain: domain.range, on_select: select_ranges, columns: column_ranges };
    Some((TablePart { domain: domain.text, on_select, columns }, ranges))
}

fn width(leaf: &Leaf, report: &mut Report) -> Option<u32> {
    let width = leaf.text.parse().ok().filter(|width| (1..=WIDEST).contains(width));
    if width.is_none() {
        let message = format!("`{}` is no width.", leaf.text);
        let hint = format!("Write a whole number of characters from 1 to {WIDEST}.");
        report.error(leaf.range, "bad-width", message, hint);
    }
    width
}

fn section(node: &ast::Section, report: &mut Report) -> (Section, Vec<Vec<WidgetRanges>>) {
    let rows = node.rows().map(|row| row.widgets().filter_map(|node| widget(&node, report)).unzip());
    let (rows, ranges) = rows.collect::<Vec<_>>().into_iter().unzip();
    (Section { title: part(node.title(), node).0, rows }, ranges)
}

fn widget(node: &ast::Widget, report: &mut Report) -> Option<(Widget, WidgetRanges)> {
    let (written, field) = (node.kind()?, node.field()?);
    let kind: Option<WidgetKind> = report.choice(&written, "unknown-widget", "kind of widgets", &WIDGETS);
    let ranges = WidgetRanges { kind: written.range, field: field.range };
    Some((Widget { kind: kind.unwrap_or(WidgetKind::Text), field: field.text }, ranges))
}
