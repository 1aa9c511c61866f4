//! The tools as prompt text.

use std::fmt::Write as _;
use steward_core::schema;
use steward_core::tool::ToolSpec;

/// `template` with the list of tools in the place of `{tools}`.
pub(super) fn with_tools(template: &str, tools: &[ToolSpec]) -> String {
    let mut list = String::new();
    for spec in tools {
        let _ = writeln!(list, "- {}: {}", spec.name, spec.description.trim());
        let _ = writeln!(list, "  arguments: {}", schema::in_short(&spec.parameters));
    }
    template.replacen("{tools}", list.trim_end(), 1)
}
