/** Composables for Vue. */
export { type UseApprovals, useApprovals } from './vue/use-approvals.ts';
export { useConnection } from './vue/use-connection.ts';
export { type UseDurableChat, useDurableChat } from './vue/use-durable-chat.ts';
