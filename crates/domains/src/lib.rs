//! Domains: what a part of a user's database means, and how it is shown. The language in which domains and views are
//! written, queries over them as data, and their lowering to SQL. No I/O: databases are read by who calls this.
//!
//! A text goes through [`parse`](parser::parse) (a lossless tree), [`lower`](lower::lower) (the model) and
//! [`check`](check::check) (against the databases); [`analyze`] does all three. [`assist`] serves editors, [`format`]
//! and [`render`] write texts, and [`init`] writes the first ones from a database.
//!
//! # The language
//! ```ebnf
#![doc = include_str!("grammar.ebnf")]
//! ```

pub mod assist;
mod ast;
mod catalog;
pub mod change;
pub mod check;
pub mod choices;
pub mod chunks;
mod diagnostic;
pub mod draft;
pub mod format;
pub mod graphql;
pub mod init;
pub mod kinds;
pub mod lower;
pub mod model;
pub mod parser;
pub mod query;
pub mod registry;
pub mod render;
pub mod result;
pub mod search;
pub mod syntax;

pub use catalog::Catalog;
pub use diagnostic::{Diagnostic, Severity};
pub use lower::{DomainSource, ViewSource};
pub use syntax::Range;

/// The grammar of the language.
pub const GRAMMAR: &str = include_str!("grammar.ebnf");

/// What a text says and what is wrong with it.
#[derive(Debug, Clone)]
pub struct Analysis {
    pub domains: Vec<DomainSource>,
    pub views: Vec<ViewSource>,
    /// In the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Analysis {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads a text and checks it against the databases and the other domains and views.
pub fn analyze(text: &str, catalog: &Catalog) -> Analysis {
    let parse = parser::parse(text);
    let lowered = lower::lower(&parse);
    let mut diagnostics = check::check(&lowered.domains, &lowered.views, catalog);
    diagnostics.extend(parse.diagnostics);
    diagnostics.extend(lowered.diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.range, diagnostic.severity));
    Analysis { domains: lowered.domains, views: lowered.views, diagnostics }
}
