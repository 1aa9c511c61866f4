//! The API over an opened program: behind a socket for `serve`, and without one for commands.

use crate::application::{Own, access, app};
use crate::certificate;
use crate::compose::Composition;
use crate::health;
use crate::live::Process;
use crate::nats;
use crate::tenants::{Opener, Tokens};
use anyhow::anyhow;
use secrecy::SecretBox;
use std::sync::Arc;
use steward_access::{Access, Identity, LOCAL_USER, LoginLimits};
use steward_api::{ApiState, Hosts, InProcessClient, Tls};
use steward_app::config::Configuration;
use steward_app::{Health, Tenants};
use steward_core::ports::{Principal, Role, Users as _};
use steward_infra::NatsConnection;

/// What differs between a server and a command.
pub struct Front {
    pub access: Arc<Access>,
    pub limits: LoginLimits,
    /// Of the tokens of all tenants.
    pub signing_key: SecretBox<Vec<u8>>,
    /// Folder that file tools are confined to.
    pub workspace: String,
    /// Whether agents are offered only tools that fit the request.
    pub intent_filter: bool,
    pub hosts: Hosts,
    /// The server's own certificate.
    pub tls: Option<Arc<Tls>>,
    pub nats: Option<Arc<NatsConnection>>,
    /// Whether it is a server, which takes changes of settings in and opens all tenants.
    pub serving: bool,
}

/// `parts`: those of the default tenant.
pub async fn state(parts: &Composition, front: Front) -> anyhow::Result<ApiState> {
    let settings = &parts.settings;
    let live = Process { settings: settings.clone(), serving: front.serving };
    let config = Configuration::new(settings.layers.clone(), settings.file.display().to_string(), Box::new(live));
    let config = Arc::new(config);
    let mut checks = health::of_installation(parts);
    checks.extend(health::of_machine(settings, Some(Arc::clone(&parts.embedder))));
    if let Some(tls) = front.tls {
        checks.push(certificate::check(tls, Arc::clone(&parts.clock)));
    }
    if let Some(connection) = front.nats {
        checks.push(nats::check(connection));
    }
    let own = Own {
        access: front.access,
        workspace: front.workspace,
        intent_filter: front.intent_filter,
        serving: front.serving,
    };
    let app = app(parts, own, Health::new(checks), Arc::clone(&config)).await;
    let opener = Opener::new(
        parts.shared.clone(),
        config,
        Tokens { limits: front.limits, signing_key: front.signing_key },
        (front.serving, front.intent_filter),
    );
    let tenants = Tenants::new(app, parts.store.clone(), Arc::new(opener));
    if front.serving {
        tenants.open_all().await?;
    } else {
        tenants.prepare().await?;
    }
    Ok(ApiState { tenants, hosts: Arc::new(front.hosts) })
}

/// The API for the owner of the data directory, who holds it open and so may do everything.
pub async fn in_process(app: &Composition, workspace: String, intent_filter: bool) -> anyhow::Result<InProcessClient> {
    // Nobody logs in through it, so no token is ever signed.
    let (signing_key, limits) = (SecretBox::new(Box::new(steward_infra::random(32))), LoginLimits::default());
    let access = access(app, SecretBox::new(Box::new(steward_infra::random(32))), limits.clone());
    access.service_user(LOCAL_USER, "local").await?;
    let user = app.store.user_by_email(app.tenant, LOCAL_USER).await?;
    let user = user.ok_or_else(|| anyhow!("the local user is gone; run the command again"))?;
    let identity = Identity {
        principal: Principal { tenant: app.tenant, user: user.id, name: user.name, role: Role::Admin, key: None },
        email: user.email,
        session: None,
        permissions: Arc::default(),
    };
    let (access, hosts) = (Arc::new(access), Hosts::default());
    let front =
        Front { access, limits, signing_key, workspace, intent_filter, hosts, tls: None, nats: None, serving: false };
    Ok(InProcessClient::new(state(app, front).await?, identity))
}
