/** Hooks for React. */
export { type UseApprovals, useApprovals } from './react/use-approvals.ts';
export { useClientTools } from './react/use-client-tools.ts';
export { useConnection } from './react/use-connection.ts';
export {
  type UseDurableChat,
  type UseDurableChatOptions,
  useDurableChat,
} from './react/use-durable-chat.ts';
