//! A directory on loopback: slapd with the overlay that keeps `memberOf`, with TLS and a certificate of its own CA.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const BASE: &str = "dc=example,dc=org";
pub const LOOKER: &str = "cn=looker,dc=example,dc=org";
pub const LOOKER_PASSWORD: &str = "looker-secret";
const ADMIN: &str = "cn=admin,dc=example,dc=org";
const ADMIN_PASSWORD: &str = "admin-secret";

pub struct Slapd {
    dir: TempDir,
    child: Child,
    plain: u16,
    tls: u16,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn run(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn openssl(dir: &Path, args: &str) {
    run(Command::new("openssl").args(args.split(' ')).current_dir(dir));
}

/// A CA, and a certificate for 127.0.0.1 that it has signed.
fn certificates(dir: &Path) {
    openssl(
        dir,
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=test-ca -addext basicConstraints=critical,CA:TRUE",
    );
    openssl(dir, "req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=localhost");
    std::fs::write(dir.join("names"), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n").unwrap();
    openssl(
        dir,
        "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -days 30 -extfile names",
    );
}

impl Slapd {
    /// `referral`: the port of another server that an entry of the directory refers to.
    pub fn start(referral: u16) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().to_str().unwrap();
        certificates(dir.path());
        std::fs::create_dir(dir.path().join("db")).unwrap();
        let schemas: String = ["core", "cosine", "inetorgperson"]
            .map(|name| format!("include /etc/ldap/schema/{name}.schema\n"))
            .concat();
        let config = format!(
            "{schemas}modulepath /usr/lib/ldap\nmoduleload back_mdb\nmoduleload memberof\npidfile {place}/pid\n\
             TLSCACertificateFile {place}/ca.pem\nTLSCertificateFile {place}/cert.pem\n\
             TLSCertificateKeyFile {place}/key.pem\ndatabase mdb\nsuffix {BASE}\ndirectory {place}/db\n\
             rootdn {ADMIN}\nrootpw {ADMIN_PASSWORD}\noverlay memberof\n\
             access to attrs=userPassword by anonymous auth by * none\naccess to * by users read by anonymous auth\n"
        );
        std::fs::write(dir.path().join("slapd.conf"), config).unwrap();
        let (plain, tls) = (free_port(), free_port());
        let child = Self::spawn(dir.path(), plain, tls);
        let slapd = Self { dir, child, plain, tls };
        slapd.wait();
        slapd.change("ldapadd", &people(referral));
        slapd
    }

    fn spawn(dir: &Path, plain: u16, tls: u16) -> Child {
        Command::new("/usr/sbin/slapd")
            .arg("-f")
            .arg(dir.join("slapd.conf"))
            .args(["-d", "0", "-h", &format!("ldap://127.0.0.1:{plain} ldaps://127.0.0.1:{tls}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("slapd is missing; run: scripts/setup.sh test")
    }

    fn wait(&self) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.tls)).is_err() {
            assert!(begun.elapsed() < Duration::from_mins(5), "slapd does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn start_again(&mut self) {
        self.child = Self::spawn(self.dir.path(), self.plain, self.tls);
        self.wait();
    }

    /// With `ldapadd` or `ldapmodify`.
    pub fn change(&self, program: &str, ldif: &str) {
        let file = self.dir.path().join("change.ldif");
        std::fs::write(&file, ldif).unwrap();
        let url = format!("ldap://127.0.0.1:{}", self.plain);
        run(Command::new(program).args(["-x", "-M", "-H", &url, "-D", ADMIN, "-w", ADMIN_PASSWORD, "-f"]).arg(file));
    }

    pub fn ldaps(&self) -> String {
        format!("ldaps://127.0.0.1:{}", self.tls)
    }

    pub fn ldap(&self) -> String {
        format!("ldap://127.0.0.1:{}", self.plain)
    }

    pub fn ca(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("ca.pem")).unwrap()
    }
}

impl Drop for Slapd {
    fn drop(&mut self) {
        self.stop();
    }
}

fn people(referral: u16) -> String {
    let person = |uid: &str, name: &str, password: &str| {
        format!(
            "dn: uid={uid},ou=people,{BASE}\nobjectClass: inetOrgPerson\nuid: {uid}\ncn: {name}\nsn: {name}\n\
             mail: {uid}@example.org\nuserPassword: {password}\n\n"
        )
    };
    let mut ldif = format!(
        "dn: {BASE}\nobjectClass: domain\ndc: example\n\ndn: ou=people,{BASE}\nobjectClass: organizationalUnit\n\
         ou: people\n\ndn: {LOOKER}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: looker\n\
         userPassword: {LOOKER_PASSWORD}\n\n"
    );
    for (uid, name) in [("ada", "Ada L."), ("bob", "Bob M."), ("cy", "Cy N.")] {
        ldif += &person(uid, name, &format!("{uid} stands in the reeds"));
    }
    ldif += &person("root", "Root of the directory", "root stands in the reeds");
    let groups = format!(
        "dn: cn=ops,{BASE}\nobjectClass: groupOfNames\ncn: ops\nmember: uid=ada,ou=people,{BASE}\n\
         member: uid=root,ou=people,{BASE}\n\n\
         dn: cn=devs,{BASE}\nobjectClass: groupOfNames\ncn: devs\nmember: uid=bob,ou=people,{BASE}\n\n\
         dn: ou=elsewhere,{BASE}\nobjectClass: referral\nobjectClass: extensibleObject\nou: elsewhere\n\
         ref: ldap://127.0.0.1:{referral}/ou=elsewhere,{BASE}\n"
    );
    ldif + &groups
}
