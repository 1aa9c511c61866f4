//! Views of a tree.

use super::{Report, TableRanges, TargetRanges, ViewRanges, ViewSource, WidgetRanges, part};
use crate::ast::{Leaf, child, inner_leaf, leaf, statements};
use crate::model::{Button, ButtonAction, ColumnPart, Section, TablePart, Target, View, Widget, WidgetKind};
use crate::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken, range_of};
use rowan::NodeOrToken;
use std::collections::HashSet;

/// The widest column, in characters.
const WIDEST: u32 = 1_000;

pub(super) fn lower(node: &SyntaxNode, report: &mut Report) -> Option<ViewSource> {
    let name = leaf(node, K::Name)?;
    let (title, _) = part(leaf(node, K::Text), node);
    let (domain, domain_range) = part(leaf(node, K::DomainRef), node);
    let mut bars = statements(node, K::Toolbar);
    let first = bars.next();
    for bar in bars {
        let message = "A view has one toolbar.";
        let start = range_of(&bar).0;
        let range = (start, start + "toolbar".len());
        report.error(range, "duplicate-toolbar", message, "Move its buttons into the first one.".to_owned());
    }
    let buttons = first.into_iter().flat_map(|bar| statements(&bar, K::Button));
    let (toolbar, toolbar_ranges) = buttons.filter_map(|node| button(&node, report)).unzip();
    let (tables, table_ranges) = statements(node, K::TablePart).filter_map(|node| table(&node, report)).unzip();
    let (sections, section_ranges) = statements(node, K::Section).map(|node| section(&node, report)).unzip();
    Some(ViewSource {
        view: View { name: report.name(&name), title, domain, toolbar, tables, sections },
        ranges: ViewRanges {
            whole: range_of(node),
            name: name.range,
            domain: domain_range,
            toolbar: toolbar_ranges,
            tables: table_ranges,
            sections: section_ranges,
        },
    })
}

fn button(node: &SyntaxNode, report: &mut Report) -> Option<(Button, Option<TargetRanges>)> {
    let action: ButtonAction = leaf(node, K::ActionName)?.text.parse().ok()?;
    let label = part(leaf(node, K::Text), node).0;
    let target = child(node, K::Target).filter(|target| {
        let leads = action == ButtonAction::New;
        if !leads {
            let message = "Only `new` leads to a view.";
            report.error(range_of(target), "target-not-allowed", message, "Remove the target.".to_owned());
        }
        leads
    });
    let (target, ranges) = target.and_then(|node| self::target(&node)).unzip();
    Some((Button { action, label, target }, ranges))
}

fn target(node: &SyntaxNode) -> Option<(Target, TargetRanges)> {
    let view = leaf(node, K::ViewRef)?;
    let bind = inner_leaf(node, K::TargetBind, K::FieldRef);
    let is_tab = |token: &SyntaxToken| token.kind() == K::Keyword && token.text() == "tab";
    let tab = node.children_with_tokens().filter_map(NodeOrToken::into_token).any(|token| is_tab(&token));
    let ranges = TargetRanges { view: view.range, bind: bind.as_ref().map(|leaf| leaf.range) };
    Some((Target { view: view.text, bind: bind.map(|leaf| leaf.text), tab }, ranges))
}

fn table(node: &SyntaxNode, report: &mut Report) -> Option<(TablePart, TableRanges)> {
    let domain = leaf(node, K::DomainRef)?;
    let mut selects = statements(node, K::OnSelect);
    let first = selects.next();
    for more in selects {
        let message = "A table leads to one view only.";
        report.error(range_of(&more), "duplicate-word", message, "Remove the second `on_select`.".to_owned());
    }
    let (on_select, select_ranges) = first.and_then(|node| target(&child(&node, K::Target)?)).unzip();
    let mut known = HashSet::new();
    let (columns, column_ranges) = statements(node, K::Column)
        .filter_map(|node| {
            let field = leaf(&node, K::FieldRef)?;
            if !known.insert(field.text.clone()) {
                let message = format!("The field `{}` has a column before this one.", field.text);
                report.error(field.range, "duplicate-column", message, "Remove one of the two.".to_owned());
            }
            let part = ColumnPart {
                field: field.text,
                label: part(leaf(&node, K::Text), &node).0,
                width: inner_leaf(&node, K::Width, K::WidthValue).and_then(|leaf| width(&leaf, report)),
                format: inner_leaf(&node, K::Format, K::FormatValue).map(|leaf| leaf.text),
            };
            Some((part, field.range))
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

fn section(node: &SyntaxNode, report: &mut Report) -> (Section, Vec<Vec<WidgetRanges>>) {
    let rows = statements(node, K::Row)
        .map(|row| statements(&row, K::Widget).filter_map(|node| widget(&node, report)).unzip());
    let (rows, ranges) = rows.collect::<Vec<_>>().into_iter().unzip();
    (Section { title: part(leaf(node, K::Text), node).0, rows }, ranges)
}

fn widget(node: &SyntaxNode, report: &mut Report) -> Option<(Widget, WidgetRanges)> {
    let (written, field) = (leaf(node, K::WidgetName)?, leaf(node, K::FieldRef)?);
    let kind: Option<WidgetKind> = report.choice(&written, "unknown-widget", "kind of widgets");
    let ranges = WidgetRanges { kind: written.range, field: field.range };
    Some((Widget { kind: kind.unwrap_or(WidgetKind::Text), field: field.text }, ranges))
}
