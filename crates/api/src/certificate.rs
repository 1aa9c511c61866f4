//! The server's own certificate while it runs: new files are taken in, others are told, and its end is foreseen.

use crate::tls::{Reloaded, Tls};
use std::sync::Arc;
use std::time::Duration;
use steward_app::dto::about::PartStatus;
use steward_app::{App, Check, Found};
use steward_core::Timestamp;
use steward_core::live::Live;
use steward_core::ports::Clock;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(3);
/// A certificate that ends sooner is told of.
const SOON: Duration = Duration::from_hours(21 * 24);

/// Takes changed files in, for as long as it is polled; `renewed` hears the fingerprint of a new certificate.
pub async fn keep_certificate(tls: Live<Option<Arc<Tls>>>, app: App, renewed: impl Fn(&str)) {
    loop {
        if let Some(tls) = &*tls.get() {
            app.metrics.certificate_ends(tls.status().expires_at);
        }
        tokio::time::sleep(EVERY).await;
        let Some(tls) = tls.copy() else { continue };
        let looked_at = Arc::clone(&tls);
        let Ok(found) = tokio::task::spawn_blocking(move || looked_at.reload()).await else { continue };
        match found {
            Reloaded::Same => {}
            Reloaded::Taken => {
                let status = tls.status();
                tracing::info!(ends = status.expires_at.rfc3339(), "a new certificate is in force");
                renewed(&status.fingerprint);
            }
            Reloaded::Refused(why) => tracing::warn!(why, "the certificate before stays in force"),
        }
    }
}

/// Finds nothing while there is no certificate.
pub fn certificate_check(tls: Live<Option<Arc<Tls>>>, clock: Arc<dyn Clock>) -> Check {
    let look = move || std::future::ready(tls.get().iter().map(|tls| found(tls, clock.now())).collect());
    Check::new("certificate", look.clone()).quick(look)
}

fn found(tls: &Tls, now: Timestamp) -> Found {
    let status = tls.status();
    let ends = status.expires_at.date();
    let degraded =
        |detail: String, hint: &str| Found { hint: hint.to_owned(), ..Found::new(PartStatus::Degraded, detail) };
    if status.expires_at <= now {
        return Found::down(format!("it ended on {ends}"), "put a new certificate and its key into the files");
    }
    if let Some(why) = status.not_taken {
        return degraded(format!("the one before stays in force until {ends}: {why}"), "correct the files");
    }
    if status.expires_at.since(now) < SOON {
        return degraded(format!("it ends on {ends}"), "put a new certificate and its key into the files");
    }
    if status.key_is_exposed {
        return degraded(
            format!("it ends on {ends}, and its key can be read by everybody"),
            "run chmod 600 on the key",
        );
    }
    Found::ok(format!("it ends on {ends}"))
}
