//! URLs as people write them.

use url::Url;

/// `text` as a URL, with the scheme that it lacks.
pub(super) fn mend(text: &str) -> Result<Url, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let url = match text.split_once("://") {
        Some(("http" | "https" | "HTTP" | "HTTPS", _)) => Url::parse(text),
        Some((scheme, _)) => return Err(format!("`{scheme}` is not http or https")),
        None => {
            let plain = Url::parse(&format!("http://{text}")).map_err(|e| e.to_string())?;
            let scheme = if is_near(&plain) { "http" } else { "https" };
            Url::parse(&format!("{scheme}://{text}"))
        }
    };
    let mut url = url.map_err(|e| e.to_string())?;
    url.set_fragment(None);
    Ok(url)
}

/// Whether it is this machine or one nearby, which mostly speak without TLS.
fn is_near(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => {
            let last = name.rsplit('.').next();
            !name.contains('.') || matches!(last, Some("localhost" | "local"))
        }
        Some(_) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::mend;

    #[test]
    fn schemes_are_added_where_they_lack() {
        let check = |text: &str, expect: &str| {
            let mended = mend(text).map(|url| url.to_string());
            assert_eq!(mended.as_deref(), Ok(expect), "{text}");
        };
        check("localhost:11434", "http://localhost:11434/");
        check("127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1");
        check("[::1]:8080", "http://[::1]:8080/");
        check("gpu-box:8000", "http://gpu-box:8000/");
        check(" api.openai.com/v1 ", "https://api.openai.com/v1");
        check("http://api.example/v1#x", "http://api.example/v1");
        check("10.0.0.7", "http://10.0.0.7/");
        for bad in ["", "  ", "ftp://x/", "http://", "file:///etc"] {
            assert!(mend(bad).is_err(), "{bad}");
        }
    }
}
