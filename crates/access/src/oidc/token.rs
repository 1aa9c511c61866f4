//! Checks signed tokens of providers. Only signatures with a public key count, and only of a key that the provider names.

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Header, Validation, decode, decode_header};
use serde_json::{Map, Value};
use steward_core::Timestamp;

pub(crate) type Claims = Map<String, Value>;

/// What a token must be.
#[derive(Debug, Clone)]
pub(crate) struct TokenRules<'a> {
    pub issuer: &'a str,
    pub audience: &'a str,
    pub now: Timestamp,
    /// How far the provider's clock may differ from ours, seconds.
    pub skew_s: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenProblem {
    /// The provider may have new keys since they were fetched.
    #[error("the token is signed with a key that the provider does not name")]
    UnknownKey,
    #[error("{0}")]
    Bad(&'static str),
}

/// Checks the signature, the issuer, the audience and the times.
pub(crate) fn verify(token: &str, keys: &JwkSet, rules: &TokenRules<'_>) -> Result<Claims, TokenProblem> {
    let header = decode_header(token).map_err(|_| TokenProblem::Bad("the token can't be read, or has no algorithm"))?;
    let family =
        public_key_family(header.alg).ok_or(TokenProblem::Bad("the token's algorithm is not one with a public key"))?;
    let key = key_of(&header, family, keys)?;
    let mut checks = Validation::new(header.alg);
    checks.algorithms = vec![header.alg];
    // The time comes from the caller.
    checks.validate_exp = false;
    checks.validate_nbf = false;
    checks.set_issuer(&[rules.issuer]);
    checks.set_audience(&[rules.audience]);
    checks.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
    let claims = decode::<Claims>(token, &key, &checks)
        .map_err(|_| TokenProblem::Bad("the token's signature, issuer or audience is wrong"))?
        .claims;
    check_times(&claims, rules)?;
    Ok(claims)
}

fn check_times(claims: &Claims, rules: &TokenRules<'_>) -> Result<(), TokenProblem> {
    let now = rules.now.0.div_euclid(1000);
    let time = |name: &str| match claims.get(name) {
        None => Ok(None),
        #[expect(clippy::cast_possible_truncation, reason = "seconds, of which fractions don't count")]
        Some(value) => match value.as_i64().or_else(|| value.as_f64().map(|seconds| seconds as i64)) {
            Some(seconds) => Ok(Some(seconds)),
            None => Err(TokenProblem::Bad("a time of the token is not a number")),
        },
    };
    let ends = time("exp")?.ok_or(TokenProblem::Bad("the token has no end"))?;
    if now >= ends.saturating_add(rules.skew_s) {
        return Err(TokenProblem::Bad("the token has expired"));
    }
    for begins in [time("nbf")?, time("iat")?].into_iter().flatten() {
        if begins > now.saturating_add(rules.skew_s) {
            return Err(TokenProblem::Bad("the token is from the future; compare the clocks"));
        }
    }
    Ok(())
}

fn public_key_family(algorithm: Algorithm) -> Option<AlgorithmFamily> {
    match algorithm {
        Algorithm::RS256
        | Algorithm::RS384
        | Algorithm::RS512
        | Algorithm::PS256
        | Algorithm::PS384
        | Algorithm::PS512 => Some(AlgorithmFamily::Rsa),
        Algorithm::ES256 | Algorithm::ES384 => Some(AlgorithmFamily::Ec),
        Algorithm::EdDSA => Some(AlgorithmFamily::Ed),
        _ => None,
    }
}

/// By the name in the header, or the only one that fits. Keys and addresses in the header itself are not looked at.
fn key_of(header: &Header, family: AlgorithmFamily, keys: &JwkSet) -> Result<DecodingKey, TokenProblem> {
    let named = |key: &&Jwk| header.kid.is_none() || key.common.key_id == header.kid;
    let fits = |key: &Jwk| {
        let signs = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
        let algorithm = key.common.key_algorithm.is_none_or(|one| one.to_string() == format!("{:?}", header.alg));
        let key = DecodingKey::from_jwk(key).ok().filter(|_| signs && algorithm)?;
        (key.family() == family).then_some(key)
    };
    let mut found: Vec<DecodingKey> = keys.keys.iter().filter(named).filter_map(fits).collect();
    match found.len() {
        1 => found.pop().ok_or(TokenProblem::UnknownKey),
        0 => Err(TokenProblem::UnknownKey),
        _ => Err(TokenProblem::Bad("the token does not say which key it is signed with")),
    }
}

/// The issuer that a token says it is of, not checked; `None` for anything that is not signed with a public key.
pub(crate) fn claimed_issuer(token: &str) -> Option<String> {
    public_key_family(decode_header(token).ok()?.alg)?;
    let claims: Claims = jsonwebtoken::dangerous::insecure_decode_claims(token).ok()?;
    claims.get("iss")?.as_str().map(str::to_owned)
}

/// A claim that is a text; `None` if it is empty or not one.
pub(crate) fn text_of<'a>(claims: &'a Claims, name: &str) -> Option<&'a str> {
    claims.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A claim that lists texts; one text counts as a list of it.
pub(crate) fn texts_of(claims: &Claims, name: &str) -> Vec<String> {
    // `realm_access.roles`: a claim within a claim, unless one has that very name.
    let value = claims.get(name).or_else(|| {
        let mut parts = name.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    });
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).map(str::to_owned).take(1000).collect(),
        _ => Vec::new(),
    }
}
