// What the Node peers have in common: the words of their model, and the tool's one effect.

/** Between two words of the model, in milliseconds. */
export const PACE = 30;

export const WORDS = [
  'The ',
  'payment ',
  'has ',
  'been ',
  'settled, ',
  'nothing ',
  'left. ',
  'Done.',
];

/** Pays, at the ledger: every request is an execution. */
export async function pay(to, call) {
  const response = await fetch(process.env.LEDGER, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to, call }),
  });
  if (!response.ok) {
    throw new Error(`the ledger responded with ${response.status}`);
  }
  return response.json();
}

/** What a message asks to be paid. */
export function payee(text) {
  return text.replace(/^Pay /, '');
}
