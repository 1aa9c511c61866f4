//! Names of entries, written as RFC 4514 says and compared as RFC 4517 says: `CN=Ops\2C North,DC=example` and
//! `cn = ops\, north , dc=EXAMPLE` are one. Values are compared by `caseIgnoreMatch`, the rule of all attributes that names are
//! usually made of.

use std::fmt;

use unicode_normalization::UnicodeNormalization as _;

/// Other names of attributes (RFC 4514, RFC 4519, RFC 2985), and their numbers.
const ALIASES: [(&str, &[&str]); 15] = [
    ("cn", &["commonname", "2.5.4.3"]),
    ("sn", &["surname", "2.5.4.4"]),
    ("serialnumber", &["2.5.4.5"]),
    ("c", &["countryname", "2.5.4.6"]),
    ("l", &["localityname", "2.5.4.7"]),
    ("st", &["s", "stateorprovincename", "2.5.4.8"]),
    ("street", &["streetaddress", "2.5.4.9"]),
    ("o", &["organizationname", "2.5.4.10"]),
    ("ou", &["organizationalunitname", "2.5.4.11"]),
    ("title", &["2.5.4.12"]),
    ("givenname", &["gn", "2.5.4.42"]),
    ("dc", &["domaincomponent", "0.9.2342.19200300.100.1.25"]),
    ("uid", &["userid", "0.9.2342.19200300.100.1.1"]),
    ("mail", &["rfc822mailbox", "0.9.2342.19200300.100.1.3"]),
    ("emailaddress", &["e", "email", "pkcs9email", "1.2.840.113549.1.9.1"]),
];

/// Equal if they name the same entry.
#[derive(Debug, Clone)]
pub(crate) struct DistinguishedName(Vec<Vec<Part>>);

/// An attribute with its value, as written and as compared.
#[derive(Debug, Clone)]
struct Part {
    kind: String,
    value: String,
    compared: String,
}

impl DistinguishedName {
    /// `None`: it is no such name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = Reader(text.trim());
        let mut steps = vec![Vec::new()];
        loop {
            let (kind, value, end) = rest.attribute()?;
            let compared = compared(&value);
            steps.last_mut()?.push(Part { kind, value, compared });
            match end {
                None => break,
                Some('+') => {}
                Some(_) => steps.push(Vec::new()),
            }
        }
        for step in &mut steps {
            step.sort_by(|one, other| (&one.kind, &one.compared).cmp(&(&other.kind, &other.compared)));
        }
        Some(Self(steps))
    }

    /// What people call the entry: the value of `cn` in its first step, else the first value there.
    pub(crate) fn name(&self) -> Option<&str> {
        let first = self.0.first()?;
        first.iter().find(|part| part.kind == "cn").or_else(|| first.first()).map(|part| part.value.as_str())
    }
}

impl PartialEq for DistinguishedName {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &Part, other: &Part| one.kind == other.kind && one.compared == other.compared;
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(one, other)| {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
            })
    }
}

/// In one way for all ways to write it, for comparing only.
impl fmt::Display for DistinguishedName {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            for (within, part) in step.iter().enumerate() {
                let before = if within > 0 {
                    "+"
                } else if at > 0 {
                    ","
                } else {
                    ""
                };
                write!(to, "{before}{}={}", part.kind, ldap3::dn_escape(part.compared.as_str()))?;
            }
        }
        Ok(())
    }
}

/// Whether two values are the same by `caseIgnoreMatch`.
pub(crate) fn same_value(one: &str, other: &str) -> bool {
    compared(one) == compared(other)
}

/// As RFC 4518 prepares a value: case, composed characters and the number of blanks don't count. What it forbids stays as it is.
fn compared(value: &str) -> String {
    let composed: String = value.nfkc().collect();
    let prepared = stringprep::x520prep(&composed, true);
    let text = prepared.as_deref().unwrap_or(&composed);
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

struct Reader<'t>(&'t str);

