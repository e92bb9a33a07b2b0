/** An amount as people write it: cents only where there are some. */
export function money(amount: number, currency: string): string {
  const trailingZeroDisplay = 'stripIfInteger';
  try {
    const style = { style: 'currency', currency, trailingZeroDisplay } as const;
    return new Intl.NumberFormat('en-US', style).format(amount);
  } catch {
    // Not every word is a currency.
    return `${amount} ${currency}`;
  }
}
