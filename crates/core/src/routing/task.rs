use serde::{Deserialize, Serialize};

/// Kinds of requests.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Name in settings and the API.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
