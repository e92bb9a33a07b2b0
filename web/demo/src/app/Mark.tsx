/** Two windows over one journal. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M4 23h24M4 11h7M21 11h7" />
    </svg>
  );
}
