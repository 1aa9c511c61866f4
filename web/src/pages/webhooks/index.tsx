import { addTexts } from "@/i18n";
import texts from "@/i18n/en/webhooks.json";

export { WebhookPage } from "./WebhookPage";
export { WebhooksPage } from "./WebhooksPage";

addTexts("webhooks", texts);
