import { addTexts } from "@/i18n";
import subscriptions from "@/i18n/en/subscriptions.json";
import webhooks from "@/i18n/en/webhooks.json";

export { SubscriptionPage } from "./outgoing/SubscriptionPage";
export { WebhookPage } from "./WebhookPage";
export { WebhooksPage } from "./WebhooksPage";

addTexts("webhooks", webhooks);
addTexts("subscriptions", subscriptions);
