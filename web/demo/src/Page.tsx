import { ServerLight } from './ServerLight.tsx';
import { TurnFigure } from './TurnFigure.tsx';

/** The first page: the idea, what it is for, and whether the server is there. */
export function Page() {
  return (
    <div className="page">
      <header className="masthead">
        <span className="name">
          <Mark />
          adk-stream
        </span>
        <ServerLight />
      </header>

      <main>
        <h1>A turn is not a request</h1>
        <p className="lead">
          An agent’s answer lives in a journal. A connection is only a window on it: it may close
          while a person makes up their mind, and the turn goes on in the next one.
        </p>

        <p className="today">
          <strong>Today</strong> the server shows this page and says how it is. The chat is not
          built yet.
        </p>

        <TurnFigure />

        <section aria-labelledby="points">
          <h2 id="points">What it is being built for</h2>
          <ul className="points">
            <li>
              <h3>People approve tools</h3>
              <p>
                A call that moves money or reads a location waits at a gate until somebody says yes
                or no.
              </p>
            </li>
            <li>
              <h3>Browsers run tools</h3>
              <p>
                The agent asks, the page does the work and sends back the output, in the same turn.
              </p>
            </li>
            <li>
              <h3>Nothing is lost</h3>
              <p>
                A reload, two clicks at once or a dead server: the journal knows what happened, and
                what did not.
              </p>
            </li>
          </ul>
        </section>
      </main>
    </div>
  );
}

/** Two windows over one journal. */
function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M4 23h24M4 11h7M21 11h7" />
    </svg>
  );
}
