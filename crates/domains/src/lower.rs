//! Trees to the model. What a broken text still says is kept, so that its other parts can be checked.

mod domain;
mod ranges;
mod view;

pub use ranges::{DomainRanges, FieldRanges, MetaRanges, RelationRanges, TableRanges, TargetRanges};
pub use ranges::{ViewRanges, WidgetRanges};

use crate::ast::{Leaf, children};
use crate::diagnostic::{Diagnostic, suggest};
use crate::model::{Domain, View};
use crate::parser::Parse;
use crate::syntax::{Range, SyntaxKind, SyntaxNode, range_of};
use std::collections::HashSet;
use std::str::FromStr;
use strum::VariantNames;

/// A domain with the places of its parts in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainSource {
    pub domain: Domain,
    pub ranges: DomainRanges,
}

/// A view with the places of its parts in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewSource {
    pub view: View,
    pub ranges: ViewRanges,
}

#[derive(Debug, Clone, Default)]
pub struct Lowered {
    pub domains: Vec<DomainSource>,
    pub views: Vec<ViewSource>,
    /// Those of the parser not among them.
    pub diagnostics: Vec<Diagnostic>,
}

pub fn lower(parse: &Parse) -> Lowered {
    let file = parse.tree();
    let mut report = Report::default();
    let domains: Vec<DomainSource> =
        children(&file, SyntaxKind::Domain).filter_map(|node| domain::lower(&node, &mut report)).collect();
    let views: Vec<ViewSource> =
        children(&file, SyntaxKind::View).filter_map(|node| view::lower(&node, &mut report)).collect();
    report.duplicates("domain", domains.iter().map(|source| (source.domain.name.as_str(), source.ranges.name)));
    report.duplicates("view", views.iter().map(|source| (source.view.name.as_str(), source.ranges.name)));
    report.diagnostics.sort_by_key(|diagnostic| diagnostic.range);
    Lowered { domains, views, diagnostics: report.diagnostics }
}

#[derive(Default)]
struct Report {
    diagnostics: Vec<Diagnostic>,
}

impl Report {
    fn error(&mut self, range: Range, code: &'static str, message: impl Into<String>, hint: impl Into<Option<String>>) {
        self.diagnostics.push(Diagnostic::error(range, code, message).with_hint(hint));
    }

    /// Reports each name after the first of its kind.
    fn duplicates<'n>(&mut self, what: &str, names: impl Iterator<Item = (&'n str, Range)>) {
        let mut known = HashSet::new();
        for (name, range) in names {
            if !known.insert(name) {
                let message = format!("There is another {what} `{name}` before this one.");
                self.error(range, "duplicate-name", message, format!("Give this {what} another name, or remove it."));
            }
        }
    }

    /// The name that a definition gets; an empty one is no name.
    fn name(&mut self, leaf: &Leaf) -> String {
        if leaf.text.trim().is_empty() {
            self.error(leaf.range, "empty-name", "A name can't be empty.", "Write a name.".to_owned());
        }
        leaf.text.clone()
    }

    /// A word from a fixed set.
    fn choice<T: FromStr + VariantNames>(&mut self, leaf: &Leaf, code: &'static str, what: &str) -> Option<T> {
        let choice = leaf.text.parse().ok();
        if choice.is_none() {
            let message = format!("`{}` is no {what}.", leaf.text);
            self.error(leaf.range, code, message, suggest(&leaf.text, T::VARIANTS.iter().copied()));
        }
        choice
    }
}

/// Text and range of a part, or nothing at the end of the statement where the part is missing.
fn part(leaf: Option<Leaf>, statement: &SyntaxNode) -> (String, Range) {
    let end = range_of(statement).1;
    leaf.map_or_else(|| (String::new(), (end, end)), |leaf| (leaf.text, leaf.range))
}
