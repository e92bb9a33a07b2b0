/** The client of adk-stream, for AI SDK 6 and 7. */
export { AdkStreamError, type ErrorDetails } from './adk-stream-error.ts';
export { ApiError } from './api-error.ts';
export {
  type Approval,
  type ApprovalAnswer,
  ApprovalChangedError,
  type ApprovalDecision,
  type ApprovalRecord,
  type QuestionAnswer,
} from './approval.ts';
export {
  type Answered,
  type Approvals,
  type ApprovalsOptions,
  type ApprovalsState,
  approvals,
} from './approvals.ts';
export type { BackoffOptions } from './backoff.ts';
export type { CallStorage } from './call-memory.ts';
export type { ChatBranch, QueuedMessage, StoredChat, WhileRunning } from './chat-api.ts';
export type { FollowedChat } from './chat-follower.ts';
export {
  type ChatList,
  type ChatListOptions,
  type ChatPage,
  type ChatQuery,
  chatList,
} from './chat-list.ts';
export { AnswerChangedError } from './chat-window.ts';
export {
  type AnnouncedCall,
  type ClientTool,
  type ClientToolContext,
  type ClientToolSet,
  type ClientTools,
  type ClientToolsOptions,
  clientTools,
  type OutputTaker,
} from './client-tools.ts';
export { type ConnectionState, WebSocketBlockedError } from './connection.ts';
export { withDigests } from './digests.ts';
export type {
  Durable,
  DurableActions,
  DurableChatOptions,
  NewMessage,
} from './durable-chat.ts';
export { type DurableChats, type DurableChatsOptions, durableChats } from './durable-chats.ts';
export { type ExactJson, exactField, readExactJson } from './exact-json.ts';
export type { AdkStreamAudio, AdkStreamMetadata, AdkStreamUsage } from './metadata.ts';
export {
  ASK_USER,
  answerQuestion,
  declineQuestion,
  type FieldError,
  fieldErrorsOf,
  questionOf,
  type UserQuestion,
} from './question.ts';
export { withoutRepeats } from './repeated.ts';
export { sendAutomaticallyWhen } from './send-automatically.ts';
export {
  type ChatRow,
  type ServerEvent,
  type ServerEvents,
  type ServerEventsOptions,
  type ServerState,
  serverEvents,
} from './server-events.ts';
export type { Speech } from './speech.ts';
export type { Readable } from './store.ts';
export { type StoredChats, type StoredChatsOptions, storedChats } from './stored-chats.ts';
export { type TicketOptions, ticketFrom } from './ticket.ts';
export { AdkStreamChatTransport } from './transport.ts';
export type { AdkStreamChatTransportOptions } from './transport-options.ts';
export {
  boundedPieces,
  escapeUntrusted,
  type UntrustedPiece,
  untrustedPieces,
  untrustedPieceText,
} from './untrusted-text.ts';
export type { WebSocketConstructor, WebSocketLike } from './web-socket.ts';
export { toAdkStreamError, withErrors } from './with-errors.ts';
