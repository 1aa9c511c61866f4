//! What webhooks that come in need, and nothing else: requests come in as values, answers go out.
//!
//! No I/O, no clock, no randomness. [`verify`] says whether a request is from who shares the secret, [`read_payload`] what it
//! says, [`find_event_id`] how a retry is recognised, [`check_filters`] whether anybody wants it, and [`fill_template`] makes
//! the request of a run from it. [`sign_standard`] signs what goes out.
//!
//! Headers hold secrets: whoever keeps them, filters by them or fills them in takes [`Signing::remove_credentials`] first.

mod challenge;
mod clip;
mod error;
mod event_id;
mod filter;
mod headers;
mod payload;
mod place;
mod refusal;
mod secret;
mod signing;
mod standard;
mod template;
mod verify;

pub use challenge::{MAX_CHALLENGE, answer_challenge};
pub use error::HookError;
pub use event_id::{MAX_EVENT_ID, find_event_id};
pub use filter::{Filter, FilterTest, MAX_CHOICES, check_filters};
pub use headers::{HeaderName, Headers, MAX_HEADER_NAME, MAX_HEADER_VALUE};
pub use payload::read_payload;
pub use place::{MAX_POINTER, Place, Pointer};
pub use refusal::Refusal;
pub use secret::{check_secret, hint_of, make_secret};
pub use signing::Signing;
pub use standard::sign_standard;
pub use template::{MAX_FIELDS, MAX_FILLED, MAX_TEMPLATE, Values, check_template, fill_template};
pub use verify::verify;
