//! Amazon's signature version 4.

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode, sign};
use aws_sigv4::sign::v4;
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::time::SystemTime;
use url::Url;

#[derive(Debug, Clone)]
pub(crate) struct AccessKey {
    pub region: String,
    pub id: SecretString,
    pub secret: SecretString,
    pub session: Option<SecretString>,
}

impl AccessKey {
    /// The headers that sign a request, which must have this body and at least these headers.
    pub fn sign(
        &self,
        service: &str,
        method: &str,
        url: &Url,
        headers: &[(&str, &str)],
        body: &[u8],
        now: SystemTime,
    ) -> Result<HeaderMap, String> {
        let identity = Credentials::new(
            self.id.expose_secret(),
            self.secret.expose_secret(),
            self.session.as_ref().map(|token| token.expose_secret().to_owned()),
            None,
            "connection",
        )
        .into();
        let mut settings = SigningSettings::default();
        // The URL is sent as it is, so it is signed as it is.
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(now)
            .settings(settings)
            .build()
            .map_err(|error| error.to_string())?;
        let request = SignableRequest::new(method, url.as_str(), headers.iter().copied(), SignableBody::Bytes(body));
        let request = request.map_err(|error| error.to_string())?;
        let signed = sign(request, &params.into()).map_err(|error| error.to_string())?;
        let (instructions, _) = signed.into_parts();
        let mut out = HeaderMap::new();
        for (name, value) in instructions.headers() {
            let unusable = || "its access key holds characters that no key has".to_owned();
            let name = HeaderName::try_from(name).map_err(|_| unusable())?;
            let mut value = HeaderValue::try_from(value).map_err(|_| unusable())?;
            value.set_sensitive(true);
            out.insert(name, value);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::time::Duration;

    /// Amazon's published test suite of signature version 4: its access key, 2015-08-30T12:36:00Z,
    /// us-east-1, `service`.
    fn signature(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> String {
        let key = AccessKey {
            region: "us-east-1".to_owned(),
            id: "AKIDEXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session: None,
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_mins(24_015_636);
        let url = Url::parse(url).unwrap();
        let made = key.sign("service", method, &url, headers, body.as_bytes(), now).unwrap();
        assert_eq!(made["x-amz-date"], "20150830T123600Z");
        let header = made["authorization"].to_str().unwrap().to_owned();
        assert!(!format!("{made:?}{key:?}").contains("AKIDEXAMPLE"));
        header
    }

    #[test]
    fn amazons_own_vectors() {
        let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ";
        for (method, url, headers, body, names, expect) in [
            // get-vanilla
            (
                "GET",
                "https://example.amazonaws.com/",
                &[][..],
                "",
                "host;x-amz-date",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            // get-vanilla-query-order-key-case
            (
                "GET",
                "https://example.amazonaws.com/?Param2=value2&Param1=value1",
                &[],
                "",
                "host;x-amz-date",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            // post-vanilla
            (
                "POST",
                "https://example.amazonaws.com/",
                &[],
                "",
                "host;x-amz-date",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            // post-x-www-form-urlencoded
            (
                "POST",
                "https://example.amazonaws.com/",
                &[("content-type", "application/x-www-form-urlencoded")],
                "Param1=value1",
                "content-type;host;x-amz-date",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ] {
            let made = signature(method, url, headers, body);
            let expect = format!("{scope}SignedHeaders={names}, Signature={expect}");
            assert_eq!(made, expect, "{method} {url}");
        }
    }
}
