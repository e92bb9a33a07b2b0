import { type MouseEvent, useId, useState } from 'react';

interface Props {
  onAnswer: (approved: boolean, reason: string) => void;
}

/** Yes or no, and why, if somebody wants to say. */
export function Approval({ onAnswer }: Props) {
  const [reason, setReason] = useState('');
  const field = useId();

  const answer = (event: MouseEvent, approved: boolean) => {
    // The second half of a double click may hit the next question, which nobody has read yet.
    if (event.detail < 2) {
      onAnswer(approved, reason);
    }
  };

  return (
    <div className="approval">
      <label htmlFor={field}>Reason, if you like</label>
      <input
        id={field}
        value={reason}
        maxLength={500}
        autoComplete="off"
        onChange={event => setReason(event.target.value)}
      />
      <button type="button" className="approve" onClick={event => answer(event, true)}>
        Approve
      </button>
      <button type="button" className="deny" onClick={event => answer(event, false)}>
        Deny
      </button>
    </div>
  );
}
