import type { Approval } from '@adk-stream/client';
import type { UseApprovals } from '@adk-stream/client/react';
import { Inbox as UnstyledInbox } from '@adk-stream/client/react/parts';
import { ArrowRight } from 'lucide-react';
import { useContext } from 'react';
import { Boundary } from '../app/Boundary.tsx';
import { LanguageContext, useWords } from '../language/language.ts';
import { timeOf } from '../language/time.ts';
import { InfoContext } from '../server/info.ts';
import { openBadge, ReadingHelp } from '../tools/CardParts.tsx';
import { UnshownApproval } from '../tools/UnshownApproval.tsx';

interface Props {
  inbox: UseApprovals;
  /** The chat that is open beside it. */
  chatId: string;
  onOpen: (chatId: string) => void;
}

/** Everything that waits for this person, over all chats, to be answered here or where it was asked. */
export function Inbox({ inbox, chatId, onOpen }: Props) {
  const { agent } = useContext(InfoContext);
  return (
    <UnstyledInbox
      inbox={inbox}
      agent={agent}
      aside={openBadge}
      help={approval => <ReadingHelp approval={approval} />}
      footer={approval => (
        <Origin approval={approval} isHere={approval.chatId === chatId} onOpen={onOpen} />
      )}
      wrap={(approval, card) => (
        <Boundary
          of={approval}
          instead={() => (
            <UnshownApproval
              tool={approval.toolName}
              onDeny={() =>
                approval.schema === undefined
                  ? inbox.deny(approval.approvalId)
                  : inbox.answer(approval.approvalId, { declined: true })
              }
            />
          )}
        >
          {card}
        </Boundary>
      )}
    />
  );
}

interface OriginProps {
  approval: Approval;
  isHere: boolean;
  onOpen: (chatId: string) => void;
}

/** When it was asked, and in which chat. */
function Origin({ approval, isHere, onOpen }: OriginProps) {
  const words = useWords();
  const language = useContext(LanguageContext);
  return (
    <p className="flex items-center justify-between gap-2 text-sm text-soft">
      {words.inbox.asked(timeOf(approval.askedAt, language))}
      {isHere ? (
        <span>{words.inbox.here}</span>
      ) : (
        <button
          type="button"
          className="button quiet small"
          onClick={() => onOpen(approval.chatId)}
        >
          {words.inbox.open}
          <ArrowRight aria-hidden="true" />
        </button>
      )}
    </p>
  );
}
