//! Words with a fixed set of values. They mirror the core's, which knows no schema.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident($rename:tt) = $core:ty { $($variant:ident),+ $(,)? })+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
            #[serde(rename_all = $rename)]
            pub(crate) enum $name { $(#[allow(missing_docs, reason = "the names say it")] $variant),+ }

            impl From<$core> for $name {
                fn from(word: $core) -> Self {
                    match word { $(<$core>::$variant => Self::$variant),+ }
                }
            }

            impl From<$name> for $core {
                fn from(word: $name) -> Self {
                    match word { $($name::$variant => Self::$variant),+ }
                }
            }
        )+

        /// Words as they are written and as the document lists them, by type.
        #[cfg(test)]
        fn documented() -> Vec<(serde_json::Value, serde_json::Value)> {
            use utoipa::PartialSchema;
            vec![$((
                serde_json::json!([$($name::$variant),+]),
                serde_json::json!($name::schema())["enum"].clone(),
            )),+]
        }

        #[cfg(test)]
        fn pairs() -> Vec<(String, String)> {
            vec![$($((
                serde_json::json!(<$core>::$variant).to_string(),
                serde_json::json!($name::$variant).to_string(),
            )),+),+]
        }
    };
}

words! {
    /// Where a run stands.
    RunStatus("lowercase") = steward_core::ports::RunStatus { Running, Parked, Finished }
    /// Whether the claims of an answer are proved.
    Verdict("kebab-case") = steward_core::receipts::Verdict { Verified, Unverified, NoClaims }
    /// Where a run came from.
    Origin("snake_case") = steward_core::event::Origin { Cli, Chat, Api, Schedule, Delegation }
    /// Whether the agent plans first.
    Mode("snake_case") = steward_core::event::Mode { Loop, Plan, PlanOnly, DryRun }
    /// How much harm a tool can do.
    Risk("lowercase") = steward_core::policy::RiskClass { Read, Write, External, Destructive }
    /// What a policy says of a call.
    Decision("lowercase") = steward_core::policy::Decision { Allow, Ask, Deny }
    /// What may be done with a call that a crash cut off.
    Effect("lowercase") = steward_core::tool::EffectClass { Read, Idempotent, Keyed, Write }
    /// What a run may spend, by name.
    Preset("lowercase") = steward_core::budget::Preset { Query, Agent, Executor, Plan }
    /// The limit that ended a run.
    Limit("snake_case") = steward_core::budget::Limit { ModelCalls, ToolCalls, Wall, Tokens, Cost, Depth, Spend }
    /// When a budget begins anew. Days and months are those of UTC.
    Period("snake_case") = steward_core::ports::Period { Day, Month, Total }
    /// How usage is summed up.
    UsageBy("snake_case") = steward_core::ports::UsageBy { Day, Agent, User, Connection, Model, Key }
    /// What answers at a connection.
    Provider("snake_case") = steward_core::model::Provider {
        OpenAi, AzureOpenAi, Anthropic, Gemini, Cohere, Bedrock, Vllm, TextGen, HuggingFace, Compatible,
        Ollama, LlamaCpp, Local,
    }
    /// How a model's wish for a tool is expressed.
    Strategy("snake_case") = steward_core::model::Strategy { Native, GuidedJson, React, Markers }
    /// Interfaces of providers.
    Wire("snake_case") = steward_core::model::Wire { Chat, Responses, Native }
    /// How a server is told which form its output must have.
    Constrained("snake_case") = steward_core::model::Constrained {
        ResponseFormat, LlamaCppSchema, LlamaCppGrammar, OllamaFormat, StructuredOutputs, GuidedJson, JsonObject,
    }
    /// Kinds of requests.
    Task("snake_case") = steward_core::routing::Task {
        Reasoning, CodeGen, RagAnswer, Summarize, Classify, Extract, Translate, Chat, ToolCall, Planning,
    }
    /// Grades, best first.
    Grade("PascalCase") = steward_core::exam::Grade { A, B, C, D, E }
    /// How a check of an exam went.
    CheckOutcome("snake_case") = steward_core::exam::CheckOutcome { Passed, Partly, Failed, Skipped }
    /// Whether requests go to a connection.
    Breaker("snake_case") = steward_core::ports::Breaker { Closed, Open, HalfOpen }
    /// What a model is asked for.
    Purpose("snake_case") = steward_core::model::Purpose { Reply, Plan, Deep, Fill, Answer, Compact }
    /// What somebody may do: viewers look; developers chat, run and decide on their own runs; operators also
    /// have agents, connections, all approvals and runs; admins everything.
    Role("lowercase") = steward_core::ports::Role { Admin, Operator, Developer, Viewer }
    /// What carries a skill out.
    SkillKind("snake_case") = steward_core::skill::SkillKind {
        Internal, Ssh, Http, Graphql, Python, Sql, Shell, Ansible, Docker, Scrape, Huggingface, AgentDelegation,
        Mcp,
    }
    /// What a secret is.
    CredentialKind("snake_case") = steward_core::credential::CredentialKind {
        Password, ApiKey, SshKey, Token, Oauth2, Certificate, Database,
    }
    /// Where a skill package stands.
    PackageState("snake_case") = steward_core::package::PackageState { Quarantined, Active, Replaced, Removed }
    /// How bad something is that the scan of a package found.
    FindingSeverity("snake_case") = steward_core::package::Severity { Info, Warning, Danger }
    /// Who a message is from.
    MessageRole("lowercase") = steward_core::message::Role { System, User, Assistant, Tool }
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_written_as_the_core_writes_them() {
        let pairs = super::pairs();
        assert!(pairs.len() > 40);
        for (core, here) in pairs {
            assert_eq!(core, here);
        }
    }

    #[test]
    fn words_are_documented_as_they_are_written() {
        for (written, documented) in super::documented() {
            assert_eq!(written, documented);
        }
    }
}
