//! How open models write calls as text when no server reads them: one small file for each family,
//! with its source. A [`Rule`] says how a block opens and ends and who reads it; the engine that
//! follows the rules is `grammar::shell`.

mod call;
mod command_r;
mod deepseek;
mod gemma;
mod glm;
mod granite;
pub(crate) mod harmony;
mod hermes;
mod invoke;
mod kimi;
mod lists;
mod llama;
mod markers;
mod mistral;
mod noise;
mod phi;
mod python;
mod qwen;
mod rule;
mod thought;
mod xml;

pub(crate) use call::{Cx, json_calls, looks_like_call};
pub(crate) use llama::is_python_list;
pub(crate) use markers::Scan as MarkerScan;
pub(crate) use python::python_calls;
pub use rule::Dialect;
pub(crate) use rule::{Begin, Body, Calls, Rule};

/// All rules, in no particular order: the longest opening that fits wins.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        thought::RULES,
        noise::RULES,
        markers::RULES,
        hermes::RULES,
        qwen::RULES,
        llama::RULES,
        mistral::RULES,
        deepseek::RULES,
        harmony::RULES,
        gemma::RULES,
        granite::RULES,
        phi::RULES,
        command_r::RULES,
        kimi::RULES,
        glm::RULES,
        invoke::RULES,
        lists::RULES,
    ]
    .into_iter()
    .flatten()
}
