//! Where requests come from besides HTTP.

use anyhow::{anyhow, bail};
use steward_app::config::Layers;
use steward_infra::{NatsConfig, NatsLogin};

pub(super) fn config(layers: &Layers) -> anyhow::Result<Option<NatsConfig>> {
    let set = |name: &str| layers.set(name).map(str::to_owned);
    let Some(servers) = set("NATS_URL") else {
        for name in ["NATS_USER", "NATS_PASSWORD", "NATS_TOKEN", "NATS_ACT_AS"] {
            if layers.set(name).is_some() {
                bail!("STEWARD_{name} is set without STEWARD_NATS_URL; set that to the address of the NATS server");
            }
        }
        return Ok(None);
    };
    let login = match (set("NATS_USER"), set("NATS_PASSWORD"), set("NATS_TOKEN")) {
        (None, None, None) => NatsLogin::Nobody,
        (Some(name), Some(password), None) => NatsLogin::User { name, password: password.into() },
        (None, None, Some(token)) => NatsLogin::Token(token.into()),
        (Some(_), None, _) | (None, Some(_), _) => {
            bail!("set both STEWARD_NATS_USER and STEWARD_NATS_PASSWORD, or neither")
        }
        (Some(_), Some(_), Some(_)) => {
            bail!("set STEWARD_NATS_TOKEN, or STEWARD_NATS_USER and STEWARD_NATS_PASSWORD, not all of them")
        }
    };
    let config = NatsConfig::new(&servers, login);
    Ok(Some(config.map_err(|why| anyhow!("STEWARD_NATS_URL can't be used; {why}"))?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::config;
    use steward_app::config::{Layers, Source, named};

    fn read(set: &[(&str, &str)]) -> anyhow::Result<Option<String>> {
        let mut layers = Layers::default();
        for (name, value) in set {
            let field = named(name).unwrap();
            layers.give(field.name, Source::Environment, field.variable, (*value).to_owned());
        }
        Ok(config(&layers)?.map(|config| config.to_string()))
    }

    #[test]
    fn a_server_and_a_login_are_read() {
        let url = ("NATS_URL", "tls://nats.example.org:4222");
        let (user, password, token) = (("NATS_USER", "u"), ("NATS_PASSWORD", "p"), ("NATS_TOKEN", "t"));
        assert_eq!(read(&[]).unwrap(), None);
        for set in [vec![url], vec![url, user, password], vec![url, token]] {
            assert_eq!(read(&set).unwrap().unwrap(), "nats.example.org:4222");
        }
        for (set, expect) in [
            (vec![token], "without STEWARD_NATS_URL"),
            (vec![("NATS_ACT_AS", "ada@example.org")], "without STEWARD_NATS_URL"),
            (vec![url, user], "both STEWARD_NATS_USER and"),
            (vec![url, user, password, token], "not all of them"),
            (vec![("NATS_URL", "nats://u:p@x")], "STEWARD_NATS_URL can't be used; write addresses"),
        ] {
            let error = read(&set).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
    }
}
