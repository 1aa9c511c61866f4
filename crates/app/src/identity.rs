//! How people log in: rules of logins, providers, the directory. Only administrators see and change them.

use crate::app::{Action, App, AppResult, Caller, Resource, authorize};
use crate::dto::identity::{
    DirectoryInput, DirectoryTrial, DirectoryView, OfferedLogins, OfferedProvider, ProviderInput, ProviderView,
    TriedLogin,
};
use steward_core::sign_on::LoginSettings;

impl App {
    pub async fn login_settings(&self, caller: &Caller) -> AppResult<LoginSettings> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        Ok(self.access.login_settings().await)
    }

    /// In force at the next login, refresh or invitation.
    pub async fn set_login_settings(&self, caller: &Caller, wanted: LoginSettings) -> AppResult<LoginSettings> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        self.access.set_login_settings(&wanted).await?;
        tracing::info!(by = caller.by(), "the rules of logins were changed");
        Ok(wanted)
    }

    /// By name.
    pub async fn providers(&self, caller: &Caller) -> AppResult<Vec<ProviderView>> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        Ok(self.access.providers().await?.into_iter().map(ProviderView::from).collect())
    }

    /// Makes or replaces it; in force at the next login.
    pub async fn save_provider(&self, caller: &Caller, name: &str, input: ProviderInput) -> AppResult<ProviderView> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        let saved = self.access.save_provider(name, input.settings, input.client_secret).await?;
        tracing::info!(by = caller.by(), provider = name, "a provider of logins was saved");
        Ok(saved.into())
    }

    pub async fn remove_provider(&self, caller: &Caller, name: &str) -> AppResult<()> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        self.access.remove_provider(name).await?;
        tracing::info!(by = caller.by(), provider = name, "a provider of logins was removed");
        Ok(())
    }

    /// Asks a provider what it says of itself, with settings that may not be saved.
    pub async fn try_provider(&self, caller: &Caller, input: ProviderInput) -> AppResult<TriedLogin> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        Ok(self.access.try_provider(&input.settings).await?.into())
    }

    /// Connects to a directory, with settings that may not be saved.
    pub async fn try_directory(&self, caller: &Caller, input: DirectoryTrial) -> AppResult<TriedLogin> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        let DirectoryTrial { settings, password, login } = input;
        Ok(self.access.try_directory(&settings, password, login.as_deref()).await?.into())
    }

    pub async fn directory(&self, caller: &Caller) -> AppResult<DirectoryView> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        Ok(self.access.directory().await?.into())
    }

    /// In force at the next login.
    pub async fn save_directory(&self, caller: &Caller, input: DirectoryInput) -> AppResult<DirectoryView> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        let saved = self.access.save_directory(input.settings, input.password).await?;
        tracing::info!(by = caller.by(), "the directory was saved");
        Ok(Some(saved).into())
    }

    pub async fn remove_directory(&self, caller: &Caller) -> AppResult<()> {
        authorize(caller, Action::Administer, Resource::Logins)?;
        self.access.remove_directory().await?;
        tracing::info!(by = caller.by(), "the directory was removed");
        Ok(())
    }

    /// What the page of logins shows to anybody.
    pub async fn offered_logins(&self) -> AppResult<OfferedLogins> {
        let all = self.access.providers().await?;
        let directory = self.access.directory().await?.filter(|saved| saved.settings.enabled);
        Ok(OfferedLogins {
            providers: all.into_iter().filter(|one| one.settings.enabled).map(OfferedProvider::from).collect(),
            directory: directory.map(|saved| saved.settings.label),
        })
    }
}
