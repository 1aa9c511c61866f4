//! This process: what ends it, and how it is started anew.

use std::io::{Error, Result};
use std::path::Path;
use tokio::signal::unix::{SignalKind, signal};

/// Resolves on SIGINT or SIGTERM; from this call on, neither ends the program by itself.
pub fn stopped() -> Result<impl Future<Output = ()> + Send + 'static> {
    let caught =
        |kind, name| signal(kind).map_err(|error| Error::new(error.kind(), format!("{name} can't be caught: {error}")));
    let mut interrupted = caught(SignalKind::interrupt(), "SIGINT")?;
    let mut terminated = caught(SignalKind::terminate(), "SIGTERM")?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

/// `of_systemd`: whether the environment says that it started this process.
pub fn restart_command(of_systemd: bool) -> String {
    let group = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    if let Some(command) = of_service(&group).filter(|_| of_systemd) {
        return command;
    }
    if ["/.dockerenv", "/run/.containerenv"].into_iter().any(|file| Path::new(file).exists()) {
        return "restart the container".to_owned();
    }
    format!("kill -TERM {}, then start `steward serve` again as before", std::process::id())
}

/// `0::/system.slice/steward.service` is a service of systemd.
fn of_service(group: &str) -> Option<String> {
    let path = group.lines().next()?.rsplit(':').next()?;
    let unit = path.rsplit('/').find(|part| part.ends_with(".service"))?;
    let user = if path.contains("/user@") { " --user" } else { "" };
    Some(format!("systemctl{user} restart {unit}"))
}

#[cfg(test)]
mod tests {
    use super::of_service;

    #[test]
    fn a_service_is_restarted_by_its_name() {
        for (group, expect) in [
            ("0::/system.slice/steward.service\n", Some("systemctl restart steward.service")),
            (
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/steward.service\n",
                Some("systemctl --user restart steward.service"),
            ),
            ("0::/\n", None),
            ("", None),
        ] {
            assert_eq!(of_service(group).as_deref(), expect);
        }
    }
}
