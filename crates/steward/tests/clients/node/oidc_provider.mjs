// A provider of OpenID Connect for the tests: nobody is asked anything, and /control changes what it does.
import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import { exportJWK, generateKeyPair } from "jose";

const [client, secret, callback] = process.argv.slice(2);
const accounts = new Map();
let current = "ada";
let offset = 0;
let keyNumber = 0;
let provider;
let requests = {};

// All times of the provider follow from this one.
const realNow = Date.now;
Date.now = () => realNow() + offset * 1000;

async function build(issuer) {
  keyNumber += 1;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: `key-${keyNumber}`, alg: "RS256", use: "sig" };
  provider = new Provider(issuer, {
    jwks: { keys: [key] },
    clients: [
      { client_id: client, client_secret: secret, redirect_uris: [callback], grant_types: ["authorization_code"] },
      { client_id: "etl", client_secret: "etl-secret-for-tests", redirect_uris: [], response_types: [], grant_types: ["client_credentials"] },
      { client_id: "stranger", client_secret: "stranger-secret", redirect_uris: [], response_types: [], grant_types: ["client_credentials"] },
    ],
    cookies: { keys: ["only for tests"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    scopes: ["openid", "email", "profile", "groups"],
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({ scope: "api", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 600 }),
      },
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) }),
    loadExistingGrant: async (context) => {
      const grant = new context.oidc.provider.Grant({ clientId: context.oidc.client.clientId, accountId: context.oidc.session.accountId });
      grant.addOIDCScope("openid email profile groups");
      await grant.save();
      return grant;
    },
    ttl: { IdToken: 3600, AccessToken: 3600, AuthorizationCode: 60, Interaction: 600, Session: 3600, Grant: 3600, ClientCredentials: 600 },
  });
}

async function bodyOf(request) {
  let text = "";
  for await (const part of request) text += part;
  return text ? JSON.parse(text) : {};
}

const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://x").pathname;
  requests[path] = (requests[path] ?? 0) + 1;
  try {
    if (path === "/control") {
      const wanted = await bodyOf(request);
      if (wanted.account) {
        current = wanted.account;
        accounts.set(current, wanted.claims ?? {});
      }
      if (wanted.offset !== undefined) offset = wanted.offset;
      if (wanted.rotate) await build(issuer);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ requests, key: `key-${keyNumber}` }));
    } else if (path.startsWith("/interaction/")) {
      await provider.interactionFinished(request, response, { login: { accountId: current } }, { mergeWithLastSubmission: false });
    } else {
      await provider.callback()(request, response);
    }
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  }
});

let issuer;
server.listen(0, "127.0.0.1", async () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  await build(issuer);
  console.log(issuer);
});
// Ends with the test that started it.
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
