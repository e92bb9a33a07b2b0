/** The versions of what was said: what edits and other tries cut off, beside what the chat is on. */
import type { ChatBranch } from '@adk-stream/client';
import { useEffect, useState } from 'react';
import type { Message } from '../server/api.ts';
import { chats } from '../server/transport.ts';

/** Which of several versions is shown from a message on. */
export interface Versions {
  place: number;
  count: number;
  /** A message of the version before and after this one, where there is one. */
  previous: string | undefined;
  next: string | undefined;
}

/** The versions by the message that they begin with in what is shown. */
export function versionsOf(
  messages: readonly Message[],
  branches: readonly ChatBranch<Message>[],
): Map<string, Versions> {
  const all = new Map<string, Versions>();
  for (const [index, { id }] of messages.entries()) {
    const before = messages[index - 1];
    const isStart = before === undefined || before.role === 'assistant';
    const others = branches.filter(({ after, messages }) => {
      return isStart && after === (before?.id ?? null) && messages.length > 0;
    });
    if (others.length > 0) {
      const [older, newer] = [others.filter(isOlder), others.filter(other => !isOlder(other))];
      all.set(id, {
        place: older.length + 1,
        count: others.length + 1,
        previous: nameOf(older.at(-1)),
        next: nameOf(newer[0]),
      });
    }
  }
  return all;
}

const isOlder = ({ openedAt, currentOpenedAt = Number.POSITIVE_INFINITY }: ChatBranch<Message>) =>
  openedAt < currentOpenedAt;

/** A message of a branch: an answer, where there is one, since what was asked may be in other branches. */
function nameOf(branch: ChatBranch<Message> | undefined): string | undefined {
  const messages = branch?.messages ?? [];
  return (messages.find(({ role }) => role === 'assistant') ?? messages[0])?.id;
}

/** What was cut off of a chat; looked at again when it shows other messages. */
export function useBranches(
  id: string,
  messages: readonly Message[],
  isBusy: boolean,
): readonly ChatBranch<Message>[] {
  const [branches, setBranches] = useState<readonly ChatBranch<Message>[]>([]);
  const shown = messages.map(message => message.id).join(' ');

  useEffect(() => {
    if (isBusy || shown === '') {
      return;
    }
    let isLeft = false;
    chats.branches(id).then(
      list => !isLeft && setBranches(list),
      // The light says why; what is shown stays right.
      () => chats.events.check(),
    );
    return () => {
      isLeft = true;
    };
  }, [id, shown, isBusy]);
  return branches;
}
