import { TurnFigure } from './TurnFigure.tsx';

interface Props {
  /** Whether nothing was said yet, so that there is room. */
  isLarge: boolean;
}

/** The idea in a line, and the rest of it for those who ask. */
export function Intro({ isLarge }: Props) {
  return (
    <section className={isLarge ? 'intro large' : 'intro'}>
      <h1>A turn is not a request</h1>
      <details className="how">
        <summary>How it works</summary>
        <p>
          The agent’s answer lives in a journal, and a connection is only a window on it. Where a
          person has to say yes, or the page has to run a tool, the window closes and the turn
          waits. It goes on when the answer comes: reload this page in the meantime, and see.
        </p>
        <TurnFigure />
        <p>
          The page is a stock <code>useChat</code> of the AI SDK, over plain HTTP. The agent is a
          built-in demo, not a model: it knows what is suggested here, and not much more.
        </p>
      </details>
    </section>
  );
}
