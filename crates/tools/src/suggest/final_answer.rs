//! Proposals for `final_answer`: none. Its text is written or composed when the steps are done.

use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;

/// Nothing: see the module.
pub fn suggest(_request: &str, _scope: &ToolScope) -> Vec<Suggestion> {
    Vec::new()
}