impl Reader<'_> {
    /// An attribute, its value, and the separator after it; `None` where the name is broken.
    fn attribute(&mut self) -> Option<(String, String, Option<char>)> {
        let (kind, rest) = self.0.split_once('=')?;
        let kind = kind.trim().to_lowercase();
        let kind = kind.strip_prefix("oid.").unwrap_or(&kind);
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        if kind.is_empty() || !kind.chars().all(letters) {
            return None;
        }
        let kind = ALIASES.iter().find(|(_, others)| others.contains(&kind)).map_or(kind, |(own, _)| *own).to_owned();
        self.0 = rest.trim_start_matches(' ');
        let value = match self.0.chars().next() {
            Some('#') => self.encoded()?,
            Some('"') => self.quoted()?,
            _ => self.plain()?,
        };
        self.0 = self.0.trim_start_matches(' ');
        let end = self.0.chars().next();
        if let Some(end) = end {
            if !",;+".contains(end) {
                return None;
            }
            self.0 = &self.0[end.len_utf8()..];
        }
        Some((kind, value, end))
    }

    /// Up to a separator; blanks at the end don't count unless they are escaped.
    fn plain(&mut self) -> Option<String> {
        let (mut bytes, mut kept) = (Vec::new(), 0);
        while let Some(next) = self.0.chars().next().filter(|next| !",;+".contains(*next)) {
            if next == '\\' {
                self.escaped(&mut bytes)?;
                kept = bytes.len();
                continue;
            }
            if next == '"' {
                return None;
            }
            self.0 = &self.0[next.len_utf8()..];
            bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
            if next != ' ' {
                kept = bytes.len();
            }
        }
        bytes.truncate(kept);
        String::from_utf8(bytes).ok()
    }

    /// As RFC 2253 still allows it.
    fn quoted(&mut self) -> Option<String> {
        self.0 = self.0.strip_prefix('"')?;
        let mut bytes = Vec::new();
        loop {
            let next = self.0.chars().next()?;
            if next == '\\' {
                self.escaped(&mut bytes)?;
                continue;
            }
            self.0 = &self.0[next.len_utf8()..];
            if next == '"' {
                return String::from_utf8(bytes).ok();
            }
            bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// `\,` or `\2C`: a character, or a byte of one.
    fn escaped(&mut self, bytes: &mut Vec<u8>) -> Option<()> {
        let rest = self.0.strip_prefix('\\')?;
        if let Some(byte) = rest.get(..2).and_then(|two| hex::decode(two).ok()) {
            bytes.extend(byte);
            self.0 = &rest[2..];
            return Some(());
        }
        let next = rest.chars().next().filter(|next| " \"#+,;<=>\\".contains(*next))?;
        bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
        self.0 = &rest[next.len_utf8()..];
        Some(())
    }

    /// `#` and the value in BER: a string of characters is that string, anything else stays as it is written.
    fn encoded(&mut self) -> Option<String> {
        let end = self.0.find([',', ';', '+']).unwrap_or(self.0.len());
        let (text, rest) = self.0.split_at(end);
        let text = text.trim_end_matches(' ');
        let bytes = hex::decode(text.strip_prefix('#')?).ok()?;
        self.0 = rest;
        // OCTET, UTF8, numeric, printable, teletex, IA5 string, in the short form of the length.
        let string = match bytes.as_slice() {
            [4 | 12 | 18 | 19 | 20 | 22, length, content @ ..] if usize::from(*length) == content.len() => {
                String::from_utf8(content.to_vec()).ok()
            }
            _ => None,
        };
        Some(string.unwrap_or_else(|| text.to_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::{DistinguishedName, same_value};

    fn parse(text: &str) -> Option<DistinguishedName> {
        DistinguishedName::parse(text)
    }

    #[test]
    fn one_name_is_written_in_many_ways() {
        for (one, other) in [
            ("cn=Stewards\\, North (Ops),ou=groups,dc=example", "cn=Stewards\\2C North (Ops),ou=groups,dc=example"),
            ("cn=Stewards\\2c North,dc=x", "CN = \"Stewards, North\" ; DC=X"),
            ("cn=a  b,dc=x", "cn= A b ,dc= x"),
            ("cn=Ågren\\, Björn *4,ou=x", "commonName=\\C3\\85GREN\\2C BJÖRN *4,2.5.4.11=X"),
            ("cn=A\u{30a}gren", "cn=Ågren"),
            ("cn=Straße", "cn=STRASSE"),
            ("cn=a+ou=b,dc=x", "ou=B + cn=A,domainComponent=x"),
            ("UID=ada,O=e", "userId=ada,OID.2.5.4.10=e"),
            ("cn=#0C0161", "cn=a"),
            ("cn=a\\=b", "cn=a=b"),
            ("cn=\\ a\\ ,dc=x", "cn=a,dc=x"),
            ("cn=\\#a", "cn=\\23a"),
            ("cn=soft\u{ad}hyphen", "cn=softhyphen"),
        ] {
            let (Some(first), Some(second)) = (parse(one), parse(other)) else { panic!("{one} or {other} is no name") };
            assert_eq!(first, second, "{one} and {other}");
            assert_eq!(first.to_string(), second.to_string(), "{one} and {other}");
        }
    }

    #[test]
    fn other_names_are_others() {
        for (one, other) in [
            ("cn=a,dc=x", "cn=a"),
            ("cn=a,dc=x", "dc=x,cn=a"),
            ("cn=a\\,dc=x", "cn=a,dc=x"),
            ("cn=a+ou=b", "cn=a,ou=b"),
            ("cn=a b", "cn=ab"),
            ("cn=a", "ou=a"),
            ("cn=a\\+ou=b", "cn=a+ou=b"),
            ("cn=#020101", "cn=1"),
        ] {
            assert_ne!(parse(one), parse(other), "{one} and {other}");
        }
        for broken in [
            "",
            "ops",
            "=a",
            "cn",
            "cn=a,",
            "cn=a,,dc=x",
            "c n=a",
            "cn=\"a",
            "cn=a\"b",
            "cn=\\zz",
            "cn=\\C3",
            "cn=#0",
            "cn=\"a\"b",
        ] {
            assert!(parse(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn an_entry_is_called_by_its_first_value() {
        for (text, expect) in [
            ("cn=Stewards\\2C North (Ops),ou=groups", "Stewards, North (Ops)"),
            ("ou=b+cn=A,dc=x", "A"),
            ("ou=Ops,dc=x", "Ops"),
        ] {
            assert_eq!(parse(text).as_ref().and_then(DistinguishedName::name), Some(expect), "{text}");
        }
        assert!(same_value("Stewards,  North (Ops) ", "stewards, north (ops)") && !same_value("a", "b"));
    }
}
