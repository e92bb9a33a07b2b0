/** Composables for Vue, and a directive. */
export { ARMING_MS, CONSENT_PLACES, type ConsentPlaces } from './arming.ts';
export { type VConsent, vConsent } from './vue/consent.ts';
export { type UseApprovals, useApprovals } from './vue/use-approvals.ts';
export { useConnection } from './vue/use-connection.ts';
export { type UseDurableChat, useDurableChat } from './vue/use-durable-chat.ts';
