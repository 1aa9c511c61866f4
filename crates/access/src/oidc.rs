//! OpenID Connect: the authorization code flow with PKCE. The same checks serve tokens that programs come with.

mod known;
mod login;
mod reach;
mod token;

pub use login::{Arrival, Departure, SignOnError};

pub(crate) use known::{KnownProviders, check_issuer};
pub(crate) use reach::is_loopback;
pub(crate) use token::{Claims, TokenRules, claimed_issuer, text_of};
