/** For Svelte 5. */
export { ARMING_MS, CONSENT_PLACES, type ConsentPlaces } from './arming.ts';
export { consent } from './svelte/consent.ts';
export { type OpenApprovals, useApprovals } from './svelte/use-approvals.ts';
export { useConnection } from './svelte/use-connection.ts';
export { type DurableChat, useDurableChat } from './svelte/use-durable-chat.ts';
