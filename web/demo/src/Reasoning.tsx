/** What the agent thought, folded. */
export function Reasoning({ text, isDone }: { text: string; isDone: boolean }) {
  return (
    <details className="reasoning">
      <summary>{isDone ? 'Thought' : 'Thinking…'}</summary>
      <p>{text}</p>
    </details>
  );
}
