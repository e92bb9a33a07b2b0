/** One turn over time: a window, a pause in which nothing is open, another window. */
export function TurnFigure() {
  return (
    <figure className="turn">
      <figcaption>
        <span>The idea, as one turn</span>
        <span className="legend">
          <span className="window">windows</span> over <span className="journal">the journal</span>
        </span>
      </figcaption>
      <ol>
        <li className="open">
          <strong>A window</strong>
          <p>The agent answers as it thinks, and comes to a call that needs a yes.</p>
        </li>
        <li className="parked">
          <strong>Parked</strong>
          <p>Nothing is open and nothing runs. It may take a minute, or a week.</p>
        </li>
        <li className="open">
          <strong>Another window</strong>
          <p>The yes comes, from any page. The call runs once, and the answer goes on.</p>
        </li>
      </ol>
    </figure>
  );
}
