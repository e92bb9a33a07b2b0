import { type Health, useServerHealth } from './useServerHealth.ts';

const words: Record<Health, string> = {
  unknown: 'Looking for the server',
  up: 'Server is up',
  away: 'Server is away',
};

/** Says in colour and in words whether the server is there. */
export function ServerLight() {
  const health = useServerHealth();
  return (
    <span className={`light ${health}`} role="status">
      <span className="bulb" aria-hidden="true" />
      <span className="words">{words[health]}</span>
    </span>
  );
}
