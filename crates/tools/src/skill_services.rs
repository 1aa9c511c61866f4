//! Skills, packages and MCP servers, put together: what carries each kind out. Nothing is started here.

use crate::mcp::{McpConfig, McpExecutor, McpHub, McpPorts};
use crate::outbound::{Client, HostPort};
use crate::package::Packages;
use crate::skills::{
    AnsibleExecutor, DockerExecutor, FileHostKeys, GraphqlExecutor, HttpExecutor, HuggingfaceExecutor, Programs,
    PythonExecutor, ScrapeExecutor, ShellExecutor, SkillPorts, SkillRuntime, SqlExecutor, SshExecutor,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use steward_core::live::Live;
use steward_core::ports::{Agents, Blobs, Clock, Ids, McpServers, ResourceGrants, SkillPackages, Skills, Users, Vault};
use steward_sandbox::host::HostPolicy;
use steward_sandbox::process::Helper;
use steward_sandbox::python::{PythonConfig, PythonPool};

pub const DOCKER_VARIABLES: [&str; 4] = ["DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_CONTEXT"];

/// Host keys of servers that were accepted; a file in the data folder.
const HOST_KEYS: &str = "ssh_known_hosts.json";

pub struct SkillServicesPorts {
    pub skills: Arc<dyn Skills>,
    pub agents: Arc<dyn Agents>,
    pub users: Arc<dyn Users>,
    pub grants: Arc<dyn ResourceGrants>,
    pub mcp_servers: Arc<dyn McpServers>,
    pub packages: Arc<dyn SkillPackages>,
    pub vault: Arc<dyn Vault>,
    pub blobs: Arc<dyn Blobs>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

pub struct SkillServicesConfig {
    pub data_dir: PathBuf,
    pub sandbox_helper: Helper,
    pub python: PythonConfig,
    /// Folders of programs that are found before those of `path`, and may be read in the sandbox.
    pub programs: Vec<PathBuf>,
    pub path: Vec<PathBuf>,
    /// What docker gets of [`DOCKER_VARIABLES`]; `None`: no skill may use docker.
    pub docker: Option<BTreeMap<String, String>>,
    /// Private hosts and ports that the installation allows.
    pub web_allow: Live<Vec<HostPort>>,
    /// What people may name of this machine's disk.
    pub places: HostPolicy,
}

pub struct SkillServices {
    pub runtime: Arc<SkillRuntime>,
    pub mcp: Arc<McpHub>,
    pub packages: Arc<Packages>,
    pub host_keys: Arc<FileHostKeys>,
    pub python: Arc<PythonPool>,
    pub programs: ProgramFolders,
}

impl SkillServices {
    pub fn new(config: SkillServicesConfig, ports: SkillServicesPorts) -> Self {
        let SkillServicesPorts { skills, agents, users, grants, mcp_servers, packages, vault, blobs, clock, ids } =
            ports;
        let search: Vec<PathBuf> = config.programs.iter().chain(&config.path).cloned().collect();
        let found = |env| Live::new(Programs { search: search.clone(), own: config.programs.clone(), env });
        let mut programs = vec![found(BTreeMap::new())];
        let shared = programs[0].clone();
        let client = Client::reading(config.web_allow);
        let helper = || config.sandbox_helper.clone();
        let mcp_ports = McpPorts {
            servers: mcp_servers,
            skills: Arc::clone(&skills),
            vault: Arc::clone(&vault),
            clock: Arc::clone(&clock),
            ids: Arc::clone(&ids),
        };
        let mcp_config = McpConfig::new(helper(), config.data_dir.join("mcp"), config.places);
        let mcp = Arc::new(McpHub::new(mcp_ports, mcp_config));
        let python = Arc::new(PythonPool::new(helper(), config.python));
        let host_keys = Arc::new(FileHostKeys::new(config.data_dir.join(HOST_KEYS)));
        let mut runtime = SkillRuntime::new(SkillPorts { skills: Arc::clone(&skills), agents, users, grants, vault })
            .with(Arc::new(HttpExecutor::new(client.clone())))
            .with(Arc::new(GraphqlExecutor::new(client.clone())))
            .with(Arc::new(HuggingfaceExecutor::new(client.clone())))
            .with(Arc::new(ScrapeExecutor::new(client)))
            .with(Arc::new(PythonExecutor::new(python.clone())))
            .with(Arc::new(SqlExecutor))
            .with(Arc::new(SshExecutor::new(host_keys.clone())))
            .with(Arc::new(ShellExecutor::new(shared.clone(), helper(), Arc::clone(&blobs))))
            .with(Arc::new(AnsibleExecutor::new(shared, helper())))
            .with(Arc::new(McpExecutor::new(mcp.clone())));
        if let Some(variables) = config.docker {
            let own = found(variables);
            programs.push(own.clone());
            runtime = runtime.with(Arc::new(DockerExecutor::new(own)));
        }
        let runtime = Arc::new(runtime);
        let check = Arc::clone(&runtime);
        let packages = Packages::new(packages, skills, blobs, clock, ids, move |skill| check.check(skill));
        Self { runtime, mcp, packages: Arc::new(packages), host_keys, python, programs: ProgramFolders(programs) }
    }
}

/// Where skills find programs.
pub struct ProgramFolders(Vec<Live<Programs>>);

impl ProgramFolders {
    /// For the programs that are started next.
    pub fn change(&self, own: &[PathBuf], path: &[PathBuf]) {
        for programs in &self.0 {
            let search = own.iter().chain(path).cloned().collect();
            programs.replace(Programs { search, own: own.to_vec(), env: programs.get().env.clone() });
        }
    }

    pub fn own(&self) -> Vec<PathBuf> {
        self.0.iter().flat_map(|programs| programs.get().own.clone()).collect()
    }
}
