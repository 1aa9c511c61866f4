//! `POST /v1/responses`: runs the whole loop of an agent, in the shape of OpenAI's Responses API.

mod create;
mod object;
mod previous;
mod request;
mod stream;

pub(crate) use create::create;
