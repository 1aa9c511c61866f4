use serde::{Deserialize, Serialize};

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Think, analyse, explain.
    Reasoning,
    /// Write or mend code.
    CodeGen,
    /// Answer from documents.
    RagAnswer,
    /// Sum up.
    Summarize,
    /// Put into classes.
    Classify,
    /// Pull data out of text.
    Extract,
    /// Into another language.
    Translate,
    /// Talk.
    #[default]
    Chat,
    /// Do something with a tool.
    ToolCall,
    /// Make a plan.
    Planning,
}

impl Task {
    /// In the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Reasoning,
        Self::CodeGen,
        Self::RagAnswer,
        Self::Summarize,
        Self::Classify,
        Self::Extract,
        Self::Translate,
        Self::Chat,
        Self::ToolCall,
        Self::Planning,
    ];

    /// Name in settings and the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::CodeGen => "code_gen",
            Self::RagAnswer => "rag_answer",
            Self::Summarize => "summarize",
            Self::Classify => "classify",
            Self::Extract => "extract",
            Self::Translate => "translate",
            Self::Chat => "chat",
            Self::ToolCall => "tool_call",
            Self::Planning => "planning",
        }
    }
}
