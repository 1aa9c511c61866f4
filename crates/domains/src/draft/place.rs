//! A domain that a request may name, with the way to it.

use crate::model::Relation;
use crate::registry::Known;

/// A domain that paths lead to.
pub(crate) struct Place<'d> {
    /// Empty, or relations with a dot after each.
    pub path: String,
    pub known: Known<'d>,
    pub hops: usize,
    /// Whether a row has a list of it.
    pub many: bool,
    pub relation: Option<&'d Relation>,
    /// The place that it is reached from, and itself at the beginning.
    pub from: usize,
}
