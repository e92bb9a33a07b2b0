/** For Svelte 5. */
export { type OpenApprovals, useApprovals } from './svelte/use-approvals.ts';
export { useConnection } from './svelte/use-connection.ts';
export { type DurableChat, useDurableChat } from './svelte/use-durable-chat.ts';
