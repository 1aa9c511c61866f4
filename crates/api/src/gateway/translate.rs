//! Chat completions for providers that speak another interface: understood, asked by Steward's own request, and
//! answered in the words of the OpenAI dialect.

mod answer;
mod frame;
mod request;

pub(super) use answer::answer;
pub(super) use request::request;
