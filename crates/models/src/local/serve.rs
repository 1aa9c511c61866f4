use super::{LocalModelError, ServeOptions, ServeTuning};

/// Whether this build can run a local model.
pub const fn available() -> bool {
    cfg!(feature = "local-model")
}

/// Serves the model until it is told to end. Blocks, and starts its own runtime.
///
/// # Errors
/// See [`LocalModelError`]; without the feature `local-model` always [`LocalModelError::NotBuilt`].
#[cfg(feature = "local-model")]
pub fn serve(options: ServeOptions) -> Result<(), LocalModelError> {
    super::server::run(options)
}

/// Serves the model until it is told to end. Blocks, and starts its own runtime.
///
/// # Errors
/// See [`LocalModelError`]; without the feature `local-model` always [`LocalModelError::NotBuilt`].
#[cfg(not(feature = "local-model"))]
pub fn serve(_options: ServeOptions) -> Result<(), LocalModelError> {
    Err(LocalModelError::NotBuilt)
}

/// Serves as a child of a [`super::Supervisor`]: reads socket and token from standard input, and
/// ends when that input ends.
///
/// # Errors
/// As [`serve`], and when standard input does not bring the start message.
pub fn serve_supervised(model_path: std::path::PathBuf, mut tuning: ServeTuning) -> Result<(), LocalModelError> {
    if !available() {
        return Err(LocalModelError::NotBuilt);
    }
    // Unlocked again before the watcher thread reads on; the parent writes nothing but this line.
    let handshake = super::Handshake::read(&mut std::io::stdin().lock())?;
    tuning.exit_on_stdin_eof = true;
    serve(ServeOptions { model_path, socket_path: handshake.socket_path, token: handshake.token, tuning })
}
