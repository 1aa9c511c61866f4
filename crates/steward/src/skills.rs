//! Composes the executors of skills.

use crate::compose::{python_config, sandbox_helper};
use crate::settings::{Settings, variable};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use steward_core::ports::{Blobs, Clock, Ids, Vault};
use steward_sandbox::python::PythonPool;
use steward_store::Store;
use steward_tools::mcp::{McpConfig, McpExecutor, McpHub, McpPorts};
use steward_tools::outbound::{Client, HostPort};
use steward_tools::package::{Packages, ReferenceLibrary};
use steward_tools::skills::{
    AnsibleExecutor, DockerExecutor, FileHostKeys, GraphqlExecutor, HttpExecutor, HuggingfaceExecutor, Programs,
    PythonExecutor, ScrapeExecutor, ShellExecutor, SqlExecutor, SshExecutor,
};
use steward_tools::{SkillPorts, SkillRuntime};

const DOCKER: [&str; 4] = ["DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_CONTEXT"];

pub const HOST_KEYS: &str = "ssh_known_hosts.json";

pub struct Parts {
    pub store: Arc<Store>,
    pub vault: Arc<dyn Vault>,
    /// For files of packages and prior content.
    pub blobs: Arc<dyn Blobs>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub web_allow: Vec<HostPort>,
}

/// Skills, packages and MCP servers. Nothing is started here.
pub struct Desk {
    pub runtime: Arc<SkillRuntime>,
    pub mcp: Arc<McpHub>,
    pub packages: Arc<Packages>,
    /// Reference files of packages, for the tools that read them.
    pub library: ReferenceLibrary,
    pub host_keys: Arc<FileHostKeys>,
    pub python: Arc<PythonPool>,
}

pub fn open(settings: &Settings, parts: Parts) -> Desk {
    let Parts { store, vault, blobs, clock, ids, web_allow } = parts;
    let path: Vec<PathBuf> = variable("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let search: Vec<PathBuf> = settings.programs.iter().chain(&path).cloned().collect();
    let docker =
        DOCKER.iter().filter_map(|name| Some(((*name).to_owned(), variable(name)?))).collect::<BTreeMap<_, _>>();
    let programs = |env| Programs { search: search.clone(), own: settings.programs.clone(), env };
    let client = Client::new(web_allow);
    let helper = || sandbox_helper(settings);
    let mcp = Arc::new(McpHub::new(
        McpPorts {
            servers: store.clone(),
            skills: store.clone(),
            vault: vault.clone(),
            clock: clock.clone(),
            ids: ids.clone(),
        },
        McpConfig::new(helper(), settings.data_dir.join("mcp")),
    ));
    let python = Arc::new(PythonPool::new(helper(), python_config()));
    let host_keys = Arc::new(FileHostKeys::new(settings.data_dir.join(HOST_KEYS)));
    let rows = SkillPorts { skills: store.clone(), agents: store.clone(), users: store.clone(), vault };
    let runtime = SkillRuntime::new(rows)
        .with(Arc::new(HttpExecutor::new(client.clone())))
        .with(Arc::new(GraphqlExecutor::new(client.clone())))
        .with(Arc::new(HuggingfaceExecutor::new(client.clone())))
        .with(Arc::new(ScrapeExecutor::new(client)))
        .with(Arc::new(PythonExecutor::new(python.clone())))
        .with(Arc::new(SqlExecutor))
        .with(Arc::new(SshExecutor::new(host_keys.clone())))
        .with(Arc::new(ShellExecutor::new(helper(), blobs.clone()).with(programs(BTreeMap::new()))))
        .with(Arc::new(DockerExecutor::new(programs(docker))))
        .with(Arc::new(AnsibleExecutor::new(programs(BTreeMap::new()), helper())))
        .with(Arc::new(McpExecutor::new(mcp.clone())));
    let runtime = Arc::new(runtime);
    let check = Arc::clone(&runtime);
    let packages =
        Packages::new(store.clone(), store.clone(), blobs.clone(), clock, ids).checked(move |skill| check.check(skill));
    Desk {
        runtime,
        mcp,
        packages: Arc::new(packages),
        library: ReferenceLibrary { skills: store.clone(), packages: store, blobs },
        host_keys,
        python,
    }
}
