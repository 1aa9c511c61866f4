//! Whether a message is about figures, documents or neither: a hint for the order of an agent's tools.

use super::lexicon::{Lexicon, Sheet};
use crate::skill::SkillKind;
use crate::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

const DATA: &str = include_str!("../../data/routing/hints.json");

static HINTS: LazyLock<Lexicon> = LazyLock::new(|| {
    // A test reads the file, so it can't be broken here.
    let sheet: Result<Sheet, _> = serde_json::from_str(DATA);
    sheet.map_or_else(|_| Lexicon::default(), |sheet| Lexicon::new(&sheet))
});

/// What a message is about.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, utoipa::ToSchema,
)]
#[schema(as = RoutingHint)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    /// Figures: metrics, dashboards, charts.
    Analytics,
    /// Documents: search, files, scans.
    Documents,
    /// Anything else.
    #[default]
    General,
}

impl Hint {
    pub fn name(self) -> &'static str {
        match self {
            Self::Analytics => "analytics",
            Self::Documents => "documents",
            Self::General => "general",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hinted {
    pub hint: Hint,
    /// The words of the message that decided, in lower case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

/// What `message` is about; on a tie, figures.
pub fn hint(message: &str) -> Hinted {
    let mut found = HINTS.search(message).into_iter();
    let figures = found.next().unwrap_or_default();
    let documents = found.next().unwrap_or_default();
    if figures.points == 0 && documents.points == 0 {
        return Hinted::default();
    }
    let (hint, found) =
        if figures.points >= documents.points { (Hint::Analytics, figures) } else { (Hint::Documents, documents) };
    Hinted { hint, words: found.words }
}

const TOOLS: &str = include_str!("../../data/routing/hint-tools.json");

#[derive(Debug, Default, Deserialize)]
struct First {
    tools: Vec<String>,
    kinds: Vec<SkillKind>,
}

#[derive(Debug, Default, Deserialize)]
struct FirstTools {
    analytics: First,
    documents: First,
}

// A test reads the file, so it can't be broken here.
static FIRST: LazyLock<FirstTools> = LazyLock::new(|| serde_json::from_str(TOOLS).unwrap_or_default());

/// What a request is about, and which of an agent's tools go first for that. It takes no tool away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolHint {
    /// What it is about.
    pub hint: Hint,
    /// The request's words that decided, in lower case.
    pub words: Vec<String>,
    /// The tools, in the agent's order.
    pub tools: Vec<String>,
}

impl ToolHint {
    /// `None` if the request is about nothing that matters for `tools`.
    pub fn of(request: &str, tools: &[ToolSpec]) -> Option<Self> {
        let Hinted { hint, words } = hint(request);
        let first = match hint {
            Hint::Analytics => &FIRST.analytics,
            Hint::Documents => &FIRST.documents,
            Hint::General => return None,
        };
        let fits = |spec: &&ToolSpec| match &spec.skill {
            Some(skill) => first.kinds.contains(&skill.kind),
            None => first.tools.contains(&spec.name),
        };
        let tools = tools.iter().filter(fits).map(|spec| spec.name.clone());
        Some(Self { hint, words, tools: tools.collect() })
    }
}

#[cfg(test)]
#[path = "hint_tests.rs"]
mod tests;
