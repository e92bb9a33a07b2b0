import type { Approvals, Durable } from '@adk-stream/client';
import type { UIMessage } from 'ai';
import { createContext } from 'react';

/** What a tool's part needs of the chat that it is in. */
export const ChatContext = createContext<{
  messages: UIMessage[];
  answer: Durable['answer'];
  approvals: Approvals;
} | null>(null);
