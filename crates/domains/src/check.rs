//! Domains and views against the databases and each other.

mod domain;
mod view;

use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostic, suggest};
use crate::lower::{DomainSource, ViewSource};
use crate::model::{Domain, Field};
use crate::syntax::Range;
use std::collections::{BTreeMap, BTreeSet};

/// What a note of a domain can be about.
pub const TAGS: [&str; 5] = ["scope", "edit_behavior", "format_hint", "list_behavior", "navigation"];

/// Reports what does not fit, at its place in the text.
pub fn check(domains: &[DomainSource], views: &[ViewSource], catalog: &Catalog) -> Vec<Diagnostic> {
    let mut known: BTreeMap<&str, &Domain> =
        catalog.domains.iter().map(|domain| (domain.name.as_str(), domain)).collect();
    known.extend(domains.iter().map(|source| (source.domain.name.as_str(), &source.domain)));
    let mut view_names: BTreeSet<&str> = catalog.views.iter().map(|view| view.name.as_str()).collect();
    view_names.extend(views.iter().map(|source| source.view.name.as_str()));
    let mut checker = Checker { catalog, domains: known, views: view_names, diagnostics: Vec::new() };
    for source in domains {
        checker.domain(source);
    }
    for source in views {
        checker.view(source);
    }
    checker.diagnostics.sort_by_key(|diagnostic| diagnostic.range);
    checker.diagnostics
}

struct Checker<'c> {
    catalog: &'c Catalog,
    domains: BTreeMap<&'c str, &'c Domain>,
    views: BTreeSet<&'c str>,
    diagnostics: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn error(&mut self, range: Range, code: &'static str, message: String, hint: impl Into<Option<String>>) {
        self.diagnostics.push(Diagnostic::error(range, code, message).with_hint(hint));
    }

    fn warning(&mut self, range: Range, code: &'static str, message: String, hint: &str) {
        self.diagnostics.push(Diagnostic::warning(range, code, message).with_hint(hint.to_owned()));
    }

    fn unknown_domain(&mut self, range: Range, name: &str) {
        let hint = suggest(name, self.domains.keys().copied());
        self.error(range, "unknown-domain", format!("There is no domain `{name}`."), hint);
    }

    /// A field of a domain; reports where there is none.
    fn field<'d>(&mut self, range: Range, domain: &'d Domain, name: &str) -> Option<&'d Field> {
        let field = domain.fields.iter().find(|field| field.name == name);
        if field.is_none() && !name.is_empty() {
            let hint = suggest(name, domain.fields.iter().map(|field| field.name.as_str()))
                .unwrap_or_else(|| format!("Describe it in the domain: `field {name} : <kind>`."));
            let message = format!("The domain `{}` has no field `{name}`.", domain.name);
            self.error(range, "unknown-field", message, hint);
        }
        field
    }
}
