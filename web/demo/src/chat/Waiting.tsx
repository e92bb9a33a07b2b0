import type { QueuedMessage } from '@adk-stream/client';
import { useWords } from '../language/language.ts';
import type { Message } from '../server/api.ts';
import { Said } from './UserMessage.tsx';

interface Props {
  queued: readonly QueuedMessage<Message>[];
  onWithdraw: () => void;
}

/** What was said while a turn is open, and waits for the agent. */
export function Waiting({ queued, onWithdraw }: Props) {
  const words = useWords();
  if (queued.length === 0) {
    return null;
  }
  return (
    <section className="mt-6 flex flex-col gap-3" aria-label={words.queue.label}>
      <ul className="flex flex-col gap-3">
        {queued.map(({ message, whileRunning }) => (
          <li key={message.id} className="message user waiting">
            <Said message={message}>
              <p className="text-sm text-soft">{words.queue.waits[whileRunning]}</p>
            </Said>
          </li>
        ))}
      </ul>
      <button type="button" className="button quiet small self-end" onClick={onWithdraw}>
        {words.queue.withdraw}
      </button>
    </section>
  );
}
