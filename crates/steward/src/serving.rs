//! Announces a running server to other commands of its owner.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use steward_cli::client::ServeFile;
use steward_infra::write_private;

/// The file while the server runs; dropping it removes the file.
pub struct Serving {
    path: PathBuf,
    pid: u32,
    address: SocketAddr,
}

impl Serving {
    /// `certificate`: the SHA-256 of the server's, if it has one. On a full disk the server is there for those who come to
    /// delete something, though other commands don't find it.
    pub fn announce(data_dir: &Path, address: SocketAddr, certificate: Option<&str>) -> anyhow::Result<Self> {
        let serving = Self { path: data_dir.join(ServeFile::NAME), pid: std::process::id(), address };
        match serving.write(certificate) {
            Err(error) if is_full(&error) => {
                tracing::warn!(%error, "other commands don't find this server; free space on the disk, then restart it");
            }
            written => written?,
        }
        Ok(serving)
    }

    /// The server has another certificate now, or none.
    pub fn renew(&self, certificate: Option<&str>) {
        if let Err(error) = self.write(certificate) {
            tracing::warn!(%error, "other commands were not told of the new certificate");
        }
    }

    fn write(&self, certificate: Option<&str>) -> anyhow::Result<()> {
        let scheme = if certificate.is_some() { "https" } else { "http" };
        let file = ServeFile {
            url: format!("{scheme}://{}", address_for(self.address)),
            pid: self.pid,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            certificate: certificate.map(str::to_owned),
        };
        write_private(&self.path, &serde_json::to_string(&file)?)?;
        Ok(())
    }
}

fn is_full(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::StorageFull)
}

impl Drop for Serving {
    fn drop(&mut self) {
        let Some(dir) = self.path.parent() else {
            return;
        };
        // Another server on the same directory (PostgreSQL) may have written its own.
        if matches!(ServeFile::read(dir), Ok(Some(file)) if file.pid == self.pid) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The address by which this machine reaches a listener: one on all addresses answers on loopback, too.
pub fn address_for(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

#[cfg(test)]
mod tests {
    use super::{Serving, address_for};
    use std::os::unix::fs::PermissionsExt;
    use steward_cli::client::ServeFile;

    #[test]
    fn it_is_private_and_goes_with_the_server() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(ServeFile::read(dir.path()).unwrap(), None);
        let serving = Serving::announce(dir.path(), "0.0.0.0:8800".parse().unwrap(), None).unwrap();
        let file = ServeFile::read(dir.path()).unwrap().unwrap();
        assert_eq!(file.url, "http://127.0.0.1:8800");
        assert_eq!(file.pid, std::process::id());
        let mode = std::fs::metadata(dir.path().join("serve.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        serving.renew(Some("abc"));
        let file = ServeFile::read(dir.path()).unwrap().unwrap();
        assert_eq!((file.url.as_str(), file.certificate.as_deref()), ("https://127.0.0.1:8800", Some("abc")));
        drop(serving);
        assert_eq!(ServeFile::read(dir.path()).unwrap(), None);
    }

    #[test]
    fn a_full_disk_keeps_no_server_away() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/full", dir.path().join("serve.new")).unwrap();
        let serving = Serving::announce(dir.path(), "127.0.0.1:1".parse().unwrap(), None).unwrap();
        assert_eq!(ServeFile::read(dir.path()).unwrap(), None);
        drop(serving);
    }

    #[test]
    fn one_of_another_server_stays() {
        let dir = tempfile::tempdir().unwrap();
        let serving = Serving::announce(dir.path(), "127.0.0.1:1".parse().unwrap(), None).unwrap();
        let other = r#"{"url": "http://127.0.0.1:2", "pid": 1, "version": "0"}"#;
        std::fs::write(dir.path().join("serve.json"), other).unwrap();
        drop(serving);
        assert_eq!(ServeFile::read(dir.path()).unwrap().unwrap().pid, 1);
        std::fs::write(dir.path().join("serve.json"), "{").unwrap();
        let why = ServeFile::read(dir.path()).unwrap_err();
        assert!(format!("{why:#}").contains("restart `steward serve`"));
    }

    #[test]
    fn every_listener_has_an_address_on_this_machine() {
        for (listening, reached) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("0.0.0.0:81", "127.0.0.1:81"),
            ("[::]:82", "[::1]:82"),
            ("192.0.2.7:83", "192.0.2.7:83"),
        ] {
            let found = address_for(listening.parse().unwrap());
            assert_eq!(found.to_string(), reached);
        }
    }
}
