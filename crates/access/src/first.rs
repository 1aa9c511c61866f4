//! The first administrator: by a one-time token, or from the environment. No default password.

/// What the first start needs to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstStart {
    /// There is an administrator.
    Ready,
    /// One was made from the environment.
    Made {
        /// Its email.
        email: String,
    },
    /// One can be made with this token, once.
    Token(String),
}
