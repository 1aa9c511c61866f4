export { CredentialPage } from "./CredentialPage";
export { CredentialsPage } from "./CredentialsPage";
