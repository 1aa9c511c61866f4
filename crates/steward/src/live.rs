//! What this program does when its settings are changed, and how it is started anew.

use crate::settings::{Settings, variable};
use crate::telemetry;
use steward_app::config::{Layers, Live};

/// The settings of a process.
pub struct Process {
    pub settings: Settings,
    /// A server takes changes in; a command ends before there are any.
    pub serving: bool,
}

impl Live for Process {
    fn check(&self, layers: &Layers) -> Result<(), String> {
        if let Some(filter) = layers.set("LOG_LEVEL") {
            telemetry::check(filter)?;
        }
        self.settings.with(layers).map(drop).map_err(|error| format!("{error:#}"))
    }

    fn apply(&self, layers: &Layers) {
        if self.serving {
            telemetry::change(layers.value("LOG_LEVEL").unwrap_or(telemetry::SERVING));
        }
    }

    fn restart_command(&self) -> String {
        let group = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        if let Some(command) = variable("INVOCATION_ID").and_then(|_| of_service(&group)) {
            return command;
        }
        if ["/.dockerenv", "/run/.containerenv"].into_iter().any(|file| std::path::Path::new(file).exists()) {
            return "restart the container".to_owned();
        }
        format!("kill -TERM {}, then start `steward serve` again as before", std::process::id())
    }
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
