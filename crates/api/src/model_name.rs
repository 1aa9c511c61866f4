//! Names of models under `/v1`: those of connections begin with a prefix, all others are agents.

pub(crate) const PREFIX: &str = "connection/";

/// The connection that a model's name means.
pub(crate) fn name_of(model: &str) -> Option<&str> {
    model.strip_prefix(PREFIX)
}
