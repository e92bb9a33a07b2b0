import { type ConsentOptions, takeConsent } from '../consent.ts';

/**
 * An attachment, `<button {@attach consent({ shown, onConsent })}>`: its press is consent, once it counts as
 * such. `shown` identifies what is shown: with another one, it begins again.
 */
export function consent(
  options: ConsentOptions & { shown: string },
): (button: HTMLElement) => () => void {
  return button => takeConsent(button, options);
}
